"""Make the samples of teaching, judging and plain tables: run this file.

Everything here is generated: people, projects and scores. `FILES` has a function for
each file of examples/exports/ that this module writes.
"""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import itertools
import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import xlsxwriter

from evenhand import designs
from evenhand.randomness import stream, uniforms

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 6
HERE = Path(__file__).parent / "exports"
PEOPLE = [
    "Anna Berg",
    "Bo Castel",
    "Cy Dorn",
    "Dee Engel",
    "Eli Falk",
    "Fay Grau",
    "Gus Holm",
    "Hal Iversen",
    "Ida Juhl",
    "Jon Karg",
    "Kim Lund",
    "Liv Moen",
]
TITLES = [
    "Tea, and why it cools",
    'Bridges of "soft" steel',
    "A map of quiet streets",
    "Counting birds by ear",
    "Bread without an oven",
    "Rain on flat roofs",
    "How a school clock drifts",
    "Letters between two lighthouses",
    "Paper boats in a canal",
    "The shortest way to the library",
]
REMARKS = [
    "Clear and useful.\nThe second part, on errors, is short.",
    'I liked the "long" example; the figures are hard to read.',
    "Sound, but little is new.",
    "",
    "The claim in section 3 needs a proof,\nor a test.",
]
WORDS = [
    "strong reject",
    "reject",
    "weak reject",
    "weak accept",
    "accept",
    "strong accept",
]


def table(
    header: list[str],
    rows: list[list[object]],
    *,
    delimiter: str = ",",
    end: str = "\n",
) -> str:
    """Write rows as text with separators."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=end, delimiter=delimiter)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def normal(what: str, size: int) -> list[float]:
    """Draw standard normal numbers."""
    law = statistics.NormalDist()
    chances = uniforms(stream(SEED, what), size).tolist()
    return [law.inv_cdf(min(max(chance, 1e-9), 1 - 1e-9)) for chance in chances]


def marks(
    what: str, *, items: int = 10, reviewers: int = 12, each: int = 4
) -> list[tuple[int, int, float]]:
    """Draw reviewer, item and a mark on no scale: value, strictness and noise."""
    sees = designs.balanced(items, reviewers, per_reviewer=each, rng=SEED).tolist()
    values = normal(f"{what} values", items)
    offsets = normal(f"{what} offsets", reviewers)
    noise = iter(normal(f"{what} noise", reviewers * each))
    return [
        (reviewer, item, values[item] + 0.5 * offsets[reviewer] + 0.4 * next(noise))
        for reviewer, seen in enumerate(sees)
        for item in sorted(seen)
    ]


def peers(what: str, students: int) -> list[tuple[int, int, float]]:
    """Draw marks of students for three others each."""
    values = normal(f"{what} values", students)
    offsets = normal(f"{what} offsets", students)
    noise = iter(normal(f"{what} noise", 3 * students))
    return [
        (student, peer, values[peer] + 0.5 * offsets[student] + 0.4 * next(noise))
        for student in range(students)
        for peer in sorted((student + step) % students for step in (1, 3, 7))
    ]


def whole(mark: float, low: int, high: int) -> int:
    """Put a mark on a form's scale of whole numbers."""
    middle, spread = (low + high) / 2, (high - low) / 5
    return min(max(round(middle + spread * mark), low), high)


def submission(item: int) -> int:
    """Number a submission, with gaps where some were withdrawn."""
    return 3 + 2 * item + item // 4


REVIEWS = [
    "#",
    "submission #",
    "member #",
    "member name",
    "number",
    "version",
    "text",
    "scores",
    "total score",
    "reviewer first name",
    "reviewer last name",
    "reviewer email",
    "reviewer person #",
    "date",
    "time",
    "attachment?",
]
SUBREVIEWER = ("Max", "Nord", "max@example.org", 902)
DELEGATED, CHANGED, UNSCORED = (17, 18, 27), (5, 17), 30


