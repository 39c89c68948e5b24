"""The desk: files in."""
