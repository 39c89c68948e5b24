"""Records: one canonical form, and every edit is named."""

import copy
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand import Comparison, Ranking, Ratings, compare, rank, read_ratings
from evenhand.ab.methods import Votes
from evenhand.ab.weights import as_weight
from evenhand.claims import Json
from evenhand.designs.assignment import Assignment
from evenhand.designs.drawing import assign, seal_of, verify
from evenhand.errors import EvenhandError, RatingsError, RecordError
from evenhand.formats import lists
from evenhand.posets.graph import Comparisons
from evenhand.ranking.methods import Twins, as_start
from evenhand.records.canonical import canonical, difference, fault, finish
from evenhand.records.record import (
    assignment_from,
    assignment_record,
    decision_record,
    load_assignment,
    parse,
    read_hex,
    read_record,
    seal_record,
    secret_record,
    text_of,
    write_decision,
)
from evenhand.records.replay import Audit, audit

SECRET = "ab" * 32
PEOPLE = ["Anna", "Bo", "Cy", "Di"]
Record = dict[str, Json]


def drawn(secret: str | None = SECRET) -> Assignment:
    return assign(
        ["p1", "p2", "p3"],
        PEOPLE,
        design="balanced",
        per_reviewer=2,
        conflicts=[("Bo", "p1")],
        rng=5 if secret is None else None,
        secret=secret,
    )


def ratings() -> Ratings:
    rows = drawn().rows
    return Ratings([r for r, _ in rows], [i for _, i in rows], [4, 9, 2, 7, 5, 1, 8, 3])


def two_items() -> Ratings:
    return Ratings(PEOPLE, ["x", "y", "x", "y"], [3, 8, 4, 5])


def ranking_record() -> Record:
    return decision_record(rank(ratings(), method="mean", rng=3))


def comparison_record() -> Record:
    return decision_record(compare(two_items(), method="votes", rng=3))


KINDS = {
    "sealed": lambda: assignment_record(drawn()),
    "open": lambda: assignment_record(drawn(None)),
    "grouped": lambda: assignment_record(
        assign(
            ["x", "y"],
            PEOPLE,
            design="matched",
            groups=dict(zip(PEOPLE, [1, 2, 2, 1], strict=True)),
            rng=1,
        )
    ),
    "ranking": ranking_record,
    "comparison": comparison_record,
}
RECORDS = {name: make() for name, make in KINDS.items()}


def leaves(
    value: Json, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield from leaves(child, (*path, key))
    elif isinstance(value, list):
        for place, child in enumerate(value):
            yield from leaves(child, (*path, place))
    else:
        yield path


def shown(path: tuple[str | int, ...]) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")


def edited(record: Record, path: tuple[str | int, ...], value: Json = None) -> Record:
    changed = copy.deepcopy(record)
    place: object = changed
    for step in path[:-1]:
        place = place[step]  # type: ignore[index]  # the path is of this record
    old = place[path[-1]]  # type: ignore[index]  # the same
    place[path[-1]] = other(old) if value is None else value  # type: ignore[index]  # the same
    return changed


def other(value: Json) -> Json:
    if value is None:
        return 1
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}x"


