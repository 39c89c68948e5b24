"""OpenReview's notes: what is read from them, and what is refused in which words."""

from __future__ import annotations

import io
import json
from copy import deepcopy
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import EvenhandError, RatingsError
from evenhand.formats.reading import read_ratings
from evenhand.ratings import Ratings
from examples.exports_conference import HERE
from tests.formats.reader import notices, scores

SAMPLES = ("openreview-v1.json", "openreview-v2.json", "openreview-console.csv")
VENUE = "Example.org/2026/Workshop"


def note(paper: int, who: str, end: str = "Official_Review", **content: Any) -> Any:  # noqa: ANN401 - JSON
    return {
        "id": f"{end}-{paper}-{who}",
        "forum": f"f{paper}",
        "replyto": f"f{paper}",
        "invitations": [f"{VENUE}/Submission{paper}/-/{end}", f"{VENUE}/-/Edit"],
        "signatures": [
            who if who[0] == "~" else f"{VENUE}/Submission{paper}/Reviewer_{who}"
        ],
        "content": {name: {"value": value} for name, value in content.items()},
    }


REVIEWS = [
    note(1, "~Ada1", rating=6, summary="Fine."),
    note(1, "~Bo1", rating=4, summary="Less so."),
    note(2, "~Ada1", rating=3, summary="A long and winding text about it."),
]


def read(content: object, name: str = "notes.json", **options: Any) -> Ratings:  # noqa: ANN401 - options
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    stream = io.BytesIO(data)
    stream.name = name
    return read_ratings(stream, **options)


def refused(content: object, name: str = "notes.json", **options: Any) -> str:  # noqa: ANN401 - options
    with pytest.raises(RatingsError) as caught:
        read(content, name, **options)
    return str(caught.value)


def test_notes_of_version_1_are_read() -> None:
    ratings = read_ratings(HERE / "openreview-v1.json", score="rating")
    notes = json.loads((HERE / "openreview-v1.json").read_text())["notes"]
    expected = {
        (one["signatures"][0], int(one["forum"][-2:])): float(
            one["content"]["rating"].partition(":")[0]
        )
        for one in notes
        if one["invitation"].endswith("Official_Review") and one["forum"] != "forum12"
    }
    assert scores(ratings) == expected
    assert len(expected) == 44
    assert ratings.titles[2] == 'What "fair" means to a queue'
    assert ratings.read_as == (
        "OpenReview, by keys 'forum', 'content' and 'invitation': item from the "
        "submission's number, reviewer from 'signatures', score from 'rating'; "
        "to weigh scores by 'confidence', say --confidence confidence."
    )
    assert notices(ratings) == {
        "other_notes": "24 notes of another kind than a review left out.",
        "withdrawn_items": "4 notes on withdrawn or desk-rejected submissions left "
        "out.",
    }


def test_replies_of_version_2_are_read_under_their_pseudonyms() -> None:
    ratings = read_ratings(HERE / "openreview-v2.json", score="rating")
    assert (ratings.n_ratings, ratings.n_reviewers, ratings.n_items) == (43, 43, 11)
    assert ratings.reviewer_labels[0] == "Submission1/Reviewer_Bo01"
    said = notices(ratings)
    assert list(said) == [
        "other_notes",
        "deleted_notes",
        "withdrawn_items",
        "pseudonyms",
    ]
    assert said["other_notes"].startswith("12 notes of another kind")
    assert said["deleted_notes"] == "1 note marked as deleted left out."
    assert said["pseudonyms"].startswith("Reviews are signed with a pseudonym for one")


def test_a_number_before_words_is_the_score() -> None:
    ratings = read_ratings(HERE / "openreview-v2.json", score="soundness")
    assert set(ratings.scores.tolist()) == {1.0, 2.0, 3.0, 4.0}


@pytest.mark.parametrize("name", ["rating", "content.rating", "content.rating.value"])
def test_the_field_may_be_named_with_its_path(name: str) -> None:
    assert scores(read(REVIEWS, score=name))["~Ada1", 1] == 6.0


