"""One self-contained page: nothing is fetched, and no judged text can break out of its place."""

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from mixseek.reporting import calls, wording
from mixseek.reporting import scored_wording as scored_words
from mixseek.reporting.payload import embed_json, page_payload
from mixseek.reporting.report_data import ReportData
from mixseek.reporting.visible import make_visible, replace_unpaired_surrogates

# Joined in this order; each script file only uses names of the files before it.
STYLES = ("tokens.css", "page.css", "summary.css", "scored.css", "browser.css", "print.css")
SCRIPTS = ("text.js", "state.js", "evidence.js", "detail.js", "list.js", "page.js")
# Beyond this many verdict words a row of buttons is no longer a row.
_MAX_OUTCOME_BUTTONS = 7


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """A line of the manifest, or a heading with lines below it."""

    key: str
    value: str | None
    children: tuple["ManifestEntry", ...] = ()


def render_html(report: ReportData) -> str:
    """The whole file as text that UTF-8 can hold."""
    style, script = _joined(STYLES, wrap="{}"), _joined(SCRIPTS, wrap='"use strict";(() => {{\n{}}})();')
    page = (
        page_environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            run=report.run,
            manifest=manifest_entries(report.manifest),
            policy=content_security_policy(style, script),
            # The three that go in unescaped are ours, or escaped for a script element by `embed_json`.
            style=Markup(style),  # noqa: S704 our own asset, read from the package
            script=Markup(script),  # noqa: S704 our own asset, read from the package
            data=Markup(embed_json(page_payload(report))),  # noqa: S704 every `<`, `>` and `&` is a JSON escape
            calls_total=calls.add_accounts(report.calls),
            latency_scale=calls.latency_scale(report.calls),
            outcome_buttons=report.shown if len(report.shown) <= _MAX_OUTCOME_BUTTONS else (),
        )
    )
    return replace_unpaired_surrogates(page)


def manifest_entries(manifest: Mapping[str, Any]) -> tuple[ManifestEntry, ...]:
    """Plain lines before groups, so that a reader meets the short facts first."""
    entries = [_manifest_entry(str(key), value) for key, value in manifest.items()]
    return tuple(sorted(entries, key=lambda entry: bool(entry.children)))


def _manifest_entry(key: str, value: Any) -> ManifestEntry:
    if isinstance(value, Mapping) and value:
        return ManifestEntry(key, None, manifest_entries(value))
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if any(isinstance(item, Mapping) for item in value):
            return ManifestEntry(key, None, tuple(_manifest_entry(str(n), item) for n, item in enumerate(value, 1)))
        return ManifestEntry(key, " ".join(_plain(item) for item in value) or wording.NOTHING)
    return ManifestEntry(key, _plain(value))


def _plain(value: Any) -> str:
    match value:
        case None | {}:
            return wording.NOTHING
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)


def link_to(**filters: str | None) -> str:
    """The address inside the page that shows exactly these judgments."""
    return "#" + urlencode({name: value for name, value in filters.items() if value is not None}, errors="replace")


def position(share: float) -> str:
    """A place on a 0..1 axis as SVG writes it; five digits are finer than any screen."""
    return f"{share * 100:.3f}%"


def content_security_policy(style: str, script: str) -> str:
    """Only these two blocks run, by hash: even a text that broke out of its place could not execute or call home."""
    return (
        f"default-src 'none'; style-src '{_source_hash(style)}'; script-src '{_source_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _source_hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


@cache
def asset_text(name: str) -> str:
    """One of the files that pages are made of."""
    return (resources.files("mixseek.reporting") / "assets" / name).read_text(encoding="utf-8")


def _joined(names: tuple[str, ...], wrap: str) -> str:
    return wrap.format("\n".join(asset_text(name) for name in names))


@cache
def page_environment() -> Environment:
    """For every page: escaped by default, strict, with the words that all renderers share."""
    environment = Environment(
        loader=FunctionLoader(asset_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "count": wording.count_text,
        "percent": wording.percent,
        "score": wording.score_text,
        "interval": wording.interval_text,
        "level": wording.level_text,
        "mean_reasoning": wording.mean_reasoning_text,
        "reasks": wording.reasks_text,
        "reasoning": wording.reasoning_text,
        "units": wording.units_text,
        "warning": wording.warning_text,
        "visible": make_visible,
        "language": wording.language_of,
        "moment": wording.moment_text,
        "cost": calls.cost_text,
        "notes": calls.account_notes,
        "seconds": calls.seconds_text,
        "position": position,
    }
    environment.filters.update(filters)
    environment.filters.update(scored_words.FILTERS)
    environment.globals.update(
        link_to=link_to,
        tokens_text=calls.tokens_text,
        bounds_sentence=wording.bounds_sentence,
        control_sentence=wording.control_sentence,
        first_replies_sentence=wording.first_replies_sentence,
        mean_label=wording.mean_label,
        shown_sentence=wording.shown_sentence,
        no_task=wording.NO_TASK,
        none_named=scored_words.NO_NAME,
        dimension_number=scored_words.dimension_number,
    )
    return environment