def written(record: Record, path: Path) -> Path:
    path.write_text(text_of(record), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", RECORDS)
def test_the_value_of_any_field_that_was_changed_is_named(
    name: str, tmp_path: Path
) -> None:
    for path in leaves(RECORDS[name]):
        if path == ("schema",):
            continue
        file = written(edited(RECORDS[name], path), tmp_path / "record.json")
        result = audit(file)
        assert not result.identical
        assert result.first is not None
        assert result.first.difference is not None
        assert result.first.difference.field == shown(path)


@pytest.mark.parametrize("name", RECORDS)
def test_a_field_that_was_added_or_taken_away_is_named(name: str) -> None:
    record = RECORDS[name]
    for key in record:
        if key in ("schema", "hashes", "sha256"):
            continue
        less = {k: v for k, v in record.items() if k != key}
        found = fault(less)
        assert found is not None
        assert found.field.startswith(key)
    more = fault({**record, "note": "me too"})
    assert more is not None
    assert more.field == "note"
    for key in ("hashes", "sha256"):
        gone = fault({k: v for k, v in record.items() if k != key})
        assert gone is not None
        assert gone.field == key


@pytest.mark.parametrize("name", RECORDS)
def test_an_unchanged_record_fits_in_any_layout_and_order_of_keys(name: str) -> None:
    record = RECORDS[name]
    pretty = json.dumps(record, indent=3, sort_keys=False)
    backwards = json.dumps(dict(reversed(record.items())), ensure_ascii=True)
    for text in (pretty, backwards, text_of(record)):
        assert fault(parse(text.encode(), "record.json")) is None


# Fields of a decision that follow from the others; a replay finds them out even when
# all hashes were made to fit again.
@pytest.mark.parametrize("name", ["ranking", "comparison"])
def test_a_decision_that_was_edited_with_its_hashes_is_found_by_a_replay(
    name: str, tmp_path: Path
) -> None:
    given_ratings = ratings() if name == "ranking" else two_items()
    for path in leaves(RECORDS[name]["result"]):
        told = ("schema", "version", "seed", "method", "parameters")
        if path[0] in told or path[:2] in {("items", 0), ("items", 1)}:
            continue
        record = edited(RECORDS[name], ("result", *path))
        body = {k: v for k, v in record.items() if k not in ("hashes", "sha256")}
        file = written(finish(body), tmp_path / "record.json")
        result = audit(file, given_ratings)
        assert result.first is not None
        assert result.first.difference is not None
        assert result.first.difference.field == f"result.{shown(path)}"


def test_an_assignment_that_was_edited_with_its_hashes_is_found_by_a_replay(
    tmp_path: Path,
) -> None:
    for path in leaves(RECORDS["open"]):
        if path[0] not in ("rows", "uniform", "law"):
            continue
        record = edited(RECORDS["open"], path)
        body = {k: v for k, v in record.items() if k not in ("hashes", "sha256")}
        result = audit(written(finish(body), tmp_path / "record.json"))
        assert result.first is not None
        assert result.first.name == "assignment"
        assert result.first.difference is not None
        assert result.first.difference.field == shown(path)


def test_another_seed_does_not_draw_the_assignment(tmp_path: Path) -> None:
    body = {**drawn(None).to_dict(), "seed": 6}
    result = audit(written(finish(body), tmp_path / "record.json"))
    assert result.first is not None
    assert result.first.name == "assignment"
    assert "rows" in str(result.first.difference)


def named(result: Audit) -> dict[str, str]:
    return {check.name: check.status for check in result.checks}


def decided(tmp_path: Path) -> tuple[Path, Path]:
    decision = written(ranking_record(), tmp_path / "decision.json")
    return decision, written(RECORDS["sealed"], tmp_path / "assignment.json")


def test_every_link_of_the_chain_is_checked(tmp_path: Path) -> None:
    decision, assignment = decided(tmp_path)
    result = audit(
        decision, ratings(), assignment=assignment, seal=seal_of(SECRET), secret=SECRET
    )
    assert result.identical
    assert named(result) == {
        "record": "same",
        "assignment record": "same",
        "seal": "same",
        "seed": "same",
        "assignment": "same",
        "ratings": "same",
        "data": "same",
        "decision": "same",
    }
    assert repr(result).endswith("Nothing differs.")


def test_what_was_not_given_is_named_as_not_checked(tmp_path: Path) -> None:
    decision, assignment = decided(tmp_path)
    bare = audit(decision)
    assert bare.identical
    assert named(bare) == {
        "record": "same",
        "assignment": "unchecked",
        "data": "unchecked",
    }
    half = audit(assignment)
    assert set(named(half).values()) == {"same", "unchecked"}
    assert "4 things could not be checked" in repr(half)


def test_another_secret_or_seal_is_found(tmp_path: Path) -> None:
    file = written(RECORDS["sealed"], tmp_path / "assignment.json")
    wrong = "cd" * 32
    assert named(audit(file, secret=wrong))["seed"] == "differs"
    first = audit(file, seal=seal_of(wrong), secret=wrong).first
    assert first is not None
    assert first.name == "seal"
    assert wrong not in repr(audit(file, secret=wrong))
    unsealed = written(RECORDS["open"], tmp_path / "open.json")
    assert named(audit(unsealed, seal=seal_of(SECRET)))["seal"] == "differs"


def test_a_rating_from_outside_the_assignment_is_named(tmp_path: Path) -> None:
    file = written(RECORDS["sealed"], tmp_path / "assignment.json")
    stray = Ratings(["Bo", "Cy"], ["p1", drawn().rows[4][1]], [1, 2])
    first = audit(file, stray).first
    assert first is not None
    assert first.name == "ratings"
    assert "item 'p1' by reviewer 'Bo'" in str(first.difference)


def test_missing_ratings_are_a_note(tmp_path: Path) -> None:
    file = written(RECORDS["sealed"], tmp_path / "assignment.json")
    one = drawn().rows[0]
    result = audit(file, Ratings([one[0]], [one[1]], [1]))
    assert result.identical
    assert "7 assigned reviews without a rating" in repr(result)


def test_any_rating_that_was_changed_is_found_in_the_data(tmp_path: Path) -> None:
    file = written(ranking_record(), tmp_path / "decision.json")
    rows = ratings().rows()
    for place, row in enumerate(rows):
        for key in row:
            changed = [dict(one) for one in rows]
            value = row[key]
            changed[place][key] = other(value)
            columns = [[one[name] for one in changed] for name in row]
            result = audit(file, Ratings(*columns))  # type: ignore[arg-type]  # three
            assert result.first is not None
            assert result.first.name == "data"
            assert str(result.first.difference).startswith("result.data.")


def test_ratings_that_cannot_be_decided_from_are_a_difference_too(
    tmp_path: Path,
) -> None:
    file = written(comparison_record(), tmp_path / "decision.json")
    twice = Ratings(["Anna", "Anna"], ["x", "y"], [1, 2])
    result = audit(file, twice)
    assert result.first is not None
    assert result.first.name == "data"
    assert "decision" not in named(result)


def test_a_start_of_the_users_own_cannot_be_replayed(tmp_path: Path) -> None:
    def own(graph: Comparisons, _: np.random.Generator) -> NDArray[np.int64]:
        return np.arange(graph.n_items)

    loose = Ratings(list("aabb"), list("wxyz"), [4, 3, 2, 1])
    file = tmp_path / "decision.json"
    write_decision(rank(loose, method=Twins(start=as_start(own)), rng=1), file)
    with pytest.raises(RecordError, match="function of the user's own"):
        audit(file, loose)


def test_the_order_of_the_ratings_does_not_matter(tmp_path: Path) -> None:
    file = written(ranking_record(), tmp_path / "decision.json")
    rows = ratings().rows()[::-1]
    columns = [[one[name] for one in rows] for name in ("reviewer", "item", "score")]
    assert audit(file, Ratings(*columns)).identical  # type: ignore[arg-type]  # three


@pytest.mark.parametrize(
    "options",
    [
        {"method": "coin"},
        {"method": "sign"},
        {"method": "mean", "design": "halves"},
        {"method": "median(lower)"},
        {"method": "trimmed(trim=0.25)"},
        {"method": "votes(weight=offset(0.3, linear(10)))", "design": "halves"},
        {"method": "votes", "items": ["y", "x"]},
        {"method": "guarded(eps=0.3, statistic=median(lower))", "test": "mean"},
        {"method": "guarded(trim=0.1, weight=exponential(3))"},
    ],
)
def test_every_comparison_replays(options: dict[str, object], tmp_path: Path) -> None:
    file = tmp_path / "decision.json"
    write_decision(compare(two_items(), **options, rng=11), file)  # type: ignore[arg-type]  # any
    assert audit(file, two_items()).identical


@pytest.mark.parametrize(
    "options",
    [
        {"method": "topological"},
        {"method": "uniform"},
        {"method": "mean-rank"},
        {"method": "flips(start=uniform, weight=sigmoid(2))"},
        {"method": "flips-uniform(scan=paper)"},
        {"method": "twins(twins=one, by=direct)"},
        {"method": "mean", "design": "balanced"},
        {"method": "safe", "design": "balanced", "distinct": True},
        {"method": "safe(split=always)", "design": "balanced"},
        {"method": "safe(noise=0.5, anchored=false)"},
        {"method": "sorter(anchored=false)"},
        {"method": "ties(start=mean-rank(mean_ranks=proxy))"},
    ],
)
def test_every_ranking_replays(options: dict[str, object], tmp_path: Path) -> None:
    given_ratings = Ratings(list("aabb"), list("wxyz"), [4, 3, 2, 1])
    file = tmp_path / "decision.json"
    write_decision(rank(given_ratings, **options, rng=11), file)  # type: ignore[arg-type]  # any
    assert audit(file, given_ratings).identical


def test_a_function_of_the_users_own_cannot_be_replayed(tmp_path: Path) -> None:
    def own(gap: float) -> float:
        return gap / (3 + gap)

    file = tmp_path / "decision.json"
    method = Votes(weight=as_weight(own))
    write_decision(compare(two_items(), method=method, rng=1), file)
    with pytest.raises(RecordError, match="function of the user's own"):
        audit(file, two_items())


def test_a_decision_from_two_lists_cannot_be_replayed_from_ratings(
    tmp_path: Path,
) -> None:
    file = tmp_path / "decision.json"
    write_decision(compare([3, 4], [8, 5], method="votes", rng=1), file)
    assert audit(file).identical
    with pytest.raises(RecordError, match="made from two lists of scores"):
        audit(file, two_items())


def test_a_record_turned_into_another_kind_is_named(tmp_path: Path) -> None:
    turned = {**RECORDS["ranking"], "schema": "evenhand.assignment/1"}
    first = audit(written(turned, tmp_path / "record.json")).first
    assert first is not None
    assert str(first.difference).startswith("schema: ")


def test_another_version_is_named_only_if_something_differs(tmp_path: Path) -> None:
    record = comparison_record()
    result = record["result"]
    assert isinstance(result, dict)
    aged = {**result, "version": "0.0.9"}
    body = {"schema": record["schema"], "assignment": None, "version": "0.0.9"}
    same = written(finish({**body, "result": aged}), tmp_path / "same.json")
    found = audit(same, two_items())
    assert found.identical
    assert "version 0.0.9 made it" in repr(found)
    changed = finish({**body, "result": {**aged, "winner": "z"}})
    differs = audit(written(changed, tmp_path / "differs.json"), two_items())
    assert differs.first is not None
    assert "promised by the same version only" in differs.first.says


def test_a_decision_that_names_an_assignment_is_held_against_it(tmp_path: Path) -> None:
    shown_true = verify(drawn().without_secret(), SECRET, seal_of(SECRET))
    result = rank(ratings(), method="mean", assignment=shown_true, rng=3)
    right = decision_record(result, shown_true)
    file = written(right, tmp_path / "decision.json")
    held = written(RECORDS["sealed"], tmp_path / "assignment.json")
    assert named(audit(file, ratings()))["decision"] == "unchecked"
    assert named(audit(file, ratings(), assignment=held, secret=SECRET)) == {
        "record": "same",
        "assignment record": "same",
        "seal": "unchecked",
        "seed": "same",
        "assignment": "same",
        "ratings": "same",
        "data": "same",
        "decision": "same",
    }
    wrong = written(RECORDS["open"], tmp_path / "other.json")
    first = audit(file, ratings(), assignment=wrong).first
    assert first is not None
    assert str(first.difference).startswith("assignment.sha256")


def test_an_edited_assignment_stops_the_audit_of_a_decision(tmp_path: Path) -> None:
    decision, _ = decided(tmp_path)
    bad = edited(RECORDS["sealed"], ("rows", 0, 1))
    held = written(bad, tmp_path / "bad.json")
    first = audit(decision, ratings(), assignment=held).first
    assert first is not None
    assert first.name == "assignment record"
    assert str(first.difference).startswith("rows[0][1]")


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_that_was_cut_off_is_refused_in_a_sentence(
    name: str, tmp_path: Path
) -> None:
    data = text_of(RECORDS[name]).encode()
    for end in range(0, len(data) - 2, 10):
        file = tmp_path / "cut.json"
        file.write_bytes(data[:end])
        with pytest.raises(RecordError) as error:
            audit(file)
        assert str(error.value).endswith(".")
        assert "\n" not in str(error.value)


@given(st.data())
def test_damaged_bytes_never_end_in_anything_but_a_sentence(
    data: st.DataObject,
) -> None:
    name = data.draw(st.sampled_from(sorted(RECORDS)))
    damaged = bytearray(text_of(RECORDS[name]).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place] = data.draw(st.integers(0, 255))
    try:
        record = parse(bytes(damaged), "record.json")
    except RecordError:
        return
    changed = canonical(record) != canonical(RECORDS[name])
    assert (fault(record) is not None) == changed


BAD = [
    (b"", "read as JSON"),
    (b"{", "cut off"),
    (b'{"a": "b', "cut off"),
    (b"hello", "read as JSON"),
    (b"[1]", "not a record of evenhand"),
    (b'{"schema": 3}', "not a record of evenhand"),
    (b'{"schema": "other/1"}', "not a record of evenhand"),
    (b'{"schema": "evenhand.sael/1"}', "did you mean 'evenhand.seal/1'"),
    (b'{"schema": "evenhand.record/2"}', "did you mean 'evenhand.record/1'"),
    (b'{"schema": "evenhand.seal/1", "schema": "x"}', "the key 'schema' stands twice"),
    (b'{"a": NaN}', "NaN is not a number"),
    (b'{"a": 1e999}', "too large"),
    (b'{"a": ' + b"9" * 5000 + b"}", "5000 digits"),
    (b'{"a": "\\ud800"}', "half a character"),
    (b'{"a": "\xff"}', "it is not UTF-8"),
    (b"[" * 100_000, "recursion"),
]


@pytest.mark.parametrize(("data", "words"), BAD)
def test_what_is_not_a_record_of_ours_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(RecordError, match=words):
        parse(data, "x.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"parameters": {}}, "parameters cannot be {}"),
        ({"items": "p1"}, 'items cannot be "p1"'),
        ({"items": [True]}, "items cannot be [true]"),
        ({"rows": [["Bo"]]}, 'rows cannot be [["Bo"]]'),
        ({"seed": -1}, "cannot be drawn again: rng must be"),
        ({"design": None}, "design cannot be null"),
        ({"design": "halfs"}, "cannot be drawn again: unknown design 'halfs'"),
        ({"groups": 3}, "groups cannot be 3"),
    ],
)
def test_a_record_of_the_wrong_shape_is_refused(
    change: Record, words: str, tmp_path: Path
) -> None:
    body = {**drawn(None).to_dict(), **change}
    with pytest.raises(RecordError) as error:
        audit(written(finish(body), tmp_path / "record.json"))
    assert words in str(error.value)


