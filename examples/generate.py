"""Make the example files: `python examples/generate.py`.

Everything here is generated; a test checks that the files are what this writes. The
samples of platforms' exports have scripts of their own, which this runs as well.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import math
import runpy
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand import Ratings, assign, designs
from evenhand.randomness import below, stream, uniforms
from evenhand.records.record import seal_record, secret_record, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 7
TALKS = [f"talk {number}" for number in range(1, 9)]
PEOPLE = ["Anna", "Bo", "Cy", "Dee", "Eli", "Fay", "Gus", "Hal"]
# Anybody can work it out, so that the guide shows the same on every machine. A real one
# is drawn by `evenhand assign --seal`.
SECRET = hashlib.sha256(b"evenhand example 1").hexdigest()
PROJECTS = [
    *("Bike Radar", "Bus Whisperer", "Crop Doctor", "Fridge Finder", "Lost Gloves"),
    *("Noise Map", "Pocket Notary", "Queue Cutter", "Rain Barrel", "Sign Reader"),
    *("Tool Library", "Trail Mate"),
]
HACKERS = ["Ada", "Ben", "Chen", "Dita", "Emre", "Faye", "Goran", "Hana", "Kim", "Lou"]
HERE = Path(__file__).parent
SCRIPTS = ("exports_conference.py", "exports_teaching.py")
# How good each model's answers are on average; the best two are close.
MODELS = {
    "amber": 0.4,
    "birch": 1.3,
    "cedar": -0.4,
    "dune": 1.1,
    "elm": -1.5,
    "fern": 0.1,
}
# Four judges, each an increasing scale of its own: wide, coarse, lenient, curved.
JUDGES: dict[str, Callable[[float], float]] = {
    "judge A": lambda merit: min(max(round(50 + 15 * merit), 0), 100),
    "judge B": lambda merit: min(max(round(3 + 0.7 * merit), 1), 5),
    "judge C": lambda merit: round(min(8.5 + 0.4 * merit, 10), 1),
    "judge D": lambda merit: round(1 / (1 + math.exp(2 - merit)), 2),
}
PROMPTS = 15
FORENAMES = ["Ana", "Björn", "Chloé", "Dmitri", "Esra"]
SURNAMES = ["Abe", "Brandt", "Costa", "Diaz", "O'Neill"]
THINGS = ["Bridges", "Buses", "Clocks", "Gardens", "Maps", "Queues"]
PLACES = ["that hum", "at night", "by the sea", "from memory", "without a plan"]
# Titles that upset tables: right to left, accents, commas, quotes, and no end.
TITLES = {
    3: "\u05de\u05e4\u05d5\u05ea \u05dc\u05de\u05d8\u05d9\u05d9\u05dc\u05d9\u05dd",
    5: "Où vont les gants perdus ?",
    9: 'Is "good enough" good enough? What committees do when nobody looks, with a '
    "second part; and an appendix",
    12: "Tea, measured twice",
}
OPTIONS = [
    *("1. Strong reject", "2. Weak reject", "3. Borderline"),
    *("4. Weak accept", "5. Strong accept"),
]
SURE = ["1. Low", "2. Medium", "3. High"]


def table(header: list[str], rows: list[list[object]], *, delimiter: str = ",") -> str:
    """Write rows as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", delimiter=delimiter)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def two_designs() -> str:
    """Twelve visitors, each with a scale of their own, each shown one design."""
    shown = designs.halves(12, rng=SEED)
    slopes = 1 + 4 * uniforms(stream(SEED, "slopes"), 12)
    shifts = 5 * uniforms(stream(SEED, "shifts"), 12)
    rows: list[list[object]] = [
        [
            f"visitor {visitor + 1:02d}",
            "new design" if item else "old design",
            round(float(shifts[visitor] + slopes[visitor] * (0.4, 0.9)[item]), 1),
        ]
        for visitor, item in enumerate(shown.tolist())
    ]
    return table(["user", "variant", "rating"], rows)


