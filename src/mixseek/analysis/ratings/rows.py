"""Rows as ratings: texts become categories, and what cannot be counted is named by its place."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import duckdb

from mixseek.analysis.ratings.relation import MOST_CATEGORIES, PEOPLE, STATEMENTS, Ratings, RatingSource
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.storage.duckdb_session import fetch_all, open_duckdb, session_settings
from mixseek.text.phrases import listed

# Sums of squares hold sixteen digits: values beyond these, or that differ by less of their size, would lose them.
_LEAST_SIZE, _GREATEST_SIZE = 1e-6, 1e12
_LEAST_WIDTH = 1e-5


@contextlib.contextmanager
def rating_session(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with (
        tempfile.TemporaryDirectory(prefix="mixseek-") as scratch,
        open_duckdb(config=session_settings(Path(scratch) / "spilled", path)) as connection,
    ):
        yield connection


def count_ratings(
    connection: duckdb.DuckDBPyConnection, source: RatingSource, place_of: Callable[[int], str], nothing: str
) -> Ratings:
    """`nothing` is said where no row has a value."""
    categories = _read_texts(connection, place_of)
    _refuse_wild(connection, place_of)
    people = _join_people(connection, source, categories) if source.columns.people is not None else 0
    names = [row[0] for row in fetch_all(connection, "SELECT DISTINCT rater FROM rows ORDER BY rater", {})]
    if not names:
        raise ConfigurationError("no row is left to count; check --where")
    if (human := source.truth) is not None:
        if human not in names:
            if human == PEOPLE:
                raise ConfigurationError("--people: true of no row with a score")
            raise ConfigurationError(f"--human {human!r} has rated nothing; there is {listed(names)}")
        # First, so that pairs are told as human and judge.
        names = [human, *(name for name in names if name != human)]
    fetch_all(connection, STATEMENTS["create_items"], {})
    _refuse_torn(connection)
    fetch_all(connection, STATEMENTS["create_numbered"], {"raters": names})
    ((repeats,),) = fetch_all(connection, STATEMENTS["repeats"], {"raters": names})
    rule = "mean_of_repeats" if source.uses_mean else "first_of_repeats"
    fetch_all(connection, STATEMENTS[rule if repeats else "no_repeats"], {})
    fetch_all(connection, STATEMENTS["create_rated"], {})
    ratings = Ratings(connection, names, categories, uses_mean=bool(source.uses_mean))
    ratings.people = people
    if not ratings.count:
        raise ConfigurationError(nothing)
    if silent := next((rater for rater in ratings.silent if rater.name == human), None):
        raise ConfigurationError(
            f"--human {human!r} has rated nothing: {silent.missing:,} of {silent.missing:,} items have no score"
        )
    for rater in ratings.raters:
        size, width = max(abs(rater.least), abs(rater.greatest)), rater.greatest - rater.least
        if width and (not _LEAST_SIZE < size < _GREATEST_SIZE or width < _LEAST_WIDTH * size):
            raise ConfigurationError(
                f"{rater.name} gave {rater.least:g} to {rater.greatest:g}, of which squares cannot be counted exactly; "
                f"bring scores near 1 with --score, such as '(score - {rater.least:g}) / {width:g}'"
            )
    if categories and source.uses_mean and ratings.repeated:
        raise ConfigurationError("--takes mean: texts have no mean; take the first")
    return ratings


def _read_texts(connection: duckdb.DuckDBPyConnection, place_of: Callable[[int], str]) -> list[str]:
    """Values of texts: numbers and booleans where they are written so, else places in the list that is returned."""
    counted = "SELECT count(said), count(TRY_CAST(said AS DOUBLE)), count(*) FILTER (lower(said) IN ('true', 'false'))"
    ((texts, numbers, booleans),) = fetch_all(connection, f"{counted} FROM rows", {})
    if not texts:
        return []
    if numbers + booleans == texts:
        fetch_all(
            connection,
            "UPDATE rows SET value = coalesce(TRY_CAST(said AS DOUBLE), CAST(TRY_CAST(said AS BOOLEAN) AS DOUBLE))",
            {},
        )
        return []
    if 2 * numbers > texts:
        odd = "SELECT row, said FROM rows WHERE said IS NOT NULL AND TRY_CAST(said AS DOUBLE) IS NULL"
        ((row, score),) = fetch_all(connection, f"{odd} ORDER BY row LIMIT 1", {})
        raise DatasetError(
            f"{place_of(row)}: the score {score[:40]!r} is not a number as others are; null means missing"
        )
    distinct = "SELECT DISTINCT said FROM rows WHERE said IS NOT NULL ORDER BY said LIMIT $limit"
    categories = [row[0] for row in fetch_all(connection, distinct, {"limit": MOST_CATEGORIES + 1})]
    if len(categories) > MOST_CATEGORIES:
        raise ConfigurationError(
            f"scores are more than {MOST_CATEGORIES} different texts, such as {categories[0][:40]!r}; name the column "
            "of the rating with --score"
        )
    fetch_all(connection, "UPDATE rows SET value = list_position($texts, said) - 1", {"texts": categories})
    return categories


def _join_people(connection: duckdb.DuckDBPyConnection, source: RatingSource, categories: Sequence[str]) -> int:
    """All people as one rater; how many they are."""
    if categories:
        raise ConfigurationError("--people: their ratings are texts, which have no mean; name one of them with --human")
    if fetch_all(connection, "SELECT 1 FROM rows WHERE rater = $people AND NOT is_person", {"people": PEOPLE}):
        raise ConfigurationError(f"--people: a judge is called {PEOPLE!r}, too; tell them apart with --rater")
    rule = "avg(value)" if source.uses_mean else "arg_min(value, rank)"
    fetch_all(connection, STATEMENTS["create_said"].format(rule=rule), {})
    fetch_all(connection, STATEMENTS["drop_people"], {})
    fetch_all(connection, STATEMENTS["add_people"], {"people": PEOPLE})
    return int(fetch_all(connection, "SELECT count(DISTINCT person) FROM people_said", {})[0][0])


def _refuse_wild(connection: duckdb.DuckDBPyConnection, place_of: Callable[[int], str]) -> None:
    wild = "SELECT row, value FROM rows WHERE isnan(value) OR isinf(value) ORDER BY row LIMIT 1"
    for row, value in fetch_all(connection, wild, {}):
        raise DatasetError(f"{place_of(row)}: the score is {value}; leave it out (null) where there is none")


def _refuse_torn(connection: duckdb.DuckDBPyConnection) -> None:
    for item, first, second in fetch_all(connection, STATEMENTS["torn_item"], {}):
        raise ConfigurationError(
            f"the item {item!r} stands under two questions, {first!r} and {second!r}; an item is one judged text: "
            "give --item an expression that tells them apart"
        )
