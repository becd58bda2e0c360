"""What a build server shows of a run: JUnit XML, and a summary as sections. Judged text is inert in both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from xml.etree import ElementTree as Xml

from mixseek.analysis.run.gates import GateResult
from mixseek.analysis.run.model import outcome_word
from mixseek.comparison.model import DropResult
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.scored_details import read_detail
from mixseek.lazy_dataclass import dataclass
from mixseek.presentation.render.markdown import inert, sections_markdown
from mixseek.presentation.sections import VERBATIM, Divider, Facts, Part, Section, Sentence, Words, sections_of
from mixseek.reports.excerpts import cut_row, excerpt_of, split_at_span
from mixseek.text.phrases import plain_number, plural, shortened
from mixseek.text.visible import make_visible

# Samples that a file lists; GitLab takes 30 MB a file, and nobody reads more.
MOST_CASES = 1_000
WORST_SHOWN = 5
# Of the response, around the span that decided; of everything said about a sample; of one line.
_EXCERPT_CHARACTERS = 600
_TEXT_CHARACTERS = 4_000
_LINE_CHARACTERS = 300
_JUDGES_TOLD = 3
_OPEN, _CLOSE = "⟦", "⟧"


@dataclass(frozen=True, slots=True)
class CiCase:
    """A sample that somebody should look at; `is_error` where there is no verdict: then the judge failed, not it."""

    name: str
    word: str
    message: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class CiReport:
    """One run, or one comparison. `left_out` counts cases beyond those that are listed."""

    name: str
    headline: Sequence[str] = ()
    gates: Sequence[GateResult | DropResult] = ()
    cases: Sequence[CiCase] = ()
    worst: Sequence[CiCase] = ()
    left_out: int = 0
    facts: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    is_failed: bool = False  # it ended before there was a result


def make_case(name: str, word: str, rows: Sequence[JudgedRow], *, is_error: bool, first: str = "") -> CiCase:
    """A sample with what its judges said: the ones with the lowest scores first."""
    finals = sorted((row for row in rows if row.is_final), key=lambda row: 2.0 if row.score is None else row.score)
    if is_error:
        finals = [row for row in finals if row.status in (Status.INVALID, Status.MISSING)] or finals
    reason = next((line for row in finals for line in reasons_of(row)), "")
    message = ": ".join(filter(None, (word, first or reason)))
    parts = ["\n".join(describe_row(cut_row(row))) for row in finals[:_JUDGES_TOLD]]
    if len(finals) > _JUDGES_TOLD:
        parts.append(f"and {plural(len(finals) - _JUDGES_TOLD, 'judgment')} more: see `mixseek show`")
    text = "\n\n".join([*filter(None, (first,)), *parts])
    return CiCase(name, word, one_line(message), shortened(text, _TEXT_CHARACTERS), is_error)


def describe_row(row: JudgedRow) -> Iterator[str]:
    """Who said what, why, and the place in the response."""
    detail = read_detail(row.fields)
    repeat = f", repeat {row.take}" if row.take > 1 else ""
    yield one_line(f"judge {row.judge}{repeat}: {outcome_word(row.status, row.verdict)}")
    yield from (f"  {one_line(line)}" for line in reasons_of(row))
    trace = " → ".join(row.rules)
    if trace not in (row.comment or ""):
        yield f"  {one_line(f'rules: {trace}')}"
    for quote in detail.quotes if detail else ():
        places = ", ".join(f"{span.start}–{span.end}" for span in quote.spans) or quote.problem or "not looked for"
        yield f"  {one_line(f'evidence for {quote.dimension}: “{quote.text}” ({places})')}"
    if row.response:
        place = "" if row.span is None else f" (characters {row.span.start}–{row.span.end})"
        yield f"  response{place}:"
        yield from (f"    {line}" for line in excerpt_text(row).splitlines())


def reasons_of(row: JudgedRow) -> Iterator[str]:
    """Why: flags, the judge's own words, and what was answered instead of what."""
    yield from (f"{finding.flag.value}: {finding.detail}" for finding in row.flags)
    if row.reason:
        yield row.reason
    detail = read_detail(row.fields)
    for gate, reason in detail.gates if detail else ():
        yield f"{gate}: {reason or 'no reason was given'}"
    truths = [truth for truth in (row.ground_truth, *row.ground_truth_alternatives) if truth is not None]
    if row.status is Status.VALID and (row.extracted_answer is not None or truths):
        answer = "no answer" if row.extracted_answer is None else f"answer {row.extracted_answer!r}"
        yield f"{answer}, expected {' or '.join(map(repr, truths))}" if truths else answer
    if row.comment:
        yield row.comment
    for mark in detail.marks if detail else ():
        of = "" if mark.maximum is None else f" of {plain_number(mark.maximum)}"
        yield f"{mark.dimension} {plain_number(mark.score)}{of}" + (f": {mark.reason}" if mark.reason else "")