@pytest.mark.parametrize("key", ["replies", "directReplies"])
def test_replies_inside_submissions_count_once(key: str) -> None:
    submissions = [
        {
            "id": f"f{paper}",
            "forum": f"f{paper}",
            "number": paper + 40,
            "invitations": [f"{VENUE}/-/Submission"],
            "content": {"title": {"value": f"Paper {paper}"}},
            "details": {key: [one for one in REVIEWS if one["forum"] == f"f{paper}"]},
        }
        for paper in (1, 2)
    ]
    ratings = read([*submissions, *REVIEWS])
    assert scores(ratings) == {
        ("~Ada1", 41): 6.0,
        ("~Bo1", 41): 4.0,
        ("~Ada1", 42): 3.0,
    }
    assert ratings.titles == {41: "Paper 1", 42: "Paper 2"}


def test_json_lines_give_the_same() -> None:
    expected = read(REVIEWS).sha256
    lines = "\n".join(map(json.dumps, REVIEWS)).encode()
    assert read(lines, "notes.jsonl").sha256 == expected


def test_old_anonymous_reviewers_are_told_apart_by_paper() -> None:
    found = []
    for paper in (7, 8):
        one = note(paper, "x", rating=str(paper))
        one["invitation"] = f"{VENUE}/-/Paper{paper}/Official_Review"
        one["signatures"] = [f"{VENUE}/Paper{paper}/AnonReviewer1"]
        del one["invitations"]
        found.append(one)
    ratings = read(found)
    assert scores(ratings) == {
        ("Paper7/AnonReviewer1", 7): 7.0,
        ("Paper8/AnonReviewer1", 8): 8.0,
    }
    assert "pseudonyms" in notices(ratings)


def test_a_pseudonym_that_two_papers_have_by_chance_is_two_reviewers() -> None:
    found = [note(paper, "x", rating=str(paper)) for paper in (7, 8, 9)]
    for one, end in zip(found, ("Y88j", "Y88j", "aB3x"), strict=True):
        one["signatures"] = [f"Venue/2022/Reviewer_{end}"]
    people = [reviewer for reviewer, _ in scores(read(found))]
    assert len({*people}) == 3
    assert sorted(people)[0] == "2022/Reviewer_aB3x"


def test_a_group_or_no_signature_makes_each_note_its_own_reviewer() -> None:
    found = [deepcopy(one) for one in REVIEWS]
    found[0]["signatures"] = [f"{VENUE}/Reviewers"]
    found[1]["signatures"] = []
    ratings = read(found)
    assert ratings.n_reviewers == 3
    assert notices(ratings)["pseudonyms"].startswith("2 of 3 reviews are signed")


def test_numbers_that_start_again_give_way_to_forums() -> None:
    other = note(1, "~Cy1", rating=2)
    other["forum"] = other["replyto"] = "g1"
    ratings = read([*REVIEWS, other])
    assert ratings.item_labels == ("f1", "f2", "g1")
    assert "item from 'forum'" in ratings.read_as


def test_a_venue_may_call_its_reviews_otherwise() -> None:
    found = [note(1, "~Ada1", "Review", rating=5), note(1, "~Bo1", "Review", rating=6)]
    meta = note(1, "~Eve1", "Meta_Review", rating=9)
    ethics = note(1, "~Fay1", "Ethics_Review", rating=9)
    ratings = read([*found, meta, ethics])
    assert scores(ratings) == {("~Ada1", 1): 5.0, ("~Bo1", 1): 6.0}


def test_words_are_mapped_by_their_scale() -> None:
    found = [
        note(1, "~Ada1", recommendation="Accept", ethics="No", title="Great"),
        note(1, "~Bo1", recommendation="Reject", ethics="No", title="Poor"),
    ]
    ratings = read(found, scale="reject<accept")
    assert scores(ratings) == {("~Ada1", 1): 2.0, ("~Bo1", 1): 1.0}
    assert "must be a number, got 'Accept'" in refused(found)