def test_a_seal_or_secret_is_not_where_an_audit_begins(tmp_path: Path) -> None:
    file = written(seal_record(SECRET), tmp_path / "seal.json")
    with pytest.raises(RecordError, match="Give the seal with --seal"):
        audit(file)


def test_seal_and_secret_are_read_from_records_or_plain_text(tmp_path: Path) -> None:
    seal = written(seal_record(SECRET), tmp_path / "seal.json")
    secret = written(secret_record(SECRET), tmp_path / "secret.json")
    plain = tmp_path / "seal.txt"
    plain.write_text(f"{seal_of(SECRET)}\n")
    assert read_hex(seal, "seal") == read_hex(plain, "seal") == seal_of(SECRET)
    assert read_hex(secret, "secret") == SECRET
    with pytest.raises(RecordError, match=r"must be a secret, got a record of .*seal"):
        read_hex(seal, "secret")
    broken = written(edited(secret_record(SECRET), ("secret",)), tmp_path / "s.json")
    with pytest.raises(
        RecordError, match="edited or damaged in field 'secret'"
    ) as error:
        read_hex(broken, "secret")
    assert SECRET not in str(error.value)


def test_a_record_gives_the_assignment_back() -> None:
    for name in ("sealed", "open", "grouped"):
        found = assignment_from(RECORDS[name], name)
        assert finish(found.to_dict()) == RECORDS[name]
    with pytest.raises(RecordError, match="must be an assignment"):
        assignment_from(RECORDS["ranking"], "r.json")


