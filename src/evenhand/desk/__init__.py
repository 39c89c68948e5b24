"""The desk: files in, documents out."""
