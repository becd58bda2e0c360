"""Every failure has one line and one exit code."""

import errno

import pytest
import typer
from tests.cases import each

from mixseek import errors
from mixseek.cli.terminal.console import ExitCode
from mixseek.cli.terminal.failures import describe_bug, describe_usage_error, exit_code_of

EXPECTED = {
    "MixseekError": ExitCode.INTERNAL,
    "ConfigurationError": ExitCode.USAGE,
    "DatasetError": ExitCode.USAGE,
    "StorageError": ExitCode.INTERNAL,
    "WorkerError": ExitCode.INCOMPLETE,
    "DamagedError": ExitCode.USAGE,
    "BusyError": ExitCode.INCOMPLETE,
    "TransientJudgeError": ExitCode.INCOMPLETE,
    "PermanentJudgeError": ExitCode.USAGE,
    "GateError": ExitCode.GATE_NOT_MET,
}


def all_errors() -> dict[str, type[errors.MixseekError]]:
    return {
        name: item
        for name, item in vars(errors).items()
        if isinstance(item, type) and issubclass(item, errors.MixseekError)
    }


@each("name", sorted(all_errors()))
def test_every_error_of_the_tree_has_an_exit_code(name: str) -> None:
    """A class added to the tree must be added here, on purpose."""
    assert exit_code_of(all_errors()[name]("x")) == EXPECTED.get(
        name, exit_code_of(all_errors()[name].__bases__[0]("x"))
    )


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.EROFS, ExitCode.USAGE), (errno.ENOTDIR, ExitCode.USAGE), (errno.ENOSPC, ExitCode.INCOMPLETE)],
)
def test_a_workspace_in_the_wrong_place_is_the_callers_to_mend(number: int, code: ExitCode) -> None:
    """A full disk is not: with some space, the same command goes on."""
    error = errors.StorageError("x")
    error.__cause__ = OSError(number, "y")

    assert exit_code_of(error) == code


def test_exit_codes_are_the_documented_ones() -> None:
    """Scripts rely on these numbers."""
    assert {code.name: int(code) for code in ExitCode} == {
        "OK": 0,
        "GATE_NOT_MET": 1,
        "USAGE": 2,
        "INTERNAL": 3,
        "INCOMPLETE": 4,
        "INTERRUPTED": 130,
    }


def test_a_bug_is_one_line_that_names_it() -> None:
    """Line breaks in a message would look like a traceback."""
    error = KeyError("a\nb")
    error.add_note("while judging sample 'x'")

    line = describe_bug(error)

    assert "\n" not in line
    assert "KeyError" in line
    assert "while judging sample 'x'" in line
    assert "rerun with --debug" in line


def test_a_usage_error_is_one_line() -> None:
    """typer's own message may have several."""
    assert describe_usage_error(typer.BadParameter("not\n\tgood.")) == "mixseek: invalid value: not good"
