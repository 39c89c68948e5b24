"""The HTML report of a result, and its charts."""