def workshop() -> list[list[object]]:
    """Eight talks, three for each of eight reviewers, by a sealed assignment."""
    drawn = assign(TALKS, PEOPLE, design="balanced", per_reviewer=3, secret=SECRET)
    values = dict(zip(TALKS, uniforms(stream(SEED, "values"), 8), strict=True))
    slopes = dict(zip(PEOPLE, uniforms(stream(SEED, "slopes"), 8), strict=True))
    shifts = dict(zip(PEOPLE, uniforms(stream(SEED, "shifts"), 8), strict=True))
    rows = [(str(who), str(talk)) for who, talk in drawn.rows]
    return [
        [who, talk, f"{5 * shifts[who] + (1 + 4 * slopes[who]) * values[talk]:.1f}"]
        for who, talk in rows
    ]


def reviews(*, changed: bool = False) -> str:
    """The workshop's ratings; changed, the last one is a point higher."""
    rows = workshop()
    if changed:
        rows[-1][2] = f"{float(str(rows[-1][2])) + 1:.1f}"
    return table(["reviewer", "item", "score"], rows)


def hackathon() -> str:
    """Ten judges of twelve projects, six each; Kim goes home before judging any.

    No judge gives two projects the same mark, which was the rule of the event. This is
    the tab of all scores as CSV: a row for each project, a column for each judge.
    """
    drawn = assign(PROJECTS, HACKERS, design="balanced", per_reviewer=6, secret=SECRET)
    held = drawn.amend(["Kim"]).bundles()
    values, offsets = normal("projects", len(PROJECTS)), normal("hackers", len(HACKERS))
    noise = iter(normal("hackathon", len(PROJECTS) * len(HACKERS)))
    given: dict[tuple[str, str], float] = {}
    for project, value in zip(PROJECTS, values, strict=True):
        for who, offset in zip(HACKERS, offsets, strict=True):
            mark = round(5.5 + 1.6 * value + 0.9 * offset + 0.5 * next(noise), 1)
            while project in held.get(who, []):
                if (who, mark) not in {(one[0], it) for one, it in given.items()}:
                    given[who, project] = mark
                    break
                mark = round(mark + 0.1, 1)
    rows: list[list[object]] = [
        [project, *(given.get((who, project), "") for who in HACKERS)]
        for project in PROJECTS
    ]
    return table(["item", *HACKERS], rows)


def normal(what: str, size: int) -> list[float]:
    """Draw standard normal numbers."""
    law = statistics.NormalDist()
    chances = uniforms(stream(SEED, what), size).tolist()
    return [law.inv_cdf(min(max(chance, 1e-9), 1 - 1e-9)) for chance in chances]


def panel() -> str:
    """Thirty reviewers, four of twelve proposals each: noisy marks of 0 to 100."""
    sees = designs.balanced(12, 30, per_reviewer=4, rng=SEED).tolist()
    values, offsets = normal("values", 12), normal("offsets", 30)
    noise = iter(normal("noise", 120))
    rows: list[list[object]] = [
        [
            f"reviewer {reviewer + 1:02d}",
            f"P{item + 1:02d}",
            round(60 + 12 * values[item] + 4 * offsets[reviewer] + 8 * next(noise), 1),
        ]
        for reviewer, items in enumerate(sees)
        for item in items
    ]
    return table(["reviewer", "item", "score"], rows)


def criteria() -> str:
    """Thirty reviewers, four of twelve papers each: two criteria, an overall."""
    sees = designs.balanced(12, 30, per_reviewer=4, rng=SEED + 1).tolist()
    values = [normal(f"{part} by paper", 12) for part in ("novelty", "soundness")]
    offsets, noise = normal("strictness", 30), iter(normal("review noise", 480))
    rows: list[list[object]] = []
    for reviewer, items in enumerate(sees):
        for item in items:
            level = 5.5 + 0.8 * offsets[reviewer]
            exact = [level + 1.4 * value[item] + next(noise) for value in values]
            overall = sum(exact) / 2 + 0.7 * next(noise)
            scores = [min(max(round(each), 1), 10) for each in (*exact, overall)]
            sure = min(max(round(3 + next(noise)), 1), 5)
            person, paper = f"reviewer {reviewer + 1:02d}", f"paper {item + 1:02d}"
            rows.append([person, paper, *scores, sure])
    header = ["reviewer", "paper", "novelty", "soundness", "overall", "confidence"]
    return table(header, rows)


