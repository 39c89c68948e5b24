"""Files that a reader could take for something else: refused, or told of."""

from __future__ import annotations

import io
import json
import shlex
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from evenhand.errors import EvenhandError, OptionError, RatingsError
from tests.formats.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand.ratings import Ratings

    FloatArray = NDArray[np.float64]

LONG = "reviewer,item,score\nanna,x,3\nbo,x,4\nanna,y,2\n"
HOTCRP = "paper,title,reviewername,email,OveMer,RevExp\n"
CMT = "Paper ID,Paper Title,Reviewer Name,Reviewer Email,Q1 (Overall Rating - Value)\n"
EASYCHAIR = (
    "#,submission #,member #,member name,reviewer first name,reviewer last name,"
    "reviewer email,scores\n"
)
NOTE: dict[str, object] = {
    "id": "r",
    "forum": "x",
    "signatures": ["~Ada1"],
    "invitation": "V/Paper3/-/Official_Review",
}


FILE = Reader("f.csv", EvenhandError)
read, refused = FILE.read, FILE.refused


def notes(*contents: dict[str, object]) -> str:
    return json.dumps(
        [{**NOTE, "id": f"r{n}", "forum": f"x{n}", "content": content}
         for n, content in enumerate(contents)]
    )  # fmt: skip


def codes(ratings: Ratings) -> list[str]:
    return [notice.code for notice in ratings.notices]


SUMMARIES = (
    "Mittelwert|Durchschnitt|Schnitt|Final score|Avg. score|Score (avg)|\u03a3|\u2211|"
    "Mediana|M\u00e9diane|Std.Dev|Std. Dev.|Score (mean)|Average|mean score|TOTAL|Sum|"
    "std_dev|Median|Rank|n|Overall|Max|min|Weight"
)


@pytest.mark.parametrize("name", SUMMARIES.split("|"))
def test_summaries_of_many_names_are_refused(name: str) -> None:
    said = f"f.csv: {{}} {name!r} looks like a summary, not like {{}}. Leave it out "
    said += f"with exclude= or --exclude {shlex.quote(name)}, or rename it; "
    table = f"Projekt,Anna,Bo,{name}\nx,1,3,2\ny,4,2,3\n"
    expected = said.format("Column", "a reviewer")
    assert refused(table, rows="items").startswith(expected)
    table = f"Projekt,Anna,Bo\nx,1,3\ny,4,2\n{name},2.5,2.5\n"
    assert refused(table, rows="items").startswith(said.format("Row", "an item"))


@pytest.mark.parametrize("name", ["Accept?", "Anna confidence", "Bo expertise"])
def test_columns_that_are_not_scores_are_refused(name: str) -> None:
    table = f"item,Anna,Bo,{name}\nx,1,3,0\ny,4,2,1\n"
    said = refused(table, rows="items")
    assert f"Column {name!r} does not look like a reviewer" in said


STATISTICS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "mean": lambda rows: rows.mean(axis=1),
    "sum": lambda rows: rows.sum(axis=1),
}


def table_with(statistic: str, reviewers: int, *, turned: bool, place: int) -> str:
    scores = np.random.default_rng(7).integers(1, 11, (30, reviewers)).astype(float)
    added = np.round(STATISTICS[statistic](scores), 2)
    cells = np.insert(scores, place, added, axis=1)
    cells = cells.T if turned else cells
    names = [f"N{n}x" for n in range(cells.shape[1])]
    lines = [",".join(["label", *names])]
    for n, row in enumerate(cells):
        lines.append(",".join([f"t{n}", *(f"{value:g}" for value in row)]))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("place", [0, 3, 5])
@pytest.mark.parametrize("reviewers", [5, 6])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_numbers_tell_a_summary_whatever_its_name(
    statistic: str, reviewers: int, place: int, *, turned: bool
) -> None:
    table = table_with(statistic, reviewers, turned=turned, place=place)
    which = f"Row 't{place}'" if turned else f"Column 'N{place}x'"
    said = refused(table, rows="reviewers" if turned else "items")
    assert f"{which} is the {statistic} of others wherever it is given" in said
    assert "give the ratings in the long form" in said


