"""Shares and column mappings as people type them."""

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.cli.parsing.options import parse_mapping, parse_parameters, parse_share


@pytest.mark.parametrize(
    ("text", "share"),
    [("0", 0.0), ("1", 1.0), ("0.95", 0.95), ("95%", 0.95), ("5 %", 0.05), ("100%", 1.0), ("1e-1", 0.1)],
)
def test_a_share_may_be_a_fraction_or_a_percentage(text: str, share: float) -> None:
    """Both spellings mean the same number."""
    assert parse_share(text) == share


@each("text", ["", "%", "-0.1", "1.01", "95", "101%", "nan", "nan%", "inf", "high", "0,5"])
def test_anything_else_is_refused(text: str) -> None:
    """95 is 95 times everything: a slip for 95%."""
    with pytest.raises(typer.BadParameter, match=r"write 0\.95 or 95%"):
        parse_share(text)


@given(st.text())
def test_no_text_gets_a_share_outside_0_to_1_through(text: str) -> None:
    """Refused or within range, whatever is typed."""
    try:
        share = parse_share(text)
    except typer.BadParameter:
        return

    assert 0 <= share <= 1


def test_a_mapping_is_field_equals_column() -> None:
    """Only the first = divides: a column may hold one."""
    assert parse_mapping(["response=output", "ground_truth=a=b"]) == {"response": "output", "ground_truth": "a=b"}


@pytest.mark.parametrize("pair", ["response", "=output", "response=", ""])
def test_half_a_mapping_is_refused(pair: str) -> None:
    """With an example of a whole one."""
    with pytest.raises(typer.BadParameter, match="response=output"):
        parse_mapping([pair])


def test_a_field_mapped_to_two_columns_is_refused() -> None:
    """The same mapping twice is harmless."""
    assert parse_mapping(["response=a", "response=a"]) == {"response": "a"}
    with pytest.raises(typer.BadParameter, match="twice"):
        parse_mapping(["response=a", "response=b"])


def test_a_parameter_goes_as_deep_as_its_dots_and_is_toml_where_it_can_be() -> None:
    """What is no TOML value is the text itself: nobody quotes a word on a command line."""
    given = ["evidence.policy=present", "evidence.minimum_per_dimension=0", "verdict.rules.PASS.at_least=6.5"]

    assert parse_parameters([*given, "reply_mode=repair", 'a="x=y"', "b=[1, 2]", "c=x=y", "d=true", "e="]) == {
        "evidence": {"policy": "present", "minimum_per_dimension": 0},
        "verdict": {"rules": {"PASS": {"at_least": 6.5}}},
        "reply_mode": "repair",
        "a": "x=y",
        "b": [1, 2],
        "c": "x=y",
        "d": True,
        "e": "",
    }


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["evidence"], "not KEY=VALUE"),
        (["=x"], "not KEY=VALUE"),
        (["a..b=x"], "not KEY=VALUE"),
        (["a=1", "a=2"], "'a' is set twice"),
        (["a=1", "a.b=2"], "'a.b' is set both as a value and as a table"),
        (["a.b=1", "a=2"], "'a' is set twice"),
    ],
)
def test_a_parameter_that_cannot_be_meant_is_refused(pairs: list[str], message: str) -> None:
    with pytest.raises(typer.BadParameter) as caught:
        parse_parameters(pairs)

    assert message in str(caught.value)
