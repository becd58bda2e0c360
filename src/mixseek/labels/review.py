"""Labels that people give in the viewer: queues of texts, what may be shown before a label, and what it then changes.

Nothing that a judge or another rater said of a text leaves here before whoever asks has given a label of their own
(`ReviewedRun.item`). A label is the same object in the same store as an imported one, so every report sees it at once.
"""

import hashlib
import statistics
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import duckdb
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mixseek.analysis.labels.corrected import CorrectedReport, build_corrected, correct_group
from mixseek.analysis.labels.form import LabelForm
from mixseek.analysis.labels.of_run import GatheredLabels, gather_labels, open_labelled, weigh_texts
from mixseek.analysis.labels.plan import build_plan
from mixseek.analysis.labels.units import FoundText
from mixseek.domain.labels import WHOLE, Draw, Label, LabelError, LabelledRun, TextLabels, collect_labels
from mixseek.domain.people import LabelledSamples
from mixseek.errors import ConfigurationError
from mixseek.index.loading import index_error
from mixseek.index.run import RunIndex
from mixseek.labels.draw import DrawRequest, draw_texts
from mixseek.labels.intake import check_rater
from mixseek.labels.status import ProtocolLabels, describe_protocol
from mixseek.labels.views import plan_document
from mixseek.lazy_dataclass import dataclass
from mixseek.reports.excerpts import LONGEST_TEXT
from mixseek.reports.labels import group_document
from mixseek.reports.pages.payload import rows_payload
from mixseek.reports.pages.shown_steps import shown_contexts, shown_steps
from mixseek.runs.requests.protocol_record import protocol_of_run
from mixseek.stats.estimates import Drawing
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.journal.records import decode_sample
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import RunDirectory, Workspace

Body = TypeVar("Body", bound=BaseModel)
# Texts that are listed of a queue: who has labelled so many comes back for the next.
MOST_LISTED = 1_000
# Queues that a run has by itself; DISPUTES holds what raters contradict each other on.
KINDS = ("disagreements", "undecided", "invalid", "evidence")
DISPUTES = "disputes"
# Filters that say nothing about a verdict; a queue by any other one tells what it was filtered by.
_NEUTRAL = frozenset({"task", "target", "variant", "q", "meta"})
_TURNED = {"A": "B", "B": "A"}
_SHOWN = ("question", "response", "response_b", "ground_truth", "rubric", "task_type")
# Characters of judged text that are sent of one sample.
_TEXT_BUDGET = 4_000_000
# Points on the way of the interval.
_PATH_POINTS = 12


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    # Made by whoever sends it, once: what is sent again after a crash is not kept twice.
    id: str = Field(pattern=r"^[A-Za-z0-9_-]{8,64}$")
    rater: str


class GivenLabel(_Body):
    """One of `verdict`, `marks` and `total`, as the item's form asks for; without a queue, beside an open judgment."""

    queue: str = Field(max_length=2_000)
    text: str = Field(pattern=r"^[0-9a-f]{64}$")
    verdict: str | None = None
    marks: dict[str, float] | None = None
    total: float | None = None
    # By the number of the step: 1 where it is right, 0 where it is wrong.
    steps: dict[str, float] | None = None
    note: str = Field(default="", max_length=4_000)
    seconds: float | None = Field(default=None, ge=0, le=86_400)
    is_open: bool = False
    # As the item said: the letters are places of a pair that was shown the other way round.
    is_turned: bool = False


class Retraction(_Body):
    """Takes back the label of that id, of the same rater."""

    retracts: str = Field(min_length=1, max_length=64)


