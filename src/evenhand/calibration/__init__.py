"""What people use instead: rankings that assume something about the scales."""
