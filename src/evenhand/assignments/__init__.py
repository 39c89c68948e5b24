"""Assign: draw which reviewer gets which items, so that anyone can draw it again.

An assignment is a function of the sets of items and reviewers, the design, its options
and the seed. A sealed seed is a secret text of 64 hexadecimal digits; its SHA-256, the
seal, can be published before any rating exists, and the secret afterwards.
"""

from __future__ import annotations

from evenhand.assignments.assignment import Assignment
from evenhand.assignments.drawing import (
    assign,
    fresh_secret,
    redraw,
    seal_of,
    verify,
)

__all__ = ["Assignment", "assign", "fresh_secret", "redraw", "seal_of", "verify"]