def test_options_win_over_signatures_and_forum() -> None:
    ratings = read(REVIEWS, format="openreview", reviewer="id", item="replyto")
    assert ratings.item_labels == ("f1", "f2")
    assert "Official_Review-1-~Ada1" in ratings.reviewer_labels
    said = refused(REVIEWS, format="openreview", item="replytoo")
    assert said.startswith("notes.json: Unknown column 'replytoo', did you mean")


def changed(place: int, **parts: object) -> list[Any]:
    found = deepcopy(REVIEWS)
    found[place].update(parts)
    return found


@pytest.mark.parametrize(
    ("notes", "options", "message"),
    [
        (
            changed(1, content={"rating": {"value": "strong accept"}}),
            {},
            "notes.json: entry 2: rating must be a number, got 'strong accept'. If "
            "these scores are words, give their order with scale= or --scale "
            "'worst<...<best', or the best letter with --scale best=A.",
        ),
        (
            [note(1, "~Ada1", novelty=6, soundness=2)],
            {},
            "notes.json: Several fields may be the score: 'novelty', 'soundness'. Say "
            "which with score= or --score, once for each of several criteria.",
        ),
        (
            REVIEWS,
            {"score": "raiting"},
            "notes.json: Unknown score field 'raiting', did you mean 'rating'? Known "
            "score fields: 'rating'.",
        ),
        (
            [note(1, "~Eve1", "Decision", decision="Accept")],
            {},
            "notes.json: There is no note left. 1 note of another kind than a review "
            "left out.",
        ),
        (
            changed(2, id=REVIEWS[0]["id"]),
            {},
            "notes.json: entry 3: note must stand once, got another version of "
            "'Official_Review-1-~Ada1'.",
        ),
        (
            [note(1, "~Eve1", "Meta_Review", rating=6)],
            {},
            "notes.json: There is no note left. 1 note of another kind than a review "
            "left out.",
        ),
        (
            changed(2, forum="f1", signatures=["~Ada1"]),
            {"item": "forum"},
            "notes.json: entry 3: reviewer '~Ada1' rated item 'f1' twice (first: entry "
            "1). Say which count with repeats= or --repeats last, mean or all.",
        ),
        (
            [{**one, "ddate": 1} for one in REVIEWS],
            {},
            "notes.json: There is no note left. 3 notes marked as deleted left out.",
        ),
        (
            [{**REVIEWS[0], "invitations": []}],
            {},
            "notes.json: There is no note left. 1 note of another kind than a review "
            "left out.",
        ),
        (
            [note(1, "~Ada1", review="Only a text, and quite a long one at that.")],
            {},
            "notes.json: No field holds scores.",
        ),
    ],
)
def test_bad_notes_are_refused_with_a_sentence(
    notes: object, options: dict[str, str], message: str
) -> None:
    assert refused(notes, **options) == message


def test_the_consoles_table_is_refused_with_what_to_export() -> None:
    with pytest.raises(RatingsError, match=r"console's table has only .* docs/formats"):
        read_ratings(HERE / "openreview-console.csv")
    with pytest.raises(
        RatingsError, match="export the review notes of the API as JSON"
    ):
        read_ratings(pl.read_csv(HERE / "openreview-console.csv"))


def test_an_empty_rating_is_a_missing_score() -> None:
    found = changed(1, content={"rating": {"value": None}})
    ratings = read(found)
    assert ratings.n_ratings == 2
    assert "missing_scores" in notices(ratings)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["value", "rating", "a"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(max_examples=80)
@given(st.data())
def test_any_value_in_any_key_is_read_or_refused(data: st.DataObject) -> None:
    found = deepcopy(REVIEWS)
    for _ in range(data.draw(st.integers(1, 3))):
        one = data.draw(st.sampled_from(found))
        key = data.draw(st.sampled_from([*one, "ddate", "details", "number"]))
        one[key] = data.draw(JSON)
    suffix = data.draw(st.sampled_from(["json", "jsonl"]))
    lines = "\n".join(map(json.dumps, found)).encode()
    content = json.dumps(found).encode() if suffix == "json" else lines
    try:
        assert isinstance(read(content, f"notes.{suffix}"), Ratings)
    except EvenhandError as error:
        assert str(error).endswith((".", "?"))  # noqa: PT017 - either way is right
