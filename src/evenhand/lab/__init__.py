"""The lab: simulate, reproduce, check."""
