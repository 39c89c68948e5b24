"""An A/B test with scores on anybody's scale, in cells."""

# %% Draw who sees what, before anybody has
import numpy as np
import polars as pl

import evenhand as eh

people = [f"user {number}" for number in range(40)]
drawn = eh.assign(["A", "B"], people, design="halves", rng=7)
print(drawn.law)

# %% They score what they saw; this data is made up
rng = np.random.default_rng(7)
rows = [
    (who, item, round(5 + 1.5 * (item == "B") + rng.normal(), 1))
    for who, item in drawn.rows
]
scores = pl.DataFrame(rows, schema=["reviewer", "item", "score"], orient="row")

# %% Which is better, and how sure is that?
comparison = eh.compare(scores, design="halves", rng=7)
print(comparison)
