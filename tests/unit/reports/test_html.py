"""The page as a browser would read it: complete, self-contained, and closed to whatever was judged."""

import base64
import hashlib
import re
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from importlib import resources
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import each
from tests.unit.reports.counting import count_rows

from mixseek.analysis.run.build import build_report
from mixseek.analysis.run.model import RunHeader
from mixseek.analysis.run.report_data import MOST_LISTED, ReportData
from mixseek.domain.judgments import Finding, Flag, JudgedRow, Span, Status
from mixseek.presentation.render.html import link_to
from mixseek.reports.pages.html import LIBRARIES, SCRIPTS, STYLES, libraries_script, manifest_entries, render_html
from mixseek.reports.pages.packed_rows import unpack_json
from mixseek.text.messages import verbatim

VOID = {"meta", "link", "input", "br", "img", "hr", "wbr"}
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]></style><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "{{ 7 * 7 }}{% for x in y %}",
    "\u202eright to left\u202c",
    "".join(chr(0xE0000 + ord(character)) for character in "hidden"),
    "\ud800 lone \udfff",
    "\u2028\u2029\x00\x1b[2J\x85",
    "javascript:alert(1)",
    "x" * 90_000,
)


@dataclass
class Page(HTMLParser):
    """Just enough of a parser to see the structure: elements with attributes, and the text inside each."""

    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    open_tags: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    # A place where a line may end is in the middle of a text.
    goes_on: bool = False

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "wbr":
            self.goes_on = True
            return
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open_tags.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self.open_tags or self.open_tags.pop() != tag:
            self.mistakes.append(tag)

    def handle_data(self, data: str) -> None:
        before = self.texts.pop()[1] if self.goes_on else ""
        self.texts.append((self.open_tags[-1] if self.open_tags else "", before + data))
        self.goes_on = False

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def inside(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag]

    @property
    def plain_text(self) -> str:
        return " ".join(" ".join(text for tag, text in self.texts if tag not in ("script", "style")).split())


def read(page: str) -> Page:
    parser = Page()
    parser.feed(page)
    parser.close()
    return parser


def valid(name: str, **changes: Any) -> JudgedRow:
    row = JudgedRow(
        id=name, judge="rules", status=Status.VALID, response="The answer is (B).", question="Which one?",
        task_name="logic", verdict="correct", score=1.0, ground_truth="(B)",
        extracted_answer="(B)", span=Span(14, 17), rules=("cue:answer-is", "option:letter"), error_type="none",
    )  # fmt: skip
    return replace(row, **changes)


def report_of(*rows: JudgedRow, run_id: str = "run-1", manifest: dict[str, Any] | None = None) -> ReportData:
    header = RunHeader(
        run_id, "semantic", "1.0", "abcdef0123456789", "answers.jsonl", len(rows), ended_at="2026-03-14T09:12:44Z"
    )
    return build_report(count_rows(header, manifest or {}, rows))


MIXED = (
    valid("a-1"),
    valid("a-2", verdict="incorrect", score=0.0, error_type="wrong_logic", task_name="数え上げ"),
    valid("a-3", status=Status.UNDECIDED, verdict=None, score=None, error_type=None, reason="two options"),
    valid(
        "a-4",
        status=Status.INVALID,
        verdict=None,
        score=None,
        error_type=None,
        task_name="布尔表达式",
        flags=(Finding(Flag.UNPARSABLE_OUTPUT, "no JSON object"),),
    ),
)


def test_the_page_is_well_formed() -> None:
    page = read(render_html(report_of(*MIXED)))

    assert (page.mistakes, page.open_tags) == ([], [])


def test_the_headline_says_score_interval_and_what_stands_beside_it() -> None:
    text = read(render_html(report_of(*MIXED))).plain_text

    assert "50.0% correct" in text
    assert "95% Wilson interval 9.5–90.5% , from 2 samples" in text
    assert "2 valid 1 undecided 1 invalid 0 missing" in text
    assert "If all 2 samples without a verdict had the lowest score: 25.0%; the highest: 75.0%." in text


def test_header_names_run_protocol_dataset_and_date() -> None:
    text = read(render_html(report_of(*MIXED))).plain_text

    assert "run-1 Protocol semantic 1.0 abcdef01 Dataset answers.jsonl Samples 4" in text
    assert "Judged 2026-03-14 09:12 UTC" in text


def test_distributions_flags_reasons_and_rules_are_listed() -> None:
    text = read(render_html(report_of(*MIXED))).plain_text

    for expected in ("incorrect 1 50.0%", "wrong_logic", "two options", "UNPARSABLE_OUTPUT", "cue:answer-is"):
        assert expected in text