def test_floats_may_differ_by_a_rounding_and_nothing_else_may() -> None:
    assert difference(0.1 + 0.2, 0.3) is None
    assert difference(1.0, 1) is None
    unequal: list[tuple[Json, Json]] = [
        (1.0, 1.0 + 1e-8),
        (1, 2),
        (True, 1),
        ("1", 1),
        (None, 0),
        ([], {}),
    ]
    for one, two in unequal:
        assert difference(one, two) is not None
    found = difference({"a": [1, 2]}, {"a": [1]})
    assert str(found) == "a[1]: expected 2, found nothing"
    assert str(difference({}, {"b": 1})) == "b: expected nothing, found 1"


@given(st.text(min_size=1))
def test_a_cell_is_safe_and_gives_its_label_back(label: str) -> None:
    cell = lists.safe_cell(label)
    assert lists.plain_label(cell) == label
    assert cell[0] not in "=+@\t\r"
    assert cell[0] != "-" or str(int(cell)) == cell


def test_lists_are_read_in_every_form(tmp_path: Path) -> None:
    forms = {
        "plain.txt": "b\n\n a \n'=c\n",
        "list": "b\na\n=c\n",
        "head.csv": "Paper ID\nb\na\n'=c\n",
        "table.csv": "title,paper\nT,b\nT,a\nT,=c\n",
        "table.tsv": "paper\ttitle\nb\tT\na\tT\n=c\tT\n",
        "rows.jsonl": '{"item": "b"}\n{"item": "a"}\n{"item": "=c"}\n',
    }
    for name, text in forms.items():
        file = tmp_path / name
        file.write_text(text)
        assert lists.read_labels(str(file), "item") == ["b", "a", "=c"]
    table = str(tmp_path / "table.csv")
    assert lists.read_labels(table, "item", "title") == ["T", "T", "T"]
    with pytest.raises(EvenhandError, match="Unknown column 'titel', did you mean"):
        lists.read_labels(table, "item", "titel")
    with pytest.raises(RatingsError, match="one column for the reviewer, got 0"):
        lists.read_labels(table, "reviewer")
    (tmp_path / "bad.txt").write_bytes(b"a\n\xff\n")
    with pytest.raises(RatingsError, match="must be UTF-8"):
        lists.read_labels(str(tmp_path / "bad.txt"), "item")
    (tmp_path / "nul.txt").write_bytes(b"a\n\0\n")
    with pytest.raises(RatingsError, match="must be UTF-8"):
        lists.read_labels(str(tmp_path / "nul.txt"), "item")


