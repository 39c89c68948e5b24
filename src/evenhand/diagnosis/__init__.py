"""Diagnosis: what ratings can support, before and after a decision on them.

Where to look: `check` puts together counts and contradictions, `reviewers` (strictness,
spread, shares of variance, further reviews needed) and `ladder` (which assumption about
scales holds), `agreement` (alpha and intraclass correlations); `warp` redraws scales to
see what survives.
"""