def test_plots_lie_within_the_axis() -> None:
    page = read(render_html(report_of(*MIXED)))

    ends = [
        float(rect["x"].rstrip("%")) + float(rect["width"].rstrip("%"))
        for rect in page.all("rect")
        if rect.get("x", "").endswith("%")
    ]
    assert ends
    assert all(0 <= end <= 100.001 for end in ends)


def test_chinese_and_japanese_names_carry_their_language() -> None:
    spans = read(render_html(report_of(*MIXED))).all("span")

    assert {"ja", "zh"} <= {span.get("lang") for span in spans}


def test_a_panel_has_a_headline_and_a_tab_for_each_judge() -> None:
    page = read(render_html(report_of(*MIXED, *(replace(row, judge="replay") for row in MIXED))))

    assert sum(article.get("class") == "headline" for article in page.all("article")) == 2
    assert [button["aria-selected"] for button in page.all("button") if button.get("role") == "tab"] == [
        "true",
        "false",
    ]


def test_a_single_judge_needs_no_tabs() -> None:
    assert not [b for b in read(render_html(report_of(*MIXED))).all("button") if b.get("role") == "tab"]


def test_nothing_is_fetched() -> None:
    page = read(render_html(report_of(*MIXED)))

    addresses = [
        attributes[name] for _, attributes in page.elements for name in ("src", "href", "action") if name in attributes
    ]
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert "url(http" not in "".join(page.inside("style"))
    assert "@import" not in "".join(page.inside("style"))