def test_an_assignment_is_loaded_and_verified_from_its_record(tmp_path: Path) -> None:
    sealed = written(RECORDS["sealed"], tmp_path / "sealed.json")
    assert not load_assignment(sealed).fits_seal
    assert load_assignment(sealed, secret=SECRET, seal=seal_of(SECRET)).fits_seal
    with pytest.raises(RecordError, match="seal must be the published one"):
        load_assignment(sealed, secret=SECRET, seal="0" * 64)
    with pytest.raises(RecordError, match="must fit the seal"):
        load_assignment(sealed, secret="0" * 64)
    with pytest.raises(RecordError, match="was not sealed"):
        load_assignment(written(RECORDS["open"], tmp_path / "open.json"), secret=SECRET)
    bad = written(edited(RECORDS["sealed"], ("rows", 0, 0)), tmp_path / "bad.json")
    with pytest.raises(
        RecordError, match=r"edited or damaged in field 'rows\[0\]\[0\]'"
    ):
        load_assignment(bad)


def test_a_record_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="No such file"):
        read_record(tmp_path / "none.json")
    with pytest.raises(RecordError, match="directory"):
        read_record(tmp_path)


def forged(record: Record, **changes: object) -> Record:
    """Change a record, and make its hashes fit again."""
    kept = {key: record[key] for key in record if key not in ("hashes", "sha256")}
    content = json.loads(json.dumps(kept))
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = content
        for parent in parents:
            place = place[parent]
        place[last] = value
    return finish(content)


