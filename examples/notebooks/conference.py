"""A conference, in cells that Jupyter, VS Code and a plain `python` run."""

# %% What can these reviews support?
from pathlib import Path

import evenhand as eh

EXAMPLES = Path(__file__).parent.parent
reviews = EXAMPLES / "conference.csv"
check = eh.check(reviews, top=4, rng=7)
print(check)

# %% Who is in, who is out, who is too close to call?
ranking = eh.rank(reviews, top=4, rng=7)
print(ranking)

# %% Choose with a lottery where reviews cannot decide
print(eh.select(reviews, places=4, rng=7))
