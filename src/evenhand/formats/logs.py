"""Records that programs write: judgments of models, answers of annotators, reviews.

Where a program writes what stands in a table, PROGRAMS. Of an evaluation log one judge
on one prompt is a reviewer, because what made the judge strict or the prompt hard is
the same for all answers; the model is the item. Judges of one prompt may err together,
so the prompt is the cluster.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.columns import as_series
from evenhand.errors import listing, quote
from evenhand.formats import layouts, roles
from evenhand.formats.documents import SCALARS, flat_fields, top_records
from evenhand.formats.scale import are_scores, filled_cells, may_be_scores
from evenhand.formats.tables import as_text, plain
from evenhand.ratings import join_labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.formats.tables import Reasons, Table

Entry = dict[str, Any]
"""An object of a document, or one judgment of it."""
PROGRAMS = """
MT-Bench | question_id model judgment score | model | judge question_id* turn | score
Appraise | username item_type score | system | username document* segment* | score
WMT | doc_id | system | annotator doc_id* | human
pearmut | user_id item_i | model | user_id item_id* | score
lm-eval | doc_id filter target | model/model_name | task* doc_id* filter |
CJE | prompt_id judge_score | policy/model | judge prompt_id* draw_idx | judge_score
edX | scorer_id points_earned | submission_uuid | scorer_id | points_earned
inspect_ai samples | eval_id epoch | model/log | task_name scorer id* epoch | score
WMT MQM | seg_id rater severity | system | rater doc* seg_id* | points
inspect_ai | eval samples | model | task scorer sample* epoch | score
Label Studio | annotations data | id | completed_by/completed_by.email/completed_by.id |
Argilla | .responses.users | id | user |
PeerRead | id recommendation comments | file/id | file/id other_keys/# | recommendation
"""
"""Programs; columns or keys by which their records are recognised, one with a point by
its end; the column of the item; columns that name the reviewer together, those of the
prompt with an asterisk; the column of the score, or nothing where the one number is it.
A slash stands between names of which the first that is there counts, # for the row."""
LEFT_OUT = {
    "MT-Bench": {"score": (r"^-1(?:\.0*)?$", "failed_judgments")},
    "Appraise": {
        "item_type": ("^(?:CHK|BAD|REF)", "control_items"),
        "segment": ("tutorial", "control_items"),
    },
    "WMT": {"doc_id": ("tutorial", "control_items")},
    "pearmut": {
        "item_i": ("^(?:welcome|random|goodbye|tutorial)_", "control_items"),
    },
    "WMT MQM": {"severity": ("(?i)^HOTW", "control_items")},
    "edX": {"score_type": ("^SE$", "control_items")},
    "Label Studio": {"was_cancelled": ("(?i)^true$", "cancelled_answers")},
    "Argilla": {"was_cancelled": ("(?i)^true$", "cancelled_answers")},
    "PeerRead": {
        "is meta review": ("(?i)^true$", "meta_reviews"),
        "recommendation": ("^$", "unscored_comments"),
    },
}
"""By program and column, what is in it where there is no judgment, and the notice."""
NO_JUDGMENT = "^(?i:|error|failed|null|none|nan|n/a)$"
NO_METRIC = re.compile(
    r".*\..*|doc|doc_id|target|arguments|(?:filtered_)?resps|filter|metrics|#|id|title|"
    r"(?:doc|prompt|target)_hash|model|model_name|task|file|was_cancelled|completed_by"
)
"""Columns that hold no score where the one number is it."""
PATHS = {
    "lm-eval": r"(?:(?P<model>[^/\\]+)[/\\])?samples_(?P<task>.+?)(?:_[0-9]{4}-.*)?$",
    "CJE": r"(?P<policy>[^/\\]+?)(?:_responses)?$",
}
"""What the path of a file, without its ending, tells of its rows."""
WAVE = re.compile("human([0-9]*)")
ERRORS = {"major": -5.0, "minor": -1.0, "critical": -5.0}
"""What a segment loses by an error of the Multidimensional Quality Metrics."""
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""What inspect_ai's scorers write: correct, partial, incorrect, no answer."""
RATED = ("rating", "number", "choices")
"""Types of Label Studio's results that may be scores."""
RESPONSES, USERS, STATUS = ".responses", ".responses.users", ".responses.status"
FILE = "file"
"""Column of the file that a row is from, if several were read."""


