"""One self-contained page: nothing is fetched, and no judged text can break out of its place."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from inspect import isfunction
from itertools import dropwhile
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from mixseek.analysis.run.model import BAD_AT_MOST, ScoreSummary
from mixseek.analysis.run.report_data import ReportData
from mixseek.presentation.pictures import SHARES, Axis, Bar, IntervalPlot
from mixseek.presentation.render.drawings import axis_svg, bar_svg, bounds_swatch_svg, plot_svg, position
from mixseek.presentation.render.html import Say, chapter_html, link_to, panels_html, part_html
from mixseek.presentation.sections import Section
from mixseek.reports import accounts, cascades, checked, confidence, headline, labels, pair_words, trust
from mixseek.reports.pages.compiled import CompiledTemplates
from mixseek.reports.pages.packed_rows import PackedRows
from mixseek.reports.ratings import boards, votes
from mixseek.reports.run import judges, ranking, responses, scored
from mixseek.reports.run import trust as trust_views
from mixseek.reports.wording import names, numbers, scales, scores
from mixseek.reports.wording import responses as response_words
from mixseek.reports.wording.numbers import NOTHING
from mixseek.storage.durable import write_page
from mixseek.text import phrases, scripts, visible
from mixseek.text.messages import COMMA, counted, end_sentence, join, say

# In a script element only `<` can end it (`</script`) or change how the rest is read (`<!--`), and U+2028/9 end a line
# in older script engines. Unpaired surrogates have no UTF-8 bytes, but JSON has an escape for them.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def embed_json(payload: Any) -> str:
    """JSON that is inert inside a script element, whatever the judged texts hold."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


# Joined in this order; each script file only uses names of the files before it.
STYLES = (
    "tokens.css",
    "page.css",
    "summary.css",
    "corrected.css",
    "confidence.css",
    "scored.css",
    "panel.css",
    "board.css",
    "browser.css",
    "timeline.css",
    "matrix.css",
    "print.css",
)
# How a text is shown that was judged.
TEXT_SCRIPTS = ("text.js", "formulas.js", "code.js", "folding.js", "markdown.js")
# How one judgment is shown.
JUDGMENT_SCRIPTS = ("evidence.js", "people.js", "timeline.js", "detail.js")
SCRIPTS = (
    *TEXT_SCRIPTS,
    "state.js",
    *JUDGMENT_SCRIPTS,
    "list.js",
    "local.js",
    "printing.js",
    "page.js",
    "matrix_local.js",
    "matrix.js",
)
# Scripts of others; a page has them where its texts hold a formula or a piece of code.
LIBRARIES = ("vendor/temml.min.js", "vendor/prism.min.js")
# Beyond this many verdict words a row of buttons is no longer a row.
_MAX_OUTCOME_BUTTONS = 7


def write_html(report: ReportData, target: Path) -> None:
    """One self-contained file, whole or not at all."""
    write_page(stream_html(report), target, "report.html")


def render_html(report: ReportData) -> str:
    """The whole file as text that UTF-8 can hold."""
    return "".join(stream_html(report))


def stream_html(report: ReportData) -> Iterator[str]:
    """The file piece by piece: judgments are read and packed as they are written, and only a block is held."""
    return stream_page(
        "report.html.j2",
        STYLES,
        wrapped_script(joined_assets(SCRIPTS)),
        data=inert_json(page_facts(report)),
        libraries=libraries_script(),
        packed=PackedRows(report.rows, report.rows_total),
        outcome_buttons=report.shown if len(report.shown) <= _MAX_OUTCOME_BUTTONS else (),
        **report_context(report),
    )


def page_facts(report: ReportData) -> dict[str, Any]:
    """What the scripts know of the run before they open any block."""
    return {
        "run": report.run.run_id,
        "judges": [judge.judge for judge in report.judges],
        "labels": dict(sorted(report.labels.items())),
        "dimensions": list(report.scored.dimensions) if report.scored else [],
        "repeats": report.manifest.get("repeats", 1),
        "wrong_at_most": BAD_AT_MOST,
        "samples": [],
        "rows": [],
    }


def report_context(report: ReportData) -> dict[str, Any]:
    """What the template shows of a run, apart from the list of judgments."""
    return {
        "report": report,
        "run": report.run,
        "manifest": manifest_entries(report.manifest),
    }


def wrapped_script(source: str) -> str:
    """The script in a scope of its own."""
    return '"use strict";(() => {\n' + source + "})();"


def inert_json(payload: Any) -> Markup:
    """The payload as JSON for a script element that holds data."""
    return Markup(embed_json(payload))  # noqa: S704 every `<`, `>` and `&` is a JSON escape


def render_page(template: str, styles: Sequence[str], script: str, **context: Any) -> str:
    """A page as one text."""
    return "".join(stream_page(template, styles, script, **context))


def libraries_script() -> str:
    """Both libraries as one script. Prism waits until it is asked; else it would look through the page by itself."""
    return "window.Prism={manual:true};\n" + joined_assets(LIBRARIES)