def test_the_policy_allows_exactly_the_style_and_script_of_the_page() -> None:
    page = read(render_html(report_of(*MIXED)))

    policy = next(m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    style, script = "".join(page.inside("style")), page.inside("script")[-1]
    for source in (style, script):
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


@each(
    ("text", "expected"),
    [
        ("The sum is \\(x\\).", True),
        ("$x_1$ it is", True),
        ("```python\nx\n```", True),
        ("It costs $5.", False),
        ("```\nplain\n```", False),
    ],
)
def test_a_page_has_what_draws_formulas_and_code_where_its_texts_hold_some(text: str, expected: bool) -> None:
    """Two hundred kilobytes; the policy names them in any case, because it stands before the texts."""
    page = read(render_html(report_of(replace(MIXED[0], response=text))))

    policy = next(m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    digest = base64.b64encode(hashlib.sha256(libraries_script().encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy
    assert (libraries_script() in page.inside("script")) is expected


def test_no_element_carries_inline_style_or_handlers() -> None:
    """The policy would silently drop them."""
    page = read(render_html(report_of(*MIXED)))

    names = {name for _, attributes in page.elements for name in attributes}
    assert not {name for name in names if name == "style" or name.startswith("on")}


def test_scripts_never_write_markup() -> None:
    assets = resources.files("mixseek.reports") / "assets"
    source = "".join((assets / name).read_text(encoding="utf-8") for name in SCRIPTS)

    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "</"):
        assert forbidden not in source


def test_every_asset_is_used() -> None:
    assets = resources.files("mixseek.reports") / "assets"

    # Competitions, comparisons, and results that are sections and nothing else are pages of their own.
    pages = ("leaderboard.", "comparison.", "copying.", "difference.", "word_difference.", "result_page.")
    own = {item.name for item in assets.iterdir() if item.is_file() and not item.name.startswith(pages)}
    others = {f"vendor/{item.name}" for item in (assets / "vendor").iterdir()}

    assert others == {*LIBRARIES, "vendor/LICENSES.txt"}
    assert own == {
        *STYLES,
        *SCRIPTS,
        "report.html.j2",
        "macros.html.j2",
        "matrix.html.j2",
    }


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_in_every_field_changes_nothing_about_the_structure(text: str) -> None:
    hostile = JudgedRow(
        id=text, judge=text, status=Status.INVALID, response=text, question=text, task_name=text, verdict=text,
        ground_truth=text, ground_truth_alternatives=(text,), extracted_answer=text, span=Span(0, len(text)),
        rules=(text,), error_type=text, flags=(Finding(Flag.PROTOCOL_VIOLATION, text),), comment=text, reason=text,
        target_model=text, raw_reply=text,
    )  # fmt: skip
    harmless = replace(
        hostile, id="i", judge="j", response="r", question="q", task_name="t", rules=("r",), comment="c", verdict="v",
        reason="r", raw_reply="w", flags=(Finding(Flag.PROTOCOL_VIOLATION, "d"),), target_model="m", error_type="e",
        ground_truth="g", ground_truth_alternatives=("a",), extracted_answer="x", span=None,
    )  # fmt: skip

    page = render_html(report_of(hostile, run_id=text, manifest={text: text, "list": [text, {text: [text]}]}))
    plain = render_html(report_of(harmless, run_id="r", manifest={"k": "v", "list": ["v", {"k": ["v"]}]}))

    page.encode("utf-8")
    # Text in another script stands in a span of its language.
    structures = [[tag for tag, _ in read(text).elements if tag != "span"] for text in (page, plain)]
    assert structures[0] == structures[1]
    assert read(page).mistakes == []


@each("text", HOSTILE)
def test_hostile_text_reaches_the_page_unchanged_as_data(text: str) -> None:
    page = read(render_html(report_of(valid("a", response=text, span=None))))

    data = unpack_json(page.inside("script")[1])
    assert data["samples"][0]["response"].encode("utf-16-le", "surrogatepass") == text.encode(
        "utf-16-le", "surrogatepass"
    )


@settings(max_examples=25)
@given(st.text(st.characters(codec=None), max_size=40))
def test_any_text_leaves_a_page_that_can_be_written_and_read(text: str) -> None:
    page = render_html(report_of(valid(text or "id", response=text, task_name=text, rules=(text,)), run_id=text))

    page.encode("utf-8")
    assert unpack_json(read(page).inside("script")[1])["samples"]


def test_invisible_characters_are_named_in_the_summary() -> None:
    rows = valid("a", task_name="ev\u202eil"), valid("b", task_name="plain")
    text = read(render_html(report_of(*rows))).plain_text

    assert "ev⟨U+202E⟩il" in text


def test_a_run_that_no_browser_would_open_says_so_and_names_the_viewer() -> None:
    report = report_of(valid("a"))
    (shown,) = report.shown

    text = read(render_html(replace(report, shown=(replace(shown, total=MOST_LISTED + 1),)))).plain_text

    assert "Of 1,000,001 judgments, at most 2,000 of each kind and judge are listed." in text
    assert "mixseek view" in text
    assert "mixseek export run-1" in text


def test_what_is_long_is_folded_and_every_link_of_the_bar_leads_somewhere() -> None:
    """The manifest and what judges are told; the bar names no section that is not there."""
    report = replace(report_of(*MIXED, manifest={"seed": 7}), asked=((verbatim("Rubric"), "# Dimensions <b>"),))
    page = render_html(report)

    ids = {attributes.get("id") for _, attributes in read(page).elements}
    (bar,) = re.findall(r'<nav class="sections".*?</nav>', page, re.DOTALL)
    assert {link["href"].removeprefix("#") for link in read(bar).all("a")} <= ids
    assert 'href="#protocol"' in bar
    for section in ("manifest", "protocol"):
        assert re.search(rf'<section id="{section}"[^>]*>\s*<details><summary>', page)
    assert "# Dimensions &lt;b&gt;" in page


def test_an_empty_run_is_still_a_page() -> None:
    page = read(render_html(report_of()))

    assert page.mistakes == []
    assert "This run holds no judgments." in page.plain_text


def test_a_run_where_nothing_was_scored_has_no_number() -> None:
    text = read(render_html(report_of(MIXED[2]))).plain_text

    assert "– nothing was scored" in text
    assert "No valid judgment, so no score." in text


def test_manifest_puts_plain_lines_before_groups() -> None:
    entries = manifest_entries(
        {
            "dataset": {"rows": 3},
            "sealed": True,
            "seed": 12345,
            "judges": [{"name": "rules"}],
            "none": None,
            "tools": [],
        }
    )

    assert entries == [
        ("sealed", "yes"),
        ("seed", "12345"),
        ("none", "–"),
        ("tools", "–"),
        ("dataset", [("rows", "3")]),
        ("judges", [("1", [("name", "rules")])]),
    ]


def test_links_name_filters_and_survive_any_text() -> None:
    assert link_to(judge="rules", task_name=None, rule="a&b=c") == "#judge=rules&rule=a%26b%3Dc"
    assert re.fullmatch(r"#task=[\w%.+-]*", link_to(task="\ud800<数>"))


def test_five_thousand_rows_make_a_file_of_reasonable_size() -> None:
    rows = [valid(f"row-{n}", response=f"A step of reasoning {n}. " * 50 + "The answer is (B).") for n in range(5_000)]

    page = render_html(report_of(*rows))

    assert len(page.encode()) < 1_500_000
