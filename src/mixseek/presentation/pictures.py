"""What is drawn beside words, as plain data: bars, intervals on an axis, histograms, shares of a strip."""

from collections.abc import Sequence

from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis goes from `low` to `high`, in the unit of what is drawn on it; ticks at both ends and between."""

    low: float
    high: float
    ticks: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()

    def place(self, value: float) -> float:
        """0..1 along the axis; what lies beyond an end stands at that end."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def length(self, low: float, high: float) -> float:
        """How much of the axis lies between the two."""
        return self.place(high) - self.place(low)

    @property
    def ends(self) -> tuple[str, str]:
        """What stands at both ends; nothing where nothing is written at the ticks."""
        return (self.labels[0], self.labels[-1]) if self.labels else ("", "")


# Shares of a whole.
SHARES = Axis(0.0, 1.0, (0.0, 0.5, 1.0), ("0%", "50%", "100%"))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point between its ends; ends without a point are bounds. `tone` says whose estimate it is."""

    point: float | None
    low: float | None = None
    high: float | None = None
    tone: str = ""


@dataclass(frozen=True, slots=True)
class IntervalPlot:
    """A mean on its axis, with the ends of its interval; without a mean an empty axis.

    `bounds` are how far the mean could lie, `beside` estimates of the same thing, `references` lines across,
    `limits` the values from which a mean is pointed at, and `tail` is where a line ends that goes on beyond the
    interval. Whoever cannot see the picture is told its `label`.
    """

    mean: float | None
    ends: tuple[float, float] | None = None
    axis: Axis = SHARES
    bounds: tuple[float, float] | None = None
    beside: Sequence[Estimate] = ()
    references: Sequence[float] = ()
    limits: Sequence[float] = ()
    tail: float | None = None
    label: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of the longest bar, which is `width` characters where characters are all there is.

    Where the rest of its line needs `beside` characters, the bar gives way, down to eight. Without a width it is only
    drawn where there is more than characters.
    """

    share: float
    width: int
    style: str = "blue"
    beside: int = 0


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often each mark fell: what it is called, and its share. Whoever cannot see it is told its `label`."""

    bars: Sequence[tuple[str, float]]
    label: str = ""
    style: str = "blue"


@dataclass(frozen=True, slots=True)
class Strip:
    """Shares of a whole side by side: a name, its share and its style.

    It is `width` characters where characters are all there is; without a width it is not drawn there.
    """

    parts: Sequence[tuple[str, float, str]]
    width: int = 0


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """Two shares of the axes, how often they met, and all of it in words; `ends` are those of an interval upwards."""

    across: float
    up: float
    count: int
    label: str
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One of a series: what it is called, its share of the axis and the text of its value, and where a page has more.

    Without a share it is a gap, because an empty bar would be nought.
    """

    label: str
    share: float | None
    text: str
    place: str = ""
    is_best: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """A value for each step: a block each where characters are all there is, else its text.

    One that `is_drawn` is a line beside the texts, too, where there is more than characters.
    """

    steps: Sequence[Step]
    is_drawn: bool = False


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The value of a step, and all of it in words."""

    step: int
    value: float
    label: str
    is_best: bool = False


@dataclass(frozen=True, slots=True)
class Curve:
    """What a line is about, and its points in order; a step that has none is a gap."""

    name: str
    points: Sequence[CurvePoint]
    style: str = ""


# More lines than this cannot be told apart by colour and dash; the rest is grey.
COLOURS = 7
DISTINCT = 2 * COLOURS


def line_style(place: int) -> str:
    """What gives a line its colour, wherever it is named: seven of them, then the same seven dashed, then grey."""
    if place >= DISTINCT:
        return "dimension-0"
    return f"dimension-{place % COLOURS + 1}" + (" dashed" if place >= COLOURS else "")
