"""Balanced assignments as grids: rows take columns, every column equally often.

Loads that differ by one are made equal by a spare row, which takes each column that has
one place left over. `grids` says whether a grid can be filled, and if not, why; `laws`
draws one of all ways to fill it.
"""
