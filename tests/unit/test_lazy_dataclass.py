"""A lazy dataclass is a dataclass: whatever can be asked of one, the standard library's gives the same answer."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

import mixseek
from mixseek import lazy_dataclass

Decorator = Callable[..., Any]
# The plugin is loaded by every run of pytest, and loads nothing else.
_EXEMPT = ("lazy_dataclass.py", "pytest_plugin.py")


def make_classes(dataclass: Decorator) -> dict[str, type[Any]]:
    """One class of each shape that the source has."""
    return {cls.__name__: cls for cls in (*make_fields(dataclass), *make_others(dataclass))}


def make_fields(dataclass: Decorator) -> tuple[type[Any], ...]:
    """Classes that differ in their fields."""

    @dataclass(frozen=True, slots=True)
    class Plain:
        """Two fields."""

        name: str
        count: int = 3

    @dataclass(frozen=True)
    class Open:
        """Without slots, with a value that is made for each."""

        name: str
        values: dict[str, int] = dataclasses.field(default_factory=dict)

        def __post_init__(self) -> None:
            object.__setattr__(self, "name", self.name.upper())

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named:
        """All by name, some not compared or not shown, and one that is no field."""

        kind: ClassVar[str] = "named"
        name: str
        secret: str = dataclasses.field(default="x", repr=False, compare=False)

    @dataclass(frozen=True, slots=True)
    class Fixed:
        """With a value that nobody gives."""

        name: str
        count: int = dataclasses.field(default=1, init=False)

    return Plain, Open, Named, Fixed


def make_others(dataclass: Decorator) -> tuple[type[Any], ...]:
    """Classes with methods of their own, without fields, and not frozen."""

    @dataclass(frozen=True, slots=True)
    class OwnMethods:
        """Equal by name alone."""

        name: str
        count: int = 0

        def __eq__(self, other: object) -> bool:
            return isinstance(other, OwnMethods) and self.name == other.name

        def __hash__(self) -> int:
            return hash(self.name)

        def __repr__(self) -> str:
            return f"<{self.name}>"

    @dataclass(frozen=True, slots=True)
    class Empty:
        """Without fields."""

    @dataclass(slots=True)
    class Mutable:
        """Not frozen."""

        name: str
        count: int = 0

    return OwnMethods, Empty, Mutable


LAZY, USUAL = make_classes(lazy_dataclass.dataclass), make_classes(dataclasses.dataclass)


def try_to(action: Callable[[], object]) -> str:
    """What came of it: a value, or what was raised."""
    try:
        return repr(action())
    except (TypeError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


def set_name(instance: Any) -> None:
    instance.name = "other"


def delete_name(instance: Any) -> None:
    del instance.name


ASKED: dict[str, Callable[[type[Any]], object]] = {
    "signature": inspect.signature,
    "document": lambda cls: (cls.__doc__, cls.__match_args__, cls.__module__, cls.__qualname__),
    "parameters": lambda cls: cls.__dataclass_params__,
    "fields": lambda cls: [(field.name, field.type, field.kw_only) for field in dataclasses.fields(cls)],
    "init": lambda cls: (cls.__init__.__qualname__, cls.__init__.__annotations__),
    "repr": lambda cls: cls(name="a"),
    "positional": lambda cls: cls("a", 4),
    "too many": lambda cls: cls("a", 4, 5),
    "unknown": lambda cls: cls(name="a", other=1),
    "nothing": lambda cls: cls(),
    "equal": lambda cls: (cls(name="a") == cls(name="a"), cls(name="a") == cls(name="b"), cls(name="a") == 1),
    "ordered": lambda cls: cls(name="a") < cls(name="b"),
    "hash": lambda cls: hash(cls(name="a")) == hash(cls(name="a")),
    "in a set": lambda cls: len({cls(name="a"), cls(name="a"), cls(name="b")}),
    "set": lambda cls: set_name(cls(name="a")),
    "deleted": lambda cls: delete_name(cls(name="a")),
    "replaced": lambda cls: dataclasses.replace(cls(name="a"), name="b"),
    "as a mapping": lambda cls: (dataclasses.asdict(cls(name="a")), dataclasses.astuple(cls(name="a"))),
    "copied": lambda cls: (copy.copy(cls(name="a")), copy.deepcopy(cls(name="a"))),
    "own values": lambda cls: cls(name="a").values is cls(name="a").values,
    "slots": lambda cls: getattr(cls, "__slots__", None),
    "derived": lambda cls: dataclasses.dataclass(frozen=cls.__name__ != "Mutable")(type("Derived", (cls,), {})),
}


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("name", USUAL)
def test_a_lazy_class_answers_as_a_usual_one(name: str, question: str) -> None:
    """Also with what it refuses, and in which words."""
    ask = ASKED[question]

    assert try_to(lambda: ask(LAZY[name])) == try_to(lambda: ask(USUAL[name]))


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Sent:
    """Something that goes to another process."""

    name: str
    values: tuple[int, ...] = ()


@lazy_dataclass.dataclass(frozen=True, slots=True)
class SentOn(Sent):
    """A class below a frozen one."""

    more: int = 0


def test_instances_are_pickled() -> None:
    """Processes that judge are given frozen objects."""
    for instance in (Sent("a", (1, 2)), SentOn("a", (1,), 2)):
        assert pickle.loads(pickle.dumps(instance)) == instance  # noqa: S301 - our own bytes


def test_fields_are_matched_by_place() -> None:
    """Outcomes are told apart so."""
    match Sent("a", (1,)):
        case Sent(name, values):
            assert (name, values) == ("a", (1,))


def test_a_method_is_made_when_it_is_asked_for() -> None:
    """And once."""

    @lazy_dataclass.dataclass(frozen=True, slots=True)
    class Late:
        """One field."""

        name: str

    assert {type(vars(Late)[name]) for name in ("__init__", "__eq__", "__repr__")} == {lazy_dataclass.LazyMethod}

    assert Late("a").name == "a"
    made = vars(Late)["__init__"]
    assert inspect.isfunction(made)
    assert Late("b").name == "b"
    assert vars(Late)["__init__"] is made
    assert type(vars(Late)["__repr__"]) is lazy_dataclass.LazyMethod


def test_every_class_of_the_source_is_lazy() -> None:
    """Where a module takes the decorator of the library, its classes are made in full at every start."""
    sources = [path for path in Path(mixseek.__file__).parent.rglob("*.py") if path.name not in _EXEMPT]
    imports = {
        path.name: line
        for path in sources
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("from dataclasses import") and "dataclass" in line.replace(",", " ").split()[3:]
    }

    assert sources
    assert imports == {}
