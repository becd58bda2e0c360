"""Quotes that a judge gives as evidence: read, located in the response, and counted by dimension."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mixseek.domain.judgments import Flag
from mixseek.domain.samples import Sample
from mixseek.matching.quotes import QuoteFinding, locate_quote
from mixseek.protocols.reply_fields import FieldReader
from mixseek.protocols.reply_json import excerpt
from mixseek.protocols.scored_parameters import Evidence, EvidenceForm, EvidencePolicy, ScoredParameters

# What judges put where there is nothing to quote: nothing, marks, or a word that says so.
_NOTHING = re.compile(
    r"\A\W*\Z|\b(?:empty|blank|none|nothing|n/?a|no (?:\w+ )?(?:output|content|text|response|answer))\b"
    r"|空|无|無|没有|沒有|なし",
    re.IGNORECASE,
)
_MAX_REMARK = 60


@dataclass(frozen=True, slots=True)
class Quote:
    """One piece of evidence; `dimension` is None where the reply's is not one of the protocol's."""

    dimension: str | None
    text: str
    reason: str
    finding: QuoteFinding

    def document(self) -> dict[str, Any]:
        """For the judgment's fields; spans are offsets in the original response."""
        return {
            "dimension": self.dimension,
            "quote": self.text,
            "reason": self.reason,
            "spans": [[span.start, span.end] for span in self.finding.spans],
            "stage": None if self.finding.stage is None else self.finding.stage.value,
            "problem": None if self.finding.problem is None else self.finding.problem.value,
        }


def check_evidence(fields: FieldReader, sample: Sample, parameters: ScoredParameters) -> list[Quote]:
    """Objections go to `fields`; all quotes are located, also those that the policy does not ask to be found."""
    evidence = parameters.evidence
    if evidence.policy is EvidencePolicy.OFF:
        return []
    if evidence.minimum_per_dimension == 0 and fields.given(evidence.field) is None:
        return []
    already = len(fields.findings)
    entries = _entries_of_list if evidence.form is EvidenceForm.LIST else _entries_of_map
    quotes = [
        Quote(dimension, text, reason, _locate(text, sample, evidence.policy))
        for dimension, text, reason in entries(fields, evidence, parameters)
    ]
    if len(fields.findings) == already:
        _count(fields, quotes, sample, parameters)
    return quotes


def _locate(text: str, sample: Sample, policy: EvidencePolicy) -> QuoteFinding:
    if policy is EvidencePolicy.PRESENT and not sample.response.strip():
        # Replies are also checked where the responses are not at hand: nothing is said about a quote then.
        return QuoteFinding()
    return locate_quote(text, sample.response, question=sample.question, rubric=sample.rubric or "")


def _entries_of_list(
    fields: FieldReader, evidence: Evidence, parameters: ScoredParameters
) -> Iterator[tuple[str | None, str, str]]:
    for number, item in enumerate(fields.array(evidence.field) or ()):
        place = f"{fields.path}{evidence.field}[{number}]"
        if not isinstance(item, Mapping):
            fields.note(Flag.UNPARSABLE_OUTPUT, f"{place} is {excerpt(item)}, expected an object")
            continue
        entry = FieldReader(item, f"{place}.", fields.findings)
        dimension = entry.choice(evidence.dimension_field, tuple(parameters.dimensions))
        text = entry.text(evidence.quote_field)
        reason = entry.text(evidence.reason_field) if evidence.reason_field else ""
        if reason is not None and evidence.reason_field and not reason.strip():
            entry.note(Flag.PROTOCOL_VIOLATION, f"{place}.{evidence.reason_field} is blank; one sentence is asked for")
        if text is not None:
            yield dimension, text, reason or ""


def _entries_of_map(
    fields: FieldReader, evidence: Evidence, parameters: ScoredParameters
) -> Iterator[tuple[str | None, str, str]]:
    entry = fields.nested(evidence.field)
    if entry is None:
        return
    for key in entry.unknown_keys(tuple(parameters.dimensions)):
        entry.note(Flag.PROTOCOL_VIOLATION, f"{entry.path}{excerpt(key)} is no dimension of the protocol")
    for key in parameters.dimensions:
        if not entry.has(key) and evidence.minimum_per_dimension == 0:
            continue
        given = entry.given(key)
        if isinstance(given, list) and all(isinstance(text, str) for text in given):
            yield from ((key, text, "") for text in given)
        elif (text := entry.text(key)) is not None:
            yield key, text, ""


def _count(fields: FieldReader, quotes: list[Quote], sample: Sample, parameters: ScoredParameters) -> None:
    evidence = parameters.evidence
    is_verified = evidence.policy is EvidencePolicy.VERIFIED
    is_empty = not sample.response.strip()
    for key in parameters.dimensions:
        own = [quote for quote in quotes if quote.dimension == key]
        given = [quote for quote in own if quote.text.strip() or is_empty]
        counted = [quote for quote in given if _supports(quote, is_empty)] if is_verified else given
        if len(counted) >= evidence.minimum_per_dimension:
            continue
        fields.note(Flag.PROTOCOL_VIOLATION, _shortage(key, given, counted, evidence))


def _supports(quote: Quote, is_empty: bool) -> bool:
    """Nothing can be quoted from an output that says nothing; that it says nothing is then the evidence."""
    if is_empty:
        return len(quote.text) <= _MAX_REMARK and _NOTHING.search(quote.text) is not None
    return quote.finding.problem is None


def _shortage(key: str, given: list[Quote], counted: list[Quote], evidence: Evidence) -> str:
    needed = evidence.minimum_per_dimension
    lost = next((quote for quote in given if quote not in counted), None)
    if lost is None:
        return f"{evidence.field}: {key} has {len(given)} of {needed} quotes"
    found = f"only {len(counted)} of {len(given)} quotes stand" if len(given) > 1 else "its quote does not stand"
    return (
        f"{evidence.field}: {key} needs {needed} from the response, but {found} in it: "
        f"{excerpt(lost.text)} ({lost.finding.problem})"
    )
