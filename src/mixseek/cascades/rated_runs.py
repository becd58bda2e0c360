"""Runs of several judges on the same texts, and the labels of their workspace, as what a cascade is planned from.

Texts are the same where their digests are. Labels count if they were drawn by lot with chances that are known, or if
every text has one; whoever looked for texts to label knows nothing of the others.
"""

import contextlib
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb

from mixseek.analysis.labels.of_run import GatheredLabels, gather_labels, is_labelled, open_labelled, weigh_texts
from mixseek.analysis.labels.units import ensure_texts
from mixseek.cascades.certificate import (
    CertifiedJudge,
    CertifiedLabels,
    CertifiedSource,
    certify_judge,
    certify_protocol,
    changed_judge,
    digest_of,
)
from mixseek.cascades.readings import Candidate, Opinion, RatedText, RatedTexts, RatingScale, Take, join_takes
from mixseek.domain.confidence import ConfidenceSource
from mixseek.domain.judge_names import label_judges
from mixseek.domain.labels import Draw, TextLabels
from mixseek.errors import ConfigurationError, StorageError
from mixseek.index.loading import attach_index, read_facts
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.estimates import Drawing
from mixseek.storage.duckdb_session import (
    attaching,
    confine,
    escape_glob,
    execute,
    fetch_all,
    first_line,
    read_statements,
    session_settings,
)
from mixseek.storage.journal.manifest import JudgeEntry, Manifest, read_manifest
from mixseek.storage.scratch import private_directory
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.text.phrases import listed, plural

STATEMENTS = read_statements("mixseek.cascades", "readings.sql")
# So many texts are read one by one; of more, those with a label and a random part of the others.
MOST_TEXTS = 100_000
# Judges that cost nothing.
_FREE = ("rules", "checks")
# Judges whose spec says nothing of who judged.
_NAMELESS = ("replay", "log")
_KNOWN_DRAWING = (Drawing.RANDOM, Drawing.WEIGHTED)


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """Labels that a plan takes: all, or so many of them, drawn by lot from this seed."""

    count: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class DrawnLabels:
    """Labelled texts whose chances are known: what people say of each, and 1 over its chance."""

    values: Mapping[str, tuple[float, ...]]
    weights: Mapping[str, float]
    drawn: str
    draws: tuple[str, ...] = ()
    pool: Path | None = None
    seed: int | None = None


@contextlib.contextmanager
def open_rated_runs(workspace: Workspace, runs: Sequence[RunDirectory], choice: LabelChoice) -> Iterator[RatedTexts]:
    """The runs' texts for as long as the block lasts; raises ConfigurationError in one line."""
    manifests = [read_manifest(run.manifest) for run in runs]
    _check_runs(manifests)
    labels = _draw_some(_known_labels(workspace, runs), choice)
    try:
        with (
            private_directory(workspace.scratch) as directory,
            attaching(
                None, config=session_settings(directory / "spilled", *(run.journal for run in runs))
            ) as connection,
        ):
            loaded = _LoadedRuns(connection, workspace, runs, manifests, labels)
            yield loaded.texts()
    except duckdb.Error as error:
        raise StorageError(f"{listed([run.name for run in runs])}: cannot be read: {first_line(error)}") from error


def _check_runs(manifests: Sequence[Manifest]) -> None:
    """Raises ConfigurationError for runs that say nothing about the same judges, asked for the same."""
    first = manifests[0]
    for name, count in Counter(manifest.run for manifest in manifests).items():
        if count > 1:
            raise ConfigurationError(f"run {name} is named twice; name each run once")
    for manifest in manifests:
        if manifest.protocol.hash != first.protocol.hash:
            raise ConfigurationError(
                f"runs {first.run} and {manifest.run} asked different things (protocol {first.protocol.name} "
                f"{first.protocol.hash[:8]} and {manifest.protocol.name} {manifest.protocol.hash[:8]}); "
                "judge the same texts with one protocol"
            )
        if manifest.cascade and len(manifest.judges) > 1:
            raise ConfigurationError(
                f"run {manifest.run}: its later judges saw only what earlier ones left (--cascade); "
                "let each judge all texts, then plan"
            )
        if not manifest.has_ended:
            raise ConfigurationError(
                f"run {manifest.run}: is {manifest.status.value}, and what is still to come is no random part; "
                "run its command again until it has ended"
            )


# Labels.