@pytest.mark.parametrize("secret", [None, SECRET])
def test_a_certificate_that_was_forged_with_fitting_hashes_is_named(
    secret: str | None, tmp_path: Path
) -> None:
    assignment = drawn(secret)
    came = written(assignment_record(assignment), tmp_path / "assignment.json")
    rows = assignment.rows
    scored = Ratings(
        [r for r, _ in rows], [i for _, i in rows], [4, 9, 2, 7, 5, 1, 8, 3]
    )
    honest = decision_record(
        rank(scored, method="mean", assignment=assignment, rng=3), assignment
    )
    file = written(honest, tmp_path / "decision.json")
    assert audit(file, scored, assignment=came).identical
    for changes in (
        {"result__certificate__theorem": "K"},
        {"result__certificate__checked": ["random assignment (balanced): verified"]},
        {"result__certificate__sentence": "Right always."},
        {"result__certificate__strict": True},
    ):
        written(forged(honest, **changes), file)
        result = audit(file, scored, assignment=came)
        assert result.first is not None, changes
        assert "certificate" in str(result.first.difference)


def test_fields_that_a_decision_never_has_are_named(tmp_path: Path) -> None:
    for changes in ({"approved": "by the chair"}, {"version": "9.9"}):
        file = written(forged(ranking_record(), **changes), tmp_path / "decision.json")
        result = audit(file)
        assert result.first is not None
        assert next(iter(changes)) in str(result.first.difference)


