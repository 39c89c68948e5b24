"""HotCRP's exports: what is read from each, and what is refused in which words."""

from __future__ import annotations

import csv
import io
import json

import pytest

from evenhand.formats.files import fetch
from evenhand.formats.layouts import ReadOptions, layout_of
from evenhand.formats.reading import read_ratings
from evenhand.formats.tables import read_table
from examples.exports_conference import FILES, HERE
from tests.formats.reader import Reader, notices, scores

SAMPLES = {
    "hotcrp-reviews.csv": {"score": "Overall merit", "scale": "best=A"},
    "hotcrp-scores.csv": {"score": "OveMer"},
    "hotcrp-batch.csv": {"score": "Overall merit"},
    "hotcrp.json": {"score": "OveMer"},
}
HEADER = "paper,title,review,reviewername,email,Overall merit,Expertise\n"
ROWS = "1,On tea,1A,Anna,anna@example.org,3,2\n1,On tea,1B,Bo,bo@example.org,4,1\n"
HIDDEN = "paper,title,review,OveMer\n1,On tea,1A,3\n1,On tea,1B,4\n2,On milk,2A,2\n"


FILE = Reader("reviews.csv")
read, refused = FILE.read, FILE.refused


def sample(name: str) -> bytes:
    return (HERE / name).read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_samples_are_what_their_generator_makes(name: str) -> None:
    made = FILES[name]()
    assert sample(name) == (made if isinstance(made, bytes) else made.encode())


def test_reviews_csv_is_read_with_its_letters_and_titles() -> None:
    ratings = read_ratings(
        HERE / "hotcrp-reviews.csv", score="overall_merit", scale="best=A"
    )
    assert (len(ratings.reviewer_labels), len(ratings.item_labels)) == (16, 12)
    rows = list(csv.DictReader(io.StringIO(sample("hotcrp-reviews.csv").decode())))
    expected = {
        (row["email"], int(row["paper"])): float("DCBA".index(row["Overall merit"]) + 1)
        for row in rows
        if row["Overall merit"]
    }
    assert scores(ratings) == expected
    assert ratings.titles[2] == 'What "fair" means to a queue'
    assert ratings.read_as == (
        "HotCRP, by columns 'paper', 'title', 'reviewername' and 'email': item from "
        "'paper', reviewer from 'email', score from 'Overall merit'; to weigh scores "
        "by 'Reviewer expertise', say --confidence 'Reviewer expertise'."
    )
    assert list(notices(ratings)) == ["words_as_steps", "missing_scores"]


def test_scores_csv_takes_the_review_where_the_name_is_hidden() -> None:
    ratings = read_ratings(HERE / "hotcrp-scores.csv", score="OveMer")
    hidden = [label for label in ratings.reviewer_labels if "@" not in str(label)]
    assert hidden == ["4A", "4B", "4C", "4D", "9A", "9B", "9C", "9D"]
    assert notices(ratings) == {
        "pseudonyms": "8 of 48 reviews do not say who wrote them. Each of these counts "
        "as a reviewer of its own, so no person's scores of several items are compared."
    }
    assert "reviewer from 'email' or 'review'" in ratings.read_as


def test_batch_csv_leaves_out_what_was_not_submitted() -> None:
    ratings = read_ratings(HERE / "hotcrp-batch.csv", score="Overall merit")
    assert len(ratings.scores) == 45
    assert notices(ratings) == {
        "unfinished_reviews": "3 rows with a review that was not submitted left out."
    }


def test_json_leaves_out_comments_metareviews_and_drafts() -> None:
    ratings = read_ratings(HERE / "hotcrp.json", score="OveMer")
    batch = read_ratings(HERE / "hotcrp-batch.csv", score="Overall merit")
    assert scores(ratings) == scores(batch)
    assert notices(ratings) == {
        "other_entries": "1 row without a review left out.",
        "meta_reviews": "1 row with a metareview left out.",
        "unfinished_reviews": "3 rows with a review that was not submitted left out.",
    }


def test_json_of_the_api_and_json_lines_give_the_same() -> None:
    reviews = json.loads(sample("hotcrp.json"))
    wrapped = json.dumps({"ok": True, "message_list": [{}], "reviews": reviews})
    lines = "\n".join(map(json.dumps, reviews))
    expected = read_ratings(HERE / "hotcrp.json", score="OveMer").sha256
    assert read(wrapped, "r.json", score="OveMer").sha256 == expected
    assert read(lines, "r.jsonl", score="OveMer").sha256 == expected


def test_older_json_tells_drafts_by_their_missing_submission() -> None:
    entries = [
        {"pid": 1, "rid": 1, "ordinal": "A", "submitted": True, "OveMer": 3},
        {"pid": 1, "rid": 2, "ordinal": "B", "submitted": True, "OveMer": 4},
        {"pid": 1, "rid": 3, "draft": True, "OveMer": 1},
    ]
    ratings = read(json.dumps(entries), "r.json")
    assert scores(ratings) == {("1A", 1): 3.0, ("1B", 1): 4.0}
    assert notices(ratings)["unfinished_reviews"].endswith(
        "1 row with a review that was not submitted left out."
    )


def test_names_hidden_everywhere_make_each_review_its_own_reviewer() -> None:
    ratings = read(HIDDEN)
    assert ratings.reviewer_labels == ("1A", "1B", "2A")
    assert notices(ratings)["pseudonyms"].startswith("Reviews do not say who")
    assert "reviewer from 'review'" in ratings.read_as


def test_reviews_by_token_are_not_one_person() -> None:
    rows = "1,a,1A,Jane Q. Public,anonymous,3\n2,b,2A,Jane Q. Public,anonymous2,4\n"
    text = "paper,title,review,reviewername,email,OveMer\n" + rows
    # The name is shared too, so it cannot stand in for the address.
    assert read(text).reviewer_labels == ("1A", "2A")