def excerpt_text(row: JudgedRow) -> str:
    """Around the span, which stands in ⟦ ⟧; `…` where something is left out."""
    excerpt = excerpt_of(row, row.span, _EXCERPT_CHARACTERS)
    text, parts = excerpt.text, split_at_span(excerpt, row.span)
    if parts is not None:
        before, inside, after = parts
        text = before + _OPEN + inside + _CLOSE + after
    return make_visible(("…" if excerpt.before else "") + text + ("…" if excerpt.after else ""))


def one_line(text: str) -> str:
    """However it was broken, and not too long."""
    return shortened(" ".join(inert(text).split()), _LINE_CHARACTERS)


# JUnit XML, in the part of it that Jenkins, GitLab and the actions of GitHub agree on.


def render_junit(reports: Sequence[CiReport]) -> bytes:
    """A suite a report. Test cases are the gates, and the samples with a low score or without a verdict."""
    root = Xml.Element("testsuites", name="mixseek")
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for report in reports:
        suite = render_suite(root, report)
        for name in totals:
            totals[name] += int(suite.get(name, "0"))
    for name, count in totals.items():
        root.set(name, str(count))
    root.set("time", f"{sum(report.seconds for report in reports):.3f}")
    Xml.indent(root)
    written: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def render_suite(root: Xml.Element, report: CiReport) -> Xml.Element:
    name = inert(report.name)
    suite = Xml.SubElement(root, "testsuite", name=name)
    if report.facts:
        properties = Xml.SubElement(suite, "properties")
        for key, value in report.facts.items():
            Xml.SubElement(properties, "property", name=inert(key), value=inert(value))
    for gate in report.gates:
        case = add_case(suite, f"{name}.gates", "--" + gate.name.replace("_", "-"))
        if not gate.is_met:
            add_failure(case, "failure", "gate", gate.describe(), gate.describe())
    for sample in report.cases:
        case = add_case(suite, f"{name}.samples", sample.name)
        tag = "error" if sample.is_error else "failure"
        add_failure(case, tag, sample.word, sample.message, "\n\n".join(filter(None, (sample.message, sample.text))))
    if not report.gates and not report.cases:
        # Jenkins takes a file without any test case for a mistake.
        add_case(suite, name, "judged")
    if report.left_out:
        remark = f"{plural(report.left_out, 'sample is', 'samples are')} not listed here; `mixseek export` has them all"
        Xml.SubElement(suite, "system-out").text = remark
    counts = {tag: len(suite.findall(f"testcase/{tag}")) for tag in ("failure", "error")}
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("failures", str(counts["failure"]))
    suite.set("errors", str(counts["error"]))
    suite.set("skipped", "0")
    suite.set("time", f"{report.seconds:.3f}")
    return suite


def add_case(suite: Xml.Element, place: str, name: str) -> Xml.Element:
    return Xml.SubElement(suite, "testcase", classname=place, name=inert(name), time="0")


def add_failure(case: Xml.Element, tag: str, kind: str, message: str, text: str) -> None:
    # GitLab shows the text alone, so the message is in it once more.
    element = Xml.SubElement(case, tag, message=inert(message), type=inert(kind))
    element.text = inert(text)


@sections_of.register
def ci_sections(report: CiReport) -> Iterator[Section]:
    """The headline, the gates, and the worst samples."""
    is_well = not report.is_failed and all(gate.is_met for gate in report.gates)
    yield Section(None, [Divider(Words([f"{_sign(is_well)} mixseek: ", (one_line(report.name), VERBATIM)]))])
    if report.headline:
        yield Section(None, [Sentence("\n".join(report.headline), VERBATIM)])
    if report.gates:
        yield Section(None, [Facts([(_sign(gate.is_met), one_line(gate.describe())) for gate in report.gates])])
    worst: list[Part] = []
    for number, case in enumerate(report.worst, 1):
        name, message = (one_line(case.name), VERBATIM), (one_line(case.message), VERBATIM)
        worst.append(Sentence(Words([(f"{number}.", "bold"), " ", name, ": ", message]), ""))
        worst += [Sentence(case.text, VERBATIM)] if case.text else []
    title = f"The worst {len(report.worst)}" if len(report.worst) > 1 else "The worst one"
    yield Section(None if report.is_failed else title, worst)


def _sign(is_well: bool) -> str:
    return "✅" if is_well else "❌"


def render_markdown(report: CiReport) -> str:
    return sections_markdown(ci_sections(report))