class NewDraw(BaseModel):
    """So many texts at random; `by_verdict` sees to it that rare verdicts are among them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    count: int = Field(ge=1, le=100_000)
    by_verdict: bool = False


def read_body(kind: type[Body], data: bytes) -> Body:
    """Raises ConfigurationError that names the first field that is wrong."""
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "body"
        # Only its own first letter: what was sent is repeated as it was written.
        raise ConfigurationError(f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}") from error


@dataclass(frozen=True, slots=True)
class Queue:
    """Texts to label, always in the same order; `total` counts those that are not listed, too.

    `is_drawn`: its labels correct the headline; others say how far judges and people agree, and no more.
    `tells`: whoever works through it knows something of the verdicts by its name.
    """

    name: str
    kind: str
    texts: tuple[str, ...]
    total: int
    is_drawn: bool = False
    tells: bool = True

    @property
    def use(self) -> str:
        """What its labels are for."""
        return "headline" if self.is_drawn else "settles" if self.name == DISPUTES else "agreement"

    def document(self, done: Sequence[bool]) -> dict[str, Any]:
        """The queue with how much of it is done."""
        facts = {"name": self.name, "kind": self.kind, "total": self.total, "listed": len(self.texts)}
        return {**facts, "done": sum(done), "use": self.use, "tells": self.tells}


class ReviewedRun:
    """A run as it was when it was opened, and labels as they are at each question; one question at a time."""

    def __init__(self, workspace: Workspace, run: RunDirectory) -> None:
        self._workspace, self.run = workspace, run
        self._manifest = read_manifest(run.manifest)
        self._protocol = protocol_of_run(run, self._manifest)
        self._store = LabelStore(workspace)
        self._lock = threading.Lock()
        self._open = ExitStack()
        self._units = self._open.enter_context(open_labelled(workspace, run))
        self._index = RunIndex(self._units.connection, run)
        self.texts, _ = self._units.population()
        # Over a million judgments each takes a second: now, and not while somebody waits for an answer.
        listed = {kind: self._units.queue(kind, kind, MOST_LISTED) for kind in KINDS}
        self._queues = {kind: Queue(kind, kind, tuple(texts), total) for kind, (texts, total) in listed.items()}

    def close(self) -> None:
        """When whoever is asking has done."""
        with self._lock:
            self._open.close()

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except duckdb.Error as error:
            raise index_error(self.run.index, error) from error

    # Queues.

    def overview(self, rater: str) -> dict[str, Any]:
        """Every queue with how far this rater has come, and who else has labelled."""
        with self._asking():
            by_text = self._labels_by_text()
            draws = self._store.draws(self.run.name)
            names = [*(f"draw:{draw.draw}" for draw in reversed(draws)), DISPUTES, *KINDS]
            queues = [self._queue(name, by_text) for name in names]
            about = describe_protocol(self._manifest.protocol.name, list(by_text.values()))
            drawn = len({row.text for draw in draws for row in draw.rows})
            return {
                "run": self.run.name,
                "protocol": self._manifest.protocol.name,
                "texts": self.texts,
                "queues": [
                    queue.document([is_done(queue, text, rater, by_text) for text in queue.texts]) for queue in queues
                ],
                "draw": {"left": self.texts - drawn, "columns": list(draws[0].columns) if draws else None},
                **self._people(about),
            }

    def queue(self, name: str, rater: str, samples: Sequence[int] | None = None) -> dict[str, Any]:
        """Its texts with what this rater has done; `last` is what they can take back."""
        with self._asking():
            by_text = self._labels_by_text()
            queue = self._queue(name, by_text, samples)
            done = [is_done(queue, text, rater, by_text) for text in queue.texts]
            own_labels = [
                label for label in self._labels() if label.rater == rater and label.id and label.queue == name
            ]
            last = {"id": own_labels[-1].id, "text": own_labels[-1].text} if own_labels else None
            items = list(zip(queue.texts, done, strict=True))
            return {**queue.document(done), "items": items, "last": last, "seconds": median_seconds(own_labels)}

    def _queue(self, name: str, by_text: Mapping[str, TextLabels], samples: Sequence[int] | None = None) -> Queue:
        """Raises ConfigurationError for a name that is none."""
        kind, _, rest = name.partition(":")
        if name == DISPUTES:
            texts = sorted(text for text, labels in by_text.items() if labels.is_contradicted)
            return Queue(name, kind, tuple(texts[:MOST_LISTED]), len(texts), tells=False)
        if kind == "draw":
            rows = [row.text for row in self._draw(rest).rows]
            present = self._units.of_texts(rows)
            texts = [text for text in rows if text in present]
            return Queue(name, kind, tuple(texts), len(texts), is_drawn=True, tells=False)
        if kind == "filter" and samples is not None:
            tells = any(key not in _NEUTRAL for key, _ in parse_qsl(rest))
            texts, total = self._units.queue(kind, name, MOST_LISTED, samples)
            return Queue(name, kind, tuple(texts), total, tells=tells)
        if name not in self._queues:
            there = ", ".join((*KINDS, DISPUTES, "draw:NAME", "filter:…"))
            raise ConfigurationError(f"queue={name}: no such queue; there is {there}")
        return self._queues[name]

    def _draw(self, name: str) -> Draw:
        draw = next((candidate for candidate in self._store.draws(self.run.name) if candidate.draw == name), None)
        if draw is None:
            raise ConfigurationError(f"run {self.run.name}: no draw {name!r}; `mixseek label status` lists them")
        return draw

    def draw(self, request: NewDraw) -> dict[str, Any]:
        """Texts drawn at random, as `mixseek label sample` does; later draws are made as the first one was."""
        with self._asking():
            earlier = self._store.draws(self.run.name)
            columns = earlier[0].columns if earlier else ("verdict",) if request.by_verdict else ()
            drawn = draw_texts(self._workspace, self.run, self._units, DrawRequest(request.count, columns)).draw
            return {"queue": f"draw:{drawn.draw}", "draw": drawn.draw, "count": len(drawn.rows)}

    # One text.

    def item(self, name: str, text: str, rater: str, language: str, *, is_open: bool = False) -> dict[str, Any]:
        """What a rater needs to decide; what others said comes with it only after their own label, or if asked for."""
        with self._asking():
            labels = self._labels_by_text().get(text)
            adjudicates = name == DISPUTES
            own_label = (
                (labels.adjudicated if adjudicates else labels.by_rater.get(rater)) if labels is not None else None
            )
            found_text, form, shown = self._text(text)
            document: dict[str, Any] = {"text": text, "sample": shown, "form": form.describe(language), "own": None}
            # People like a place as judges do, and learn who is A. What others say is about A and B of the dataset.
            by_lot = shown["response_b"] is not None and is_turned_for(rater, text) and not adjudicates and not is_open
            document |= {"is_turned": by_lot and own_label is None, "was_turned": by_lot and own_label is not None}
            if document["is_turned"]:
                shown |= {"response": shown["response_b"], "response_b": shown["response"]}
                turned = {"steps": shown.pop("steps_b", None), "steps_b": shown.pop("steps", None)}
                shown |= {name: steps for name, steps in turned.items() if steps is not None}
            if adjudicates and labels is not None:
                document["raters"] = [describe_label(label, form) for label in labels.by_rater.values()]
            if own_label is not None:
                document["own"] = describe_label(own_label, form)
            if own_label is not None or is_open:
                document |= self._reveal(found_text, labels, form)
            return document

    def _text(self, text: str) -> tuple[FoundText, LabelForm, dict[str, Any]]:
        found_text = self._units.of_texts([text]).get(text)
        if found_text is None:
            raise ConfigurationError(f"run {self.run.name}: has no text {text[:12]}…")
        record = next(self._units.read_samples([found_text]))
        # Ids and names of targets bias whoever reads them; metadata may hold a label.
        shown = {name: record.get(name) for name in _SHOWN}
        shown["alternatives"] = record.get("ground_truth_alternatives") or []
        shown |= {name: shown_steps(record[name], LONGEST_TEXT) for name in ("steps", "steps_b") if record.get(name)}
        if record.get("contexts"):
            shown["contexts"] = shown_contexts(record["contexts"], LONGEST_TEXT)
        if shown["response_b"] is not None:
            # In a dataset of pairs that is as often as not which of the two people prefer.
            shown |= {"ground_truth": None, "alternatives": []}
        return found_text, LabelForm(self._protocol, decode_sample(record)), shown

    def _reveal(self, found_text: FoundText, labels_of_text: TextLabels | None, form: LabelForm) -> dict[str, Any]:
        """What judges and raters said, in the shape of a report's payload."""
        rows = self._index.find_sample(found_text.id)
        dimensions = self._units.all("dimensions")
        facts = {
            "run": self.run.name,
            "judges": list(self._manifest.judge_names),
            "labels": self._index.judge_labels(self._manifest.judge_names),
            "dimensions": [name for (name,) in dimensions],
            "repeats": self._manifest.repeats,
        }
        labels = (
            []
            if labels_of_text is None
            else [*labels_of_text.by_rater.values(), *filter(None, [labels_of_text.adjudicated])]
        )
        return {
            "judged": {**facts, **rows_payload(rows, _TEXT_BUDGET)},
            "raters": [describe_label(label, form) for label in labels],
            "standing": labels_of_text.standing.value if labels_of_text is not None else None,
        }

    # Giving a label, and taking it back.

    def give(self, entry: GivenLabel, language: str) -> dict[str, Any]:
        """The label is on disk before anything else is said; the answer is the item, with what others said."""
        rater = check_rater(entry.rater)
        with self._asking():
            found_text, form, _ = self._text(entry.text)
            try:
                verdict = _TURNED.get(entry.verdict or "", entry.verdict) if entry.is_turned else entry.verdict
                answer = form.read(verdict, entry.marks, entry.total)
                steps = form.read_steps(entry.steps)
            except LabelError as error:
                raise ConfigurationError(str(error)) from error
            draw = self._draw(entry.queue.removeprefix("draw:")) if entry.queue.startswith("draw:") else None
            if draw is not None and entry.text not in {row.text for row in draw.rows}:
                raise ConfigurationError(f"draw {draw.draw}: the text {entry.text[:12]}… was not drawn")
            before = any(
                line.text == entry.text and line.rater == rater and not line.retracts
                for line in self._store.lines(self._manifest.protocol.name)
            )
            # Beside an open judgment there is no queue, and its verdict has been seen.
            is_open = entry.is_open or not entry.queue
            drawn = Drawing.CHOSEN if not entry.queue else Drawing.UNKNOWN if draw is None else Drawing.RANDOM
            label = Label(
                text=entry.text, protocol=self._manifest.protocol.name, rater=rater, share=answer.share,
                given=answer.given, drawn=drawn.value,
                draw=None if draw is None else draw.draw, is_adjudicated=entry.queue == DISPUTES, sample=found_text.id,
                run=self.run.name, note=entry.note.strip(), at=datetime.now(UTC).isoformat(), id=entry.id,
                queue=entry.queue, marks=answer.marks, seconds=entry.seconds, saw_verdicts=is_open or before,
                steps=steps,
            )  # fmt: skip
            earlier = self._standing(label)
            self._store.append([label])
        document = self.item(entry.queue, entry.text, rater, language)
        return document if earlier is None else {**document, "replaced": describe_label(earlier, form)}

    def _standing(self, label: Label) -> Label | None:
        """What the same person has said of the text in the same queue already, as in another window of theirs."""
        same = [
            earlier
            for earlier in self._labels()
            if (earlier.text, earlier.rater, earlier.queue) == (label.text, label.rater, label.queue)
            and earlier.id != label.id
        ]
        return same[-1] if same else None

    def retract(self, request: Retraction) -> dict[str, Any]:
        """Appends a line that takes a label back; the one stays in the file as the other does."""
        rater = check_rater(request.rater)
        with self._asking():
            own_labels = [label for label in self._labels() if label.rater == rater and label.id == request.retracts]
            lines = self._store.lines(self._manifest.protocol.name)
            if not own_labels and not any(line.retracts == request.retracts and line.rater == rater for line in lines):
                raise ConfigurationError(f"retracts: {rater} has given no label {request.retracts}")
            for label in own_labels:
                at = datetime.now(UTC).isoformat()
                self._store.append([replace(label, id=request.id, retracts=label.id, at=at, note="", seconds=None)])
            return {"retracted": request.retracts}

    # What the labels amount to.

    def numbers(self, half_width: float) -> dict[str, Any]:
        """The corrected headline, how its interval has shrunk label by label, and how many more make it so narrow."""
        if not 0 < half_width < 0.5:
            raise ConfigurationError("width: give how far the interval may reach to either side, such as 0.05")
        with self._asking():
            gathered = gather_labels(self._workspace, self.run, self._units)
            labelled = gathered.join(self._units)
            by_text = self._labels_by_text()
        report = build_corrected(labelled, gathered.facts)
        plan = plan_document(build_plan(self.run.name, labelled, report, half_width))
        corrected = report.whole.corrected
        is_known = corrected.point is not None and corrected.low is not None and corrected.high is not None
        reached = (
            (corrected.high - corrected.low) / 2 if corrected.low is not None and corrected.high is not None else None
        )
        return {
            **group_document(report.whole),
            "scale": asdict(gathered.facts.scale),
            "half_width": reached,
            "plan": plan,
            "is_enough": is_known and reached is not None and reached <= half_width,
            "path": list(corrected_path(labelled, gathered, report)),
            **self._people(describe_protocol(self._manifest.protocol.name, list(by_text.values()))),
            "kappa": report.kappa,
        }

    def people(self) -> LabelledSamples:
        """What people say of the samples of the run, the dataset's own labels among them."""
        with self._asking():
            return gather_labels(self._workspace, self.run, self._units).samples(self._units)

    def _people(self, about: ProtocolLabels) -> dict[str, Any]:
        seconds = {rater: [label for label in self._labels() if label.rater == rater] for rater, _ in about.raters}
        raters = [
            {"name": rater, "labels": count, "seconds": median_seconds(seconds[rater])} for rater, count in about.raters
        ]
        agreement = {"texts": about.rated_twice, "share": about.agreement, "alpha": about.alpha}
        return {"raters": raters, "agreement": agreement, "disputed": len(about.disputes), "labelled": about.texts}

    def _labels(self) -> list[Label]:
        return self._store.read(self._manifest.protocol.name)

    def _labels_by_text(self) -> dict[str, TextLabels]:
        """The labels of this run's texts; labels of the dataset itself are nobody's here."""
        by_text = collect_labels(self._labels())
        present = self._units.of_texts(list(by_text))
        return {text: labels for text, labels in by_text.items() if text in present}


