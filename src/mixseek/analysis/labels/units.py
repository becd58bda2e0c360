"""Samples of a run with the texts that labels belong to: drawn from, looked up, and joined with what people said."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import orjson

from mixseek.domain.labels import CellCount, LabelledRun, LabelledUnit, TextWeight, allocate
from mixseek.domain.panels import PanelRule
from mixseek.errors import ConfigurationError, StorageError
from mixseek.index.loading import INDEX, attach_index, object_bytes, read_facts
from mixseek.index.panel import opinions, panel_units
from mixseek.index.run import JournalPlaces
from mixseek.index.totals import stat_journal
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.duckdb_session import (
    Settings,
    attaching,
    confine,
    escape_glob,
    fetch_all,
    first_line,
    read_statements,
    run_in_scratch,
    session_settings,
)
from mixseek.storage.durable import storage_error
from mixseek.storage.journal.journal import opening_journal
from mixseek.storage.scratch import private_directory
from mixseek.storage.seal import digest_with_key
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.storage.workspace_key import workspace_key

_SQL = read_statements("mixseek.analysis.labels", "labels.sql")
_TEXTS = b"texts"
# What a draw can be stratified by, and the column that holds it.
STRATA = {
    "verdict": "class",
    "task": "task_name",
    "target": "target",
    "variant": "variant",
    "type": "task_type",
    "language": "language",
}
# The first samples tell whether the dataset has a column of labels.
_LOOKED_AT = 100


@dataclass(frozen=True, slots=True)
class FoundText:
    """One text of a run, by the first sample that has it."""

    text: str
    id: str
    sample: int
    task_type: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeCell:
    """Samples on which a judge says one thing, and what people say of those that were labelled."""

    judge: str
    cell: str
    samples: int
    right: int
    wrong: int
    disputed: int


@dataclass(frozen=True, slots=True)
class JudgeQuestions:
    """`times` questions that are alike: labelled samples of which people say `share`, with the sum of their weights, of
    the weights of those that the judge calls correct, and of squared weights."""

    judge: str
    share: float
    labels: int
    weight: float
    accepted: float
    squares: float
    times: int


@dataclass(frozen=True, slots=True)
class DrawnStratum:
    """Texts of one stratum, and those that the lot fell on, each with its place in the sheet's order."""

    values: tuple[str, ...]
    texts: int
    drawn: tuple[tuple[str, FoundText], ...]


# Strata by their values, with how many texts each has, to how many are drawn of each.
Allocation = Callable[[Sequence[tuple[tuple[str, ...], int]]], Sequence[int]]


def ensure_texts(workspace: Workspace, run: RunDirectory) -> Path:
    """The file beside the index that says which text each sample has; made anew when the journal has changed.

    Its name ends in its keyed digest: one that somebody else made, or changed, is none.
    """
    state, key = stat_journal(run.journal), workspace_key(workspace.root)
    stem = f"texts-{state.size_bytes}-{state.changed_ns}"
    for path in run.path.glob("texts-*.parquet"):
        if path.stem.startswith(f"{stem}-") and path.stem == f"{stem}-{digest_with_key(path, key, _TEXTS)}":
            return path
        with contextlib.suppress(OSError):
            path.unlink()

    def write(directory: Path, settings: Settings) -> Path:
        made = directory / "texts.parquet"
        with attaching(None, config=settings) as connection:
            index = attach_index(connection, workspace, run, INDEX)
            confine(connection, run.journal, directories=(directory,))
            length = object_bytes(index.state.longest_bytes)
            parameters = {"journal": escape_glob(run.journal), "object_bytes": length, "target": str(made)}
            connection.execute(_SQL["texts"], parameters)
        try:
            return made.replace(run.path / f"{stem}-{digest_with_key(made, key, _TEXTS)}.parquet")
        except OSError as error:
            raise storage_error("write", run.path / f"{stem}.parquet", error) from error

    try:
        return run_in_scratch(workspace.scratch, run.journal, write)
    except duckdb.Error as error:
        raise StorageError(f"{run.path / stem}.parquet: cannot be written: {first_line(error)}") from error


