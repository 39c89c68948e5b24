"""What people use instead: rankings that assume something about the scales.

Each model is a function from Ratings to a Fit, in a module of its own name: `additive`
(offsets, by least squares or REML), `affine` (offset and slope), `isotonic` (an
increasing scale), `bradley_terry` and `borda` (orders only), `centring` (centred and z)
and `adaptive`, which weighs scores against orders; `mean` is the plain mean. `crossed`
holds the equations and the likelihood of two crossed effects, `redraws` the same for
many scores at once, `design` the ratings as arrays, `posterior` what ratings leave
open.
"""