def is_done(queue: Queue, text: str, rater: str, by_text: Mapping[str, TextLabels]) -> bool:
    """Whether this rater has nothing left to say there. What was labelled elsewhere is asked again where it is drawn:
    only then does the lot decide which texts are labelled."""
    labels = by_text.get(text)
    if labels is None:
        return False
    if queue.name == DISPUTES:
        return labels.adjudicated is not None
    own_label = (labels.counted if queue.is_drawn else labels.by_rater).get(rater)
    return own_label is not None and (
        not queue.is_drawn or own_label.draw is not None or own_label.drawn == Drawing.RANDOM
    )


def is_turned_for(rater: str, text: str) -> bool:
    """Whether this rater sees B of this pair first: by lot, and always the same."""
    return hashlib.sha256(f"{rater}\n{text}".encode()).digest()[0] % 2 == 1


def describe_label(label: Label, form: LabelForm) -> dict[str, Any]:
    """The label for the page: who, what, and by dimension."""
    document = {"id": label.id, "rater": label.rater, "given": label.given, "share": label.share, "note": label.note}
    document |= {"queue": label.queue}
    more = {
        "marks": dict(label.marks),
        "steps": dict(label.steps),
        "verdict": form.verdict(label.marks),
        "is_adjudicated": label.is_adjudicated,
    }
    return {**document, **more, "seconds": label.seconds, "saw_verdicts": label.saw_verdicts}


