"""When a card no longer speaks for a judge."""

from datetime import UTC, datetime, timedelta

from tests.cases import each

from mixseek.runs.cards import Card, CardFinding, CardJudge, CardProtocol
from mixseek.stats.audits import Audit, AuditState

WRITTEN = datetime(2026, 3, 1, tzinfo=UTC)
JUDGE = CardJudge(name="fern", kind="endpoint", model="fern-1", parameters={"temperature": 0})
PROTOCOL = CardProtocol(name="semantic", version="1", language="en", hash="a" * 64)


def card(state: AuditState = AuditState.PASS) -> Card:
    finding = CardFinding(
        audit=Audit.RETEST, title="Asked twice", measure="share that changed", state=state, minimum=0.1
    )
    return Card(
        created_at=WRITTEN,
        judge=JUDGE,
        protocol=PROTOCOL,
        dataset="riddles.jsonl",
        samples=30,
        seed=1,
        runs=("exam",),
        findings=(finding,),
    )


@each(
    ("judge", "protocol", "days", "objection"),
    [
        (JUDGE, PROTOCOL, 3, None),
        (JUDGE, PROTOCOL, 31, "it is older than 30 days (2026-03-01); audit the judge again"),
        (JUDGE.model_copy(update={"name": "moss"}), PROTOCOL, 3, "judge name fern, now moss"),
        (JUDGE.model_copy(update={"kind": "replay"}), PROTOCOL, 3, "judge kind endpoint, now replay"),
        (JUDGE.model_copy(update={"model": "fern-2"}), PROTOCOL, 3, "judge model fern-1, now fern-2"),
        (JUDGE.model_copy(update={"parameters": {"temperature": 1}}), PROTOCOL, 3, "judge temperature 0, now 1"),
        (JUDGE, PROTOCOL.model_copy(update={"name": "cross"}), 3, "protocol name semantic, now cross"),
        (JUDGE, PROTOCOL.model_copy(update={"language": "ja"}), 3, "protocol language en, now ja"),
        (JUDGE, PROTOCOL.model_copy(update={"hash": "b" * 64}), 3, "protocol hash aaaaaaaa, now bbbbbbbb"),
    ],
)
def test_a_card_is_refused_for_another_judge_another_protocol_or_its_age(
    judge: CardJudge, protocol: CardProtocol, days: int, objection: str | None
) -> None:
    refused = card().objections(judge, protocol, WRITTEN + timedelta(days=days), timedelta(days=30))

    if objection is None or "older" in objection:
        assert refused == objection
    else:
        assert refused == f"it no longer fits ({objection}); audit the judge again"


def test_a_card_that_failed_names_what_failed() -> None:
    assert card(AuditState.FAIL).objections(JUDGE, PROTOCOL, WRITTEN, None) == "fern failed Asked twice"


def test_every_misfit_is_named_at_once() -> None:
    judge = JUDGE.model_copy(update={"model": "fern-2", "kind": "replay"})

    assert list(card().misfits(judge, PROTOCOL)) == [
        "judge kind endpoint, now replay",
        "judge model fern-1, now fern-2",
    ]
