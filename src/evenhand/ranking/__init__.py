"""Many items: the paper's cardinal rankings and the ordinal ones they start from."""
