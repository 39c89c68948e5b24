"""What people use instead: rankings that assume something about the scales.

Each model is a function from Ratings to a Fit: `additive` (offsets, by REML), `affine`
(offset and slope), `isotonic` (an increasing scale), `bradley_terry` (and Borda: orders
only), `means` (plain, centred and z) and `adaptive`, which weighs scores against
orders. `redraws` fits offsets to many scores at once, `design` holds the ratings as
arrays, `posterior` draws what ratings leave open.
"""
