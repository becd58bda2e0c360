"""What every protocol offers, so that nobody has to look first whether it does."""

import ast
from pathlib import Path

import pytest
from tests.cases import each
from tests.unit.engine.stub_judging import StubProtocol

from mixseek.domain.judgments import Missing
from mixseek.domain.ports import PLAIN, JudgeProtocol, is_plain
from mixseek.domain.samples import Sample
from mixseek.protocols.registry import load_protocol
from mixseek.round_controller.judgment_client import JudgmentProtocol

SOURCE = Path(__file__).parents[3] / "src" / "mixseek"
SAMPLE = Sample("1", "four", response_b="five", question_id="q", prompt_variant="v", target_model="m")
PROTOCOLS: list[JudgeProtocol] = [
    *(load_protocol(name, "en") for name in ("semantic", "rubric", "cross", "pairwise")),
    JudgmentProtocol("", "{{ round_number }}", "en"),
    StubProtocol(),
]


@each("protocol", PROTOCOLS)
def test_a_judgment_is_made_of_all_presentations_whatever_the_protocol(protocol: JudgeProtocol) -> None:
    """One road for all: shown in each way, combined, and the hash stays that of what was asked."""
    shown = {name: protocol.present(name) for name in protocol.presentations}

    assert {each_way.hash for each_way in shown.values()} == {protocol.hash} == {protocol.for_judge("m").hash}
    assert [each_way.presentation for each_way in shown.values()] == list(protocol.presentations)
    assert protocol.combine(dict.fromkeys(shown, Missing("nobody came"))) == Missing("nobody came")
    assert protocol.missing_names(SAMPLE) == ()


@each("protocol", PROTOCOLS)
def test_only_pairs_are_shown_in_orders(protocol: JudgeProtocol) -> None:
    """What is shown as it is has the one presentation that journals do not name."""
    assert is_plain(protocol) is (protocol.name != "pairwise")
    if is_plain(protocol):
        assert (protocol.presentations, protocol.show(SAMPLE)) == ((PLAIN,), SAMPLE)
    else:
        assert protocol.present("BA").show(SAMPLE).response == "five"


def asks_for_a_capability(node: ast.AST) -> bool:
    """`hasattr(…) and isinstance(…)`, or their denials joined by `or`, about one and the same thing."""
    if not isinstance(node, ast.BoolOp):
        return False
    plain = [part.operand if isinstance(part, ast.UnaryOp) else part for part in node.values]
    calls = [part for part in plain if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.args]
    asked = {call.func.id: ast.dump(call.args[0]) for call in calls if isinstance(call.func, ast.Name)}
    return asked.get("hasattr", "neither") == asked.get("isinstance", "nor")


def test_nobody_looks_whether_a_capability_is_there() -> None:
    """It is always on the port."""
    found = [
        f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
        for path in sorted(SOURCE.rglob("*.py"))
        if "hasattr" in (source := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(source))
        if asks_for_a_capability(node)
    ]

    assert found == []


@pytest.mark.parametrize(
    "source", ["hasattr(a, 'b') and isinstance(a, B)", "not hasattr(a.b, 'c') or not isinstance(a.b, C)"]
)
def test_such_a_look_is_recognised(source: str) -> None:
    assert asks_for_a_capability(ast.parse(source, mode="eval").body)
