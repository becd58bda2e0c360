"""Ratings from a table of anybody's making: columns, expressions, and what is wrong with a row."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb

from mixseek.analysis.ratings.relation import (
    GOLD,
    MOST_CATEGORIES,
    STATEMENTS,
    RatingColumns,
    Ratings,
    RatingSource,
    flag_of,
)
from mixseek.analysis.ratings.rows import count_ratings, rating_session
from mixseek.datasets.files import read_delimited, read_json_lines, reading
from mixseek.datasets.tables import unnamed
from mixseek.domain.lines import bounded_lines
from mixseek.domain.panels import MARKS, WINNER_COLUMNS, Preference, read_preference
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.duckdb_session import confine, escape_glob, fetch_all, first_line, is_short_of_memory, quoted

# Names that people give the columns, the likeliest first.
USUAL_NAMES: Mapping[str, Sequence[str]] = {
    "item": ("item", "item_id", "sample_id", "id"),
    "judge": ("judge", "rater", "annotator"),
    "score": ("score", "value", "rating", "label", "verdict", "preference", "winner"),
    "question": ("question_id", "split_key", "question", "instruction"),
    "system": ("system", "target_model", "model"),
    "system-a": ("system_a", "target_a", "model_a", "generator_1"),
    "system-b": ("system_b", "target_b", "model_b", "generator_2"),
    "shown": ("shown", "order"),
    "probabilities": ("probabilities", "probs", "distribution"),
    "confidence": ("confidence_value", "confidence"),
    "confidence-source": ("confidence_source",),
    "by": ("criterion", "criteria", "dimension", "aspect"),
}
# Values that a table can be told apart by: of more nobody reads a table.
MOST_PARTS = 50
# One of several columns is marked; words of two that are marked together are no word.
_MARKED = (
    f"CASE WHEN lower(CAST({name} AS VARCHAR)) IN {MARKS} THEN '{preference}' END"
    for name, preference in WINNER_COLUMNS.items()
)
_WINNER = f"regexp_extract(concat({', '.join(_MARKED)}), '^({'|'.join(WINNER_COLUMNS.values())})$')"
_READERS = {
    ".jsonl": "read_json({path}, format = 'newline_delimited', maximum_object_size = {longest}{more})",
    ".json": "read_json({path}, format = 'auto', maximum_object_size = {longest}{more})",
    ".csv": "read_csv({path}, header = true, comment = '', max_line_size = {longest}{more})",
    ".tsv": "read_csv({path}, header = true, comment = '', delim = '\\t', max_line_size = {longest}{more})",
    ".parquet": "read_parquet({path}, binary_as_string = true)",
}
_READERS[".ndjson"] = _READERS[".jsonl"]
SUPPORTED = ".jsonl, .ndjson, .json, .csv, .tsv (also with .gz), .parquet"
# DuckDB guesses these from texts; an id that looks like a date is an id.
_GUESSED = ("DATE", "TIME", "UUID", "INTERVAL")
_NUMBERS: tuple[str, ...] = ("FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN")
_NUMBERS += tuple(f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE"))
_NUMBERS += ("INTEGER", "UINTEGER")


@contextlib.contextmanager
def open_table(path: Path, source: RatingSource) -> Iterator[Ratings]:
    """The table's ratings, for as long as the block lasts; raises DatasetError or ConfigurationError in one line."""
    with rating_session(path) as connection:
        table = _Table(connection, path, source.longest_line)
        table.load(source.columns)
        ratings = count_ratings(connection, source, table.place_of, "no row has a score; name its column with --score")
        ratings.has_confidences = table.has_confidences
        ratings.criterion = next((column for column in USUAL_NAMES["by"] if column in table.kinds), None)
        yield ratings


@dataclass(frozen=True, slots=True)
class TableParts:
    """The different values of an expression, in order, each with the condition for its rows; and all numbers that are
    scores in any of them, or one more than MOST_CATEGORIES."""

    conditions: Sequence[tuple[str | None, str]]
    scores: Sequence[float]


