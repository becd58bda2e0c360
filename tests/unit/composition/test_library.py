"""What `from mixseek import …` offers."""

import doctest
from collections.abc import Iterator

import pytest

import mixseek
from mixseek.composition import protocols
from mixseek.domain.judgments import Missing, Reply
from mixseek.domain.ports import JudgeProtocol
from mixseek.errors import ConfigurationError


def test_the_surface_is_pinned() -> None:
    """A name that appears or disappears here is a decision, not an accident."""
    assert mixseek.__all__ == [
        "Competition",
        "Evaluation",
        "InvalidJudgment",
        "Judged",
        "Missing",
        "MixseekError",
        "RoundRecord",
        "Sample",
        "Undecided",
        "ValidJudgment",
        "acompete",
        "aevaluate",
        "compete",
        "evaluate",
        "judge",
        "load_protocol",
    ]


@pytest.mark.parametrize("name", mixseek.__all__)
def test_every_name_of_the_surface_is_there(name: str) -> None:
    """Lazily, and in dir() as well."""
    assert getattr(mixseek, name).__name__ == name
    assert name in dir(mixseek)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """Not a KeyError from inside."""
    with pytest.raises(AttributeError, match="no attribute 'jugde'"):
        _ = mixseek.jugde  # type: ignore[attr-defined]  # the point of the test


def test_judging_streams() -> None:
    """The first judgment is there before the second sample is asked for."""

    def samples() -> Iterator[mixseek.Sample]:
        yield mixseek.Sample("1", "The answer is 4.", "What is 2+2?", "4")
        raise AssertionError("read too far")

    judged = next(mixseek.judge(samples()))

    assert judged.judge == "rules"
    assert judged.status == "valid"


def test_a_judge_of_ones_own_is_enough_of_a_judge() -> None:
    """Anything with a name and a reply."""

    class Silent:
        name = "silent"

        def reply(self, sample: mixseek.Sample, protocol: JudgeProtocol) -> Reply | Missing:
            return Missing("says nothing")

    sample = mixseek.Sample("1", "", "What is 2+2?", "4")
    protocol = mixseek.load_protocol("semantic", "ja")

    assert [one.judge for one in mixseek.judge([sample], protocol, [Silent(), "rules"])] == ["silent", "rules"]


@pytest.mark.parametrize("arguments", [{"protocol": "semantci"}, {"judges": ["rulse"]}])
def test_a_wrong_name_is_refused_before_the_first_sample(arguments: dict[str, str]) -> None:
    """A generator that fails at its first next() hides the mistake from its maker."""
    with pytest.raises(ConfigurationError):
        mixseek.judge([], **arguments)  # type: ignore[arg-type]  # the point of the test


def test_the_example_in_the_documentation_runs() -> None:
    """Examples are doctests or do not exist."""
    assert doctest.testmod(protocols).failed == 0
