"""Make the samples of conference exports: `python examples/exports_conference.py`.

One made-up conference as HotCRP, OpenReview and CMT would export it. Everything here is
generated; nobody in it exists.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import xlsxwriter

from evenhand import designs
from evenhand.randomness import stream, uniforms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SEED = 11
TITLES = (
    "Tea, measured twice",
    'What "fair" means to a queue',
    "Bridges that hum",
    "Counting birds from memory",
    "A census of lost gloves",
    "Slow clocks, fast rivers",
    "On the price of waiting",
    "Maps for people who wander",
    "Bread without a recipe",
    "Noise in small orchestras",
    "The last bus, revisited",
    "How gardens remember rain",
)
PEOPLE = (
    *("Anna", "Bo", "Cy", "Dee", "Eli", "Fay", "Gus", "Hal"),
    *("Ida", "Jo", "Kim", "Lou", "May", "Ned", "Ola", "Pia"),
)
PRAISE = (
    "Clear, careful and useful.",
    'The authors say "it depends",\nbut not on what.',
    "Good idea, thin evidence; see page 3.",
    "I learned something, which is rare.",
    "Well written.\n\nThe second study, however, is missing a control.",
)
LETTERS = "DCBA"
RATINGS = {
    3: "3: Clear rejection",
    4: "4: Ok but not good enough - rejection",
    5: "5: Marginally below acceptance threshold",
    6: "6: Marginally above acceptance threshold",
    7: "7: Good paper, accept",
    8: "8: Top 50% of accepted papers, clear accept",
}
SURE = {
    2: "2: Willing to defend, but quite likely wrong",
    3: "3: Fairly confident",
    4: "4: Confident but not certain",
}
SOUND = ("1 poor", "2 fair", "3 good", "4 excellent")
ANSWERS = ("Reject", "Weak reject", "Borderline", "Weak accept", "Accept")
VENUE = "Example.org/2026/Conference"
STEPS = ("min", "max", "average")
ZERO_TIME = 1_770_000_000
HERE = Path(__file__).parent / "exports"

Rows = list[list[object]]


@dataclass(frozen=True, slots=True)
class Review:
    """One review, before a platform writes it down.

    Attributes:
        paper: Number of the paper, from 1.
        letter: The review's letter among those of its paper.
        person: Index of the reviewer.
        merit: What the reviewer thinks, before a form rounds it.
        sure: How sure the reviewer is, from 0 to 1.
    """

    paper: int
    letter: str
    person: int
    merit: float
    sure: float

    @property
    def title(self) -> str:
        """The paper's title."""
        return TITLES[self.paper - 1]

    @property
    def name(self) -> str:
        """The reviewer's name."""
        return PEOPLE[self.person]

    @property
    def email(self) -> str:
        """The reviewer's address."""
        return f"{self.name.lower()}@example.org"

    @property
    def text(self) -> str:
        """What the reviewer wrote."""
        return PRAISE[(3 * self.paper + self.person) % len(PRAISE)]

    @property
    def is_open(self) -> bool:
        """Whether the reviewer left the merit open; one did."""
        return (self.paper, self.letter) == (6, "B")

    def on(self, low: int, high: int) -> int:
        """The merit on a scale of whole numbers."""
        middle, step = (low + high) / 2, (high - low) / 4.5
        return min(max(round(middle + step * self.merit), low), high)

    def confidence(self, low: int, high: int) -> int:
        """How sure the reviewer is, on a scale of whole numbers."""
        return low + int(self.sure * (high - low + 0.999))


def reviews() -> list[Review]:
    """Sixteen reviewers, three of twelve papers each, with scales of their own."""
    sees = designs.balanced(12, 16, per_reviewer=3, rng=SEED).tolist()
    values, shifts = normal("values", 12), normal("shifts", 16)
    noise, sure = iter(normal("noise", 48)), iter(uniforms(stream(SEED, "sure"), 48))
    seen = dict.fromkeys(range(12), 0)
    found = []
    for person, papers in enumerate(sees):
        for paper in papers:
            letter = "ABCDEFGH"[seen[paper]]
            seen[paper] += 1
            merit = values[paper] + 0.6 * shifts[person] + 0.4 * next(noise)
            found.append(Review(paper + 1, letter, person, merit, float(next(sure))))
    return sorted(found, key=lambda review: (review.paper, review.letter))