def test_an_assignment_without_its_hash_is_a_difference(tmp_path: Path) -> None:
    record = dict(RECORDS["open"])
    del record["sha256"]
    came = written(record, tmp_path / "assignment.json")
    file = written(ranking_record(), tmp_path / "decision.json")
    result = audit(file, ratings(), assignment=came)
    assert result.first is not None


def ground(lenient: set[str], people: list[str]) -> tuple[str, Assignment]:
    """Try secrets until the lenient reviewers get item "mine"."""
    for attempt in range(10_000):
        secret = f"{attempt:064x}"
        found = assign(["mine", "theirs"], people, design="halves", secret=secret)
        if {who for who, what in found.rows if what == "mine"} == lenient:
            return secret, found
    raise AssertionError("no secret of ten thousand gives what one in 20 should give")


def test_a_secret_that_was_chosen_after_many_tries_is_not_verified(
    tmp_path: Path,
) -> None:
    people = [f"reviewer {number}" for number in range(6)]
    secret, found = ground(set(people[:3]), people)
    scored = Ratings(
        [who for who, _ in found.rows],
        [what for _, what in found.rows],
        [9 if what == "mine" else 4 for _, what in found.rows],
    )
    file = written(assignment_record(found), tmp_path / "assignment.json")
    loaded = load_assignment(file, secret=secret)
    assert not loaded.fits_seal
    assert loaded.backing == "revealed"
    decision = compare(scored, method="votes", assignment=loaded, rng=3)
    assert decision.certificate is not None
    assert "verified" not in json.dumps(decision.to_dict())
    words = (
        "drawn from the revealed secret; not known to have been sealed before the "
        "ratings"
    )
    assert f"random assignment (halves): {words}" in decision.certificate.texts(
        "declared"
    )

    record = written(decision_record(decision, loaded), tmp_path / "decision.json")
    for done in (
        audit(file, scored, secret=secret),
        audit(record, scored, assignment=file, secret=secret),
    ):
        assert done.identical
        assert repr(done).splitlines()[-1].endswith(f"{words}.")

    # Whoever saw the seal of another secret before finds it out.
    published = seal_of("ab" * 32)
    with pytest.raises(RecordError, match="seal must be the published one"):
        load_assignment(file, secret=secret, seal=published)
    first = audit(file, scored, seal=published, secret=secret).first
    assert first is not None
    assert first.name == "seal"