def test_random_scores_are_not_taken_for_summaries() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows, columns = rng.integers(3, 12, 2)
        scores = rng.integers(1, 6, (rows, columns))
        lines = ["label," + ",".join(f"N{n}x" for n in range(columns))]
        lines += [f"t{n}," + ",".join(map(str, row)) for n, row in enumerate(scores)]
        assert read("\n".join(lines), rows="items").n_ratings == rows * columns


def test_reviewers_who_agree_are_not_summaries() -> None:
    table = "item,Anna,Bo,Carl\n" + "".join(
        f"t{n},{n % 5},{n % 5},{n % 5}\n" for n in range(9)
    )
    assert read(table, rows="items").n_reviewers == 3


def test_items_across_are_named_in_what_was_read() -> None:
    assert "items in 2 columns: 'x', 'y'." in (
        read("judge,x,y\nAnna,1,2\nBo,3,4\n", rows="reviewers").read_as
    )


def test_a_column_without_a_name_is_refused_in_a_wide_table() -> None:
    assert refused("item,Anna,,Carl\nx,1,2,3\ny,4,5,6\n", rows="items") == (
        "f.csv: A column without a name holds values. Name it or empty it."
    )
    assert read("item,Anna,,Carl\nx,1,,3\ny,4,,6\n", rows="items").n_ratings == 4
    assert read(",Anna,Carl\nx,1,3\ny,4,6\n", rows="items").n_ratings == 4
    assert read("reviewer,item,score,\nanna,x,1,2\nbo,x,2,3\n").n_ratings == 2


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (
            "paper,Reviewer 1,Reviewer 2,Reviewer 3\nx,1,2,3\ny,3,2,1\n",
            {"rows": "items"},
        ),
        ("paper,reviewer,score\n1,R1,3\n1,R2,4\n2,R1,2\n2,R2,5\n", {}),
        ("paper,reviewer number,score\n1,1,3\n1,2,4\n2,1,2\n", {}),
        ("paper,judge,score\n1,Judge #1,3\n1,Judge #2,4\n2,Judge #1,2\n", {}),
    ],
)
def test_numbers_that_start_again_are_told_of(
    table: str, options: dict[str, Any]
) -> None:
    ratings = read(table, **options)
    assert codes(ratings) == ["pseudonyms"]
    assert "numbered from 1 within every item" in ratings.notices[0].message


@pytest.mark.parametrize(
    "table",
    [
        "paper,reviewer,score\n1,R1,3\n1,R2,4\n2,R2,2\n2,R3,5\n",
        "paper,reviewer,score\n1,1,3\n1,2,4\n2,1,2\n2,2,5\n",
        "paper,reviewer,score\n1,R01,3\n1,R02,4\n2,R01,2\n2,R02,5\n",
        "paper,reviewer,score\n1,R1,3\n1,R2,4\n2,R1,2\n2,anna,5\n",
        "paper,reviewer,score\n1,R1,3\n1,R2,4\n",
    ],
)
def test_other_labels_are_not_told_of(table: str) -> None:
    assert codes(read(table)) == []


@pytest.mark.parametrize(
    ("content", "name", "field"),
    [
        (HOTCRP + "1,T,Anna,a@x.org,,2\n2,U,Bo,b@x.org,,3\n", "h.csv", "RevExp"),
        (
            HOTCRP.replace(",OveMer,RevExp", ",Pages") + "1,T,A,a@x,9\n",
            "h.csv",
            "Pages",
        ),
        (
            HOTCRP.replace(",OveMer,RevExp", ",Date") + "1,T,A,a@x,20240501\n",
            "h.csv",
            "Date",
        ),
        (
            HOTCRP.replace("OveMer,RevExp", "Overall merit,Topic count")
            + "1,T,A,a@x,This is a long text about much.,4\n",
            "h.csv",
            "Topic count",
        ),
        (notes({"rating": None, "soundness": 3}), "n.json", "soundness"),
        (notes({"hours_spent": "3 hours"}), "n.json", "hours_spent"),
        (notes({"when": "2023 May"}), "n.json", "when"),
        (
            CMT.replace("Overall Rating", "How well do you know the area?")
            + "1,T,A,a@x,2\n",
            "c.csv",
            "How well do you know the area?",
        ),
    ],
)
def test_a_lone_field_is_not_taken_for_the_score(
    content: str, name: str, field: str
) -> None:
    said = refused(content, name)
    assert said.startswith(f"{name}: One field may be the score: {field!r}. Say which")
    assert read(content, name, score=field).n_ratings > 0