@dataclass(frozen=True, slots=True)
class Log:
    """Where a program writes what; lists are of columns, see PROGRAMS."""

    program: str
    marks: list[str]
    item: list[str]
    reviewer: list[str]
    score: str

    @classmethod
    def of(cls, line: str) -> Log:
        """Take a line of PROGRAMS apart."""
        program, marks, item, reviewer, score = map(str.strip, line.split("|"))
        return cls(program, marks.split(), item.split("/"), reviewer.split(), score)

    @property
    def prompt(self) -> list[str]:
        """Columns of the prompt."""
        return [name[:-1] for name in self.reviewer if name.endswith("*")]

    def why(self, table: Table) -> str:
        """Say by which columns or keys records are this program's, or nothing."""
        if reason := table.why(*self.marks):
            flat = self.program not in UNFOLD or table.why(*self.item, self.score)
            return reason if flat or [*self.judgments(table)] else ""
        records, end = top_records(table.document), self.marks[-1]
        keys = [key for record in records[:1] for key in record]
        if end.startswith("."):
            keys = [key for key in keys if key.endswith(end)][:1]
        elif not all({*self.marks} <= record.keys() for record in records):
            return ""
        marks = [key for key in keys if key in self.marks or key.endswith(end)]
        return f"keys {listing(marks)}" if marks else ""

    def judgments(self, table: Table) -> Iterator[tuple[int, Entry]]:
        """Yield the judgments within a document, each with the place of its entry."""
        if (unfold := UNFOLD.get(self.program)) is None:
            return
        for place, entry in enumerate(top_records(table.document)):
            try:
                yield from ((place, fields) for fields in unfold(entry))
            except ValueError as error:
                raise table.source.at(place, str(error)) from None


def _name_judge(entry: Entry) -> Iterator[Entry]:
    """Take the judge's name from a list of it and its prompt."""
    judge = entry.get("judge")
    yield entry | {"judge": judge[0] if isinstance(judge, list) and judge else judge}


def _unfold_waves(entry: Entry) -> Iterator[Entry]:
    """Take the scores of each system by each annotator."""
    for system, marks in _items(entry.get("scores")):
        for key, score in _items(marks):
            if wave := WAVE.fullmatch(key):
                annotator = marks.get(f"annotator{wave[1]}", key)
                fields = {"system": system, "annotator": annotator, "human": score}
                yield entry | fields


def _unfold_segments(entry: Entry) -> Iterator[Entry]:
    """Take the scores of each model in each segment of a document."""
    segments, texts = (
        value if isinstance(value, list) else [value]
        for value in (entry.get("annotation"), entry.get("item"))
    )
    for place, models in enumerate(segments):
        # Of a document every segment is a prompt of its own.
        number = f"{entry.get('item_i')}.{place}" if place else entry.get("item_i")
        text = dict(_items(texts[place])) if place < len(texts) else {}
        for model, marks in _items(models):
            fields = {"model": model, "item_id": text.get("item_id", number)}
            yield entry | fields | {"score": dict(_items(marks)).get("score")}


def _unfold_samples(entry: Entry) -> Iterator[Entry]:
    """Take what each of inspect_ai's scorers says of each sample."""
    about = dict(_items(entry.get("eval")))
    shared = {"model": about.get("model"), "task": about.get("task")}
    for sample in _objects(entry.get("samples")):
        named = _items(sample.get("scores"))
        values = flat_fields(
            {name: dict(_items(v)).get("value", v) for name, v in named}
        )
        for scorer, value in values.items() or [("", None)]:
            grade = GRADES.get(value, value) if isinstance(value, str) else value
            score = float(grade) if isinstance(grade, int | float) else grade
            place = {"sample": sample.get("id"), "epoch": sample.get("epoch") or 1}
            yield shared | place | {"scorer": scorer, "score": score}


def _unfold_annotations(entry: Entry) -> Iterator[Entry]:
    """Take the answers of each annotation of Label Studio."""
    shared = flat_fields({"id": entry.get("id"), "data": entry.get("data")})
    for annotation in _objects(entry.get("annotations")):
        names = ("completed_by", "was_cancelled")
        answers = {
            as_text(result.get("from_name")): dict(_items(result.get("value"))).get(
                kind
            )
            for result in _objects(annotation.get("result"))
            if (kind := result.get("type")) in RATED
        }
        more = flat_fields({name: annotation.get(name) for name in names})
        yield flat_fields(answers) | shared | more