class LabelUnits:
    """One row a sample, as a table of a connection that somebody else closes."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, run: RunDirectory, opinions: str) -> None:
        self.connection = connection
        self._run = run
        # A query: what each judge says of each sample.
        self._opinions = opinions
        # Units do not change while they are open: what took long to find is kept for whoever asks again.
        self._places = JournalPlaces(connection)
        self._population: tuple[int, str] | None = None
        self._known: dict[str, FoundText | None] = {}
        self._counted: dict[tuple[bool, Path | None], tuple[str, tuple[CellCount, ...], list[str]]] = {}

    def population(self) -> tuple[int, str]:
        """How many texts there are, and a digest over all of them."""
        if self._population is None:
            ((texts, digest),) = self.all("population")
            self._population = texts, digest
        return self._population

    def draw(self, columns: Sequence[str], count: int, seed: int, taken: Sequence[str]) -> list[DrawnStratum]:
        """Texts drawn by lot in each stratum.

        Raises ConfigurationError where so many cannot be drawn from so many strata.
        """

        def share(strata: Sequence[tuple[tuple[str, ...], int]]) -> Sequence[int]:
            if count < len(strata):
                raise ConfigurationError(
                    f"run {self._run.name}: {count} labels cannot be drawn from {len(strata):,} strata "
                    f"({', '.join(columns)}); raise --n, or stratify by fewer columns"
                )
            return allocate([size for _, size in strata], count)

        return self.draw_by(columns, share, seed, taken)

    def draw_by(self, columns: Sequence[str], share: Allocation, seed: int, taken: Sequence[str]) -> list[DrawnStratum]:
        """The same, where somebody else says how many of each stratum."""
        places = [STRATA[column] for column in columns]
        chosen = ", ".join(f"coalesce(arg_min({place}, sample), '') AS {place}" for place in places)
        chosen = chosen or "'' AS everything"
        open_texts = _SQL["open"].format(columns=chosen)
        names = ", ".join(places) or "everything"
        parameters: dict[str, Any] = {"taken": list(taken)}
        sizes = fetch_all(self.connection, _SQL["sizes"].format(columns=names, open=open_texts), parameters)
        drawn = []
        counts = share([(tuple(values) if places else (), size) for *values, size in sizes])
        for (*values, size), count in zip(sizes, counts, strict=True):
            where = " AND ".join(f"{place} = $value_{number}" for number, place in enumerate(places)) or "true"
            stratum = {f"value_{number}": value for number, value in enumerate(values if places else [])}
            query = _SQL["lots"].format(open=open_texts, stratum=where)
            rows = fetch_all(self.connection, query, {**parameters, **stratum, "seed": str(seed), "count": count})
            texts = tuple((place, FoundText(text, name, sample)) for text, name, sample, place in rows)
            drawn.append(DrawnStratum(tuple(values) if places else (), size, texts))
        return drawn

    def named(self, ids: Sequence[str]) -> dict[str, FoundText]:
        """Samples that have a text, by id."""
        rows = self.all("named", ids=list(ids))
        return {name: FoundText(text, name, sample, kind) for name, text, sample, kind in rows if text is not None}

    def of_texts(self, texts: Sequence[str]) -> dict[str, FoundText]:
        """The known texts by digest; texts that the run does not have are left out."""
        unknown = [text for text in texts if text not in self._known]
        if unknown:
            self._known |= dict.fromkeys(unknown)
            for text, name, sample, kind in self.all("of_texts", texts=unknown):
                self._known[text] = FoundText(text, name, sample, kind)
        return {text: known_text for text in texts if (known_text := self._known[text]) is not None}

    def samples_of(self, texts: Sequence[str]) -> list[tuple[int, str, str, str]]:
        """Position, id, text and panel's verdict of every sample with one of these texts, in the dataset's order."""
        return [(row[0], row[1], row[2], row[3]) for row in self.all("samples_of", texts=list(texts))]

    def verdicts_of(self, texts: Sequence[str]) -> dict[str, float]:
        """The score of the first sample with each text, 0..1; texts without a verdict are left out."""
        return dict(self.all("verdicts_of", texts=list(texts)))

    def last_words(self, texts: Sequence[str]) -> set[str]:
        """Those whose verdict is that of a last judge, who was not sure enough."""
        return {text for (text,) in self.all("last_words", texts=list(texts))}

    def queue(self, kind: str, name: str, limit: int, samples: Sequence[int] | None = None) -> tuple[list[str], int]:
        """Texts to look at, always in the same order, and how many there are; `samples` are those of a filter."""
        chosen = {} if samples is None else {"samples": list(samples)}
        query = _SQL["queue"].format(chosen=_SQL[kind])
        rows = fetch_all(self.connection, query, {"queue": name, "limit": limit, **chosen})
        return [text for text, _ in rows], rows[0][1] if rows else 0

    def dataset_labels(self) -> list[tuple[str, str, str, str | None]]:
        """Text, label as written, id and task type, where the dataset has a column `label`."""
        return [(text, label, name, kind) for text, label, name, kind in self.all("dataset_labels")]

    def read_samples(self, texts: Sequence[FoundText]) -> Iterator[dict[str, Any]]:
        """Their records in the journal, in the order asked for."""
        with opening_journal(self._run.journal) as journal:
            for text in texts:
                yield self._places.read(journal, "sample", text.sample).get("sample", {})

    def join(self, labels: Sequence[TextWeight], *, is_binary: bool, pool: Path | None = None) -> LabelledRun:
        """What people said beside what the judges said. `pool`: texts of another run that labels were drawn from."""
        fetch_all(
            self.connection,
            _SQL["label_table"],
            {
                "texts": [label.text for label in labels],
                "shares": [label.share for label in labels],
                "drawn": [label.drawn for label in labels],
                "weights": [label.weight for label in labels],
                "newest": [label.share if label.newest is None else label.newest for label in labels],
            },
        )
        if (is_binary, pool) not in self._counted:
            # One set of counts at a time: they are a table.
            self._counted = {(is_binary, pool): self._count(is_binary=is_binary, pool=pool)}
        grouped, cells, repeating = self._counted[is_binary, pool]
        by_question = self.all("questions", groups=repeating) if repeating else []
        labelled = fetch_all(self.connection, _SQL["labelled"].format(grouped=grouped), {})
        return LabelledRun(
            is_binary,
            cells,
            tuple(LabelledUnit(*row) for row in labelled),
            tuple(CellCount(*row) for row in by_question),
            frozenset(repeating),
        )

    def judge_cells(self) -> list[JudgeCell]:
        """What each judge says beside what people say, after `join`."""
        fetch_all(self.connection, _SQL["judge_opinions"].format(opinions=self._opinions), {})
        return [JudgeCell(*row) for row in self.all("judge_cells")]

    def judge_questions(self, drawn: str | None) -> list[JudgeQuestions]:
        """The same by question, after `judge_cells`, of labels that were drawn so; of all without a word for it."""
        return [JudgeQuestions(*row) for row in self.all("judge_questions", drawn=drawn)]

    def _count(self, *, is_binary: bool, pool: Path | None) -> tuple[str, tuple[CellCount, ...], list[str]]:
        """What judges said of all samples, labelled or not: the relation, its counts, and where questions repeat."""
        if pool is not None:
            fetch_all(self.connection, _SQL["covered"], {"pool": escape_glob(pool)})
        grouped = _SQL["grouped"].format(
            cell=_SQL["binary_cell" if is_binary else "graded_cell"],
            covered=_SQL["in_pool"] if pool is not None else "true",
            by_target=str(self.all("target_count")[0][0] > 1).lower(),
        )
        fetch_all(self.connection, _SQL["parts"].format(grouped=grouped), {})
        repeating = [whose for (whose,) in self.all("repeating")]
        return grouped, tuple(CellCount(*row) for row in self.all("cells")), repeating

    def all(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Rows of one of our statements."""
        return fetch_all(self.connection, _SQL[name], parameters)