def test_a_text_called_review_does_not_make_a_table_hotcrps() -> None:
    rows = "1,On tea,Anna,I like it,3\n1,On tea,Bo,So so,2\n"
    ratings = read("paper,title,reviewer,review,score\n" + rows)
    assert ratings.read_as.startswith("the long form: reviewer from 'reviewer'")
    assert ratings.reviewer_labels == ("Anna", "Bo")


def test_reviewer_and_paper_ids_do_not_make_a_table_hotcrps() -> None:
    table = read_table(fetch(io.StringIO("pid,rid,score\n1,7,3\n2,7,4\n")))
    assert layout_of("hotcrp").recognise(table, ReadOptions()) == ""


def test_a_name_stands_in_for_a_hidden_address() -> None:
    text = "paper,title,review,reviewername,OveMer\n1,a,1A,Anna,3\n1,a,1B,Bo,4\n"
    assert read(text).reviewer_labels == ("Anna", "Bo")


def test_options_win_over_the_platforms_own_columns() -> None:
    ratings = read(HEADER + ROWS, score="Expertise", reviewer="reviewername")
    assert scores(ratings) == {("Anna", 1): 2.0, ("Bo", 1): 1.0}
    ratings = read(HEADER + ROWS, score="Expertise", item="title")
    assert ratings.item_labels == ("On tea",)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            HEADER.replace("Overall merit", "Novelty") + ROWS,
            {},
            "reviews.csv: Several fields may be the score: 'Novelty', 'Expertise'. Say "
            "which with score= or --score, once for each of several criteria.",
        ),
        (
            HEADER + ROWS,
            {"score": "Overal merit"},
            "reviews.csv: Unknown score field 'Overal merit', did you mean 'Overall "
            "merit'? Known score fields: 'Overall merit', 'Expertise'.",
        ),
        (
            HEADER + ROWS,
            {"score": "Expertise", "item": "papr"},
            "reviews.csv: Unknown column 'papr', did you mean 'paper'? Known columns: "
            "'paper', 'title', 'review', 'reviewername', 'email', 'Overall merit', "
            "'Expertise'.",
        ),
        (
            HEADER + ROWS.replace("4,1", "B,1"),
            {"score": "Overall merit"},
            "reviews.csv:3: Overall merit must be a number, got 'B'.",
        ),
        (
            HEADER + ROWS.replace("3,2\n", "A,2\n").replace("4,1", "Q?,1"),
            {"score": "Overall merit", "scale": "best=A"},
            "reviews.csv:3: Overall merit must be on the scale A, got 'Q?'.",
        ),
        (
            HEADER + ROWS + ROWS.replace("1A", "1C"),
            {"score": "Expertise"},
            "reviews.csv: 2 problems:\n  line 4: reviewer 'anna@example.org' rated "
            "item 1 twice (first: line 2).\n  line 5: reviewer 'bo@",
        ),
        (
            "pid,review,email,round,field,format,data\n1,1A,a@b,R1,Merit,0,3\n",
            {},
            "reviews.csv: Several fields may be the score: 'field', 'data'. Say which "
            "with score= or --score, once for each of several criteria.",
        ),
        (
            "paper,title,OveMer\n1,On tea,3\n1,On tea,4\n",
            {},
            "reviews.csv: No column for the reviewer among 'paper', 'title', 'OveMer'.",
        ),
        (
            "pid,review,email,round,status,Merit\n1,1A,a@b,R1,draft,3\n",
            {},
            "reviews.csv: There is no row left. 1 row with a review that was not "
            "submitted left out.",
        ),
        (
            "paper,title,review,reviewername,email,Comments\n1,a,1A,A,a@b,"
            + "Long remarks that nobody would call a score at all\n",
            {},
            "reviews.csv: No field holds scores.",
        ),
    ],
)
def test_bad_files_are_refused_with_a_sentence(
    text: str, options: dict[str, str], message: str
) -> None:
    assert refused(text, **options).startswith(message)


def test_a_renamed_item_column_is_asked_for() -> None:
    text = HEADER.replace("paper", "nr") + ROWS
    said = refused(text, format="hotcrp", score="Expertise")
    assert said.startswith("reviews.csv: No column for the item among 'nr', 'title'")
    assert len(read(text, format="hotcrp", score="Expertise", item="nr").scores) == 2


def test_no_entry_counts_as_no_score_and_a_stray_status_is_named() -> None:
    text = (
        "pid,review,email,round,status,Merit\n"
        "1,1A,a@b,R1,complete,N/A\n1,1B,b@b,R1,complete,-2\n2,2A,b@b,R1,lost,3\n"
    )
    ratings = read(text)
    assert scores(ratings) == {("b@b", 1): -2.0}
    assert notices(ratings)["unfinished_reviews"].endswith(
        "1 row with a review that was not submitted left out."
    )
    assert "missing_scores" in notices(ratings)


def test_a_bad_cell_does_not_hide_the_field_it_is_in() -> None:
    rows = "".join(f"{paper},a,{paper}A,A,a@b,3,2\n" for paper in range(1, 6))
    bad = "6,a,6A,A,a@b,I could not decide, so I write this long remark.,2\n"
    text = HEADER + rows + bad.replace("decide,", "decide;")
    said = refused(text)
    assert said.startswith("reviews.csv:7: Overall merit must be a number, got 'I")
    assert said == refused(text, score="Overall merit")


def test_a_form_field_called_status_is_no_status() -> None:
    text = HEADER.replace("Expertise", "Status") + ROWS
    assert len(read(text, score="Overall merit").scores) == 2
