"""Lines over steps as SVG: one a thing, labelled at its end, and a gap where a step has no value."""

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from unicodedata import east_asian_width

from mixseek.lazy_dataclass import dataclass
from mixseek.presentation.pictures import DISTINCT, Curve
from mixseek.presentation.sections import Curves
from mixseek.text.visible import make_visible

HEIGHT, LEFT, TOP, BOTTOM = 320, 34, 14, 290
# Room between the ends of an axis and the first and the last step.
_INSET = 14
_LABEL_HEIGHT = 16
_LABEL_CHARACTERS = 20
# What a number below a step needs, and how far from the first the next may stand: the first is a word as well.
_STEP_WIDTH, _FIRST_WIDTH = 24, 46


@dataclass(frozen=True, slots=True)
class Frame:
    """How wide the picture is, and where its lines end; right of them stand the names, where there is room for any."""

    width: int
    right: int

    @property
    def has_names(self) -> bool:
        return self.width - self.right > _INSET

    def across(self, step: int, steps: int) -> float:
        """A single step stands in the middle."""
        share = 0.5 if steps == 1 else (step - 1) / (steps - 1)
        return round(LEFT + _INSET + share * (self.right - LEFT - 2 * _INSET), 1)


# A telephone shows the second: shrunk to its width, the letters of the first could not be read.
WIDE, NARROW = Frame(860, 690), Frame(340, 334)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a point stands in the picture."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class DrawnCurve:
    """A line with the places of its points, and where its label stands; lines that look alike have none."""

    curve: Curve
    places: Sequence[Place]
    label_y: float | None

    @property
    def strokes(self) -> list[list[Place]]:
        """Places of steps that follow each other; a line through a missing value would invent one."""
        runs: list[list[Place]] = []
        before = None
        for point, place in zip(self.curve.points, self.places, strict=True):
            if before is not None and point.step == before + 1:
                runs[-1].append(place)
            else:
                runs.append([place])
            before = point.step
        return [run for run in runs if len(run) > 1]


def place_curves(curves: Curves, frame: Frame = WIDE) -> list[DrawnCurve]:
    """All lines in the units of the view box; whatever has no point is not drawn."""

    def place(step: int, value: float) -> Place:
        return Place(frame.across(step, curves.steps), _up(curves.axis.place(value)))

    drawn = [
        (curve, [place(point.step, point.value) for point in curve.points]) for curve in curves.curves if curve.points
    ]
    named = drawn[:DISTINCT] if frame.has_names else []
    labels = spread([places[-1].y for _, places in named], TOP, BOTTOM)
    return [
        DrawnCurve(curve, places, labels[number] if number < len(labels) else None)
        for number, (curve, places) in enumerate(drawn)
    ]


def _up(share: float) -> float:
    return round(BOTTOM - share * (BOTTOM - TOP), 1)


def spread(wanted: Sequence[float], top: float, bottom: float) -> list[float]:
    """Places for labels near where their lines end, none upon another, all within the picture if they fit."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    places = [0.0] * len(wanted)
    reached = -math.inf
    for index in order:
        reached = max(wanted[index], reached + _LABEL_HEIGHT)
        places[index] = reached
    limit = bottom
    for index in reversed(order):
        places[index] = min(places[index], limit)
        limit = places[index] - _LABEL_HEIGHT
    shift = max(0.0, top - min(places, default=top))
    return [round(place + shift, 1) for place in places]


def curves_svg(curves: Curves, say: Callable[[str], str], frame: Frame = WIDE) -> str:
    """The grid, then the lines, the first of them on top."""
    lines = reversed(place_curves(curves, frame))
    groups = (f'<g class="{escape(drawn.curve.style)}">{"".join(_line(drawn, frame, say))}</g>' for drawn in lines)
    size = f'class="{"wide" if frame is WIDE else "narrow"}" viewBox="0 0 {frame.width} {HEIGHT}"'
    attributes = f'{size} role="img" aria-label="{_escaped(say(curves.label))}"'
    shapes = "".join((*_grid(curves, frame, say), *groups))
    return f'<svg {attributes} fill="none" stroke="currentColor">{shapes}</svg>'


def _grid(curves: Curves, frame: Frame, say: Callable[[str], str]) -> Iterator[str]:
    for tick, text in zip(curves.axis.ticks, curves.axis.labels, strict=True):
        y = _up(curves.axis.place(tick))
        yield f'<line class="grid" x1="{LEFT}" x2="{frame.right}" y1="{y}" y2="{y}" stroke-opacity=".15"/>'
        yield _text(LEFT - 8, y + 4, "end", text)
    first = frame.across(1, curves.steps)
    yield _text(first, BOTTOM + 20, "middle", f"{say(curves.heads[1])} 1")
    distance = frame.across(2, curves.steps) - first if curves.steps > 1 else math.inf
    for number in range(2, curves.steps + 1):
        x = frame.across(number, curves.steps)
        # Counted from the last: that one always has its number.
        if (curves.steps - number) % math.ceil(_STEP_WIDTH / distance) == 0 and x - first >= _FIRST_WIDTH:
            yield _text(x, BOTTOM + 20, "middle", str(number))


def _line(drawn: DrawnCurve, frame: Frame, say: Callable[[str], str]) -> Iterator[str]:
    for stroke in drawn.strokes:
        points = " ".join(f"{place.x},{place.y}" for place in stroke)
        yield f'<polyline class="line" points="{points}" stroke-width="2"/>'
    for point, place in zip(drawn.curve.points, drawn.places, strict=True):
        kind, radius = ("best", 5) if point.is_best else ("dot", 3.6)
        title = f"<title>{_escaped(say(point.label))}</title>"
        yield f'<circle class="{kind}" cx="{place.x}" cy="{place.y}" r="{radius}">{title}</circle>'
    if drawn.label_y is not None:
        last = drawn.places[-1]
        ends = f'x1="{last.x + 8:g}" y1="{last.y}" x2="{frame.right + 10}" y2="{drawn.label_y}"'
        yield f'<line class="lead-line" {ends} stroke-dasharray="1 5"/>'
        name = _shortened(" ".join(drawn.curve.name.split()))
        yield f'<text class="label" x="{frame.right + 14}" y="{drawn.label_y}" {_INK}>{_escaped(name)}</text>'


def _shortened(name: str) -> str:
    """So much of a name as has room, and a sign that there is more; a character of Japanese or Chinese counts twice."""
    width = 0
    for place, character in enumerate(name):
        width += 2 if east_asian_width(character) in "WF" else 1
        if width > _LABEL_CHARACTERS:
            return name[:place] + "…"
    return name


# Without styles of a page, letters are filled and have no outline.
_INK = 'fill="currentColor" stroke="none" font-size="12"'


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" {_INK}>{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    return escape(make_visible(text))
