"""A judge card says how sure the judge was, and what labels make of that."""

from collections.abc import Mapping
from datetime import UTC, datetime
from random import Random
from types import SimpleNamespace
from typing import cast

from tests.unit.analysis.sure_material import labelled_samples

from mixseek.audits.card import find_confidences
from mixseek.audits.plan import AuditPlan
from mixseek.audits.views import card_sections, render_card_page
from mixseek.domain.confidence import ConfidenceSource
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.presentation.render.terminal import result_text
from mixseek.runs.cards import Card, CardJudge, CardProtocol
from mixseek.stats.calibration import CalibrationState
from mixseek.stats.confidence import JudgeConfidence


def rows_of(samples: Mapping[str, float]) -> dict[str, JudgedRow]:
    """What a judge says of them that is as often right as it says; the last gave no verdict."""
    rows = {}
    for name, chance in samples.items():
        rows[name] = JudgedRow(
            id=name,
            judge="tokens",
            status=Status.VALID,
            response="",
            score=float(chance >= 0.5),
            expected_score=chance,
            confidence_value=max(chance, 1 - chance),
            confidence_source=ConfidenceSource.LOGPROBS,
            confidence_shares={"correct": chance, "incorrect": 1 - chance},
        )
    last = list(rows)[-1]
    return {**rows, last: JudgedRow(id=last, judge="tokens", status=Status.INVALID, response="")}


def found(labels: int) -> tuple[JudgeConfidence, ...]:
    drawn = list(labelled_samples(Random(2), 80, labels))
    samples = {sample.id: sample for _, sample in drawn}
    audit = cast("AuditPlan", SimpleNamespace(samples=samples))
    said = {sample.id: float(sample.metadata["label"] == "correct") for _, sample in drawn if sample.metadata}
    return tuple(find_confidences(audit, rows_of({sample.id: chance for chance, sample in drawn}), said))


def card_of(confidences: tuple[JudgeConfidence, ...]) -> Card:
    protocol = CardProtocol(name="semantic", version="1", language="en", hash="ab" * 32)
    return Card(
        created_at=datetime(2026, 3, 1, tzinfo=UTC), judge=CardJudge(name="tokens", kind="rules"), protocol=protocol,
        dataset="answers.jsonl", samples=80, seed=0, runs=("trial",), findings=(), confidences=confidences,
    )  # fmt: skip


def test_plain_samples_are_held_against_their_labels() -> None:
    (line,) = found(60)

    assert (line.judge, line.source, line.judgments, line.without) == ("tokens", "logprobs", 79, 0)
    assert line.calibration is not None
    assert (line.calibration.state, line.calibration.labels) == (CalibrationState.MEASURED, 60)
    assert line.calibration.questions == 30
    assert line.expected is not None
    assert line.expected.expected.rmse < line.expected.given.rmse


def test_without_labels_a_card_has_counts_and_means() -> None:
    (line,) = found(0)

    assert (line.judgments, line.calibration, line.expected) == (79, None, None)
    assert line.mean_confidence is not None


def test_the_card_keeps_it_and_shows_it() -> None:
    """In its file, on a terminal and on its page."""
    card = card_of(found(60))
    again = Card.model_validate_json(card.model_dump_json())

    assert again.model_dump_json() == card.model_dump_json()
    shown, page = result_text(card), render_card_page(card)
    assert card.confidences[0].calibration is not None
    assert card.confidences[0].calibration.error is not None
    number = f"{card.confidences[0].calibration.error.value:.3f}"
    assert number in shown
    assert number in page
    assert page.count('class="calibration"') == 2
    assert 'class="chapter chapter-confidence"' in page


def test_a_card_of_before_has_none() -> None:
    document = card_of(()).model_dump(mode="json")
    del document["confidences"]
    card = Card.model_validate(document)

    assert card.confidences == ()
    assert "confidence" not in {section.name for section in card_sections(card)}