def normal(what: str, size: int) -> list[float]:
    """Draw standard normal numbers."""
    law = statistics.NormalDist()
    chances = uniforms(stream(SEED, what), size).tolist()
    return [law.inv_cdf(min(max(chance, 1e-9), 1 - 1e-9)) for chance in chances]


def table(header: Sequence[str], rows: Rows) -> str:
    """Write rows as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def document(content: object) -> str:
    """Write a value as the text of a JSON file."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def workbook(rows: Rows, name: str) -> bytes:
    """Write rows as a workbook of one sheet, the same bytes each time."""
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    book.set_properties({"created": dt.datetime(2026, 1, 1)})
    sheet = book.add_worksheet(name)
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            if isinstance(value, str) and value:
                sheet.write_string(row, column, value)
            elif isinstance(value, int):
                sheet.write_number(row, column, value)
    book.close()
    return file.getvalue()


def hotcrp_reviews() -> str:
    """Reviews CSV: letters of which A is best, and text fields."""
    header = "paper,title,review,reviewername,email,Overall merit,Reviewer expertise"
    rows: Rows = [
        [
            *(one.paper, one.title, f"{one.paper}{one.letter}", one.name, one.email),
            "" if one.is_open else LETTERS[one.on(0, 3)],
            *(one.confidence(1, 3), f"A paper on {one.title.lower()}.", one.text),
        ]
        for one in reviews()
    ]
    return table([*header.split(","), "Paper summary", "Comments for authors"], rows)


def hotcrp_scores() -> str:
    """Scores CSV: the form's keywords, and two papers whose reviewers are hidden."""
    header = "paper,title,decision,review,reviewername,email,OveMer,RevExp"
    rows: Rows = []
    for one in reviews():
        hidden = one.paper in (4, 9)
        who = ["", ""] if hidden else [one.name, one.email]
        decision = "Accepted" if one.paper % 3 == 0 else "Rejected"
        review = f"{one.paper}{one.letter}"
        scores = [one.on(1, 5), one.confidence(1, 3)]
        rows.append([one.paper, one.title, decision, review, *who, *scores])
    return table(header.split(","), rows)


def status(one: Review) -> str:
    """How far a review is: three are not submitted."""
    states = {(2, "D"): "draft", (7, "C"): "draft", (11, "B"): "pending approval"}
    return states.get((one.paper, one.letter), "complete")


def hotcrp_batch() -> str:
    """CSV of the batch script, with reviews of every status."""
    header = "pid,review,email,round,submitted_at,vtag,status,Overall merit"
    rows: Rows = []
    for place, one in enumerate(reviews()):
        state, time = status(one), ZERO_TIME + 997 * place
        started = "" if state == "draft" else time
        review = f"{one.paper}{one.letter}"
        merit = one.on(1, 5)
        head = [one.paper, review, one.email, "R1", started, time + 60, state]
        rows.append([*head, merit, one.confidence(1, 3), one.text])
    return table(
        [*header.split(","), "Reviewer expertise", "Comments for authors"], rows
    )


def hotcrp_json() -> str:
    """JSON of reviews, with drafts, a metareview and a comment among them."""
    found: list[dict[str, object]] = []
    for place, one in enumerate(reviews()):
        state = status(one)
        entry: dict[str, object] = {
            "object": "review",
            "pid": one.paper,
            "rid": 100 + place,
            "ordinal": one.letter,
            "rtype": 2,
            "round": "R1",
            "status": {"pending approval": "delivered"}.get(state, state),
            "blind": True,
            "reviewer": one.name,
            "reviewer_email": one.email,
            "OveMer": one.on(1, 5),
            "RevExp": one.confidence(1, 3),
            "ComAut": one.text,
        }
        found.append(entry)
    meta = {**found[0], "rid": 900, "ordinal": "Z", "rtype": 5, "OveMer": 5}
    comment = {"object": "comment", "pid": 1, "cid": 7, "text": "Discussed on Monday."}
    return document([*found, meta, comment])