def easychair() -> list[dict[str, object]]:
    """Reviews with two older versions, some by a subreviewer, one without scores."""
    reviews = []
    counts: dict[int, int] = {}
    for number, (reviewer, item, mark) in enumerate(marks("easychair"), start=1):
        counts[item] = counts.get(item, 0) + 1
        score, confidence = whole(mark, -3, 3), 2 + (reviewer + item) % 4
        scores = f"Overall evaluation: {score}\nReviewer's confidence: {confidence}"
        sub = SUBREVIEWER if number in DELEGATED else ("", "", "", "")
        values = [
            number,
            submission(item),
            reviewer + 21,
            PEOPLE[reviewer],
            counts[item],
            2 if number in CHANGED else 1,
            REMARKS[number % len(REMARKS)],
            "" if number == UNSCORED else scores,
            "" if number == UNSCORED else score,
            *sub,
            f"2026-05-{1 + number % 28:02d}",
            f"{8 + number % 12:02d}:{number % 60:02d}",
            "no",
        ]
        review = dict(zip(REVIEWS, values, strict=True))
        if number in CHANGED:
            lower = max(score - 1, -3)
            reviews.append(
                review
                | {
                    "version": 1,
                    "scores": scores.replace(f": {score}\n", f": {lower}\n"),
                    "total score": lower,
                }
            )
        reviews.append(review)
    return reviews


def easychair_reviews() -> str:
    """review.csv, with the scores in one column."""
    return table(REVIEWS, [list(review.values()) for review in easychair()])


def moodle_submissions() -> str:
    """Twelve submissions of students, and an example of the teacher's."""
    rows: list[list[object]] = [
        [501, 40, 1, 7, "An example: how to describe a walk", "NULL"]
    ]
    titles = [*TITLES, "Two ways to fold a tent", "Notes on a slow river"]
    rows += [
        [502 + student, 40, 0, 300 + student, title, "NULL"]
        for student, title in enumerate(titles)
    ]
    header = ["id", "workshopid", "example", "authorid", "title", "grade"]
    return table(header, rows)


def moodle_assessments() -> str:
    """Three assessments by each student, two of their own work, some not done."""
    rows: list[list[object]] = [
        [0, 501, 300 + student, 0, f"{60 + student:.5f}", "NULL", "A start."]
        for student in range(12)
    ]
    for place, (student, peer, mark) in enumerate(peers("moodle", 12)):
        grade = f"{whole(mark, 0, 20) * 5:.5f}"
        remark = REMARKS[place % len(REMARKS)]
        missing = place in (8, 23)
        rows.append(
            [
                0,
                502 + peer,
                300 + student,
                1,
                "NULL" if missing else grade,
                "NULL",
                remark,
            ]
        )
    rows += [[0, 502 + own, 300 + own, 1, "100.00000", "NULL", ""] for own in (2, 9)]
    for number, row in enumerate(rows, start=801):
        row[0] = number
    header = "id,submissionid,reviewerid,weight,grade,gradinggrade,feedbackauthor"
    return table(header.split(","), rows)


def canvas() -> str:
    """Peer reviews of twelve students with three criteria; two were not done."""
    rows: list[list[object]] = []
    for place, (student, peer, mark) in enumerate(peers("canvas", 12)):
        points: list[object] = [whole(mark + 0.2, 0, 10), whole(mark, 0, 15)]
        points.append(whole(mark - 0.1, 0, 20))
        done = place not in (10, 29)
        total = float(sum(int(str(point)) for point in points))
        scores = [total, *points] if done else [""] * 4
        rows.append(
            [
                "completed" if done else "assigned",
                PEOPLE[student],
                PEOPLE[peer],
                *scores,
            ]
        )
    header = ["State", "Assessor", "Assessee", "Total Score (45.0)"]
    criteria = ["Criteria #1 (10.0)", "Criteria #2 (15.0)", "Criteria #3 (20.0)"]
    return table([*header, *criteria], rows)


def form_rows(what: str, students: int) -> list[tuple[dt.datetime, str, int, str]]:
    """Draw answers to a form: time, student, presenter, and a score of 1 to 5."""
    clock = dt.datetime(2026, 5, 4, 9, 30, tzinfo=dt.UTC)
    found = []
    for place, (student, peer, mark) in enumerate(peers(what, students)):
        time = clock + dt.timedelta(minutes=7 * place)
        found.append((time, PEOPLE[student], peer, str(whole(mark, 1, 5))))
    return found


