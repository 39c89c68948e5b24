"""Diagnosis: what ratings can support, before and after a decision on them.

Where to look: `check` puts together `contradictions` (who disagrees), `reviewers`
(strictness, spread, shares of variance), `ladder` (which assumption about scales holds)
and `needed` (further reviews); `warp` redraws scales to see what survives.
"""