def test_a_record_that_says_verified_needs_the_published_seal(tmp_path: Path) -> None:
    found = assign(["x", "y"], PEOPLE, design="halves", secret=SECRET)
    held = written(assignment_record(found), tmp_path / "assignment.json")
    scored = Ratings(PEOPLE, [what for _, what in found.rows], [3, 8, 4, 5])
    shown_true = load_assignment(held, secret=SECRET, seal=seal_of(SECRET))
    result = compare(scored, method="votes", assignment=shown_true, rng=3)
    file = written(decision_record(result, shown_true), tmp_path / "decision.json")
    bare = audit(file, scored, assignment=held)
    assert bare.identical
    assert "that its assignment was verified needs the secret" in repr(bare)
    half = audit(file, scored, assignment=held, secret=SECRET)
    assert half.identical
    assert "that its assignment was verified needs the published seal" in repr(half)
    assert "not known to have been sealed before the ratings" in half.verdict
    assert half.to_dict()["verdict"] == half.verdict
    seal = seal_of(SECRET)
    whole = audit(file, scored, assignment=held, secret=SECRET, seal=seal)
    assert whole.verdict == "Nothing differs."


RANKED = """reviewer,item,score
Anna,p1,4\nAnna,p2,9\nBo,p2,2\nBo,p3,7\nCy,p1,5\nCy,p3,1\nDi,p2,\nDi,p3,3
"""
COMPARED = """reviewer,item,score
Anna,x,3\nBo,y,8\nCy,x,4\nDi,y,5\nEd,x,
"""
READ: dict[str, Callable[[], Ranking | Comparison]] = {
    "safe": lambda: rank(
        read_ratings(io.StringIO(RANKED)),
        method="safe",
        design="balanced",
        top=1,
        rng=3,
    ),
    "adaptive": lambda: rank(read_ratings(io.StringIO(RANKED)), rng=3),
    "guarded": lambda: compare(
        read_ratings(io.StringIO(COMPARED)), design="halves", rng=3
    ),
}
# The same result follows from these, so a record that says so is true.
WITHOUT_EFFECT = {
    ("safe", "result.parameters.anchored"),
    ("safe", "result.parameters.noise"),
    ("adaptive", "result.seed"),
    ("adaptive", "result.parameters.distinct"),
    ("guarded", "result.seed"),
}


@pytest.mark.parametrize("name", READ)
def test_any_value_that_was_changed_with_its_hashes_is_found_by_a_replay(
    name: str, tmp_path: Path
) -> None:
    record = decision_record(READ[name]())
    body = {k: v for k, v in record.items() if k not in ("hashes", "sha256")}
    text = COMPARED if name == "guarded" else RANKED
    given_ratings = read_ratings(io.StringIO(text))
    assert audit(written(record, tmp_path / "d.json"), given_ratings).identical
    unseen = set()
    # The last of each list; all of them are in the test of two methods above.
    last = {re.sub(r"\d+", "", shown(path)): path for path in leaves(body)}
    for path in last.values():
        file = written(finish(edited(body, path)), tmp_path / "d.json")
        try:
            found = audit(file, given_ratings)
        except RecordError:
            continue  # refused in a sentence, with exit code 2
        if found.identical:
            unseen.add((name, shown(path)))
    assert unseen == {pair for pair in WITHOUT_EFFECT if pair[0] == name}


def test_an_invented_note_on_reading_is_named(tmp_path: Path) -> None:
    note = {"code": "missing_scores", "message": "40 rows without a score left out."}
    body = json.loads(text_of(ranking_record()))
    body["result"]["warnings"].insert(0, note)
    invented = finish({k: body[k] for k in body if k not in ("hashes", "sha256")})
    first = audit(written(invented, tmp_path / "d.json"), ratings()).first
    assert first is not None
    assert str(first.difference).startswith("result.warnings[0]")