def form_grid() -> str:
    """Responses to a grid: some rate their own talk, and one answers twice."""
    answers: dict[str, dict[int, str]] = {}
    times: dict[str, dt.datetime] = {}
    for time, student, peer, score in form_rows("form grid", 12):
        answers.setdefault(student, {})[peer] = score
        times[student] = time
    for own in (2, 7):
        answers[PEOPLE[own]][own] = "5"
    rows = [
        [
            f"{times[student]:%Y/%m/%d %I:%M:%S %p} GMT+2",
            f"{student.replace(' ', '.').lower()}@example.org",
            *(answers[student].get(peer, "") for peer in range(12)),
            REMARKS[place % len(REMARKS)],
        ]
        for place, student in enumerate(times)
    ]
    again = times[PEOPLE[4]] + dt.timedelta(days=1)
    rows.append(
        [f"{again:%Y/%m/%d %I:%M:%S %p} GMT+2", *rows[4][1:2], *["3"] * 5, *[""] * 8]
    )
    question = "How convincing was the talk of"
    grid = [f"{question} [{person}]" for person in PEOPLE]
    return table(
        ["Timestamp", "Email Address", *grid, "Remarks"], [[*row] for row in rows]
    )


def form_each() -> str:
    """Responses about one talk each, as a form in German writes them."""
    rows: list[list[object]] = []
    for place, (time, student, peer, score) in enumerate(form_rows("form each", 10)):
        half = "n/a" if place == 17 else f"{score},{5 * (place % 2)}"
        email = f"{student.replace(' ', '.').lower()}@example.org"
        remark = REMARKS[place % len(REMARKS)]
        rows.append(
            [
                f"{time:%d.%m.%Y %H:%M:%S}",
                email,
                student,
                TITLES[peer],
                half,
                remark,
            ]
        )
    rows.append(["11.05.2026 08:00:00", *rows[3][1:4], "2,5", ""])
    names = (
        "Zeitstempel,E-Mail-Adresse,Name,Welches Projekt?,Punkte (0 bis 6),Kommentar"
    )
    return table(names.split(","), rows, delimiter=";")


def rubric() -> bytes:
    """Responses to a rubric of three parts, as Microsoft Forms exports them."""
    parts = ["Content", "Method", "Style"]
    values = [normal(f"rubric {part}", 10) for part in parts]
    noise = iter(normal("rubric noise", 400))
    offsets = normal("rubric strictness", 12)
    clock = dt.datetime(2026, 5, 4, 9, tzinfo=dt.UTC)
    names = ["ID", "Start time", "Completion time", "Email", "Name"]
    rows: list[list[object]] = [[*names, "Whose work are you grading?", *parts]]
    for reviewer, work in (pair for pair in itertools.product(range(12), range(10))):
        # Each student grades five works, each work six students.
        if (work - reviewer) % 10 not in (0, 1, 3, 5, 8):
            continue
        level = 0.6 * offsets[reviewer]
        scores = [
            whole(level + values[part][work] + 0.8 * next(noise), 1, 5)
            for part in range(3)
        ]
        student = PEOPLE[reviewer]
        begin = clock + dt.timedelta(minutes=11 * len(rows))
        end = begin + dt.timedelta(minutes=7)
        times = [f"{time:%m/%d/%y %H:%M:%S}" for time in (begin, end)]
        email = f"{student.replace(' ', '.').lower()}@example.org"
        rows.append([len(rows), *times, email, student, TITLES[work], *scores])
    out = io.BytesIO()
    created = {"created": dt.datetime(2026, 5, 4)}
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        book.set_properties(created)
        sheet = book.add_worksheet("Form1")
        for line, row in enumerate(rows):
            sheet.write_row(line, 0, row)
    return out.getvalue()


def gavel() -> str:
    """Ninety decisions between ten projects by nine annotators."""
    values = normal("gavel values", 10)
    noise = iter(normal("gavel noise", 180))
    chance = iter(uniforms(stream(SEED, "gavel pairs"), 180).tolist())
    clock = dt.datetime(2026, 3, 14, 13, tzinfo=dt.UTC)
    rows: list[list[object]] = []
    for number in range(90):
        one = int(10 * next(chance))
        two = (one + 1 + int(9 * next(chance))) % 10
        first = values[one] + 0.7 * next(noise) > values[two] + 0.7 * next(noise)
        winner, loser = (one, two) if first else (two, one)
        time = clock + dt.timedelta(seconds=97 * number)
        annotator = 1 + (number * 5) % 9
        rows.append([annotator, winner + 1, loser + 1, f"{time:%Y-%m-%d %H:%M:%S}"])
    return table(["Annotator ID", "Winner ID", "Loser ID", "Time"], rows)


