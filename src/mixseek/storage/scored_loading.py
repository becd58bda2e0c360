"""From outcomes to the tables of protocols with dimensions; nothing is read twice where there are none."""

import duckdb

from mixseek.domain.judgments import Method, Reply
from mixseek.domain.samples import Sample
from mixseek.protocols.method import method_of
from mixseek.storage.scored_schema import (
    DROP_REPLACED,
    FILL_DIMENSIONS,
    FILL_EVIDENCE,
    FILL_SCORED,
    FIRST_VALID,
    JUDGE_MODELS,
    MARK_CONTROLS,
    OWN_PAIRS,
    TARGETS,
)

# The one built-in protocol without dimensions.
_WITHOUT_DIMENSIONS = "semantic"


def mark_controls(connection: duckdb.DuckDBPyConnection, run: str, judges: list[str]) -> None:
    """Invalid and missing judgments of a model on its own output, for the few pairs of judge and target there are."""
    targets = [row[0] for row in connection.execute(TARGETS, {"run": run}).fetchall()]
    if not targets:
        return
    models = [row[0] for row in connection.execute(JUDGE_MODELS, {"run": run}).fetchall()]
    pairs = [(judge, target) for judge in dict.fromkeys([*judges, *models]) for target in targets]
    seen = connection.execute(OWN_PAIRS, {"run": run}).fetchall()
    own = list(dict.fromkeys([*(pair for pair in pairs if is_own_output(*pair)), *seen]))
    if own:
        connection.execute(
            MARK_CONTROLS, {"run": run, "judges": [judge for judge, _ in own], "targets": [target for _, target in own]}
        )


def is_own_output(judge: str, target: str) -> bool:
    """By the same rule as every valid judgment."""
    return method_of(Reply("", judge), Sample("", "", target_model=target)) is Method.SELF_JUDGE


def load_scores(connection: duckdb.DuckDBPyConnection, run: str, protocol: str, before: int) -> None:
    """Once the outcomes are settled; a run without a valid judgment is still counted and covered.

    Marks and quotes of the first `before` outcomes are there already, if the tables were filled then.
    """
    was_scored = connection.execute("SELECT count(*) > 0 FROM scored").fetchone() == (True,)
    connection.execute("DELETE FROM scored")
    first = connection.execute(FIRST_VALID, {"run": run}).fetchone()
    if not (first[0] if first else protocol != _WITHOUT_DIMENSIONS):
        return
    if was_scored:
        for table in ("dimension_scores", "evidence"):
            connection.execute(DROP_REPLACED.format(table=table))
    connection.execute(FILL_SCORED, {"run": run})
    for statement in (FILL_DIMENSIONS, FILL_EVIDENCE):
        connection.execute(statement, {"run": run, "after": before if was_scored else 0})
