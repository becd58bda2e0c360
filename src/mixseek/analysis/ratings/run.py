"""Ratings from a run: what its judges said, and the labels that people gave."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace

import duckdb

from mixseek.analysis.labels.units import ensure_texts
from mixseek.analysis.ratings.relation import PEOPLE, STATEMENTS, Ratings, RatingSource
from mixseek.analysis.ratings.rows import count_ratings, rating_session
from mixseek.domain.counts import ResponseCounts
from mixseek.domain.labels import collect_labels
from mixseek.index.loading import attach_index
from mixseek.storage.duckdb_session import confine, escape_glob, fetch_all
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import RunDirectory, Workspace


@contextlib.contextmanager
def open_run(workspace: Workspace, run: RunDirectory, source: RatingSource) -> Iterator[Ratings]:
    """A run's own: scores of valid judgments, the first of repeats, and what people said about the same texts.

    A model on its own output is left out.
    """
    with rating_session(run.journal) as connection:
        attach_index(connection, workspace, run, "run")
        confine(connection, directories=(run.path,))
        if fetch_all(connection, "SELECT has_pairs FROM run.facts", {})[0][0]:
            fetch_all(connection, STATEMENTS["create_pair_rows"], {"people": PEOPLE})
        else:
            connection.execute(_SCORED_ROWS)
            if source.uses_mean is None:
                source = replace(source, uses_mean=True)
        responses = {name: ResponseCounts(*counts) for name, *counts in fetch_all(connection, _UNFINISHED, {})}
        _add_labels(connection, workspace, run, people_as_one=source.people_as_one)
        nothing = (
            f"{run.name}: no judgment is valid, so there is nothing to count (`mixseek report {run.name}` says why)"
        )
        ratings = count_ratings(connection, source, lambda row: f"{run.name}: judgment {row}", nothing)
        ratings.responses = responses
        yield ratings


_SCORED_ROWS = (
    "CREATE TABLE rows AS SELECT key AS item, coalesce(question_id, key) AS question, "
    "coalesce(target_model, prompt_variant) AS system, coalesce(judge_model, judge) AS rater, "
    "CASE WHEN status = 'valid' THEN score END AS value, NULL::VARCHAR AS said, true AS is_label, "
    "row_number() OVER (ORDER BY take, position) AS row, "
    "row_number() OVER (ORDER BY take, position) AS rank, NULL::DOUBLE AS length, NULL::VARCHAR AS first, "
    "NULL::VARCHAR AS second, NULL::VARCHAR AS shown FROM run.judged_by_model WHERE NOT is_control"
)


# How the responses of those ended of whom not all are finished; of a pair each response is its own author's.
_UNFINISHED = """
WITH ended AS (
    SELECT coalesce(target_model, prompt_variant) AS system, response_state AS state FROM run.samples
    UNION ALL BY NAME
    SELECT target_b AS system, response_state_b AS state FROM run.samples WHERE length_b IS NOT NULL
)
SELECT coalesce(system, ''), count(*), count(*) FILTER (state = 'cut_off'), count(*) FILTER (state = 'withheld'),
    count(*) FILTER (state = 'empty') AS empty
FROM ended GROUP BY ALL HAVING count(*) FILTER (state IN ('cut_off', 'withheld', 'empty')) > 0 ORDER BY 1
"""


def _add_labels(
    connection: duckdb.DuckDBPyConnection, workspace: Workspace, run: RunDirectory, *, people_as_one: bool
) -> None:
    """What people said about each text, under the same protocol: the last word of each, or what all amount to."""
    labels = LabelStore(workspace).read(read_manifest(run.manifest).protocol.name)
    if people_as_one:
        last = {
            (text, PEOPLE): text_labels.share
            for text, text_labels in collect_labels(labels).items()
            if text_labels.by_rater
        }
    else:
        last = {(label.text, label.rater): label.share for label in labels if not label.is_adjudicated}
    if last:
        texts, raters, shares = zip(*((text, rater, share) for (text, rater), share in last.items()), strict=True)
        columns = {"texts": list(texts), "raters": list(raters), "shares": list(shares)}
        fetch_all(connection, STATEMENTS["add_labels"], {**columns, "path": escape_glob(ensure_texts(workspace, run))})
        fetch_all(connection, STATEMENTS["drop_doubled"], {"people": PEOPLE})
