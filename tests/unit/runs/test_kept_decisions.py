"""A protocol whose questions are its own is kept with them beside the run."""

from dataclasses import replace
from typing import Any

from tests.unit.protocols.scored_replies import own_declaration
from tests.unit.protocols.test_certainty import ONE_DIMENSION

from mixseek.protocols.scored.protocol import ScoredProtocol
from mixseek.runs.requests.protocol_record import protocol_record, restore_protocol


def test_questions_of_ones_own_come_back_with_the_protocol() -> None:
    """And with them its hash: an archive is read again by what was asked. One without keeps no such key."""
    decisions: dict[str, Any] = {"A_tone": {"instructions": "How kind is it?"}}
    parameters = {**own_declaration().parameters, **ONE_DIMENSION}
    declaration = replace(own_declaration(), parameters=parameters)
    plain = ScoredProtocol.from_declaration(declaration)
    worded = ScoredProtocol.from_declaration(replace(declaration, decisions=decisions))
    restored = restore_protocol(protocol_record(worded), "kept")

    assert restored.hash == worded.hash != plain.hash
    assert restored.question_set == worded.question_set
    assert "decisions" not in protocol_record(plain)