def _known_labels(workspace: Workspace, runs: Sequence[RunDirectory]) -> DrawnLabels:
    """The labels of whichever run has most that were drawn by lot."""
    drawn, refusals = [], []
    for run in runs:
        if not is_labelled(workspace, run):
            refusals.append(f"no text of run {run.name} has a label")
            continue
        with open_labelled(workspace, run) as units:
            gathered = gather_labels(workspace, run, units)
            texts, _ = units.population()
        outcome = _labels_of(gathered, run, texts)
        if isinstance(outcome, DrawnLabels):
            drawn.append(outcome)
        else:
            refusals.append(outcome)
    if not drawn:
        raise ConfigurationError(
            f"{refusals[0]}; draw some (`mixseek label sample {runs[0].name} --n 200 --to sheet.csv`), have them "
            "filled in, and take them in (`mixseek label import sheet.csv --rater NAME`)"
        )
    return max(drawn, key=lambda labels: len(labels.values))


def _labels_of(gathered: GatheredLabels, run: RunDirectory, texts: int) -> DrawnLabels | str:
    """The labels that count, or why none does."""
    if not gathered.by_text:
        return f"no text of run {run.name} has a label"
    weighed = weigh_texts(gathered.by_text, gathered.chosen)
    by_drawing: defaultdict[Drawing, list[str]] = defaultdict(list)
    weights = {}
    for label in weighed:
        by_drawing[Drawing(label.drawn)].append(label.text)
        weights[label.text] = label.weight
    if len(weighed) == texts and not by_drawing[Drawing.CHOSEN]:
        everything = [label.text for label in weighed]
        return DrawnLabels(_values(gathered, everything), dict.fromkeys(everything, 1.0), "all")
    drawing = next((drawing for drawing in reversed(_KNOWN_DRAWING) if by_drawing[drawing]), None)
    if drawing is None:
        count = plural(len(weighed), "label")
        if by_drawing[Drawing.CHOSEN]:
            return f"{count} of run {run.name}: texts were chosen by hand, which says nothing of the others"
        if by_drawing[Drawing.ELSEWHERE]:
            return f"{count} of run {run.name}: from another mix of cases, which says nothing of these"
        return f"{count} of run {run.name}: nobody knows how they were drawn (--drawn random, if at random)"
    if drawing is Drawing.WEIGHTED and (empty := _empty_stratum(gathered.chosen.draws, gathered.by_text)):
        return f"run {run.name}: the stratum {empty} of the draw has no label yet; label one text of it at least"
    chosen = by_drawing[drawing]
    draws = tuple(draw.draw for draw in gathered.chosen.draws)
    return DrawnLabels(
        _values(gathered, chosen),
        {text: weights[text] for text in chosen},
        drawing.value,
        draws,
        gathered.chosen.pool if draws else None,
    )


def _values(gathered: GatheredLabels, texts: Sequence[str]) -> dict[str, tuple[float, ...]]:
    return {text: said_of(gathered.by_text[text]) for text in texts}


def said_of(labels: TextLabels) -> tuple[float, ...]:
    """What people say of a text: what settled it, else each rater's last word."""
    if labels.adjudicated is not None:
        return (labels.adjudicated.share,)
    return tuple(label.share for label in (labels.counted or labels.by_rater).values())


def _empty_stratum(draws: Sequence[Draw], by_text: Mapping[str, TextLabels]) -> str | None:
    """A stratum of which nothing is known."""
    labelled: Counter[tuple[str, ...]] = Counter()
    for draw in draws:
        for stratum in draw.strata:
            labelled[stratum.values] += 0
        for row in draw.rows:
            labelled[draw.strata[row.stratum].values] += row.text in by_text and by_text[row.text].is_by_lot
    return next((listed([*values]) for values, count in labelled.items() if not count), None)


def _draw_some(labels: DrawnLabels, choice: LabelChoice) -> DrawnLabels:
    if choice.count is None:
        return labels
    chosen = draw_lots(list(labels.values), choice)
    return DrawnLabels(
        {text: labels.values[text] for text in chosen},
        {text: labels.weights[text] for text in chosen},
        "random" if labels.drawn == "all" else labels.drawn,
        labels.draws,
        labels.pool,
        choice.seed,
    )


def draw_lots(texts: Sequence[str], choice: LabelChoice) -> list[str]:
    """So many of them by lot, the same for the same seed whatever their order; all where no number is given."""
    if choice.count is None:
        return list(texts)
    if choice.count > len(texts):
        raise ConfigurationError(
            f"--label-count {choice.count:,}: there are only {plural(len(texts), 'label')} to draw from"
        )
    lots = sorted(texts, key=lambda text: hashlib.sha256(f"{choice.seed} lot {text}".encode()).digest())
    return lots[: choice.count]