def parts_of_table(path: Path, source: RatingSource, by: str) -> TableParts:
    """What a table is told apart by."""
    with rating_session(path) as connection:
        return _Table(connection, path, source.longest_line).parts(by, source.columns)


class _Table:
    """A file that is read twice at most: once to see what columns it has, once to take the ratings out."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path, longest_line: int) -> None:
        self._connection = connection
        self._path = path
        self._longest_line = longest_line
        suffixes = [suffix.lower() for suffix in path.suffixes]
        self._suffix = suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else "".join(suffixes[-1:])
        if self._suffix not in _READERS:
            raise DatasetError(f"{path}: not a table that can be read; expected {SUPPORTED}")
        if not path.is_file():
            raise DatasetError(f"{path}: there is no such file")
        self._refuse_long_lines(is_packed=suffixes[-1:] == [".gz"])
        # Whatever an expression asks for.
        confine(connection, path)
        self._types: dict[str, str] = {}
        self.has_confidences = False
        try:
            self.kinds = self._look()
        except duckdb.Error as error:
            raise self._unreadable(error) from error

    def _refuse_long_lines(self, *, is_packed: bool) -> None:
        """DuckDB lets lines of JSON be longer than it is told; a file that is shorter than the limit has none."""
        is_small = not is_packed and self._path.stat().st_size <= self._longest_line
        if self._suffix in (".jsonl", ".ndjson") and not is_small:
            with reading(self._path) as stream:
                for _ in bounded_lines(self._path, stream, self._longest_line):
                    pass

    def _look(self) -> dict[str, str]:
        """Columns and their types, from all rows; expressions are then tried on an empty table of the same shape."""
        self._more = ", sample_size = -1" if self._suffix != ".parquet" else ""
        rows = self._connection.execute(f"DESCRIBE SELECT * FROM {self._reader()}").fetchall()  # noqa: S608 - our own
        if not self._connection.execute(f"SELECT 1 FROM {self._reader()} LIMIT 1").fetchall():  # noqa: S608 - our own
            raise DatasetError(f"{self._path}: there is no row in it")
        kinds = {str(row[0]): str(row[1]) for row in rows}
        if self._suffix != ".parquet":
            kinds = {name: "VARCHAR" if kind.startswith(_GUESSED) else kind for name, kind in kinds.items()}
            columns = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in kinds.items())
            self._more = f", columns = {{{columns}}}"
        self._connection.execute(f"CREATE TABLE shape AS SELECT * FROM {self._reader()} LIMIT 0")  # noqa: S608 - our own
        return kinds

    def parts(self, expression: str, columns: RatingColumns) -> TableParts:
        """The values of the rows that are asked for."""
        only, part = self._checked("where", columns.where), f"CAST({self._checked('by', expression)} AS VARCHAR)"
        query = (
            f"SELECT DISTINCT {part} AS part FROM {self._reader()} WHERE {only} "  # noqa: S608 - checked
            f"ORDER BY part NULLS LAST LIMIT {MOST_PARTS + 1}"
        )
        value, text, _ = self._score("score", columns.score)
        score = (
            f"SELECT DISTINCT coalesce({value}, TRY_CAST({text} AS DOUBLE)) AS score FROM {self._reader()} WHERE {only}"  # noqa: S608 - checked
        )
        score = f"SELECT score FROM ({score}) WHERE score IS NOT NULL ORDER BY score LIMIT {MOST_CATEGORIES + 1}"  # noqa: S608 - checked
        try:
            values = [row[0] for row in fetch_all(self._connection, query, {})]
            scores = [row[0] for row in fetch_all(self._connection, score, {})]
        except duckdb.Error as error:
            raise self._unreadable(error) from error
        if len(values) > MOST_PARTS:
            raise ConfigurationError(
                f"--by {expression!r}: more than {MOST_PARTS} different values, so it is no criterion"
            )
        quotes = {value: "'" + value.replace("'", "''") + "'" for value in values if value is not None}
        conditions = (f"{part} = {quotes[value]}" if value is not None else f"{part} IS NULL" for value in values)
        chosen = [(value, f"({only}) AND {condition}") for value, condition in zip(values, conditions, strict=True)]
        return TableParts(chosen, scores)

    def load(self, columns: RatingColumns) -> None:
        """Fills the table `rows`: item, question, system, rater, value, is_label, row, rank, and what votes and
        confidences need."""
        value, text, is_number = self._score("score", columns.score)
        question = self._optional("question", columns.question)
        names = {"system": columns.system, "system-a": columns.system_a, "system-b": columns.system_b}
        named = {name: self._optional(name, expression) or "NULL" for name, expression in names.items()}
        item = self._optional("item", columns.item) or self._pair_item(question, named["system-a"], named["system-b"])
        judge = self._optional("judge", columns.judge) or self._expression("judge", None)[0]
        label = f"coalesce(CAST({self._checked('labelled', columns.labelled)} AS BOOLEAN), false)"
        where = f"WHERE {self._checked('where', columns.where)}" if columns.where else ""
        rank = (
            f"row_number() OVER (ORDER BY {self._checked('order', columns.order)}, _row)" if columns.order else "_row"
        )
        shown = self._optional("shown", columns.shown) or "NULL"
        length = f"TRY_CAST({self._checked('length', columns.length)} AS DOUBLE)" if columns.length else "NULL::DOUBLE"
        person = self._checked("people", columns.people) if columns.people else "false"
        query = f"""
            CREATE TABLE rows AS SELECT CAST({item} AS VARCHAR) AS item,
                coalesce(CAST({question or item} AS VARCHAR), CAST({item} AS VARCHAR)) AS question,
                CAST({named["system"]} AS VARCHAR) AS system, CAST({judge} AS VARCHAR) AS rater, {value} AS value,
                {text} AS said, {label if columns.labelled else "true"} AS is_label, _row AS row, {rank} AS rank,
                {length} AS length, CAST({named["system-a"]} AS VARCHAR) AS first,
                CAST({named["system-b"]} AS VARCHAR) AS second, CAST({shown} AS VARCHAR) AS shown,
                {self._confidence(columns)}, coalesce(CAST({person} AS BOOLEAN), false) AS is_person,
                {self._gold(columns.gold, is_number=is_number)}
            FROM (SELECT *, row_number() OVER () AS _row FROM {self._reader()}) {where}"""  # noqa: S608 - checked
        try:
            fetch_all(self._connection, query, {})
        except duckdb.Error as error:
            raise self._unreadable(error) from error
        for name in ("item", "judge"):
            column = "rater" if name == "judge" else name
            self._refuse(f"{column} IS NULL", f"has no {name}; fill it in, or leave such rows out with --where")
        if "NULL" not in (named["system-a"], named["system-b"]):
            _turn_rows(self._connection)
        if columns.gold is not None:
            self._refuse(f"rater = '{GOLD}'", f"has the judge {GOLD!r}: name it with --human, and leave out --gold")
            fetch_all(self._connection, STATEMENTS["add_gold"], {"gold": GOLD})

    def _pair_item(self, question: str | None, first: str, second: str) -> str:
        """The item of votes without an id, whoever stands first: the question and who answered it."""
        if question is None or "NULL" in (first, second):
            return self._expression("item", None)[0]
        names = [f"CAST({name} AS VARCHAR)" for name in (first, second)]
        return f"concat_ws(' / ', {question}, least({', '.join(names)}), greatest({', '.join(names)}))"

    def _score(self, name: str, expression: str | None) -> tuple[str, str, bool]:
        """The score as a number and as a text, one of which is NULL; and which of them it is."""
        score, kind = self._expression(name, expression)
        if not kind.startswith((*_NUMBERS, "VARCHAR", "JSON", "ENUM")) or kind.endswith("]"):
            raise ConfigurationError(f"{flag_of(name)} {expression or score}: a score is a number, a boolean or a word")
        if kind.startswith(_NUMBERS):
            return f"CAST({score} AS DOUBLE)", "NULL::VARCHAR", True
        text = f"({score}) ->> '$'" if kind == "JSON" else f"CAST({score} AS VARCHAR)"
        return "NULL::DOUBLE", f"nullif(trim({text}), '')", False

    def _gold(self, expression: str | None, *, is_number: bool) -> str:
        if expression is None:
            return "NULL::DOUBLE AS gold, NULL::VARCHAR AS gold_said"
        value, text, is_numeric = self._score("gold", expression)
        if is_number is not is_numeric:
            raise ConfigurationError(
                f"--gold {expression!r}: a number and a word cannot be compared; write it as --score is"
            )
        return f"{value} AS gold, {text} AS gold_said"

    def _confidence(self, columns: RatingColumns) -> str:
        """The probabilities of levels as JSON, and how sure the rater is as a number: of words nothing is known."""
        shares = sure = source = "NULL"
        if self._has_usual("probabilities", columns.probabilities):
            sql, kind = self._expression("probabilities", columns.probabilities)
            shares = sql if kind.startswith(("VARCHAR", "JSON")) else f"to_json({sql})"
        if self._has_usual("confidence", columns.confidence):
            sql, kind = self._expression("confidence", columns.confidence)
            if kind.startswith(_NUMBERS) and kind != "BOOLEAN":
                sure = sql
            elif columns.confidence is not None:
                raise ConfigurationError(
                    f"--confidence {columns.confidence!r}: expected numbers from 0 to 1; words are an order only"
                )
            if sure != "NULL" and self._has_usual("confidence-source", columns.confidence_source):
                source, _ = self._expression("confidence-source", columns.confidence_source)
        self.has_confidences = (shares, sure) != ("NULL", "NULL")
        return (
            f"CAST({shares} AS VARCHAR) AS shares, CAST({sure} AS DOUBLE) AS sure, ({sure}) IS NOT NULL AS has_sure, "
            f"CAST({source} AS VARCHAR) AS sure_source"
        )

    def _has_usual(self, name: str, expression: str | None) -> bool:
        return expression is not None or any(column in self.kinds for column in USUAL_NAMES[name])

    def _numbered_rows(self) -> Iterable[tuple[int, Any]]:
        """Rows with their lines; nothing where a file has none."""
        if self._suffix in (".jsonl", ".ndjson"):
            return read_json_lines(self._path, self._longest_line)
        is_delimited = self._suffix in (".csv", ".tsv")
        return read_delimited(self._path, self._suffix[1:], self._longest_line) if is_delimited else ()

    def place_of(self, row: int) -> str:
        """Where that row stands, in words: the line where a file has lines."""
        line = next(islice(self._numbered_rows(), row - 1, None), None)
        return f"{self._path}: line {line[0]}" if line is not None else f"{self._path}: row {row}"

    def _expression(self, name: str, expression: str | None) -> tuple[str, str]:
        """The SQL of what was given, or of a column with a usual name; and its type."""
        usual = next((column for column in USUAL_NAMES.get(name, ()) if column in self.kinds), None)
        if name == "score" and usual is None and self.kinds.keys() >= WINNER_COLUMNS.keys():
            usual = _WINNER
        if expression is None and usual is None:
            # A table of one judge's votes does not name it.
            more = ", or --rater \"'me'\" where all rows are of one" if name == "judge" else ""
            raise DatasetError(
                f"{self._path}: no column for the {name}; name one with {flag_of(name)}{more} "
                f"(there is {self._named_columns()})"
            )
        sql = self._checked(name, expression or usual)
        return sql, self._types[name]

    def _optional(self, name: str, expression: str | None) -> str | None:
        if not self._has_usual(name, expression):
            return None
        sql, kind = self._expression(name, expression)
        # A column of numbers and texts is JSON, whose texts stand in quotes.
        return f"({sql} ->> '$')" if kind == "JSON" else sql

    def _checked(self, name: str, expression: str | None) -> str:
        """A column by its exact name, or an expression over one row: no query of its own, and it fits the table."""
        if expression is None:
            return "true"
        if expression in self.kinds:
            sql = '"' + expression.replace('"', '""') + '"'
        else:
            self._refuse_queries(name, expression)
            sql = f"(\n{expression}\n)"
        try:
            described = self._connection.execute(f"DESCRIBE SELECT {sql} AS asked FROM shape").fetchall()  # noqa: S608
        except duckdb.Error as error:
            message = first_line(error).partition(": ")[2] or first_line(error)
            problem = f"{message[:1].lower()}{message[1:].rstrip('!')}"
            raise ConfigurationError(
                f"{flag_of(name)} {expression!r}: {problem}; {self._path} has {self._named_columns()}"
            ) from error
        self._types[name] = str(described[0][1])
        return sql

    def _refuse_queries(self, name: str, expression: str) -> None:
        """What DuckDB's own parser makes of it decides, not a search for words."""
        (parsed,) = fetch_all(
            self._connection, "SELECT json_serialize_sql($sql)", {"sql": f"SELECT (\n{expression}\n)"}
        )
        tree = json.loads(parsed[0])
        if tree["error"]:
            raise ConfigurationError(
                f"{flag_of(name)} {expression!r}: {tree['error_message']}; write an SQL expression over columns"
            )
        node = tree["statements"][0]["node"]
        is_plain = len(tree["statements"]) == 1 and len(node.get("select_list", ())) == 1
        if not is_plain or node["from_table"]["type"] != "EMPTY" or '"class":"SUBQUERY"' in parsed[0]:
            raise ConfigurationError(
                f"{flag_of(name)} {expression!r}: one expression over the columns of a row, not a query"
            )

    def _reader(self) -> str:
        path = quoted(escape_glob(self._path.resolve()))
        return _READERS[self._suffix].format(path=path, longest=self._longest_line, more=self._more)

    def _named_columns(self) -> str:
        # A header cell may have line breaks in it; a message is one line.
        names = [" ".join(name.split()) for name in self.kinds]
        return ", ".join(names[:12]) + (" and more" if len(names) > 12 else "")

    def _refuse(self, condition: str, problem: str) -> None:
        query = f"SELECT row FROM rows WHERE {condition} ORDER BY row LIMIT 1"  # noqa: S608 - our own text
        for (row,) in fetch_all(self._connection, query, {}):
            raise DatasetError(f"{self.place_of(row)} {problem}")

    def _unreadable(self, error: duckdb.Error) -> DatasetError:
        """Whoever reads lines one by one can say which is wrong; DuckDB's own words otherwise."""
        if not is_short_of_memory(error):
            for _ in self._numbered_rows():
                pass
        return DatasetError(f"{self._path}: cannot be read: {unnamed(first_line(error), self._path)}")


def _turn_rows(connection: duckdb.DuckDBPyConnection) -> None:
    """Votes on one pair, said of the same A and B; ratings that are no votes stay as they are."""
    fetch_all(connection, STATEMENTS["create_turned"], {})
    if not fetch_all(connection, "SELECT 1 FROM turned LIMIT 1", {}):
        return
    every_word = "SELECT said FROM rows UNION SELECT gold_said FROM rows"
    distinct = f"SELECT said FROM ({every_word}) WHERE said IS NOT NULL ORDER BY said LIMIT $limit"  # noqa: S608 - our own text
    words = [row[0] for row in fetch_all(connection, distinct, {"limit": MOST_CATEGORIES + 1})]
    read = [preference for word in words if (preference := read_preference(word)) is not None]
    if words and len(read) == len(words):
        fetch_all(
            connection,
            STATEMENTS["spell_votes"],
            {"words": words, "spelled": [_SPELLED[preference] for preference in read]},
        )
    elif not fetch_all(connection, "SELECT coalesce(min(value) < 0, false) FROM rows", {})[0][0]:
        return
    fetch_all(connection, STATEMENTS["turn_rows"], {})


_SPELLED = {Preference.A: "A>B", Preference.B: "B>A", Preference.TIE: "A=B"}