def stream_page(
    template: str, styles: Sequence[str], script: str, *, libraries: str = "", **context: Any
) -> Iterator[str]:
    """Every page is made here: only our own style and these scripts go in unescaped, and only they may run."""
    style = joined_assets(styles)
    pieces = (
        page_environment()
        .get_template(template)
        .generate(
            policy=content_security_policy(style, script, *filter(None, [libraries])),
            style=Markup(style),  # noqa: S704 our own asset, read from the package
            script=Markup(script),  # noqa: S704 our own asset, read from the package
            libraries=Markup(libraries),  # noqa: S704 assets of the package
            **context,
        )
    )
    # Imports and macros leave their line ends before the page begins.
    for piece in dropwhile(lambda piece: not piece.strip(), pieces):
        yield visible.replace_unpaired_surrogates(piece)


def manifest_entries(manifest: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Keys with a text or with entries of their own; plain lines first: a reader meets the short facts first."""
    entries = [(str(key), _manifest_value(value)) for key, value in manifest.items()]
    return sorted(entries, key=lambda entry: not isinstance(entry[1], str))


def _manifest_value(value: Any) -> str | list[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        return manifest_entries(value)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if any(isinstance(item, Mapping) for item in value):
            return [(str(number), _manifest_value(item)) for number, item in enumerate(value, 1)]
        return " ".join(str(_manifest_value(item)) for item in value) or NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return NOTHING if value is None or value == {} else str(value)


def panels(sections: Iterable[Section], say: Say) -> Markup:
    """Sections of the page as panels, in the language that `say` says them in."""
    return Markup(panels_html(sections, say))  # noqa: S704 drawn by the renderer, which escapes every text


def drawn(plot: IntervalPlot) -> Markup:
    """A score over the whole width, with its axis."""
    return Markup(plot_svg(plot, plot.label, is_large=True) + axis_svg(plot.axis))  # noqa: S704 the renderer escapes


def bar(hundredths: float) -> Markup:
    """A share of its whole, drawn."""
    return Markup(bar_svg(Bar(hundredths / 100, 0), ""))  # noqa: S704 the renderer escapes


def bounds_swatch() -> Markup:
    """What stands before a sentence about bounds."""
    return Markup(bounds_swatch_svg())  # noqa: S704 drawn by the renderer alone


def scale_of(score: ScoreSummary) -> Axis:
    """The whole scale of a judge's scores."""
    return SHARES if score.is_binary else replace(SHARES, labels=("0", "0.5", "1"))


def chapter(sections: Iterable[Section], say: Say, name: str) -> Markup:
    """A chapter of the page, which its list of contents leads to by this name."""
    return Markup(chapter_html(sections, say, name))  # noqa: S704 drawn by the renderer, which escapes every text


def content_security_policy(style: str, *scripts: str) -> str:
    """Only this style and these scripts run, by hash: even a text that broke out could not execute or call home."""
    return (
        f"default-src 'none'; style-src {_source_hash(style)}; script-src {' '.join(map(_source_hash, scripts))}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _source_hash(block: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()}'"


@cache
def asset_text(name: str) -> str:
    return (resources.files("mixseek.reports") / "assets" / name).read_text(encoding="utf-8")


def joined_assets(files: Sequence[str]) -> str:
    return "\n".join(asset_text(file) for file in files)


# Their functions are the words that templates know.
_MODULES = (
    accounts,
    boards,
    cascades,
    checked,
    confidence,
    votes,
    labels,
    phrases,
    scripts,
    visible,
    names,
    numbers,
    scores,
    scales,
    scored,
    ranking,
    responses,
    response_words,
    judges,
    trust_views,
    headline,
    pair_words,
    trust,
)


@cache
def page_environment() -> Environment:
    """The environment of every page: escaped by default, strict, with the words that all renderers share."""
    environment = Environment(
        loader=FunctionLoader(asset_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=CompiledTemplates(Path(__file__).parent, _MODULES),
    )
    words = {
        name: word
        for module in _MODULES
        for name, word in vars(module).items()
        if isfunction(word) and word.__module__ == module.__name__ and not name.startswith("_")
    }
    environment.filters.update(words, position=position)
    environment.globals.update(
        words,
        say=say,
        counted=counted,
        join=join,
        end_sentence=end_sentence,
        COMMA=COMMA,
        link_to=link_to,
        part_html=part_html,
        panels=panels,
        chapter=chapter,
        drawn=drawn,
        bar=bar,
        bounds_swatch=bounds_swatch,
        scale_of=scale_of,
        NO_TASK=names.NO_TASK,
        NO_NAME=names.NO_NAME,
        TRUST_TITLE=names.TRUST_TITLE,
    )
    return environment


def compile_templates() -> None:
    """All of them, for whoever sets this package up and wants the first page as fast as the second."""
    for template in (resources.files("mixseek.reports") / "assets").iterdir():
        if template.name.endswith(".j2"):
            page_environment().get_template(template.name)
