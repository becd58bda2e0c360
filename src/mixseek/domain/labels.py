"""What people say about judged texts: labels, the scale they are given on, and how the labelled texts were drawn."""

import hashlib
import heapq
import math
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum

from mixseek.domain.panels import Preference, read_preference
from mixseek.lazy_dataclass import dataclass

# What a person may write for a right or a wrong answer; any case, spaces around it.
RIGHT = ("correct", "right", "true", "yes", "1", "1.0")
WRONG = ("incorrect", "wrong", "false", "no", "0", "0.0")
# How a label was drawn that was given beside an open judgment.
CHOSEN = "chosen"
_SURROGATE = re.compile("[\ud800-\udfff]")


def text_digest(
    question: str,
    response: str,
    ground_truth: str | None,
    response_b: str | None = None,
    steps_digest: str | None = None,
) -> str:
    """Names a judged text, whoever judged it: 64 hex digits over question and response, or both of a pair.

    Where there are steps or contexts, they are judged as well, and their digest belongs to the text.

    Where a dataset has no questions the ground truth stands in for them: `4` alone is right here and wrong there. A
    length comes first, so that no two pairs look alike; surrogates are U+FFFD, as in every journal.
    """
    texts = (question or ground_truth or "", response, response_b or "")
    question_text, response_text, other_text = (_SURROGATE.sub("\ufffd", text) for text in texts)
    if response_b is not None:
        response_text = f"{len(response_text.encode())}:{response_text}{other_text}"
    if steps_digest is not None:
        response_text = f"{len(response_text.encode())}:{response_text}{steps_digest}"
    return hashlib.sha256(f"{len(question_text.encode())}:{question_text}{response_text}".encode()).hexdigest()


class LabelError(ValueError):
    """What is wrong with a label, without its place: whoever reads the file knows that."""


