"""Answers inside records: Label Studio, Argilla, pretalx, and logs of inspect_ai.

Each of them keeps the answers of several people to several questions inside one record.
A row is what one person answered about one item; each question is a field.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from evenhand.errors import quote
from evenhand.formats import layouts, roles
from evenhand.formats.documents import flat_fields, flatten, top_records
from evenhand.formats.scale import are_scores, filled_cells, may_be_scores
from evenhand.formats.tables import Table, as_text, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from evenhand.formats.layouts import LongForm, ReadOptions

Fields = dict[str, object]
RATED = ("rating", "number", "choices")
"""Types of Label Studio's results that may be scores."""
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""What inspect_ai's scorers write: correct, partial, incorrect, no answer."""
RESPONSES, USERS, STATUS = ".responses", ".responses.users", ".responses.status"
SCORER = "scorer, sample and epoch"
CATEGORY = 'score in "'


class Answered(NamedTuple):
    """What one person answered about one item: fields, answers, why it is left out."""

    fields: Fields
    answers: Fields
    reason: str = ""


def _objects(value: object) -> list[Fields]:
    several = value if isinstance(value, list) else []
    return [entry for entry in several if isinstance(entry, dict)]


def _label_studio(task: Fields) -> Iterator[Answered]:
    shared = flat_fields({"id": task.get("id"), "data": task.get("data")})
    for annotation in _objects(task.get("annotations")):
        writer = flat_fields({"completed_by": annotation.get("completed_by")})
        answers = {
            as_text(result.get("from_name")): value.get(result.get("type"))
            for result in _objects(annotation.get("result"))
            if isinstance(value := result.get("value"), dict)
            and result.get("type") in RATED
        }
        cancelled = annotation.get("was_cancelled") is True
        yield Answered(
            shared | writer, answers, "cancelled_answers" if cancelled else ""
        )


def _argilla(record: Fields) -> Iterator[Answered]:
    shared = {name: value for name, value in record.items() if RESPONSES not in name}
    rows: dict[str, Fields] = {}
    for question in (key.removesuffix(USERS) for key in record if key.endswith(USERS)):
        parts = (record.get(question + part) for part in (USERS, RESPONSES, STATUS))
        users, values, states = (
            part if isinstance(part, list) else [] for part in parts
        )
        states = states or ["submitted"] * len(users)
        people = [*map(as_text, users)]
        if not len(values) == len(states) == len({*people}) == len(users):
            raise ValueError(f"{question + RESPONSES} must be one of each user")
        for user, value, state in zip(people, values, states, strict=True):
            answers = rows.setdefault(user, {})
            if state == "submitted":
                answers[question] = value
    for user, answers in rows.items():
        reason = "" if answers else "cancelled_answers"
        yield Answered({**shared, "user": user}, answers, reason)


def _pretalx(review: Fields) -> Iterator[Answered]:
    answers: Fields = {"score": review.get("score")}
    for entry in _objects(review.get("scores")):
        category = flat_fields({"category": entry.get("category")})
        name = category.get("category.name.en", category.get("category.name"))
        answers[as_text(name or category.get("category"))] = entry.get("value")
    yield Answered({name: review.get(name) for name in ("submission", "user")}, answers)


def _inspect(log: Fields) -> Iterator[Answered]:
    about = flat_fields({"eval": log.get("eval")})
    for sample in _objects(log.get("samples")):
        scores = sample.get("scores")
        place = f"{as_text(sample.get('id'))} / {as_text(sample.get('epoch') or 1)}"
        values = flat_fields(
            {
                name: score.get("value") if isinstance(score, dict) else score
                for name, score in (scores if isinstance(scores, dict) else {}).items()
            }
        )
        for scorer, value in values.items() or [("", None)]:
            label = f"{as_text(about.get('eval.task'))} / {scorer} / {place}"
            fields = {"model": about.get("eval.model"), SCORER: label}
            score = GRADES.get(value, value) if isinstance(value, str) else value
            number = float(score) if isinstance(score, int | float) else score
            reason = "unscored_samples" if value is None else ""
            yield Answered(fields, {"score": number}, reason)