def submission(paper: int, version: int) -> dict[str, object]:
    """A submission's note; the last paper was withdrawn."""
    title, gone = TITLES[paper - 1], paper == len(TITLES)
    forum = f"forum{paper:02d}"
    fields: dict[str, object] = {"title": title, "abstract": f"We study {title}."}
    end = "Withdrawn_Submission" if gone else "Submission"
    if version == 1:
        extra: dict[str, object] = {"invitation": f"{VENUE}/-/{end}"}
    else:
        fields["venueid"] = f"{VENUE}/{end}" if gone else VENUE
        extra = {"invitations": [f"{VENUE}/-/Submission", f"{VENUE}/-/Edit"]}
    content = fields if version == 1 else wrapped(fields)
    author = [f"{VENUE}/Submission{paper}/Authors"]
    head = {"id": forum, "forum": forum, "number": paper, "signatures": author}
    return {**head, **extra, "content": content}


def wrapped(fields: dict[str, object]) -> dict[str, object]:
    """Put each value inside an object, as version 2 does."""
    return {name: {"value": value} for name, value in fields.items()}


def reply(paper: int, end: str, who: str, name: str, version: int) -> dict[str, object]:
    """A note that replies to a submission, without its content."""
    folder = f"{VENUE}/Submission{paper}" if version > 1 else f"{VENUE}/Paper{paper}"
    invitation = f"{folder}/-/{end}"
    known: dict[str, object] = (
        {"invitation": invitation}
        if version == 1
        else {"invitations": [invitation, f"{VENUE}/-/Edit"]}
    )
    forum = f"forum{paper:02d}"
    signed = who if who.startswith("~") else f"{folder}/{who}"
    head = {"id": name, "forum": forum, "replyto": forum, "signatures": [signed]}
    return {**head, **known}


def openreview_v1() -> str:
    """Notes of version 1: submissions, reviews, comments and decisions in one list."""
    notes = [submission(paper, 1) for paper in range(1, len(TITLES) + 1)]
    for place, one in enumerate(reviews()):
        who, name = f"~{one.name}_Example1", f"review{place:02d}"
        note = reply(one.paper, "Official_Review", who, name, 1)
        note["content"] = {
            "title": "Review",
            "review": one.text,
            "rating": RATINGS[one.on(3, 8)],
            "confidence": SURE[one.confidence(2, 4)],
        }
        notes.append(note)
    for paper in range(1, len(TITLES) + 1):
        comment = reply(paper, "Official_Comment", "Authors", f"comment{paper}", 1)
        notes.append({**comment, "content": {"comment": "Thank you, all."}})
        decision = reply(paper, "Decision", "Program_Chairs", f"decision{paper}", 1)
        verdict = "Accept (Poster)" if paper % 3 == 0 else "Reject"
        notes.append({**decision, "content": {"decision": verdict}})
    return document({"notes": notes, "count": len(notes)})


def openreview_v2() -> str:
    """Submissions of version 2, their replies inside and signed with pseudonyms."""
    notes = {paper: submission(paper, 2) for paper in range(1, len(TITLES) + 1)}
    replies: dict[int, list[dict[str, object]]] = {paper: [] for paper in notes}
    for place, one in enumerate(reviews()):
        who = f"Reviewer_{one.name[:2]}{one.paper:02d}"
        note = reply(one.paper, "Official_Review", who, f"review{place:02d}", 2)
        note["content"] = wrapped(
            {
                "summary": one.text,
                "soundness": SOUND[one.confidence(0, 3)],
                "rating": one.on(1, 10),
                "confidence": one.confidence(1, 5),
            }
        )
        if place == 5:
            note["ddate"] = 1000 * ZERO_TIME
        replies[one.paper].append(note)
    for paper, there in replies.items():
        meta = reply(paper, "Meta_Review", "Area_Chair_x1", f"meta{paper}", 2)
        there.append({**meta, "content": wrapped({"recommendation": "Accept"})})
    return document(
        [{**note, "details": {"replies": replies[key]}} for key, note in notes.items()]
    )


