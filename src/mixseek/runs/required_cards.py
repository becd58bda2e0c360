"""Judge cards that are there already: read, held against a judge, and demanded before anything is paid for."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from mixseek.errors import ConfigurationError, GateError, reason_of
from mixseek.runs.cards import Card, CardJudge, CardProtocol
from mixseek.runs.requests.manifest_entries import describe_judge, describe_protocol
from mixseek.runs.requests.request import Plan
from mixseek.stats.audits import AuditState


def read_card(path: Path) -> Card:
    """Raises ConfigurationError for what is no card."""
    try:
        return Card.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({reason_of(error)})") from error
    except ValidationError as error:
        raise ConfigurationError(f"{path}: not a judge card; `mixseek audit` writes one (card.json)") from error


def read_earlier(path: Path, plan: Plan) -> Card:
    """A card whose scores can be held against today's."""
    card = read_card(path)
    misfits = list(card.misfits(*identify(plan)[0]))
    if misfits:
        raise ConfigurationError(f"{path}: a card of another judge or protocol ({'; '.join(misfits)}); drift needs one")
    return card


def identify(plan: Plan) -> list[tuple[CardJudge, CardProtocol]]:
    protocol = CardProtocol.model_validate(describe_protocol(plan.protocol).model_dump())
    return [(CardJudge.model_validate(describe_judge(judge).model_dump()), protocol) for judge in plan.judges]


def check_cards(plan: Plan, notify: Callable[[str], None]) -> None:
    """Checks before anything is paid for; raises GateError where a judge has no card that fits, or has failed on it."""
    paths, most = plan.request.required_cards, plan.request.card_max_age
    if not paths:
        return
    cards = {path: read_card(path) for path in paths}
    identities = identify(plan)
    # Rules need no card beside models; alone they are what is examined.
    examined = [identity for identity in identities if identity[0].kind != "rules"] or identities
    for judge, protocol in examined:
        path = next((path for path, card in cards.items() if card.judge.name == judge.name), None)
        if path is None and len(examined) == len(cards) == 1:
            (path,) = cards
        if path is None:
            raise GateError(
                f"none of the cards that are required is of {judge.name}; examine it first (`mixseek audit`)"
            )
        objection = cards[path].objections(judge, protocol, datetime.now(UTC), most)
        if objection is not None:
            raise GateError(f"{path}: {objection}")
        for finding in cards[path].findings:
            if finding.state is AuditState.CONCERN:
                notify(f"{path}: a concern about {judge.name}: {finding.title} ({finding.measure})")