def median_seconds(labels: Sequence[Label]) -> float | None:
    """None where no time was taken."""
    taken = [label.seconds for label in labels if label.seconds is not None]
    return round(statistics.median(taken), 1) if taken else None


def corrected_path(
    labelled: LabelledRun, gathered: GatheredLabels, report: CorrectedReport
) -> Iterator[dict[str, float | int]]:
    """The corrected headline as it was after so many labels that count, in the order in which they were given."""
    if report.whole.drawing not in (Drawing.RANDOM, Drawing.WEIGHTED):
        return
    order = [text for text, labels in gathered.by_text.items() if labels.is_by_lot]
    cells = [cell for cell in labelled.cells if cell.group == WHOLE]
    units = [unit for unit in labelled.labelled if unit.group == WHOLE]
    questions = [cell for cell in labelled.by_question if cell.group == WHOLE]
    counts = sorted({round(len(order) * point / _PATH_POINTS) for point in range(1, _PATH_POINTS + 1)} - {0})
    for count in counts:
        by_text = {text: gathered.by_text[text] for text in order[:count]}
        weights = {weight.text: weight for weight in weigh_texts(by_text, gathered.chosen)}
        known = [
            replace(unit, weight=weights[unit.text].weight, drawn=weights[unit.text].drawn)
            for unit in units
            if unit.text in weights
        ]
        corrected = correct_group(WHOLE, cells, known, questions, labelled.is_binary).corrected
        if corrected.low is not None and corrected.high is not None:
            middle = {} if corrected.point is None else {"mean": corrected.point}
            yield {"labels": count, "low": corrected.low, "high": corrected.high, **middle}
