"""What the doctor found: how bad it is, and what to do about it; in words and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from enum import StrEnum
from itertools import groupby
from typing import Any

from mixseek.domain.documents import DocumentName, with_schema
from mixseek.lazy_dataclass import dataclass
from mixseek.presentation.sections import GAP, Section, Sentence, unbroken_lines
from mixseek.text.phrases import plural


class Severity(StrEnum):
    """Only a problem makes the exit code 1."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """`said` never holds a key, nor how long it is."""

    area: str
    name: str
    severity: Severity
    said: str


def findings_document(findings: Sequence[Finding]) -> dict[str, Any]:
    problems = sum(finding.severity is Severity.PROBLEM for finding in findings)
    document = {"ok": not problems, "problems": problems, "findings": [asdict(finding) for finding in findings]}
    return with_schema(DocumentName.DOCTOR, document)


def findings_sections(findings: Sequence[Finding]) -> Iterator[Section]:
    """The findings for a person: area by area, the sum at the end."""
    marks = {Severity.OK: "✓", Severity.NOTE: "·", Severity.PROBLEM: "✗"}
    for number, (area, in_area) in enumerate(groupby(findings, key=lambda finding: finding.area)):
        yield Section(None, [*([GAP] if number else []), Sentence(area.capitalize(), "bold")])
        lines = (f"{marks[finding.severity]} {finding.name}: {finding.said}" for finding in in_area)
        yield unbroken_lines(*lines, is_indented=True)
    problems = sum(finding.severity is Severity.PROBLEM for finding in findings)
    wrong = "nothing is wrong" if not problems else f"{plural(problems, 'thing is', 'things are')} wrong, marked ✗"
    yield Section(None, [GAP, Sentence(wrong, "")])
