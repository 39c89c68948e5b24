"""Random assignments: who gets which items, so that anyone can draw it again.

An assignment is a function of the sets of items and reviewers, the design, its options
and the seed. A sealed seed is a secret text of 64 hexadecimal digits; its SHA-256, the
seal, can be published before any rating exists, and the secret afterwards.
"""

from __future__ import annotations

from evenhand.designs.assignment import Assignment
from evenhand.designs.drawing import assign, fresh_secret, redraw, seal_of, verify
from evenhand.designs.draws import (
    AB_DESIGNS,
    RANKING_DESIGNS,
    balanced,
    coins,
    enumerate_balanced,
    enumerate_coins,
    enumerate_halves,
    enumerate_matched,
    enumerate_pairs,
    enumerate_panels,
    halves,
    matched,
    pairs,
    panels,
)

__all__ = [
    "AB_DESIGNS",
    "RANKING_DESIGNS",
    "Assignment",
    "assign",
    "balanced",
    "coins",
    "enumerate_balanced",
    "enumerate_coins",
    "enumerate_halves",
    "enumerate_matched",
    "enumerate_pairs",
    "enumerate_panels",
    "fresh_secret",
    "halves",
    "matched",
    "pairs",
    "panels",
    "redraw",
    "seal_of",
    "verify",
]
