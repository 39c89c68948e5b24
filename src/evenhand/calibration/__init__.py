"""What people use instead: rankings that assume something about the scales.

Each model is a function from Ratings to a Fit, in a module of its own name: `additive`
(offsets, by least squares or REML), `affine` (offset and slope), `isotonic` (an
increasing scale), `bradley_terry` and `borda` (orders only), `centring` (centred and z)
and `adaptive`, which weighs scores against orders. `models` finds them by name; `mean`
is the plain mean. Underscore modules hold the equations: `_reml` the likelihood,
`_tables` its equations as a table or by passes, `_least_squares`, `_solver`.
"""
