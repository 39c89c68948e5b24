"""Nested JSON, several files of one kind, and platforms that nest answers."""

import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import evenhand as eh
from evenhand.errors import RatingsError

Document = dict[str, Any] | list[Any]


def read(document: object, **options: Any) -> eh.Ratings:  # noqa: ANN401 - any option
    stream = io.StringIO(json.dumps(document))
    stream.name = "r.json"
    return eh.read_ratings(stream, **options)


def scores(ratings: eh.Ratings) -> dict[tuple[str, str], float]:
    return {(str(r["reviewer"]), str(r["item"])): r["score"] for r in ratings.rows()}  # type: ignore[misc]  # numbers


def codes(ratings: eh.Ratings) -> dict[str, object]:
    return {notice.code: notice.facts.get("rows") for notice in ratings.notices}


def peerread(paper: int, *marks: int) -> dict[str, Any]:
    """Write a paper as PeerRead does: every review twice, comments, a meta review."""
    reviews: list[dict[str, Any]] = [
        {"IS_META_REVIEW": True, "comments": "Accept."},
        {"IS_META_REVIEW": False, "comments": "Why?", "OTHER_KEYS": "Person 1"},
    ]
    for number, mark in enumerate(marks, start=1):
        name = f"ICLR 2017 conference AnonReviewer{number}"
        review = {"OTHER_KEYS": name, "comments": "(text)", "IS_META_REVIEW": False}
        more = {"RECOMMENDATION": mark, "REVIEWER_CONFIDENCE": 3, "TITLE": "A review"}
        reviews.append(review | more)
    about = {"title": f"Paper {paper}", "histories": [], "id": str(paper)}
    return {**about, "reviews": reviews * 2, "accepted": True}


def inspect_log(model: str, *grades: object) -> dict[str, Any]:
    samples = [
        {"id": place, "epoch": 1, "scores": {"fact": {"value": grade}}}
        for place, grade in enumerate(grades, start=1)
    ]
    results = {"scores": [{"name": "fact"}]}
    about = {"model": model, "task": "guide", "scorers": [{"name": "fact"}]}
    return {"version": 2, "eval": about, "results": results, "samples": samples}


def label_studio() -> list[Any]:
    def annotation(writer: object, stars: int, *, cancelled: bool = False) -> Any:  # noqa: ANN401 - JSON
        rating = {"from_name": "quality", "type": "rating", "value": {"rating": stars}}
        kind = {"from_name": "kind", "type": "choices", "value": {"choices": ["news"]}}
        more = {"was_cancelled": cancelled, "ground_truth": False, "lead_time": 3.5}
        return {"id": 1, "completed_by": writer, "result": [rating, kind], **more}

    return [
        {
            "id": task,
            "data": {"text": f"text {task}"},
            "annotations": [
                annotation({"id": 1, "email": "a@x.org"}, task),
                annotation({"id": 2, "email": "b@x.org"}, 6 - task),
                annotation({"id": 3, "email": "c@x.org"}, 1, cancelled=True),
            ],
            "predictions": [{"model_version": "m", "result": []}],
        }
        for task in (1, 2, 3)
    ]


def argilla() -> list[Any]:
    return [
        {
            "id": f"r{record}",
            "text": "A text.",
            "quality.responses": [record, 5 - record, 3],
            "quality.responses.users": ["u1", "u2", "u3"],
            "quality.responses.status": ["submitted", "submitted", "draft"],
            "quality.suggestion": 4,
            "quality.suggestion.agent": "judge",
        }
        for record in (1, 2)
    ]


def pretalx() -> dict[str, Any]:
    def review(talk: str, user: str, score: int) -> dict[str, Any]:
        parts = [
            {"id": 1, "category": 7, "value": score, "label": "good"},
            {"id": 2, "category": 8, "value": 2 - score, "label": "fine"},
        ]
        whose = {"submission": talk, "user": user, "text": "Nice.", "answers": []}
        return {"id": 1, **whose, "score": f"{score}.0", "scores": parts}

    results = [review("AB", "anna", 2), review("CD", "anna", 1), review("AB", "bo", 0)]
    return {"count": 3, "next": None, "previous": None, "results": results}


PRETALX_CSV = (
    'Score,Text,"Score in ""Novelty""",Proposal ID,Title,Reviewer name,Reviewer email\n'
    "2.0,Nice,1,AB,On tea,Anna,a@x.org\n1.0,,2,CD,On milk,Anna,a@x.org\n"
    "0.0,,0,AB,On tea,Bo,b@x.org\n"
)