@contextlib.contextmanager
def open_units(workspace: Workspace, run: RunDirectory, rule: PanelRule | None) -> Iterator[LabelUnits]:
    """Every sample of the run with its verdict under the panel's rule and its text, while the block lasts."""
    texts = ensure_texts(workspace, run)
    try:
        with (
            private_directory(workspace.scratch) as directory,
            attaching(None, config=session_settings(directory / "spilled", run.journal)) as connection,
        ):
            attach_index(connection, workspace, run, INDEX)
            connection.execute(f"USE {INDEX}")
            # Texts of another run may be asked for, which labels were drawn from.
            confine(connection, directories=(workspace.root / "runs",))
            has_repeats = read_facts(connection).has_repeats
            # As judged: people correct the mean of all samples, whatever a reader leaves out.
            units = panel_units(rule, INDEX, has_repeats=has_repeats, counting=None)
            query = _SQL["units"].format(units=units)
            fetch_all(connection, query, {"texts": escape_glob(texts)})
            yield LabelUnits(connection, run, opinions(rule, INDEX, has_repeats=has_repeats))
    except duckdb.Error as error:
        raise StorageError(f"{run.index}: cannot be read: {first_line(error)}") from error


def has_label_column(run: RunDirectory) -> bool:
    """Whether one of the first samples brings a label in its data."""
    looked = 0
    with opening_journal(run.journal) as journal:
        for line in journal:
            if line.startswith(b'{"t":"sample"'):
                looked += 1
                with contextlib.suppress(ValueError):
                    if (orjson.loads(line)["sample"].get("metadata") or {}).get("label") is not None:
                        return True
            if looked >= _LOOKED_AT:
                break
    return False