@pytest.mark.parametrize(
    "field", ["OveMer", "Overall merit", "overallRating", "final_score", "Mark"]
)
def test_a_lone_field_that_is_called_so_is_the_score(field: str) -> None:
    table = HOTCRP.replace("OveMer,RevExp", field) + "1,T,A,a@x,4\n"
    assert read(table, format="hotcrp").scores.tolist() == [4.0]


def test_easychairs_scores_may_have_words_beside_them() -> None:
    cells = ("Overall: -1: weak reject", "Overall: 2 (accept)", "Overall: 1")
    rows = "".join(f'{n},{n},{n},N{n},,,,"{cell}"\n' for n, cell in enumerate(cells, 1))
    ratings = read(EASYCHAIR + rows, score="Overall")
    assert ratings.scores.tolist() == [-1.0, 2.0, 1.0]
    assert codes(ratings) == []


def test_a_name_with_a_colon_stays_a_name() -> None:
    row = '1,1,1,N,,,,"Part: 1: Overall: 3\nStep 1: 2 points: 4"\n'
    ratings = read(EASYCHAIR + row, score="Part: 1: Overall")
    assert ratings.scores.tolist() == [3.0]


PEOPLE = {
    "hotcrp": HOTCRP
    + "1,T,Dee Eng,d@x.org,3,1\n2,U,Dee Eng,,4,1\n2,U,Bo,b@x.org,4,1\n",
    "cmt": CMT + "1,T,Dee Eng,d@x.org,3\n2,U,Dee Eng,,4\n2,U,Bo,b@x.org,4\n",
    "easychair": EASYCHAIR
    + "1,1,7,Al,Dee,Eng,d@x.org,Overall: 3\n2,2,7,Al,Dee,Eng,,Overall: 4\n"
    + "3,2,8,Bo,,,b@x.org,Overall: 4\n",
}
FIELD = {"hotcrp": "OveMer", "cmt": "Overall Rating", "easychair": "Overall"}


@pytest.mark.parametrize("platform", PEOPLE)
def test_a_person_without_an_email_in_one_row_is_one_person(platform: str) -> None:
    ratings = read(PEOPLE[platform], score=FIELD[platform], format=platform)
    assert ratings.reviewer_labels == ("b@x.org", "d@x.org")


@pytest.mark.parametrize("platform", PEOPLE)
def test_a_name_with_two_emails_needs_one_in_every_row(platform: str) -> None:
    table = PEOPLE[platform]
    head, *rows = table.splitlines()
    first = rows[0].replace("d@x.org", "d2@x.org").replace("1,1,7", "4,3,7")
    first = first.replace("1,T", "3,T")
    said = refused(
        "\n".join([head, first, *rows]), score=FIELD[platform], format=platform
    )
    assert said == "f.csv:4: email must be given where several are called 'Dee Eng'."


def test_members_of_one_name_are_still_told_apart_by_number() -> None:
    rows = (
        "1,1,7,Dee Eng,Dee,Eng,d@x.org,Overall: 3\n2,2,8,Dee Eng,,,,Overall: 4\n"
        "3,2,7,Dee Eng,,,,Overall: 4\n"
    )
    ratings = read(EASYCHAIR + rows, score="Overall")
    assert ratings.reviewer_labels == ("Dee Eng (member 8)", "d@x.org")


