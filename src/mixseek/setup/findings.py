"""What the doctor found: how bad it is, and what to do about it; in words and for programs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from mixseek.domain.documents import DocumentName, with_schema
from mixseek.text.phrases import plural
from mixseek.text.visible import make_visible


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


def describe_findings(findings: Sequence[Finding]) -> str:
    """The findings for a person: area by area, the sum at the end."""
    marks = {Severity.OK: "✓", Severity.NOTE: "·", Severity.PROBLEM: "✗"}
    lines, area = [], ""
    for finding in findings:
        if finding.area != area:
            lines += ["", finding.area.capitalize()] if area else [finding.area.capitalize()]
            area = finding.area
        lines.append(f"  {marks[finding.severity]} {make_visible(f'{finding.name}: {finding.said}')}")
    problems = sum(finding.severity is Severity.PROBLEM for finding in findings)
    verdict = "nothing is wrong" if not problems else f"{plural(problems, 'thing is', 'things are')} wrong, marked ✗"
    return "\n".join([*lines, "", verdict])