def judged() -> list[list[object]]:
    """Four judges, fifteen prompts: four of six models' answers to a prompt each."""
    size = len(JUDGES) * PROMPTS
    sees = designs.balanced(len(MODELS), size, per_reviewer=4, rng=SEED).tolist()
    hardness = normal("hardness", PROMPTS)
    answers = normal("answers", PROMPTS * len(MODELS))
    noise = iter(normal("judges", 4 * size))
    names, values = list(MODELS), list(MODELS.values())
    rows: list[list[object]] = []
    for place, shown in enumerate(sees):
        judge, prompt = divmod(place, PROMPTS)
        name, scale = list(JUDGES.items())[judge]
        for model in sorted(shown):
            answer = answers[prompt * len(MODELS) + model]
            merit = values[model] - 0.8 * hardness[prompt] + 0.6 * answer
            score = scale(merit + 0.4 * next(noise))
            rows.append([name, f"prompt {prompt + 1:02d}", names[model], score])
    return rows


def people() -> str:
    """Marks of 48 of the answers, drawn at random; people like judges A and C."""
    rows = judged()
    answers = sorted({f"{model} / {prompt}" for _, prompt, model, _ in rows})
    drawn = assign(answers, ["people"], design="balanced", per_reviewer=48, rng=SEED)
    chosen = {str(item) for _, item in drawn.rows}
    scores: dict[str, list[float]] = {answer: [] for answer in answers}
    for judge, prompt, model, score in rows:
        high, low = {"judge A": (100, 0), "judge B": (5, 1)}.get(str(judge), (1, 0))
        high = 10 if judge == "judge C" else high
        share = (float(str(score)) - low) / (high - low)
        scores[f"{model} / {prompt}"].append(share)
    noise = normal("people", len(answers))
    marks = [
        [*answer.split(" / "), round(10 * sum(shares) / len(shares) + error)]
        for (answer, shares), error in zip(scores.items(), noise, strict=True)
        if answer in chosen
    ]
    return table(["model", "prompt", "mark"], marks)


def judged_long() -> str:
    """The same for the command line: a judge on a prompt is one reviewer."""
    rows: list[list[object]] = [
        [f"{judge} on {prompt}", model, score]
        for judge, prompt, model, score in judged()
    ]
    return table(["reviewer", "item", "score"], rows)


def submissions() -> str:
    """Thirty papers, four of 25 reviewers each, as a chair's spreadsheet saves it.

    Semicolons, a mark of the encoding, options of a form for scores, confidence beside
    them, several ways to give no score, two people of one name, empty lines at the end.
    """
    people = [f"{first} {last}" for last in SURNAMES for first in FORENAMES]
    people[-1] = people[0]
    usual = [f"{thing} {place}" for place in PLACES for thing in THINGS]
    sees = designs.balanced(len(people), 30, per_reviewer=4, rng=SEED).tolist()
    values, offsets = normal("papers", 30), normal("committee", len(people))
    noise = iter(normal("reviews", 240))
    missing = iter(["n/a", "-", "n/a", ""])
    rows: list[list[object]] = []
    for paper, readers in enumerate(sees, start=1):
        for who in sorted(readers):
            level = 3.2 + values[paper - 1] + 0.6 * offsets[who] + 0.5 * next(noise)
            score = OPTIONS[min(max(round(level), 1), 5) - 1]
            if len(rows) % 29 == 17:
                score = next(missing)
            sure = SURE[min(max(round(2 + next(noise)), 1), 3) - 1]
            address = f"pc{who + 1:02d}@example.org"
            title = TITLES.get(paper, usual[paper - 1])
            rows.append([paper, title, people[who], address, score, sure])
    header = ["Paper #", "Title", "Reviewer", "E-mail", "Overall evaluation"]
    lines = table([*header, "Confidence"], rows, delimiter=";")
    return f"\ufeff{lines}{';' * len(header)}\n\n\n"