@dataclass(frozen=True, slots=True)
class LabelScale:
    """Right or wrong; which of two; or, under a protocol with dimensions, its total.

    `minimum` is the worst total and `maximum` the best: the former is the larger number where lower is better.
    """

    minimum: float = 0.0
    maximum: float = 1.0
    is_binary: bool = True
    is_preference: bool = False

    def describe(self) -> str:
        """The scale in words, for a person who labels."""
        if self.is_preference:
            return "A, B or tie"
        lowest, highest = sorted((self.minimum, self.maximum))
        return "correct or incorrect" if self.is_binary else f"{lowest:g} to {highest:g}"

    @property
    def span(self) -> float:
        """The width from one end to the other."""
        return abs(self.maximum - self.minimum)

    def word_of(self, share: float) -> str:
        """A share of the scale as a person would write it."""
        if self.is_preference:
            return next((winner.value for winner in Preference if winner.score == share), f"{share:g}")
        if self.is_binary:
            return {1.0: RIGHT[0], 0.0: WRONG[0]}.get(share, f"{share:g}")
        return f"{self.minimum + share * (self.maximum - self.minimum):.6g}"

    def read(self, given: object) -> float:
        """The label as a share of the scale, 0..1; raises LabelError for anything that is not on it."""
        text = str(given).strip()
        if self.is_preference:
            preference = read_preference(text)
            if preference is None:
                raise LabelError(f"{text!r} is no label; write {self.describe()}")
            return preference.score
        if self.is_binary:
            word = text.lower()
            if word in RIGHT or word in WRONG:
                return 1.0 if word in RIGHT else 0.0
            raise LabelError(f"{text!r} is no label; write correct or incorrect (or 1/0, true/false, yes/no)")
        try:
            # What spreadsheets of some countries write for 6.5.
            value = float(text.replace(",", ".")) if text.count(",") <= 1 else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise LabelError(f"{text!r} is no number; write one from {self.describe()}")
        if not min(self.minimum, self.maximum) <= value <= max(self.minimum, self.maximum):
            raise LabelError(f"{text} is outside the scale; write a number from {self.describe()}")
        return (value - self.minimum) / (self.maximum - self.minimum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One rater on one text. `drawn`: how its text was chosen (random, elsewhere or unknown); `draw` names our draw.

    Those given in the viewer have an `id`, so that what is sent twice is kept once, and can be taken back: by a line
    whose `retracts` is that id. `marks` are the dimensions that the total in `given` is made of, and gates that fail;
    `steps` says of some steps of the sample, by number, whether they were right (1) or wrong (0).
    """

    text: str
    protocol: str
    rater: str
    share: float
    given: str
    drawn: str = "unknown"
    draw: str | None = None
    is_adjudicated: bool = False
    sample: str = ""
    run: str = ""
    note: str = ""
    at: str = ""
    id: str = ""
    retracts: str = ""
    queue: str = ""
    marks: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None  # from being shown to being given
    saw_verdicts: bool = False  # the rater knew what judges said of this text
    steps: Mapping[str, float] = field(default_factory=dict)

    @property
    def first_wrong_step(self) -> int | None:
        """The first step that the rater calls wrong."""
        return min((int(number) for number, mark in self.steps.items() if mark == 0), default=None)


def standing_labels(labels: Sequence[Label]) -> list[Label]:
    """The labels without those that their raters took back, and without the lines that say so."""
    gone = {(label.rater, label.retracts) for label in labels if label.retracts}
    return [label for label in labels if not label.retracts and (label.rater, label.id) not in gone]


class Standing(StrEnum):
    """What the labels of a text amount to."""

    ADJUDICATED = "adjudicated"
    AGREED = "agreed"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class TextLabels:
    """All that was said about one text: the last word of each rater, and of whoever settled their dispute.

    What counts for every estimate is decided here: the adjudicated label; else what raters agree on; while they
    contradict each other the text is undecided, and counts for neither side more than its raters do.
    """

    text: str
    by_rater: Mapping[str, Label]
    adjudicated: Label | None = None
    # Our draws that any of its labels came from, and how those without one were chosen.
    draws: frozenset[str] = frozenset()
    drawn: frozenset[str] = frozenset()
    # The last word of each rater without what was given beside a judgment: only that may enter a number.
    counted: Mapping[str, Label] = field(default_factory=dict)

    @property
    def standing(self) -> Standing:
        if self.adjudicated is not None:
            return Standing.ADJUDICATED
        return Standing.UNDECIDED if self.is_contradicted else Standing.AGREED

    @property
    def share(self) -> float:
        """What counts: the adjudicated value, else the mean over raters, who may all say the same. Leaving undecided
        texts out would leave out the hard ones, and nobody throws a coin for them."""
        if self.adjudicated is not None:
            return self.adjudicated.share
        return mean_share(self.by_rater.values())

    @property
    def counted_share(self) -> float:
        """The same for a number: whoever labels beside a judgment, with its verdict in sight, changes none."""
        if self.adjudicated is not None or not self.counted:
            return self.share
        return mean_share(self.counted.values())

    @property
    def is_contradicted(self) -> bool:
        """Raters differ, whether or not somebody has settled it."""
        return len({label.share for label in self.by_rater.values()}) > 1

    @property
    def is_disputed(self) -> bool:
        """Raters differ, and nobody has settled it."""
        return self.standing is Standing.UNDECIDED

    @property
    def is_by_lot(self) -> bool:
        """Somebody labelled it because a lot fell on it. One that was looked for among the hard ones speaks for
        nothing else, though a draw may hold it as well."""
        return bool(self.draws) or "random" in self.drawn

    @property
    def sample(self) -> str:
        """An id to show: of the first that was labelled."""
        return next((label.sample for label in (*self.by_rater.values(), self.adjudicated) if label is not None), "")


def mean_share(labels: Collection[Label]) -> float:
    """The mean over labels, of which there is one at least."""
    return math.fsum(label.share for label in labels) / len(labels)


def collect_labels(labels: Iterable[Label]) -> dict[str, TextLabels]:
    """Labels by text, in the order of the file: a later label of the same rater takes the place of the earlier one."""
    by_text: dict[str, list[Label]] = {}
    for label in labels:
        by_text.setdefault(label.text, []).append(label)
    return {text: collect_text(text, text_labels) for text, text_labels in by_text.items()}


def collect_text(text: str, labels: Sequence[Label]) -> TextLabels:
    """How a text was drawn is known once any label of it says so, though that label was revised since."""
    rated = [label for label in labels if not label.is_adjudicated]
    return TextLabels(
        text,
        {label.rater: label for label in rated},
        next((label for label in reversed(labels) if label.is_adjudicated), None),
        frozenset(label.draw for label in rated if label.draw is not None),
        frozenset(label.drawn for label in rated if label.draw is None),
        {label.rater: label for label in rated if label.drawn != CHOSEN},
    )


@dataclass(frozen=True, slots=True)
class Stratum:
    """Texts that were drawn from together; `values` are those of the columns that the draw was stratified by."""

    values: tuple[str, ...]
    texts: int
    drawn: int

    @property
    def probability(self) -> float:
        """The chance of each of its texts to be drawn."""
        return self.drawn / self.texts


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """A line of the sheet; `stratum` is a place in the draw's list."""

    row: str
    id: str
    text: str
    stratum: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """A random draw of texts of one run, as it was made. `population` is a digest over all texts of the run."""

    draw: str
    run: str
    protocol: str
    protocol_hash: str
    seed: int
    columns: tuple[str, ...]
    texts: int
    population: str
    strata: tuple[Stratum, ...]
    rows: tuple[DrawnRow, ...]
    at: str = ""
    # Earlier draws of the same run, whose texts were left out of this one.
    earlier: tuple[str, ...] = field(default=())


def allocate(sizes: Sequence[int], count: int) -> list[int]:
    """How many of `count` each stratum gets: in proportion to the root of its size, two at least where it has them.

    The root (a power allocation) keeps rare strata visible without giving them as many as the common ones. `count`
    must be as many as strata at least; all of a stratum is the most.
    """
    least = 2 if count >= 2 * len(sizes) else 1
    shares = [min(size, least) for size in sizes]
    # The stratum that is furthest behind its share gets the next one; those that are used up get none.
    queue = [
        (share / math.sqrt(size), place)
        for place, (share, size) in enumerate(zip(shares, sizes, strict=True))
        if share < size
    ]
    heapq.heapify(queue)
    for _ in range(count - sum(shares)):
        if not queue:
            break
        _, place = heapq.heappop(queue)
        shares[place] += 1
        if shares[place] < sizes[place]:
            heapq.heappush(queue, (shares[place] / math.sqrt(sizes[place]), place))
    return shares


# What a correction is computed from: counts of all samples, and the labelled ones one by one.

WHOLE = ""


@dataclass(frozen=True, slots=True)
class CellCount:
    """Samples of one verdict in one group (`WHOLE`, or a target): how many, and sums of the judges' scores."""

    group: str
    cell: str
    is_scored: bool
    items: int
    total: float
    total_of_squares: float
    uncovered: int = 0  # not in the pool that labels were drawn from
    question: str | None = None  # None: of all questions together
    times: int = 1  # how many questions are like this one


@dataclass(frozen=True, slots=True)
class LabelledUnit:
    """A sample with a label; `value` is the judges' score, None without one."""

    group: str
    cell: str
    question: str
    value: float | None
    share: float
    drawn: str
    weight: float
    text: str = ""
    newest: float | None = None  # what people say now, where that is not what counts

    @property
    def newest_share(self) -> float:
        return self.share if self.newest is None else self.newest


@dataclass(frozen=True, slots=True)
class TextWeight:
    """A labelled text as a correction uses it: how it was drawn, and 1 over its probability where that is known."""

    text: str
    share: float
    drawn: str
    weight: float = 1.0
    newest: float | None = None  # what people say now, where that is not what counts


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """All that a correction needs of one run. `repeating`: groups in which questions repeat."""

    is_binary: bool
    cells: tuple[CellCount, ...]
    labelled: tuple[LabelledUnit, ...]
    by_question: tuple[CellCount, ...] = ()
    repeating: frozenset[str] = frozenset()


def draw_probabilities(draws: Sequence[Draw], labelled: Container[str]) -> dict[str, float]:
    """How likely each labelled text of these draws of one run was to be drawn by any of them and labelled.

    All draws have the same strata, and none takes what an earlier one took. Rows that nobody has labelled yet are taken
    to be a random part of their stratum: a sheet's order says nothing.
    """
    missed: dict[tuple[str, ...], float] = {}
    for draw in draws:
        done = Counter(row.stratum for row in draw.rows if row.text in labelled)
        for place, stratum in enumerate(draw.strata):
            missed[stratum.values] = missed.get(stratum.values, 1.0) * (1 - done[place] / stratum.texts)
    return {
        row.text: 1 - missed[draw.strata[row.stratum].values]
        for draw in draws
        for row in draw.rows
        if row.text in labelled
    }
