"""The queries as SQL, for any console."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from evenhand.engines import queries
from evenhand.errors import OptionError, unknown
from evenhand.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import ibis
    import sqlglot
    from sqlglot.optimizer import optimizer

    from evenhand.claims import Label
    from evenhand.engines.queries import Frame, Rows

    Query = Callable[[Rows], Frame]
else:
    ibis, sqlglot = lazy("ibis"), lazy("sqlglot")
    optimizer = lazy("sqlglot.optimizer.optimizer")

DIALECTS = ("duckdb", "spark", "postgres", "bigquery", "snowflake")
QUERIES: Mapping[str, Mapping[str, Query]] = {
    "compare": {
        "How many scores of each value: save the answer as counts.csv.": (
            queries.histogram
        ),
        "How many reviewers gave this many scores: nobody may have given two.": (
            queries.loads
        ),
    },
    "pairs": {
        "Scores by item.": queries.item_sums,
        "Reviewers by how many scores they gave. The next query goes through the sum "
        "of load * load * reviewers.": queries.reviewer_sums,
        "How each two items were scored by one reviewer.": queries.pairs,
    },
    "check": {
        "How many scores there are.": queries.facts,
        "How many scores each item has.": queries.reviews,
        "How many reviewers gave this many scores.": queries.loads,
        "Pairs of equal scores by one reviewer, each counted twice.": queries.ties,
        "Links between items, from which groups follow.": queries.links,
    },
}
RULES = (
    *("qualify", "pushdown_projections", "merge_subqueries"),
    *("eliminate_subqueries", "eliminate_ctes"),
)
AS_WRITTEN = "duckdb, normalization_strategy=case_sensitive"
TABLE = "evenhand_ratings"
PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


def sql_of(
    job: str,
    dialect: str = "duckdb",
    *,
    table: str = "ratings",
    reviewer: str = "reviewer",
    item: str = "item",
    score: str = "score",
    items: Sequence[Label] | None = None,
) -> dict[str, str]:
    """Write the queries of a job as SQL, by what each of them is for.

    Args:
        job: "compare", "pairs" or "check".
        dialect: "duckdb", "spark", "postgres", "bigquery" or "snowflake".
        table: Table of the ratings.
        reviewer: Its column of the reviewer.
        item: Its column of the item.
        score: Its column of the score.
        items: The two items to be compared, if there are more.

    Raises:
        OptionError: If a name is unknown, or the libraries that write SQL are not
            installed.
    """
    for what, name, allowed in (("job", job, QUERIES), ("dialect", dialect, DIALECTS)):
        if name not in allowed:
            raise OptionError(unknown(what, name, allowed))
    columns = {reviewer: "string", item: "string", score: "float64"}
    try:
        there = ibis.table(columns, name=TABLE)
        import_module("ibis.backends.duckdb")
    except ModuleNotFoundError as error:
        raise OptionError(
            f"SQL is written with Ibis and DuckDB, and {error.name} is not installed: "
            "pip install 'evenhand[query]'."
        ) from error
    rows = queries.take_rows(
        there, reviewer=reviewer, item=item, score=score, typed=False
    )
    if items is not None:
        rows = queries.only_items(rows, items)
    return {
        text: _write_query(query(rows).to_native(), dialect, table, {TABLE: columns})
        for text, query in QUERIES[job].items()
    }


def _write_query(
    expression: Any,  # noqa: ANN401 - of Ibis
    dialect: str,
    table: str,
    schema: dict[str, Any],
) -> str:
    """Write a query without the subqueries that only rename columns."""
    sql = sqlglot.parse_one(ibis.to_sql(expression, dialect="duckdb"), read="duckdb")
    modules = [import_module(f"sqlglot.optimizer.{name}") for name in RULES]
    rules = list(map(getattr, modules, RULES))
    shorter = optimizer.optimize(sql, schema=schema, dialect=AS_WRITTEN, rules=rules)
    # Quoted names keep their case, which an engine's own names may not have.
    for name in shorter.find_all(sqlglot.exp.Identifier):
        name.set("quoted", not PLAIN.fullmatch(name.name))
    for named in list(shorter.find_all(sqlglot.exp.Table)):
        if named.name == TABLE:
            named.replace(_table(table, named.alias, dialect))
    return str(shorter.sql(dialect=dialect, pretty=True))


def _table(name: str, alias: str, dialect: str) -> Any:  # noqa: ANN401 - of sqlglot
    problem = OptionError(f"table must be the name of a table, got {name!r}.")
    if not name.strip():
        raise problem
    try:
        return sqlglot.exp.to_table(name, alias=alias, dialect=dialect)
    except (sqlglot.errors.SqlglotError, ValueError):
        raise problem from None
