"""Twelve models, 300 prompts, three judges, 200 marks by people, votes; in cells."""

# %% Logs, made up: judge z answers nearly at random
import numpy as np
import polars as pl

import evenhand as eh

rng = np.random.default_rng(7)
models = [f"model {letter}" for letter in "abcdefghijkl"]
prompts = [f"p{number:03d}" for number in range(300)]
value = rng.normal(size=(12, 300)) + np.linspace(1, -1, 12)[:, None]
scores = {
    "judge x": 6 + 1.5 * value + rng.normal(size=value.shape),
    "judge y": 5 + value + rng.normal(size=(12, 1)) / 2 + rng.normal(size=value.shape),
    "judge z": 5 + 0.1 * value + 3 * rng.normal(size=value.shape),
}
log = pl.DataFrame(
    {
        "judge": np.repeat(list(scores), value.size),
        "prompt": prompts * (3 * len(models)),
        "model": np.tile(np.repeat(models, len(prompts)), 3),
        "score": np.concatenate(
            [table.ravel().round().clip(0, 10) for table in scores.values()]
        ),
    }
)

# %% Which judges can be trusted?
check = eh.check(log, reviewer="judge", item=["model", "prompt"], score="score", rng=7)
for judge in check.unreliable:
    print(judge)

# %% A leaderboard by the judges alone, prompts taken as clusters
ranking = eh.rank(
    log.filter(pl.col("judge") != "judge z"),
    reviewer=["judge", "prompt"],
    item="model",
    score="score",
    cluster="prompt",
    top=3,
    rng=7,
)
print(ranking)

# %% Draw 200 answers for people to mark (`evenhand assign --sample 200` seals the draw)
answers = [f"{model} / {prompt}" for model in models for prompt in prompts]
sample = eh.assign(answers, ["people"], design="balanced", per_reviewer=200, rng=7)
marks = np.clip(np.round(5 + 1.5 * value + rng.normal(size=value.shape)), 0, 10).ravel()
people = {item: float(marks[answers.index(str(item))]) for _, item in sample.rows}

# %% What people would say of each model, whatever the judges do
grades = eh.grade(
    log,
    reviewer="judge",
    item=["model", "prompt"],
    score="score",
    anchors=people,
    means="model",
    sample=sample,
    rng=7,
)
print(grades)
truth = dict(zip(models, marks.reshape(value.shape).mean(axis=1), strict=True))
spans = [(row.group, row.difference) for row in grades.means.rows]
right = [span.low <= truth[str(group)] <= span.high for group, span in spans]
print(f"{sum(right)} of {len(right)} intervals hold the mean mark of all 300 answers.")

# %% Votes with ties between two models' answers to a prompt
pairs = [rng.choice(12, 2, replace=False) for _ in range(3000)]
noise = rng.normal(size=3000)
gaps = [
    value[a].mean() - value[b].mean() + e
    for (a, b), e in zip(pairs, noise, strict=True)
]
votes = pl.DataFrame(
    {
        "left": [models[a] for a, _ in pairs],
        "right": [models[b] for _, b in pairs],
        "winner": [
            "tie" if abs(gap) < 0.5 else "left" if gap > 0 else "right" for gap in gaps
        ],
    }
)
print(eh.rank(votes, top=3, rng=7))