def openreview_console() -> str:
    """The chairs' console: only averages, so that it is refused."""
    rows: Rows = []
    for paper, title in enumerate(TITLES, start=1):
        given = [one.on(1, 10) for one in reviews() if one.paper == paper]
        sure = [one.confidence(1, 5) for one in reviews() if one.paper == paper]
        head = [paper, f"forum{paper:02d}", title, len(given), len(given)]
        rows.append([*head, *summary(given), *summary(sure)])
    parts = [f"{part} {what}" for what in ("rating", "confidence") for part in STEPS]
    first = ["number", "forum", "title", "num reviewers", "num submitted reviewers"]
    return table([*first, *parts], rows)


def summary(given: list[int]) -> list[float]:
    """Least, greatest and average."""
    return [min(given), max(given), round(statistics.mean(given), 2)]


def cmt_rows() -> Rows:
    """A current sheet: words and numbers of two questions, and a text."""
    header: list[object] = [
        *("Paper ID", "Paper Title", "Reviewer Name", "Reviewer Email"),
        *("Reviewer Number", "Q1 (Summary)"),
        *("Q2 (Overall Rating)", "Q2 (Overall Rating - Value)"),
        *("Q3 (Confidence)", "Q3 (Confidence - Value)"),
    ]
    rows: Rows = [header]
    for one in reviews():
        merit, sure = one.on(1, 5), one.confidence(1, 3)
        answer = ["", ""] if one.is_open else [ANSWERS[merit - 1], merit]
        words = ("Guess", "Fairly sure", "Expert")[sure - 1]
        number = "ABCDEFGH".index(one.letter) + 1
        who = [f"{one.name} Example", one.email, number]
        rows.append([one.paper, one.title, *who, one.text, *answer, words, sure])
    return rows


def cmt_older() -> bytes:
    """An older workbook: the conference's name, an empty row, then the header."""
    header: list[object] = [
        *("SubmissionId", "Title", "First Name", "Last Name", "Email"),
        *("Overall Rating", "Overall Rating (Numeric)"),
        *("Confidence", "Confidence (Numeric)", "Comments"),
    ]
    rows: Rows = [["Example Conference 2013"], [], header]
    for one in reviews():
        merit, sure = one.on(1, 5), one.confidence(1, 3)
        words = ("Guess", "Fairly sure", "Expert")[sure - 1]
        who = [one.name, "Example", one.email]
        scores = [ANSWERS[merit - 1], merit, words, sure]
        rows.append([one.paper, one.title, *who, *scores, one.text])
    return workbook(rows, "Reviews")


FILES: dict[str, Callable[[], str | bytes]] = {
    "hotcrp-reviews.csv": hotcrp_reviews,
    "hotcrp-scores.csv": hotcrp_scores,
    "hotcrp-batch.csv": hotcrp_batch,
    "hotcrp.json": hotcrp_json,
    "openreview-v1.json": openreview_v1,
    "openreview-v2.json": openreview_v2,
    "openreview-console.csv": openreview_console,
    "cmt.csv": lambda: table([str(name) for name in cmt_rows()[0]], cmt_rows()[1:]),
    "cmt.xlsx": lambda: workbook(cmt_rows(), "Reviews"),
    "cmt-older.xlsx": cmt_older,
}
"""Each sample's name, and what makes it."""

if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for name, make in FILES.items():
        made = make()
        data = made if isinstance(made, bytes) else made.encode()
        (HERE / name).write_bytes(data)