def digest_labels(values: Mapping[str, Sequence[float]]) -> str:
    """A digest over all labels."""
    return digest_of(sorted((text, sorted(shares)) for text, shares in values.items()))


# Judges and judgments.


class _LoadedRuns:
    """One connection with every run's index, and what is asked of them together."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        workspace: Workspace,
        runs: Sequence[RunDirectory],
        manifests: Sequence[Manifest],
        labels: DrawnLabels,
    ) -> None:
        self._connection = connection
        self._runs, self._manifests, self._labels = runs, manifests, labels
        paths = [ensure_texts(workspace, run) for run in runs]
        self._indexes = [f"run_{place}" for place, _ in enumerate(runs)]
        for index, run in zip(self._indexes, runs, strict=True):
            attach_index(connection, workspace, run, index)
        confine(connection, directories=(workspace.root / "runs",))
        self._shown, self._entries = self._name_judges()
        self._notes = self._match_texts(paths)
        self._ask("create_takes")
        self._has_pairs = False
        for place, (index, manifest) in enumerate(zip(self._indexes, manifests, strict=True)):
            self._has_pairs = self._has_pairs or read_facts(connection, index).has_pairs
            names = {spec: name for (run, spec), name in self._shown.items() if run == manifest.run}
            self._ask(
                "add_takes",
                {"index": index, "place": place},
                judges=[*names],
                names=[*names.values()],
                run=place,
            )
        self._ask("first_runs")

    def _ask(self, name: str, parts: Mapping[str, Any] | None = None, **parameters: Any) -> list[tuple[Any, ...]]:
        query = STATEMENTS[name].format(**parts) if parts else STATEMENTS[name]
        return fetch_all(self._connection, query, parameters)

    def _name_judges(self) -> tuple[dict[tuple[str, str], str], dict[str, list[JudgeEntry]]]:
        """What each judge of each run is called here, and its entries under that name.

        It is called as it is asked for; what stands in a dataset is called by the model whose replies those are,
        because `replay` names nobody.
        """
        names: dict[tuple[str, str], str] = {}
        self._models: dict[str, str] = {}
        entries: defaultdict[str, list[JudgeEntry]] = defaultdict(list)
        for index, manifest in zip(self._indexes, self._manifests, strict=True):
            models = dict(self._ask("recorded_models", {"index": index}))
            for entry in manifest.judges:
                # Whoever is asked now has a name of its own.
                model = models.get(entry.name) if entry.kind in _NAMELESS else None
                name = model if model is not None and entry.name in _NAMELESS else entry.name
                if model is not None:
                    self._models.setdefault(name, model)
                names[manifest.run, entry.name] = name
                entries[name].append(entry)
        for known in entries.values():
            first = certify_judge(known[0], ())
            for other in known[1:]:
                if changes := list(changed_judge(first, other)):
                    raise ConfigurationError(
                        f"{changes[0]}, in different runs: that is two judges; plan from runs of one of them"
                    )
        return names, dict(entries)

    def _match_texts(self, paths: Sequence[Path]) -> list[str]:
        """The table `common`; and what was left out for it."""
        notes = []
        for place, (index, path) in enumerate(zip(self._indexes, paths, strict=True)):
            self._ask("create_texts", {"index": index, "place": place}, path=escape_glob(path))
        self._ask("create_common")
        ((texts, _),) = self._ask("sizes")
        for place in range(1, len(paths)):
            self._ask("keep_common", {"table": f"texts_{place}"})
        ((common, _),) = self._ask("sizes")
        names = listed([run.name for run in self._runs])
        if not common:
            raise ConfigurationError(f"runs {names} have no text in common; judge the same texts with each judge")
        if common < texts:
            notes.append(f"{common:,} of {plural(texts, 'text')} of run {self._runs[0].name} are in all runs")
        if self._labels.pool is not None:
            self._ask("create_pool", path=escape_glob(self._labels.pool))
            self._ask("keep_common", {"table": "pool"})
            ((pooled, _),) = self._ask("sizes")
            if pooled < common:
                notes.append(f"{pooled:,} of {plural(common, 'text')} are among those that labels were drawn from")
        return notes

    def texts(self) -> RatedTexts:
        """Everything that was read, and a way through it."""
        ((texts, questions),) = self._ask("sizes")
        present = {text for (text,) in self._ask_labelled()}
        values = {text: shares for text, shares in self._labels.values.items() if text in present}
        if not values:
            raise ConfigurationError("no labelled text is in all runs; label texts that every judge has judged")
        ((has_grades,),) = self._ask("is_graded")
        scale = RatingScale(is_graded=has_grades and not self._has_pairs)
        candidates = self._candidates()
        if not candidates:
            raise ConfigurationError(f"no judgment of run {self._runs[0].name} is valid; `mixseek report` says why")
        if texts > MOST_TEXTS:
            self._notes.append(some_texts(texts))
        drawn: Any = "all" if self._labels.drawn == "all" and len(values) == texts else self._labels.drawn
        labels = CertifiedLabels(
            count=len(values),
            texts=texts,
            questions=questions,
            drawn="random" if drawn == "all" and len(values) < texts else drawn,
            draws=self._labels.draws,
            seed=self._labels.seed,
            digest=digest_labels(values),
        )
        sources = tuple(
            CertifiedSource(name=manifest.run, kind="run", digest=manifest.journal.blake2b if manifest.journal else "")
            for manifest in self._manifests
        )
        judges = {candidate.name: candidate for candidate in candidates}

        def read() -> Iterator[RatedText]:
            return self._read(judges, scale, values)

        protocol = certify_protocol(self._manifests[0].protocol)
        return RatedTexts(candidates, scale, labels, sources, protocol, read, tuple(self._notes))

    def _ask_labelled(self) -> list[tuple[Any, ...]]:
        query = "SELECT text FROM common WHERE text IN (SELECT unnest($texts::VARCHAR[]))"
        return fetch_all(self._connection, query, {"texts": list(self._labels.values)})

    def _candidates(self) -> tuple[Candidate, ...]:
        counted = {row[0]: row[1:] for row in self._ask("candidates")}
        prices: dict[str, float | None] = {}
        models: defaultdict[str, set[str]] = defaultdict(set)
        for index, manifest in zip(self._indexes, self._manifests, strict=True):
            for spec, price in self._ask("prices", {"index": index}):
                if price is not None:
                    prices.setdefault(self._shown.get((manifest.run, spec), spec), price)
            for spec, answered in self._ask("models", {"index": index}):
                models[self._shown.get((manifest.run, spec), spec)].update(answered)
        shown = label_judges([*self._entries], self._models)
        candidates = []
        for name, entries in self._entries.items():
            if name not in counted:
                continue
            texts, takes, *sources = counted[name]
            price = 0.0 if entries[0].kind in _FREE else prices.get(name)
            certified = self._certify(entries[0], name, models[name])
            candidates.append(Candidate(name, shown[name], takes, count_sources(sources), texts, price, certified))
        return tuple(candidates)

    @staticmethod
    def _certify(entry: JudgeEntry, name: str, models: set[str]) -> CertifiedJudge:
        certified = certify_judge(entry, models)
        return certified if certified.name == name else certified.model_copy(update={"name": name})

    def _read(
        self, judges: Mapping[str, Candidate], scale: RatingScale, values: Mapping[str, tuple[float, ...]]
    ) -> Iterator[RatedText]:
        rows = execute(self._connection, STATEMENTS["rows"], {"labelled": list(values), "most": MOST_TEXTS})
        for (text, question), group in groupby(_stream(rows), key=itemgetter(0, 1)):
            takes: defaultdict[str, list[Take]] = defaultdict(list)
            for _, _, judge, _, score, confidence, source in group:
                if judge is not None:
                    takes[judge].append(read_take(score, confidence, source))
            opinions: dict[str, Opinion] = {}
            for judge, judge_takes in takes.items():
                opinion = join_takes(judge_takes, judges[judge].source, scale) if judge in judges else None
                if opinion is not None:
                    opinions[judge] = opinion
            yield RatedText(text, question, opinions, values.get(text, ()), self._labels.weights.get(text, 1.0))


def _stream(rows: duckdb.DuckDBPyConnection, size: int = 10_000) -> Iterator[tuple[Any, ...]]:
    while chunk := rows.fetchmany(size):
        yield from chunk


def some_texts(texts: int) -> str:
    """What was left out of so many."""
    return f"{MOST_TEXTS:,} of {texts:,} texts, those without a label by lot, stand for all"


def count_sources(counts: Sequence[int]) -> dict[ConfidenceSource, int]:
    """How many texts a judge was sure about by each source, in the order in which the statements have them."""
    order = (
        ConfidenceSource.REPEATS,
        ConfidenceSource.LOGPROBS,
        ConfidenceSource.DECISION,
        ConfidenceSource.ORDERS,
        ConfidenceSource.WRITTEN,
    )
    return dict(zip(order, counts, strict=True))


def read_take(score: float, confidence: float | None, source: str | None) -> Take:
    """A judgment with how sure the judge was, where something says so."""
    if confidence is None or source is None:
        return Take(score)
    return Take(score, {ConfidenceSource(source): confidence})
