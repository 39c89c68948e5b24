"""What a result says: in sentences, tables and charts, for notebooks and reports."""
