"""Evaluation logs: judges score the answers of models to prompts.

One judge on one prompt is a reviewer, because what made the judge strict or the prompt
hard is the same for all answers; the model is the item. Judges of one prompt may err
together, so the prompt is offered as the cluster.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.columns import as_series
from evenhand.errors import listing, quote
from evenhand.formats import layouts, roles
from evenhand.formats.documents import SCALARS, entries
from evenhand.formats.scale import may_be_scores
from evenhand.ratings import FEWEST_CLUSTERS, join_labels

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
lm-eval | doc_id filter target | model model_name | task* doc_id* filter |
CJE | prompt_id judge_score | policy model | judge prompt_id* draw_idx | judge_score
edX | scorer_id points_earned | submission_uuid | scorer_id | points_earned
"""
"""Programs; columns by which their logs are recognised; columns of which the first that
is there holds the model; columns that name the reviewer together, those of the prompt
with an asterisk; the column of the score, or nothing where the one number is it."""
LEFT_OUT = {
    "MT-Bench": {"score": r"^-1(?:\.0*)?$"},
    "Appraise": {"item_type": "^(?:CHK|BAD|REF)", "segment": "tutorial"},
    "WMT": {"doc_id": "tutorial"},
    "pearmut": {"item_i": "^(?:welcome|random|goodbye|tutorial)_"},
    "edX": {"score_type": "^SE$"},
}
"""By program and column, what is in it where there is no judgment of a model."""
NO_SCORE = "^(?i:|error|failed|null|none|nan|n/a)$"
NO_METRIC = re.compile(
    r".*\..*|doc|doc_id|target|arguments|(?:filtered_)?resps|filter|metrics|"
    r"(?:doc|prompt|target)_hash|model|model_name|task|file"
)
"""Columns of lm-eval that hold no score."""
PATHS = {
    "lm-eval": r"(?:(?P<model>[^/\\]+)[/\\])?samples_(?P<task>.+?)(?:_[0-9]{4}-.*)?$",
    "CJE": r"(?P<policy>[^/\\]+?)(?:_responses)?$",
}
"""What the path of a file, without its ending, tells of its rows."""
WAVE = re.compile("human([0-9]*)")
FILE = "file"
"""Column of the file that a row is from, if several were read."""


@dataclass(frozen=True, slots=True)
class Log:
    """Where a program writes what; lists are of columns, see PROGRAMS."""

    program: str
    marks: list[str]
    model: list[str]
    reviewer: list[str]
    score: str

    @classmethod
    def of(cls, line: str) -> Log:
        """Take a line of PROGRAMS apart."""
        program, marks, model, reviewer, score = map(str.strip, line.split("|"))
        return cls(program, marks.split(), model.split(), reviewer.split(), score)

    @property
    def prompt(self) -> list[str]:
        """Columns of the prompt."""
        return [name[:-1] for name in self.reviewer if name.endswith("*")]

    def judgments(self, table: Table) -> Iterator[tuple[int, Entry]]:
        """Yield the judgments within a document, each with the place of its entry."""
        unfold = UNFOLD.get(self.program)
        if unfold and table.document is not None:
            for place, entry in enumerate(entries(table.document, table.source)):
                yield from ((place, entry | fields) for fields in unfold(entry))


def _name_judge(entry: Entry) -> Iterator[Entry]:
    """Take the judge's name from a list of it and its prompt."""
    judge = entry.get("judge")
    yield {"judge": judge[0] if isinstance(judge, list) and judge else judge}


def _unfold_waves(entry: Entry) -> Iterator[Entry]:
    """Take the scores of each system by each annotator."""
    for system, marks in _items(entry.get("scores")):
        for key, score in _items(marks):
            if wave := WAVE.fullmatch(key):
                annotator = marks.get(f"annotator{wave[1]}", key)
                yield {"system": system, "annotator": annotator, "human": score}


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
            yield fields | {"score": dict(_items(marks)).get("score")}


def _items(value: object) -> list[tuple[str, Any]]:
    return [*value.items()] if isinstance(value, dict) else []


LOGS = [Log.of(line) for line in PROGRAMS.strip().splitlines()]
UNFOLD = {"MT-Bench": _name_judge, "WMT": _unfold_waves, "pearmut": _unfold_segments}


def recognise(table: Table, _: layouts.ReadOptions) -> str:
    """Say why a table is an evaluation log: it has the columns of one.

    Examples:
        >>> from evenhand.columns import Source
        >>> from evenhand.formats.tables import Table
        >>> table = Table.of({"prompt_id": ["1"], "judge_score": [0.5]}, Source())
        >>> recognise(table, layouts.ReadOptions())
        "columns 'prompt_id' and 'judge_score' of CJE"
    """
    log = _log_of(table)
    return f"{table.why(*log.marks)} of {log.program}" if log else ""


def _log_of(table: Table) -> Log | None:
    for log in LOGS:
        flat = log.program not in UNFOLD or table.why(*log.model, log.score)
        if table.why(*log.marks) and (flat or any(True for _ in log.judgments(table))):
            return log
    return None


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
    log, declared = _log_of(table), options.columns
    if log is None:
        raise table.source.whole(
            f"No evaluation log has these columns: {listing(table.columns)}. Name them "
            "with --reviewer, --item and --score."
        )
    table = _with_path(log, _unfold(log, table))
    model = table.find(*log.model)
    if declared.item or not log.prompt:
        model = table.column_for("item", declared.item, *log.model)
    score = _score_of(log, table, declared.score)
    table = table.leave_out("judgment", _reasons(log, table, score))
    models = table.texts(model) if model else [""]
    if len({*models}) == 1 and log.prompt:
        name = f", {quote(models[0])}," if models[0] else ""
        raise table.source.whole(
            f"All judgments are of one model{name} and one model cannot be ranked. "
            "Give the logs of several models together."
        )

    def choose(wanted: str) -> roles.Place:
        name = table.column_for("score", wanted or score)
        return name, table.columns[name]

    return roles.long_form(table, options, choose, model, partial(_reviewers, log))


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
    return replace(table, columns=columns, source=source) if judgments else table


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
    free = [name for name in table.columns if not NO_METRIC.fullmatch(name)]
    metrics = [name for name in free if may_be_scores(table.columns[name])]
    only = metrics[0] if len(metrics) == 1 else ""
    return only or roles.choose_score("", metrics, table.source)


def _reasons(log: Log, table: Table, score: str) -> Reasons:
    """Return what is no judgment of a model, and why."""
    patterns = LEFT_OUT.get(log.program, {})
    failed = f"{NO_SCORE}|{patterns.get(score, NO_SCORE)}"
    controls = pl.Series([False] * table.height)
    for column in patterns.keys() - {score}:
        controls |= table.cells(column).str.contains(patterns[column])
    failures = table.cells(score).str.contains(failed)
    return {"control_items": controls, "failed_judgments": failures}


def _reviewers(log: Log, table: Table) -> roles.Writers:
    """Return the reviewer of each judgment, a judge on a prompt; offer clusters."""
    names = (table.find(name.rstrip("*")) for name in log.reviewer)
    parts, prompts = (
        [*filter(None, names)],
        [*filter(None, map(table.find, log.prompt))],
    )
    labels = join_labels(parts, table.columns, table.source)
    if prompts:
        clusters = join_labels(prompts, table.columns, table.source).n_unique()
        if FEWEST_CLUSTERS <= clusters < labels.n_unique():
            table = table.warn("prompts", column="+".join(prompts), prompts=clusters)
    return (" + ".join(map(repr, parts)), labels), table


EVALUATION = layouts.Layout("evaluation", "an evaluation log", recognise, read)