DOCUMENTS: dict[str, Document] = {
    "label-studio.json": label_studio(),
    "argilla.json": argilla(),
    "pretalx.json": pretalx(),
    "peerread.json": [peerread(1, 5, 6), peerread(2, 7, 3)],
    "inspect.json": [inspect_log("m/a", "C", "P"), inspect_log("m/b", "I", 1)],
    "votes.json": {
        "songs": [{"entry": "x", "votes": [{"judge": "Bo", "score": 12}]}],
        "hosts": [{"name": "Anna"}],
    },
}
"""Look-alikes of nested files, also for fuzzing.py."""


@pytest.mark.parametrize(
    ("document", "title", "some", "left_out"),
    [
        (label_studio(), "of Label Studio: ", {("b@x.org", "1"): 5}, 3),
        (argilla(), "of Argilla: ", {("u2", "r1"): 4}, 2),
        (pretalx(), "'user', item from 'submission'", {("bo", "AB"): 0}, None),
    ],
)
def test_answers_of_a_platform_are_read_at_once(
    document: Document,
    title: str,
    some: dict[tuple[str, str], float],
    left_out: int | None,
) -> None:
    ratings = read(document)
    assert title in ratings.read_as
    assert some.items() <= scores(ratings).items()
    assert codes(ratings).get("cancelled_answers") == left_out


def test_the_question_of_a_platform_is_asked_where_it_is_not_clear() -> None:
    other = {**argilla()[0], "tone.responses": [1, 2, 3]}
    other["tone.responses.users"] = other["quality.responses.users"]
    with pytest.raises(RatingsError, match=r"may be the score: 'quality', 'tone'. Say"):
        read([other])
    other["tone.responses.users"] = ["u1", "u1", "u3"]
    said = "r.json: entry 1: tone.responses must be one of each user"
    with pytest.raises(RatingsError, match=said):
        read([other])
    with pytest.raises(RatingsError, match="The records hold no answer"):
        read([{"id": 1, "data": {}, "annotations": []}])


def test_pretalx_has_a_table_too() -> None:
    ratings = eh.read_ratings(io.StringIO(PRETALX_CSV))
    assert scores(ratings)["Bo", "AB"] == 0
    assert ratings.titles == {"AB": "On tea", "CD": "On milk"}
    novelty = eh.read_ratings(io.StringIO(PRETALX_CSV), score='Score in "Novelty"')
    assert scores(novelty)["Anna", "CD"] == 2


def test_records_in_records_get_the_fields_of_their_parents() -> None:
    votes = [{"judge": "Bo", "score": 12}, {"judge": "Cy", "score": 10}]
    songs = [
        {"entry": "Malta", "year": 1, "votes": votes},
        {"entry": "Rome", "votes": []},
    ]
    ratings = read({"songs": songs})
    assert scores(ratings) == {("Bo", "Malta"): 12, ("Cy", "Malta"): 10}
    assert codes(ratings) == {"empty_lists": 1}
    assert scores(read(DOCUMENTS["votes.json"])) == {("Bo", "x"): 12}
    deep = [{"entry": "x", "rounds": [{"round": 1, "votes": votes}]}]
    assert scores(read(deep)) == {("Bo", "x"): 12, ("Cy", "x"): 10}


def test_rows_that_are_ratings_stay_as_they_were() -> None:
    tags = [{"a": 1}, {"a": 2}]
    rows = [{"judge": "Bo", "entry": "x", "score": 3, "tags": tags}]
    assert scores(read(rows)) == {("Bo", "x"): 3}
    rows = [{"who": "Bo", "what": "x", "n": 3, "tags": tags}]
    assert scores(read(rows, reviewer="who", item="what", score="n")) == {
        ("Bo", "x"): 3
    }


def test_several_lists_are_asked_about() -> None:
    first, second = ([{"who": "Bo", "n": n}] for n in (1, 2))
    document = [{"paper": "x", "before": first, "after": second}]
    said = "Several lists of records may be meant: 'before', 'after'. Say which with"
    with pytest.raises(RatingsError, match=said):
        read(document)
    options = {"reviewer": "who", "score": "n"}
    with pytest.raises(RatingsError, match=said):
        read(document, **options)
    assert scores(read(document, sheet="after", **options)) == {("Bo", "x"): 2}
    with pytest.raises(RatingsError, match="Unknown list 'aftr', did you mean 'after'"):
        read(document, sheet="aftr")


