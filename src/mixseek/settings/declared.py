"""What can be said of an option, and how a table of options is read.

A table is a TypedDict whose every key is `Annotated[type, Declared(...)]`: a checker sees what Python may pass, and
every door reads the rest here. Imported by whatever prints help, so nothing heavy may be imported.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin

from mixseek.lazy_dataclass import dataclass


class Group(StrEnum):
    """The headings under which `--help` shows the options of a command, in this order."""

    DATA = "Which samples"
    ASKED = "What is asked"
    JUDGES = "Who judges"
    TARGETS = "Who answers, and to what prompts"
    GATES = "What must hold, else exit 1"
    CALLS = "Calls and their cost"
    RUN = "Where it runs and is kept"
    OUTPUT = "What is shown and written"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """All that a door needs to know of one option, but for its name and its type in Python."""

    group: Group
    # As the command line says it; elsewhere its flags are put into the words of the caller.
    help: str
    # How a value is written, e.g. SHARE or FIELD=COLUMN: it decides how a command line and a job file read it.
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    # None: what is left out is decided by whoever uses the option.
    default: Any = None
    # Empty where it is the name with hyphens.
    flags: tuple[str, ...] = ()
    # The type on a command line, and of the value inside, where Python takes more than one; None: the same type.
    typed_as: Any = None
    # What Python says instead of `help`, where a value looks different there.
    in_python: str | None = None
    # False for what only Python has.
    is_typed: bool = True
    # A switch that is on unless its flag is typed.
    is_switched_off: bool = False
    # The field of LiveOptions, or of JudgeRequest, that the value becomes.
    live: str | None = None
    request: str | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the most that a number may be; None for what is no number."""
        if self.metavar == SHARE:
            return (0, 1)
        if self.least is None and self.most is None:
            return None
        infinite = float("inf")
        return (-infinite if self.least is None else self.least, infinite if self.most is None else self.most)


# How values are written that are more than a text or a number.
SHARE, POINTS, MAPPING, PARAMETERS = "SHARE", "POINTS", "FIELD=COLUMN", "KEY=VALUE"
VARIANT = "NAME=FILE"


@cache
def declarations(table: type) -> Mapping[str, Declared]:
    """The declarations by the name that the option has in Python."""
    return {name: annotation.__metadata__[0] for name, annotation in table.__annotations__.items()}


def kind_on_command_line(table: type, name: str) -> Any:
    """The type that a command line reads: the one that Python has, without None."""
    annotation = table.__annotations__[name]
    declared: Declared = annotation.__metadata__[0]
    if declared.typed_as is not None:
        return declared.typed_as
    kind = annotation.__origin__
    return get_args(kind)[0] if get_origin(kind) in (Union, UnionType) else kind