def _unfold_responses(entry: Entry) -> Iterator[Entry]:
    """Take the responses of each user of Argilla."""
    shared = {name: value for name, value in entry.items() if RESPONSES not in name}
    rows: dict[str, Entry] = {}
    for question in (key.removesuffix(USERS) for key in entry if key.endswith(USERS)):
        parts = (entry.get(question + part) for part in (USERS, RESPONSES, STATUS))
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
        yield answers | shared | {"user": user, "was_cancelled": not answers}


def _items(value: object) -> list[tuple[str, Any]]:
    return [*value.items()] if isinstance(value, dict) else []


def _objects(value: object) -> list[Entry]:
    several = value if isinstance(value, list) else []
    return [entry for entry in several if isinstance(entry, dict)]


LOGS = [Log.of(line) for line in PROGRAMS.strip().splitlines()]
UNFOLD = {
    "MT-Bench": _name_judge,
    "WMT": _unfold_waves,
    "pearmut": _unfold_segments,
    "inspect_ai": _unfold_samples,
    "Label Studio": _unfold_annotations,
    "Argilla": _unfold_responses,
}


def recognise(table: Table, _: layouts.ReadOptions) -> str:
    """Say why a table is what a program wrote: it has the columns of one.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.tables import Table
        >>> table = Table.of({"prompt_id": ["1"], "judge_score": [0.5]}, Source())
        >>> recognise(table, layouts.ReadOptions())
        "columns 'prompt_id' and 'judge_score' of CJE"
    """
    reasons = ((log.why(table), log.program) for log in LOGS)
    return next((f"{why} of {program}" for why, program in reasons if why), "")


def read(table: Table, options: layouts.ReadOptions) -> layouts.LongForm:
    """Take one rating from each judgment: of a model, by a judge on a prompt.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.tables import Table
        >>> columns = {"prompt_id": ["1", "1"], "judge_score": [0.5, 0.7]}
        >>> table = Table.of({**columns, "policy": ["old", "new"]}, Source())
        >>> read(table, layouts.ReadOptions()).origin
        "item from 'policy', reviewer from 'prompt_id', score from 'judge_score'"
    """
    log, declared = next((log for log in LOGS if log.why(table)), None), options.columns
    if log is None:
        raise table.source.whole(
            f"No program that is known writes these columns: {listing(table.columns)}. "
            "Name them with --reviewer, --item and --score."
        )
    table = WIDE.get(log.program, partial(_unfold, log))(table)
    table = _with_path(log, table)
    item = table.find(*log.item)
    if declared.item or not log.prompt:
        item = table.column_for("item", declared.item, *log.item)
    score = _score_of(log, table, declared.score)
    table = table.leave_out("judgment", _reasons(log, table, score))
    models = table.texts(item) if item else [""]
    if len({*models}) == 1 and log.prompt:
        name = f", {quote(models[0])}," if models[0] else ""
        raise table.source.whole(
            f"All judgments are of one model{name} and one model cannot be ranked. "
            "Give the logs of several models together."
        )

    def choose(wanted: str) -> roles.Place:
        name = table.column_for("score", wanted or score)
        return name, table.columns[name]

    titles = roles.titles_by_item(table.texts(item), table.texts("title", "data.title"))
    writers = partial(_reviewers, log)
    long = roles.long_form(table, options, choose, item, writers, titles)
    prompts = [*filter(None, map(table.find, log.prompt))]
    return roles.with_clusters(long, table, declared, prompts)


def _unfold(log: Log, table: Table) -> Table:
    """Return a row for each judgment, of which an entry may hold several."""
    judgments = [*log.judgments(table)]
    columns: dict[str, pl.Series] = {}
    for name in dict.fromkeys(name for _, judgment in judgments for name in judgment):
        fields = (judgment.get(name) for _, judgment in judgments)
        values = [field if isinstance(field, SCALARS) else None for field in fields]
        if any(value is not None for value in values):
            columns[name] = as_series(values)
    source = table.source.keep([place for place, _ in judgments])
    if not judgments and not table.why(*log.marks):
        raise table.source.whole("The records hold no answer.")
    return replace(table, columns=columns, source=source) if judgments else table


def _melt_scores(table: Table) -> Table:
    """Make a row of each score that inspect_ai's `samples_df` has for a sample."""
    names = [name for name in table.columns if name.startswith("score_")]
    if not names:
        return table
    shared = {name: cells for name, cells in table.columns.items() if name not in names}
    columns = {name: pl.concat([cells] * len(names)) for name, cells in shared.items()}
    scorers = [name.removeprefix("score_") for name in names]
    columns["scorer"] = pl.Series(np.repeat(scorers, table.height))
    grades = {letter: f"{grade:g}" for letter, grade in GRADES.items()}
    columns["score"] = pl.concat([table.cells(name).replace(grades) for name in names])
    source = table.source.keep([*range(table.height)] * len(names))
    return replace(table, columns=columns, source=source)


