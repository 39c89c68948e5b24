"""Records of what was drawn and decided, and their audit."""