def stars() -> str:
    """Stars of 240 visitors for two pages; some gave none, three sent theirs twice."""
    shown = designs.halves(240, rng=SEED).tolist()
    merit, noise = normal("visitors", 240), normal("stars", 240)
    rows: list[list[object]] = []
    for visitor in [*range(240), 40, 130, 200]:
        liking = 0.8 * merit[visitor] + 0.6 * noise[visitor]
        given = min(max(round(3.1 + 0.45 * shown[visitor] + liking), 1), 5)
        said = {5: "", 6: "-", 7: f" {given} "}.get(visitor % 23, f"{given}")
        day, hour = divmod(len(rows), 12)
        rows.append(
            [
                f"2026-03-{day + 1:02d} {hour + 8:02d}:{7 * visitor % 60:02d}",
                f"u{1000 + 7 * visitor}",
                "new" if shown[visitor] else "old",
                said,
                ("phone", "desktop", "tablet")[visitor % 3],
                ("", "", "too slow, but nice", "ok")[visitor % 4],
            ]
        )
    return table(["time", "user", "variant", "stars", "device", "comment"], rows)


def leaderboard() -> str:
    """Two judges, 0 to 100 and 1 to 5, of six models on twelve prompts; some failed."""
    hardness, answers = normal("hard", 12), normal("answered", 12 * len(MODELS))
    noise = iter(normal("board", 2 * len(answers)))
    rows: list[list[object]] = []
    for prompt, (name, scale), (place, model) in itertools.product(
        range(12), list(JUDGES.items())[:2], enumerate(MODELS)
    ):
        answer = answers[prompt * len(MODELS) + place]
        merit = MODELS[model] - 0.8 * hardness[prompt] + 0.6 * answer
        score = scale(merit + 0.4 * next(noise))
        note = "timeout" if len(rows) % 31 == 11 else ""
        shown = "" if note else score
        rows.append([f"p{prompt + 1:02d}", name, model, note, shown, note])
    return table(["prompt", "judge", "model", "notes", "score", "notes"], rows)


# How reviewers of a conference score a paper of some value from 0 to 1.
SCALES: tuple[Callable[[float], float], ...] = (
    lambda value: 10 * value,
    lambda value: 6 + 4 * value,  # lenient
    lambda value: 4 * value,  # strict
    lambda value: 10 * math.sqrt(value),  # generous in the middle
    lambda value: 10 * value**3,  # hard to please
    lambda value: 10 / (1 + math.exp(6 - 12 * value)),  # all or nothing
)


SIX_TALKS = {
    "Ana": {1: 3.9, 2: 7.4, 6: 6.7},
    "Bo": {3: 4.3, 4: 3.9, 6: 5.1},
    "Cy": {3: 4.5, 4: 4.4, 5: 6.4},
    "Dee": {1: 2.2, 2: 4.5, 5: 5.4},
    "Eli": {2: 5.1, 3: 4.3, 4: 3.1},
    "Fay": {4: 2.8, 5: 4.8, 6: 4.0},
    "Gus": {1: 5.3, 2: 7.4, 6: 7.3},
    "Hal": {1: 1.2, 3: 2.1, 5: 3.3},
}
"""Scores by reviewer and number of the talk; drawn once, as the README shows them."""


def six_talks() -> str:
    """Return eight reviewers' scores of three talks each, for the README."""
    rows = [
        [reviewer, f"talk {talk}", score]
        for reviewer, scores in SIX_TALKS.items()
        for talk, score in scores.items()
    ]
    return table(["reviewer", "item", "score"], rows)


