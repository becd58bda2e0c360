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
    problems = sum(one.severity is Severity.PROBLEM for one in findings)
    document = {"ok": not problems, "problems": problems, "findings": [asdict(one) for one in findings]}
    return with_schema(DocumentName.DOCTOR, document)


def describe_findings(findings: Sequence[Finding]) -> str:
    """For a person: area by area, the sum at the end."""
    marks = {Severity.OK: "✓", Severity.NOTE: "·", Severity.PROBLEM: "✗"}
    lines, area = [], ""
    for one in findings:
        if one.area != area:
            lines += ["", one.area.capitalize()] if area else [one.area.capitalize()]
            area = one.area
        lines.append(f"  {marks[one.severity]} {make_visible(f'{one.name}: {one.said}')}")
    problems = sum(one.severity is Severity.PROBLEM for one in findings)
    said = "nothing is wrong" if not problems else f"{plural(problems, 'thing is', 'things are')} wrong, marked ✗"
    return "\n".join([*lines, "", said])