def _add_errors(table: Table) -> Table:
    """Add up the errors that a rater found in each segment of a system."""
    parts = ("system", "rater", "doc", "seg_id")
    control = table.cells("severity").str.contains("(?i)^HOTW")
    rows = pl.DataFrame([table.cells(name).alias(name) for name in parts]).with_columns(
        severity=table.cells("severity").str.to_lowercase(),
        category=table.cells("category").str.to_lowercase(),
        control=control,
    )
    severity, category = pl.col("severity"), pl.col("category")
    points = severity.replace_strict(ERRORS, default=0.0)
    points = (
        pl.when(category.str.contains("punctuation") & (severity == "minor"))
        .then(-0.1)
        .otherwise(points)
    )
    points = (
        pl.when(category.str.contains("non-translation")).then(-25).otherwise(points)
    )
    first = pl.struct(*parts, "control").is_first_distinct()
    total = points.sum().round(6).over(*parts, "control")
    rows = rows.with_columns(points=total, first=first)
    scored = replace(table, columns={**table.columns, "points": rows["points"]})
    return scored.keep(rows["first"].arg_true().to_list()).warn("error_points")


def _with_path(log: Log, table: Table) -> Table:
    """Add what the path of each row's file tells, where no column does."""
    paths = table.cells(FILE)
    if not table.find(FILE):
        paths = pl.Series([table.source.name or ""]).new_from_index(0, table.height)
    pattern = PATHS.get(log.program, "")
    groups = paths.str.replace(r"\.[a-z]+$", "").str.extract_groups(pattern)
    columns = {
        name: groups.struct.field(name)
        for name in re.compile(pattern).groupindex
        if not table.find(name) and groups.struct.field(name).null_count() == 0
    }
    return replace(table, columns={**table.columns, **columns})


def _score_of(log: Log, table: Table, wanted: str) -> str:
    """Return the column of the score; of several that may be it the user names one."""
    if wanted or log.score:
        return table.column_for("score", wanted, log.score)
    used = {*log.item, *log.reviewer}
    free = [name for name in table.columns if not NO_METRIC.fullmatch(name)]
    metrics = {
        name: filled_cells(table.columns[name])
        for name in free
        if name not in used and may_be_scores(table.columns[name])
    }
    numbers = [
        name
        for name, cells in metrics.items()
        if are_scores(cells).all() and not roles.ABOUT_REVIEWERS.search(plain(name))
    ]
    only = numbers[0] if len(numbers) == 1 else ""
    return only or roles.choose_score("", numbers or [*metrics], table.source)


def _reasons(log: Log, table: Table, score: str) -> Reasons:
    """Return what is no judgment of a model, and why."""
    rows = pl.DataFrame([table.cells(name).alias(name) for name in table.columns])
    patterns = LEFT_OUT.get(log.program, {})
    reasons: dict[str, pl.Series] = {}
    for column, (pattern, code) in patterns.items():
        matches = table.cells(column).str.contains(pattern)
        reasons[code] = reasons[code] | matches if code in reasons else matches
    failed = table.cells(score).str.contains(NO_JUDGMENT)
    failed = failed | reasons.pop("failed_judgments", failed)
    first = rows.select(pl.struct(pl.all()).is_first_distinct()).to_series()
    return {**reasons, "failed_judgments": failed, "repeated_records": ~first}


def _reviewers(log: Log, table: Table) -> roles.Writers:
    """Return the reviewer of each judgment, a judge on a prompt."""
    rows = {"#": pl.Series(range(1, table.height + 1))}
    numbered = replace(table, columns={**rows, **table.columns})
    names = (numbered.find(*name.rstrip("*").split("/")) for name in log.reviewer)
    parts = [*filter(None, names)]
    labels = join_labels(parts, numbered.columns, table.source)
    # Names that start again in every file are nobody's.
    hidden = table.height * any(name.endswith("#") for name in log.reviewer)
    table = roles.pseudonyms(table, hidden, "openreview")
    return (" + ".join(map(repr, parts)), labels), table


WIDE = {"inspect_ai samples": _melt_scores, "WMT MQM": _add_errors}
"""What makes a row of each judgment where a table has it otherwise."""
EVALUATION = layouts.Layout("evaluation", "an evaluation log", recognise, read)