class TestSeveralFiles:
    @staticmethod
    def write(folder: Path, files: Mapping[str, object]) -> Path:
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    def test_a_folder_of_papers(self, tmp_path: Path) -> None:
        files = {f"{n}.json": peerread(n, n % 5, 5, 6) for n in (449, 450, 451)}
        self.write(tmp_path, {**files, ".hidden": "no"})
        ratings = eh.read_ratings(tmp_path)
        assert (
            "item from 'file', reviewer from 'file' + 'OTHER_KEYS'" in ratings.read_as
        )
        assert (ratings.n_items, ratings.n_reviewers, ratings.n_ratings) == (3, 9, 9)
        assert ratings.titles[450] == "Paper 450"
        counts = {"meta_reviews": 6, "unscored_comments": 6, "repeated_records": 9}
        assert counts.items() <= codes(ratings).items()
        pattern = eh.read_ratings(str(tmp_path / "*.json"))
        named = eh.read_ratings([tmp_path / name for name in files])
        assert pattern.sha256 == named.sha256 == ratings.sha256
        alone = eh.read_ratings(tmp_path / "449.json")
        assert (alone.item_labels, alone.n_ratings) == ((449,), 3)

    def test_any_reviews_of_a_paper_in_a_file(self, tmp_path: Path) -> None:
        reviews = [{"judge": "Bo", "score": 4}, {"judge": "Cy", "score": 5}]
        self.write(
            tmp_path, {"x.json": {"reviews": reviews}, "y.json": {"reviews": reviews}}
        )
        assert scores(eh.read_ratings(tmp_path))["Cy", "y"] == 5

    def test_logs_of_several_models(self, tmp_path: Path) -> None:
        logs = {
            "a.json": inspect_log("m/a", "C", "P", "N"),
            "b.json": inspect_log("m/b", "I", 1, None),
        }
        ratings = eh.read_ratings(self.write(tmp_path, logs))
        assert "by keys 'eval', 'samples' of inspect_ai: " in ratings.read_as
        assert scores(ratings) == {
            ("guide / fact / 1 / 1", "m/a"): 1,
            ("guide / fact / 2 / 1", "m/a"): 0.5,
            ("guide / fact / 3 / 1", "m/a"): 0,
            ("guide / fact / 1 / 1", "m/b"): 0,
            ("guide / fact / 2 / 1", "m/b"): 1,
        }
        assert codes(ratings)["failed_judgments"] == 1
        said = "All judgments are of one model, 'm/a', and one model cannot be ranked."
        with pytest.raises(RatingsError, match=said):
            eh.read_ratings(tmp_path / "a.json")

    def test_tables_below_each_other(self, tmp_path: Path) -> None:
        head = "judge,entry,mark\n"
        files = {"may.csv": f"{head}bo,x,1\n", "june.csv": f"{head}bo,y,2\n"}
        self.write(tmp_path, files)
        assert scores(eh.read_ratings(tmp_path)) == {("bo", "x"): 1, ("bo", "y"): 2}
        months = eh.read_ratings(tmp_path, reviewer="file+judge")
        assert set(months.reviewer_labels) == {"may / bo", "june / bo"}

    @pytest.mark.parametrize(
        ("files", "said"),
        [
            (
                {
                    "a.csv": "judge,entry,mark\nbo,x,1\n",
                    "b.csv": "judge,entry,note\nbo,x,1\n",
                },
                "b.csv: Its columns differ from .*a.csv: 'mark', 'note'. Give files of",
            ),
            (
                {"a.csv": "judge,entry,mark\nbo,x,1\n", "b.json": [{"judge": "bo"}]},
                "b.json: Its columns differ from .*a.csv: 'entry', 'mark'. Give",
            ),
            (
                {"a.json": inspect_log("m", "C"), "b.json": peerread(1, 5)},
                "b.json: Its columns differ from .*a.json: 'IS_META_REVIEW', 'OTHER",
            ),
            (
                {
                    "a.csv": "judge,entry,mark\nbo,x,1\n",
                    "b.csv": "judge,entry,mark\nbo,y,?!\n",
                },
                "2 files: file .*b.csv, line 2: mark must be a number, got",
            ),
            (
                {
                    "a.csv": "judge,entry,mark\nbo,x,1\n",
                    "b.csv": "judge,entry,mark\nbo,x,2\n",
                },
                "2 files: file .*b.csv, line 2: reviewer .*bo.* rated",
            ),
            ({}, "The folder holds no file that can"),
        ],
    )
    def test_what_does_not_go_together_is_named(
        self, tmp_path: Path, files: dict[str, object], said: str
    ) -> None:
        with pytest.raises(RatingsError) as caught:
            eh.read_ratings(self.write(tmp_path, files))
        assert re.search(said, str(caught.value)), str(caught.value)