def test_a_name_with_two_emails_is_two_people() -> None:
    table = "reviewer,email,item,score\nAnna,a1@x,x,3\nAnna,a2@x,y,4\n"
    ratings = read(table)
    assert ratings.reviewer_labels == ("a1@x", "a2@x")
    assert [notice.code for notice in ratings.notices] == ["shared_names"]
    assert "reviewer from 'email', item from 'item'" in ratings.read_as
    assert read(table, reviewer="email").n_reviewers == 2
    assert read(table, reviewer="reviewer").n_reviewers == 1


def test_emails_of_authors_do_not_matter() -> None:
    rows = "Anna,a@x,x,3\nAnna,b@x,y,4\nBo,a@x,x,3\nBo,b@x,y,2\n"
    assert read(f"reviewer,email,item,score\n{rows}").n_reviewers == 2
    assert read(f"reviewer,author email,item,score\n{rows[:26]}").n_reviewers == 1


FILES = {
    "HotCRP": (HOTCRP + "1,T,Anna,a@x.org,3,2\n", "h.csv", "OveMer"),
    "CMT": (CMT + "1,T,A,a@x,2\n", "c.csv", "Overall Rating"),
    "OpenReview": (notes({"rating": 3}), "n.json", "rating"),
}


@pytest.mark.parametrize("title", FILES)
def test_options_without_a_use_are_refused(title: str) -> None:
    content, name, score = FILES[title]
    assert read(content, name, score=score).n_ratings == 1
    for part in ("pair", "loser"):
        with pytest.raises(OptionError, match=f"{part} must be left out for {title}"):
            read(content, name, score=score, **{part: "x"})
    with pytest.raises(OptionError, match=f"companion must be left out for {title}"):
        read(content, name, score=score, companion=io.BytesIO(LONG.encode()))


def test_an_entry_that_is_no_object_is_refused() -> None:
    said = refused('[{"reviewer": "a", "item": "x", "score": 1}, 7]', "r.json")
    assert said.startswith("r.json: entry 2: entry must be a JSON object")
    reply = {**json.loads(notes({"rating": 3}))[0], "details": {"replies": [5]}}
    said = refused(json.dumps([reply]), "n.json")
    assert said == "n.json: entry 1: replies must be objects, got [5]."


def test_a_wide_table_of_letters_needs_its_rows() -> None:
    table = "talk,Anna,Bo\nx,A,B\ny,C,A\n"
    assert "No column for the reviewer among 'talk', 'Anna', 'Bo'" in refused(table)
    assert read(table, rows="items", scale="best=A").n_ratings == 4


def test_a_wide_table_of_numbers_may_be_a_long_one() -> None:
    said = refused("uid,movie,stars\n1,4,5\n2,5,4\n3,3,3\n")
    assert said.endswith("name its columns with --reviewer, --item and --score.")


def archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as container:
        container.writestr("ratings.csv", LONG)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<!DOCTYPE html>\n<html>", "r.csv: The file is a web page or XML, not a"),
        ("\n <html><body>a,b", "r.csv: The file is a web page or XML"),
        ('<?xml version="1.0"?>\n<a/>', "r.csv: The file is a web page or XML"),
        (
            archive(),
            "r.csv: The file cannot be read as Excel; it may be damaged, an arch",
        ),
        ("[[1, 2], [3, 4]]", "r.csv: entry 1: entry must be a JSON object"),
        ('{"a": [1, 2], "b": [3, 4]}', "r.csv: There is no row. Write a list"),
        ("{}", "r.csv: There is no row. Write a list"),
        ("[]", "r.csv: There is no row. Write a list"),
    ],
)
def test_a_file_of_another_kind_is_called_what_it_is(
    content: str | bytes, message: str
) -> None:
    assert refused(content, "r.csv").startswith(message)


def test_a_platform_that_was_named_in_error_is_refused_for_what_is_missing() -> None:
    with pytest.raises(RatingsError, match="No column for the item among 'reviewer'"):
        read(LONG, format="hotcrp")
