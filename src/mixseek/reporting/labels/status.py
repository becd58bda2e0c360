"""How labels are told: what was drawn, what was taken in, and where it stands."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Console
from rich.text import Text

from mixseek.domain.labels import Draw
from mixseek.reporting.tables import QUIET, print_section, table_of
from mixseek.reporting.wording import make_visible, percent, plural

_DISPUTES_SHOWN = 10
_DRAWN_WORDS = {
    "random draw": "drawn here at random",
    "random": "said to be a random sample",
    "elsewhere": "from another mix of cases",
    "unknown": "drawing unknown: agreement only",
}


def draw_result_document(draw: Draw, sheet: Path, *, is_repeated: bool) -> dict[str, Any]:
    """For programs: what was drawn from what, without the rows."""
    return {
        "draw": draw.draw,
        "run": draw.run,
        "sheet": str(sheet),
        "seed": draw.seed,
        "drawn": len(draw.rows),
        "texts": draw.texts,
        "stratify": list(draw.columns),
        "strata": [
            {
                "values": dict(zip(draw.columns, one.values, strict=True)),
                "texts": one.texts,
                "drawn": one.drawn,
                "probability": one.probability,
            }
            for one in draw.strata
        ],
        "repeated": is_repeated,
    }


def describe_draw(draw: Draw, sheet: Path, where: str, *, is_repeated: bool) -> str:
    """A few lines for a person; `where` ends the command that comes next."""
    again = " (drawn before: the same sheet again)" if is_repeated else ""
    lines = [f"{sheet}: {plural(len(draw.rows), 'text')} of {draw.texts:,}, drawn at random from {draw.run}{again}"]
    if draw.columns:
        lines.append(f"  stratified by {', '.join(draw.columns)}:")
        lines += [
            f"    {make_visible(' · '.join(value or '(none)' for value in one.values))}: {one.drawn:,} of {one.texts:,}"
            for one in draw.strata
        ]
    lines.append(f"  draw {draw.draw}, seed {draw.seed}; write into the column `label`, then:")
    lines.append(f"  mixseek label import {quote(str(sheet))} --rater NAME{where}")
    return "\n".join(lines)


def describe_import(told: Mapping[str, Any], where: str) -> str:
    """What was new, and what it counts for; `where` ends the command that comes next."""
    lines = [f"{plural(told['added'], 'label')} of {told['rater']} for run {told['run']}"]
    if told["revised"]:
        lines.append(f"  {told['revised']:,} of them take the place of earlier ones")
    if told["known"]:
        lines.append(f"  {told['known']:,} more were there already")
    if told["draw"] is not None:
        lines.append(f"  draw {told['draw']}: {plural(told['empty'], 'row waits', 'rows wait')} for a label")
    else:
        lines.append(f"  {_DRAWN_WORDS[told['drawn']]}")
    lines.append(f"  mixseek report {quote(told['run'])}{where}")
    return "\n".join(lines)


def print_status(status: Mapping[str, Any], console: Console) -> None:
    """Protocol by protocol: labels of different scales are different things."""
    where = f"run {status['run']}: {plural(status['texts'], 'text')}" if status["run"] else "all labels"
    console.print(Text(make_visible(where), style="bold"))
    if not status["protocols"]:
        console.print(Text("No labels yet. Draw a sheet: mixseek label sample RUN --n 100 --to sheet.csv", style=QUIET))
    for one in status["protocols"]:
        raters = ", ".join(f"{rater} {count:,}" for rater, count in one["raters"])
        drawn = ", ".join(f"{count:,} {_DRAWN_WORDS.get(word, word)}" for word, count in one["drawn"])
        console.print(Text(make_visible(f"{one['protocol']}: {plural(one['texts'], 'labelled text')}; {drawn}")))
        console.print(Text(make_visible(f"  raters: {raters}"), style=QUIET))
        console.print(Text(f"  {_agreement_sentence(one)}", style=QUIET))
        disputes = [
            (each["sample"], ", ".join(f"{rater}: {given}" for rater, given in each["said"]))
            for each in one["disputes"]
        ]
        title = f"Raters differ on {plural(len(disputes), 'text')}; settle them with `label import --adjudicate`"
        print_section(console, title, table_of(("sample", "said"), disputes, limit=_DISPUTES_SHOWN))
    draws = [
        (one["draw"], one["run"], ", ".join(one["columns"]) or "–", f"{one['labelled']:,} of {one['drawn']:,}")
        for one in status["draws"]
    ]
    print_section(console, "Draws", table_of(("draw", "run", "stratified by", ">labelled"), draws))


def _agreement_sentence(one: Mapping[str, Any]) -> str:
    settled = f"; {one['adjudicated']:,} adjudicated" if one["adjudicated"] else ""
    if one["agreement"] is None:
        return f"one rater a text: nothing to compare{settled}"
    alpha = "no alpha: all labels are the same" if one["alpha"] is None else f"Krippendorff's alpha {one['alpha']:.2f}"
    several = plural(one["rated_twice"], "text")
    return f"raters agree on {percent(one['agreement'])} of pairs over {several} of several raters; {alpha}{settled}"
