"""Surveys and tables as other programs write them, small and generated."""

from __future__ import annotations

import csv
import io
import random
from typing import Any, NamedTuple

TALKS = ("Tea & milk", "Caf\xe9 culture", "On bread", "Water")
WORDS = ("poor", "fair", "good")
PEOPLE = 9


class LookAlike(NamedTuple):
    """A file, and the options with which it is read."""

    data: bytes
    options: dict[str, Any]


def text_of(rows: list[list[Any]], delimiter: str = ",") -> str:
    """Write rows as CSV."""
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return file.getvalue()


def answers(kind: str = "numbers") -> list[list[str]]:
    """Draw the answers of nine people about four talks, some of them empty."""
    chance = random.Random(33)
    rows = []
    for _ in range(PEOPLE):
        row = [str(chance.randint(1, 5)) for _ in TALKS]
        if kind == "words":
            row = [chance.choice(WORDS) for _ in TALKS]
        if kind == "ranks":
            row = [str(rank) for rank in chance.sample(range(1, 5), 4)]
        else:
            row[chance.randrange(4)] = ""
        rows.append(row)
    return rows


def google_grid() -> str:
    """Google Forms with an item in brackets."""
    head = ["Timestamp", "Email Address", *(f"How good? [{talk}]" for talk in TALKS)]
    rows = enumerate(answers())
    people = [[f"2026/05/01 9:3{n}:00", f"p{n}@x.org", *row] for n, row in rows]
    return text_of([head, *people])


def microsoft() -> str:
    """Microsoft Forms: a response about one item each."""
    own = ["Id", "Start time", "Completion time", "Email", "Name"]
    rows = [[*own, "Whose work are you grading?", "Grade"]]
    for n, row in enumerate(answers()):
        times = [f"5/1/26 9:3{n}:00", f"5/1/26 9:4{n}:00"]
        rows += [
            [
                str(2 * n + place + 1),
                *times,
                f"p{n}@x.org",
                f"P {n}",
                TALKS[place],
                mark,
            ]
            for place, mark in enumerate(row)
            if mark
        ]
    return text_of(rows)


def qualtrics(kind: str = "numbers") -> str:
    """Qualtrics: names, questions and ids of its own above the answers."""
    codes = ["StartDate", "ResponseId", "Q1_1", "Q1_2", "Q1_3", "Q1_4", "Q2"]
    questions = ["Start Date", "Response ID"]
    questions += [f"Please rate the talks - {talk}" for talk in TALKS] + ["Your age"]
    ids = ['{"ImportId":"' + code + '"}' for code in codes]
    rows = enumerate(answers(kind))
    people = [["2026-05-01", f"R_{n}", *row, str(30 + n)] for n, row in rows]
    return text_of([codes, questions, ids, *people])


def surveymonkey() -> str:
    """SurveyMonkey: a question above its options, ranks, ticks, and an age."""
    ranks = "Please rank the talks, 1 being the best."
    seen = "Which talks have you heard?"
    rows: list[list[str]] = [
        ["Respondent ID", "Collector ID", ranks, "", "", "", seen, "", "", "", "Age"],
        ["", "", *TALKS, *TALKS, "Response"],
    ]
    for n, row in enumerate(answers("ranks")):
        ticks = [talk if (n + place) % 3 else "" for place, talk in enumerate(TALKS)]
        rows.append([str(1000 + n), "7", *row, *ticks, str(30 + n)])
    return text_of(rows)


def limesurvey() -> str:
    """LimeSurvey with codes."""
    head = ["id", "submitdate", *(f"G01Q01[SQ00{n}]" for n in (1, 2, 3, 4)), "G02Q02"]
    rows = enumerate(answers())
    people = [[str(n + 1), "2026-05-01", *row, "fine"] for n, row in rows]
    return text_of([head, *people], ";")


def grid_of_words() -> str:
    """A grid after bars, with words, boxes that were ticked, and a tab in a header."""
    head = ["Internal ID", "Q1: AGE", *(f"Q6 | {talk}" for talk in TALKS)]
    head += ["Q7\tOTHER", "Q8 [radio]", "Q8 [press]"]
    rows = enumerate(answers("words"))
    people = [[str(n), str(30 + n), *row, "so", "1", ""] for n, row in rows]
    return text_of([head, *people])


def item_first() -> str:
    """A grid whose columns begin with the item."""
    head = ["PROLIFIC_PID", *(f"{talk} - How good was it?" for talk in TALKS), "Age"]
    rows = enumerate(answers())
    return text_of([head, *([f"pid{n}", *row, str(30 + n)] for n, row in rows)])


def single_item() -> str:
    """A survey in which each response is about one item."""
    head = ["Response ID", "Date submitted", "Whose work are you grading?", "Grade"]
    lines = [
        [f"{n}{place}", "2026-05-01", TALKS[place], mark]
        for n, row in enumerate(answers())
        for place, mark in enumerate(row)
        if mark
    ]
    return text_of([head, *lines])


def matrix() -> str:
    """Scores without any label; the first line repeats one."""
    rows = [[f"{mark or 3}.0" for mark in ("2", *row)] for row in answers()]
    return text_of([["3.0"] * 5, *rows])


def numbered_reviews() -> str:
    """Papers with two to four reviews in numbered columns, and a decision."""
    chance = random.Random(1)
    rows: list[list[str]] = [["paper_id", "0", "1", "2", "3", "decision"]]
    for paper in range(120):
        number = chance.randint(2, 4)
        marks = [str(chance.randint(1, 10)) for _ in range(number)]
        rows.append(
            [f"p{paper}", *marks, *[""] * (4 - number), chance.choice(["yes", "no"])]
        )
    return text_of(rows, "\t")


RANKS = "Please rank the talks"
FILES: dict[str, LookAlike] = {
    "google.csv": LookAlike(google_grid().encode(), {}),
    "microsoft.csv": LookAlike(b"\xef\xbb\xbf" + microsoft().encode(), {}),
    "qualtrics.csv": LookAlike(qualtrics().encode(), {}),
    "qualtrics.tsv": LookAlike(
        qualtrics("words").replace(",", "\t").encode("utf-16"),
        {"scale": "poor<fair<good"},
    ),
    "surveymonkey.csv": LookAlike(surveymonkey().encode("cp1252"), {"rank": RANKS}),
    "limesurvey.csv": LookAlike(limesurvey().encode(), {}),
    "words.csv": LookAlike(
        grid_of_words().encode("mac_roman"), {"scale": "poor<fair<good"}
    ),
    "item-first.csv": LookAlike(item_first().encode(), {}),
    "single-item.csv": LookAlike(single_item().encode("cp1252"), {}),
    "matrix.csv": LookAlike(matrix().encode(), {"rows": "items"}),
    "numbered.tsv": LookAlike(numbered_reviews().encode(), {}),
}
"""Files of other programs, with what each needs."""
