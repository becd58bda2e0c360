"""Pictures as SVG: everything that is drawn inside of a page or a notebook, once.

Each shape has a class, by which our pages colour it, and looks right without any: a notebook has no styles of ours.
Whoever cannot see a picture is told its label, which comes in the language of the page.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from mixseek.presentation.pictures import Axis, Bar, Estimate, Histogram, IntervalPlot, ScatterPoint, Series, Strip
from mixseek.text.visible import make_visible

_LINE, _BESIDE = 26, 14
_HISTOGRAM_HEIGHT = 44
_SERIES_STEP, _SERIES_HEIGHT = 16, 30
# In pixels: a digit of an axis, what keeps two labels apart, and the widths below which a page leaves labels out.
_DIGIT_WIDTH, _LABEL_GAP = 6.6, 8
_AXIS_WIDTHS = (160, 240, 320, 440, 600)
# A hair's breadth must not look like a gulf: a series never fills its height with less than this part of its axis.
_LEAST_SPAN = 0.2


def position(share: float) -> str:
    """A place on a 0..1 axis as SVG writes it; five digits are finer than any screen."""
    return f"{share * 100:.3f}%"


def plot_svg(plot: IntervalPlot, label: str, *, is_large: bool = False) -> str:
    """The axis, bounds hatched, the interval solid, the mean as a dot, and what stands beside it below."""
    axis, line = plot.axis, _LINE if is_large else 18
    height = line + _BESIDE * len(plot.beside)
    shapes = "".join(_plot_shapes(plot, line / 2, height, is_large=is_large))
    beside = "".join(
        _beside(estimate, axis, line + 1 + _BESIDE * number) for number, estimate in enumerate(plot.beside)
    )
    names = " ".join(filter(None, ("plot", "range" if is_large else "", plot.tone)))
    return _svg(names, height, label, shapes + beside)


def _plot_shapes(plot: IntervalPlot, middle: float, height: float, *, is_large: bool) -> Iterator[str]:
    axis, half = plot.axis, 3 if is_large else 2.7
    if is_large:
        yield from (_line("plot-grid", axis.place(tick), 0, height) for tick in axis.ticks)
    else:
        yield _axis_line(middle, 1.0 if plot.tail is None else axis.place(plot.tail))
    yield from (_line("plot-zero", axis.place(value), 0, height) for value in plot.references)
    yield from (_line("plot-limit", axis.place(value), middle - 8, middle + 8) for value in plot.limits)
    if plot.bounds is not None:
        yield _span("plot-bounds", plot.bounds, axis, middle, 7 if is_large else 5.4)
    if plot.tail is not None:
        yield _line("plot-tick", axis.place(plot.tail), middle - 4, middle + 4)
    if plot.ends is not None:
        yield _span("plot-interval", plot.ends, axis, middle, half)
    if plot.mean is not None:
        yield _dot("plot-mean", axis.place(plot.mean), middle, 5.5 if is_large else 4)


def _beside(estimate: Estimate, axis: Axis, middle: float) -> str:
    """Another estimate of the same thing: a diamond on its own line."""
    interval = ""
    if estimate.low is not None and estimate.high is not None:
        interval = _span("beside-interval", (estimate.low, estimate.high), axis, middle, 2)
    if estimate.point is None:
        return interval
    diamond = '<path class="beside-mean" d="M0-5.5 5.5 0 0 5.5-5.5 0z"/>'
    return f'{interval}<svg x="{position(axis.place(estimate.point))}" y="{middle:g}" class="plot">{diamond}</svg>'


def estimates_svg(estimates: Iterable[Estimate], axis: Axis, label: str) -> str:
    """Several estimates of one thing, each on its own line; bounds without a point are hatched."""
    shapes, middle = [], 8
    for estimate in estimates:
        shapes.append(_axis_line(middle))
        if estimate.low is not None and estimate.high is not None:
            name = "plot-bounds" if estimate.point is None else f"estimate-interval {estimate.tone}"
            shapes.append(_span(name, (estimate.low, estimate.high), axis, middle, 3))
        if estimate.point is not None:
            shapes.append(_dot(f"estimate-mean {estimate.tone}", axis.place(estimate.point), middle, 4.5))
        middle += 16
    return _svg("plot", middle - 8, label, "".join(shapes))


def axis_svg(axis: Axis) -> str:
    """The numbers at the ticks; the first and the last stay inside of the picture.

    Where a page has too little room for all of them, it leaves out every other one.
    """
    texts = []
    for number, (tick, label) in enumerate(zip(axis.ticks, axis.labels, strict=True)):
        share = axis.place(tick)
        end = "first" if share < 0.02 else "last" if share > 0.98 else ""
        name = end or ("between" if _is_between(number, len(axis.ticks)) else "")
        texts.append(f'<text x="{position(share)}" y="13" class="{name}">{_escaped(label)}</text>')
    names = " ".join(filter(None, ("range-axis", _crowded(axis))))
    return f'<svg class="{names}" width="100%" height="18" aria-hidden="true">{"".join(texts)}</svg>'


def _is_between(number: int, count: int) -> bool:
    """Whether a label is one of every two; the last never is, so that its neighbour goes instead."""
    return number % 2 == 1 or (count % 2 == 0 and number == count - 2)


def _crowded(axis: Axis) -> str:
    """The class of an axis by the width below which its labels touch; the ends reach farther in by half."""
    widest = max(map(len, axis.labels), default=0) * _DIGIT_WIDTH
    needed = (len(axis.labels) - 1) * (1.5 * widest + _LABEL_GAP)
    width = next((width for width in _AXIS_WIDTHS if width >= needed), _AXIS_WIDTHS[-1])
    return f"crowded-{width}" if len(axis.labels) > 2 else ""


def bar_svg(bar: Bar, tone: str) -> str:
    """The bar on its track."""
    shapes = '<rect class="bar-track" width="100%" height="8" rx="2" opacity=".15"/>'
    shapes += f'<rect class="bar-fill" width="{position(min(1.0, bar.share))}" height="8" rx="2"/>'
    return _svg(f"bar {tone}".strip(), 8, f"{bar.share:.0%}", shapes)


def histogram_svg(histogram: Histogram, tone: str, label: str) -> str:
    """A column for each mark, the highest as high as the picture; a mark that never fell is only its track."""
    top = max((share for _, share in histogram.bars), default=0) or 1
    step, shapes = 100 / max(1, len(histogram.bars)), []
    for number, (name, share) in enumerate(histogram.bars):
        place = f'x="{number * step + step * 0.08:.3f}%" width="{step * 0.84:.3f}%"'
        high = _HISTOGRAM_HEIGHT * share / top
        title = f"<title>{_escaped(name)}: {share:.1%}</title>"
        track = f'<rect class="histogram-track" {place} height="{_HISTOGRAM_HEIGHT}" opacity=".1">{title}</rect>'
        fill = f'<rect class="histogram-fill" {place} y="{_HISTOGRAM_HEIGHT - high:.2f}" height="{high:.2f}">'
        shapes.append(track + (f"{fill}{title}</rect>" if share else ""))
    return _svg(f"histogram {tone}".strip(), _HISTOGRAM_HEIGHT, label, "".join(shapes))


def strip_svg(strip: Strip, tones: Iterable[str]) -> str:
    """Shares of a whole side by side."""
    start, shapes = 0.0, []
    for (name, share, _), tone in zip(strip.parts, tones, strict=True):
        place = f'x="{position(start)}" width="{position(share)}" height="12"'
        title = f"<title>{_escaped(name)}: {share:.1%}</title>"
        shapes.append(f'<rect class="strip-part {tone}" {place} fill-opacity=".6">{title}</rect>')
        start += share
    label = ", ".join(f"{name} {share:.1%}" for name, share, _ in strip.parts)
    return _svg("strip", 12, label, "".join(shapes))


def series_svg(series: Series) -> str:
    """A line from step to step, broken where a step has no value; it says nothing that the texts beside it do not."""
    shares = [step.share for step in series.steps]
    known = [share for share in shares if share is not None]
    middle, span = (max(known) + min(known)) / 2 if known else 0.5, _LEAST_SPAN
    span = max(span, max(known) - min(known)) if known else span
    shapes, before = [], None
    for number, share in enumerate(shares):
        if share is None:
            before = None
            continue
        place = 6 + number * _SERIES_STEP, _SERIES_HEIGHT / 2 - (share - middle) / span * (_SERIES_HEIGHT - 10)
        if before is not None:
            ends = f'x1="{before[0]}" y1="{before[1]:.1f}" x2="{place[0]}" y2="{place[1]:.1f}"'
            shapes.append(f'<line class="series-line" {ends} stroke-width="1.5"/>')
        shapes.append(f'<circle class="series-point" cx="{place[0]}" cy="{place[1]:.1f}" r="2.6"/>')
        before = place
    width = 12 + _SERIES_STEP * max(0, len(shares) - 1)
    colours = 'fill="currentColor" stroke="currentColor" stroke-width="0"'
    attributes = f'width="{width}" height="{_SERIES_HEIGHT}" aria-hidden="true" {colours}'
    return f'<svg class="series" {attributes}>{"".join(shapes)}</svg>'


def swatch_svg(tone: str) -> str:
    """The colour of an estimate, beside its name."""
    dot = _dot(f"estimate-mean {tone}", 0.5, 5, 4.5)
    return f'<svg class="swatch" width="10" height="10" aria-hidden="true">{dot}</svg>'


def bounds_swatch_svg() -> str:
    """What bounds look like, beside the sentence that says them."""
    hatched = '<rect class="plot-bounds" width="18" height="10"/>'
    return f'<svg class="swatch" width="18" height="10" aria-hidden="true">{hatched}</svg>'


def scatter_svg(
    points: Sequence[ScatterPoint], axes: tuple[Axis, Axis | None], across: str, up: str, label: str
) -> str:
    """One side across, the other up: on the broken line both say the same; the larger a dot, the more it counts.

    With an axis upwards of its own there is no such line: the points are joined, and all of one size.
    """
    left, bottom, width, height = 46, 272, 268, 264
    axis, own_axis = axes
    shapes = [f'<rect class="confusion-cell" x="{left}" y="8" width="{width}" height="{height}"/>']
    if own_axis is None:
        shapes.append(f'<line class="plot-zero" x1="{left}" y1="{bottom}" x2="{left + width}" y2="8"/>')
    for tick, text in zip(axis.ticks, axis.labels, strict=True):
        x = left + width * axis.place(tick)
        shapes.append(f'<line class="plot-tick" x1="{x:g}" x2="{x:g}" y1="{bottom}" y2="{bottom + 4}"/>')
        shapes.append(_chart_text(x, bottom + 17, "middle", text))
    up_axis = own_axis or axis
    for tick, text in zip(up_axis.ticks, up_axis.labels, strict=True):
        y = bottom - height * up_axis.place(tick)
        shapes.append(f'<line class="plot-tick" x1="{left - 4}" x2="{left}" y1="{y:g}" y2="{y:g}"/>')
        shapes.append(_chart_text(left - 7, y + 4, "end", text))
    places = [(left + width * point.across, bottom - height * point.up) for point in points]
    for point, (x, _) in zip(points, places, strict=True):
        if point.ends is not None:
            low, high = (bottom - height * end for end in point.ends)
            ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"'
            shapes.append(f'<line class="calibration-ends" {ends}/>')
    if own_axis is not None:
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        shapes.append(f'<polyline class="calibration-line" points="{corners}" fill="none"/>')
    most = max((point.count for point in points), default=1)
    for point, (x, y) in zip(points, places, strict=True):
        radius = 3 + (9 if point.ends is None else 5) * (point.count / most) ** 0.5 if own_axis is None else 3.4
        title = f"<title>{_escaped(point.label)}</title>"
        shapes.append(f'<circle class="calibration-point" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}">{title}</circle>')
    shapes += [_chart_text(180, 310, "middle", across), _chart_text(52, 22, "start", up)]
    attributes = f'viewBox="0 0 340 320" role="img" aria-label="{_escaped(label)}"'
    return f'<svg class="calibration" {attributes}>{"".join(shapes)}</svg>'


def _chart_text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text class="confusion-head" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{_escaped(text)}</text>'


def _svg(names: str, height: float, label: str, shapes: str) -> str:
    """A drawing as wide as our pages make it; a notebook shows it in the width that is written here."""
    attributes = f'role="img" aria-label="{_escaped(label)}"' if label else 'aria-hidden="true"'
    colours = 'fill="currentColor" stroke="currentColor" stroke-width="0"'
    return f'<svg class="{names}" width="106" height="{height:g}" {attributes} {colours}>{shapes}</svg>'


def _span(name: str, ends: tuple[float, float], axis: Axis, middle: float, half: float) -> str:
    low, high = map(axis.place, ends)
    box = f'x="{position(low)}" width="{position(high - low)}" y="{middle - half:g}" height="{2 * half:g}"'
    return f'<rect class="{name}" {box} rx="1" fill-opacity=".4"/>'


def _dot(name: str, share: float, middle: float, radius: float) -> str:
    return f'<circle class="{name}" cx="{position(share)}" cy="{middle:g}" r="{radius:g}"/>'


def _axis_line(middle: float, end: float = 1.0) -> str:
    ends = f'x1="0" x2="{position(end)}" y1="{middle:g}" y2="{middle:g}"'
    return f'<line class="plot-axis" {ends} stroke-width="1" stroke-opacity=".3"/>'


def _line(name: str, share: float, top: float, bottom: float) -> str:
    at = position(share)
    return f'<line class="{name}" x1="{at}" x2="{at}" y1="{top:g}" y2="{bottom:g}" stroke-width="1"/>'


def _escaped(text: str) -> str:
    return escape(make_visible(text))
