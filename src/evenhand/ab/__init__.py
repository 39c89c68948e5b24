"""Two items: the canonical estimator, the rules around it, and their exact laws."""