def conference() -> str:
    """Make a small conference: 16 reviewers of 3 papers each, 12 papers."""
    values = uniforms(stream(SEED, "demo values"), 12)
    kinds = stream(SEED, "demo scales")
    rows = []
    for number, seen in enumerate(designs.balanced(12, 16, per_reviewer=3, rng=SEED)):
        scale = SCALES[below(kinds, len(SCALES))]
        for paper in seen:
            score = round(scale(float(values[paper])), 4)
            rows.append((f"reviewer {number + 1:02d}", chr(ord("A") + paper), score))
    return Ratings(*zip(*rows, strict=True)).to_frame().write_csv()


COUNTS = {
    "old": (31002511, 70214902, 140012004, 160203880, 98566703),
    "new": (30994310, 70196677, 139991232, 160240181, 98577600),
}
APPLICANTS = {
    "Adeyemi": "Leeds",
    "Brandt": "Bonn",
    "Costa": "Porto",
    "Dubois": "Lyon",
    "Eriksen": "Oslo",
    "Fischer": "Bonn",
    "Greco": "Turin",
    "Hughes": "Leeds",
    "Ivanova": "Sofia",
    "Jansen": "Delft",
    "Kovacs": "Szeged",
    "Lindqvist": "Lund",
}
FILES: dict[str, Callable[[], str]] = {
    "conference.csv": conference,
    "criteria.csv": criteria,
    "designs.csv": two_designs,
    "panel.csv": panel,
    "talks.csv": six_talks,
    "judges.csv": lambda: table(["judge", "prompt", "model", "score"], judged()),
    "judges-long.csv": judged_long,
    "people.csv": people,
    "contradiction.csv": lambda: table(
        ["reviewer", "item", "score"],
        [["Anna", "x", 5], ["Anna", "y", 3], ["Bo", "y", 9], ["Bo", "x", 8]],
    ),
    "duels.csv": lambda: table(
        ["judge", "winner", "loser"],
        [["Cy", "apple", "quince"], ["Dee", "pear", "plum"], ["Cy", "apple", "plum"]],
    ),
    "applications.csv": lambda: table(
        ["applicant", "application", "institution"],
        [
            [name, f"A{number:02}", place]
            for number, (name, place) in enumerate(APPLICANTS.items(), start=1)
        ],
    ),
    "counts.csv": lambda: table(
        ["item", "score", "count"],
        [
            [item, score, count]
            for item, counts in COUNTS.items()
            for score, count in enumerate(counts, start=1)
        ],
    ),
}
# The workshop of the guide, from two lists to ratings that came through a sealed draw.
WORKSHOP: dict[str, Callable[[], str]] = {
    "talks.txt": lambda: "".join(f"{talk}\n" for talk in TALKS),
    "reviewers.txt": lambda: "".join(f"{person}\n" for person in PEOPLE),
    "secret.json": lambda: text_of(secret_record(SECRET)),
    "seal.json": lambda: text_of(seal_record(SECRET)),
    "ratings.csv": reviews,
    "changed.csv": lambda: reviews(changed=True),
}

HACKATHON: dict[str, Callable[[], str]] = {
    "projects.txt": lambda: "".join(f"{project}\n" for project in PROJECTS),
    "judges.txt": lambda: "".join(f"{person}\n" for person in HACKERS),
    "secret.json": WORKSHOP["secret.json"],
    "seal.json": WORKSHOP["seal.json"],
    "scores.csv": hackathon,
}

# Files as people have them, for the walks that start with one.
RAW: dict[str, Callable[[], str]] = {
    "submissions.csv": submissions,
    "stars.csv": stars,
    "leaderboard.csv": leaderboard,
}
FOLDERS = {"workshop": WORKSHOP, "hackathon": HACKATHON, "raw": RAW}

if __name__ == "__main__":
    for folder, files in {"": FILES, **FOLDERS}.items():
        (HERE / folder).mkdir(exist_ok=True)
        for name, make in files.items():
            (HERE / folder / name).write_text(make(), encoding="utf-8")
    for script in SCRIPTS:
        runpy.run_path(str(HERE / script), run_name="__main__")
