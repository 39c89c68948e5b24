"""What the comparisons say: who was put above whom, and which orders respect it."""
