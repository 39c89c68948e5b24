"""The app: run an evaluation in the browser. Only `evenhand serve` imports it."""