def _read(
    answers_of: Callable[[Fields], Iterator[Answered]],
    places: tuple[Sequence[str], Sequence[str]],
    table: Table,
    options: ReadOptions,
) -> LongForm:
    """Take a row for what each person answered, with the question that is meant."""
    rows: list[tuple[int, Answered]] = []
    for row, record in enumerate(top_records(table.document)):
        try:
            rows += [(row, answered) for answered in answers_of(record)]
        except ValueError as error:
            raise table.source.at(row, str(error)) from None
    if not rows:
        raise table.source.whole("The records hold no answer.")
    source = table.source.keep([row for row, _ in rows])
    used = {name for _, answered in rows for name in answered.fields}
    # A question may be called like a field of the record.
    questions = {
        name: f"{name} (answer)" if name in used else name
        for _, answered in rows
        for name in answered.answers
    }
    values = [
        answered.fields
        | {questions[name]: answered.answers[name] for name in answered.answers}
        for _, answered in rows
    ]
    raw = Table.of(flatten(values, source), source)
    codes = dict.fromkeys(answered.reason for _, answered in rows if answered.reason)
    reasons = {
        code: [answered.reason == code for _, answered in rows] for code in codes
    }
    raw = replace(raw, notices=table.notices).leave_out("answer", reasons)
    fields = {
        name: raw.columns[name]
        for name in questions.values()
        if name in raw.columns and may_be_scores(raw.columns[name])
    }
    item = raw.column_for("item", options.columns.item, *places[0])
    reviewer = raw.column_for("reviewer", options.columns.reviewer, *places[1])
    titles = roles.titles_by_item(raw.texts(item), raw.texts("data.title", "title"))
    choose = roles.among(fields, raw.source)
    if not options.columns.score and len(numbers := _number_fields(fields)) == 1:
        columns = replace(options.columns, score=numbers[0])
        options = replace(options, columns=columns)
    return roles.long_form(raw, options, choose, item, reviewer, titles)


def _number_fields(fields: Mapping[str, pl.Series]) -> list[str]:
    """Return the questions that are answered with numbers, but for confidences."""
    return [
        name
        for name, values in fields.items()
        if are_scores(filled_cells(values)).all()
        and not roles.ABOUT_REVIEWERS.search(plain(name))
    ]


def _has_keys(*keys: str) -> Callable[[Table, ReadOptions], str]:
    """Return how to recognise a layout by the keys that all its records have."""

    def recognise(table: Table, _: ReadOptions) -> str:
        records = top_records(table.document)
        if not records or not all({*keys} <= record.keys() for record in records):
            return ""
        return f"keys {', '.join(map(repr, keys[:-1]))} and {keys[-1]!r}"

    return recognise


def recognise_argilla(table: Table, _: ReadOptions) -> str:
    """Say why a table is an export of Argilla: a question with users and responses."""
    keys = (key for record in top_records(table.document) for key in record)
    users = next((key for key in keys if key.endswith(USERS)), "")
    return f"key {users!r}" if users else ""


def recognise_pretalx(table: Table, options: ReadOptions) -> str:
    """Say why a table holds reviews of pretalx, as JSON of its API or as CSV."""
    in_api = _has_keys("submission", "scores", "user")(table, options)
    email = table.why("proposal id", "reviewer email")
    return in_api or email or table.why("proposal id", "reviewer name")


def read_pretalx(table: Table, options: ReadOptions) -> LongForm:
    """Take the score of each review, or that of a category.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.layouts import ReadOptions
        >>> columns = {"Proposal ID": ["AB"], "Reviewer name": ["Bo"], "Score": ["2"]}
        >>> read_pretalx(Table.of(columns, Source()), ReadOptions()).origin
        "item from 'Proposal ID', reviewer from 'Reviewer name', score from 'Score'"
    """
    if table.document is not None:
        places = ("submission", "submission.code"), ("user", "user.email", "user.code")
        return _read(_pretalx, places, table, options)
    fields = {
        name: values
        for name, values in table.columns.items()
        if (plain(name) == "score" or plain(name).startswith(CATEGORY))
        or name == options.columns.score
    }
    item = table.column_for("item", options.columns.item, "proposal id")
    names = ("reviewer email", "reviewer name")
    reviewer = table.column_for("reviewer", options.columns.reviewer, *names)
    titles = roles.titles_by_item(table.texts(item), table.texts("title"))
    choose = roles.among(fields, table.source)
    return roles.long_form(table, options, choose, item, reviewer, titles)


def read_inspect(table: Table, options: ReadOptions) -> LongForm:
    """Take what each scorer says of each sample, for every model.

    Raises:
        RatingsError: If there is only one model.
    """
    long = _read(_inspect, (("model",), (SCORER,)), table, options)
    models = {*long.table.texts("item")}
    if len(models) == 1:
        raise table.source.whole(
            f"These are scores of one model, {quote(models.pop())}, and one model "
            "cannot be ranked. Give the logs of several: evenhand rank logs/*.json."
        )
    return long


LABELSTUDIO = layouts.Layout(
    "labelstudio",
    "Label Studio",
    _has_keys("annotations", "data"),
    partial(
        _read,
        _label_studio,
        (("id",), ("completed_by", "completed_by.email", "completed_by.id")),
    ),
)
ARGILLA = layouts.Layout(
    "argilla",
    "Argilla",
    recognise_argilla,
    partial(_read, _argilla, (("id",), ("user",))),
)
PRETALX = layouts.Layout("pretalx", "pretalx", recognise_pretalx, read_pretalx)
INSPECT = layouts.Layout(
    "inspect", "logs of inspect_ai", _has_keys("eval", "samples"), read_inspect
)