def matrix() -> list[list[object]]:
    """Marks of 1 to 10 by item and reviewer, empty where nobody looked."""
    cells: list[list[object]] = [[""] * 8 for _ in TITLES]
    for reviewer, item, mark in marks("matrix", reviewers=8, each=5):
        cells[item][reviewer] = whole(mark, 1, 10)
    return cells


def wide_items() -> str:
    """A row for each project, a column for each judge."""
    people = [person.split()[0] for person in PEOPLE[:8]]
    rows = [
        [f"P{item + 1:02d}", title, *cells]
        for item, (title, cells) in enumerate(zip(TITLES, matrix(), strict=True))
    ]
    return table(["project", "title", *people], rows)


def wide_reviewers() -> bytes:
    """A workbook with a row for each judge and a column for each project."""
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    book.set_properties({"created": dt.datetime(2026, 3, 14, tzinfo=dt.UTC)})
    sheet = book.add_worksheet("Judges")
    cells = matrix()
    sheet.write_row(0, 1, [f"P{item + 1:02d}" for item in range(len(cells))])
    for reviewer in range(8):
        sheet.write_string(reviewer + 1, 0, PEOPLE[reviewer])
        for item, row in enumerate(cells):
            if row[reviewer] != "":
                sheet.write_number(reviewer + 1, item + 1, int(str(row[reviewer])))
    book.close()
    return file.getvalue()


def words() -> str:
    """Recommendations in words, as people type them."""
    rows: list[list[object]] = []
    for place, (reviewer, item, mark) in enumerate(marks("words")):
        word = WORDS[whole(mark, 1, 6) - 1]
        word = word.capitalize() if place % 4 else word.replace(" ", "  ")
        rows.append([PEOPLE[reviewer], submission(item), TITLES[item], word])
    rows[7][3] = ""
    return table(["reviewer", "paper", "title", "rating"], rows)


def letters() -> str:
    """Grades from A, the best, to E."""
    rows: list[list[object]] = [
        [PEOPLE[reviewer], TITLES[item], "EDCBA"[whole(mark, 1, 5) - 1]]
        for reviewer, item, mark in marks("letters")
    ]
    return table(["judge", "entry", "grade"], rows, delimiter="\t")


def long_rows(what: str) -> list[list[object]]:
    """Plain ratings with one decimal."""
    return [
        [PEOPLE[reviewer], f"P{item + 1:02d}", round(6 + 1.5 * mark, 1)]
        for reviewer, item, mark in marks(what)
    ]


def long_lines() -> str:
    """JSON lines."""
    keys = ("annotator", "task", "score")
    lines = (
        json.dumps(dict(zip(keys, row, strict=True))) for row in long_rows("lines")
    )
    return "".join(f"{line}\n" for line in lines)


def long_parquet() -> bytes:
    """A Parquet file."""
    file = io.BytesIO()
    header = ["reviewer", "item", "score"]
    pl.DataFrame(long_rows("parquet"), schema=header, orient="row").write_parquet(file)
    return file.getvalue()


def long_gzip() -> bytes:
    """A compressed CSV file."""
    text = table(["reviewer", "item", "score"], long_rows("gzip"))
    return gzip.compress(text.encode(), mtime=0)


def semicolons() -> bytes:
    """What a spreadsheet writes in half of Europe: semicolons, a mark, CRLF."""
    text = table(
        ["Judge", "Project", "Points"],
        [[*row[:2], round(float(str(row[2])))] for row in long_rows("semicolons")],
        delimiter=";",
        end="\r\n",
    )
    return b"\xef\xbb\xbf" + text.encode()


FILES: dict[str, Callable[[], str | bytes]] = {
    "easychair-review.csv": easychair_reviews,
    "moodle-assessments.csv": moodle_assessments,
    "moodle-submissions.csv": moodle_submissions,
    "canvas.csv": canvas,
    "gavel-decisions.csv": gavel,
    "forms-grid.csv": form_grid,
    "forms.csv": form_each,
    "forms-rubric.xlsx": rubric,
    "wide-items.csv": wide_items,
    "wide-reviewers.xlsx": wide_reviewers,
    "words.csv": words,
    "letters.tsv": letters,
    "long.jsonl": long_lines,
    "long.parquet": long_parquet,
    "long.csv.gz": long_gzip,
    "semicolons.csv": semicolons,
}

if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for name, make in FILES.items():
        content = make()
        data = content.encode() if isinstance(content, str) else content
        (HERE / name).write_bytes(data)
