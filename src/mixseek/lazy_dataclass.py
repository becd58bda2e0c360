"""Frozen dataclasses whose methods are made when they are first called.

The standard library writes and compiles six methods of each frozen class while its module is loaded, 0.8 ms a class:
a quarter of what a command took to start, for classes of which most commands use few. Here the library collects the
fields, and makes the methods once somebody asks for them. They are its own, so that the class behaves as it would.
"""

import dataclasses
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

Class = TypeVar("Class", bound=type[Any])

if TYPE_CHECKING:
    # The one that type checkers know.
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, **options):
        """As `dataclasses.dataclass`; lazy where the class is frozen, and the first dataclass in its family."""

        def make(cls):
            if not (frozen and eq) or any(map(dataclasses.is_dataclass, cls.__mro__)):
                return dataclasses.dataclass(frozen=frozen, eq=eq, **options)(cls)
            return freeze(dataclasses.dataclass(init=False, repr=False, eq=False, **options)(cls))

        return make if cls is None else make(cls)


class LazyMethod:
    """A method in whose place the library's own is put as soon as it is asked for."""

    def __init__(self, owner: type[Any], name: str) -> None:
        self._owner = owner
        self._name = name

    def __get__(self, instance: object, cls: type[Any]) -> Any:
        method = make_method(self._owner, self._name)
        setattr(self._owner, self._name, method)
        return method.__get__(instance, cls)


def make_method(cls: type[Any], name: str) -> FunctionType:
    """The method as the library makes it for a class with the same fields."""
    fields: dict[str, Any] = {field.name: field for field in dataclasses.fields(cls)}
    content = {**fields, "__annotations__": {key: field.type for key, field in fields.items()}}
    content |= {key: getattr(cls, key) for key in ("__module__", "__qualname__", "__doc__")}
    if hasattr(cls, "__post_init__"):
        content["__post_init__"] = cls.__post_init__
    make = dataclasses.dataclass(
        frozen=True,
        init=name == "__init__",
        repr=name == "__repr__",
        eq=name in ("__eq__", "__hash__"),
        slots="__slots__" in vars(cls),
    )
    method: FunctionType = vars(make(type(cls.__name__, (), content)))[name]
    return method


def freeze(cls: Class) -> Class:
    """The class, whose fields are known, with all that makes it a frozen dataclass."""
    kept = cls.__dataclass_params__
    kept.init = kept.repr = kept.eq = kept.frozen = True
    for name in ("__init__", "__repr__", "__eq__", "__hash__"):
        # What the class has of its own stays; `__hash__` is None where it has an `__eq__` and says nothing else.
        if vars(cls).get(name) is None:
            setattr(cls, name, LazyMethod(cls, name))
    for name, method in _SHARED.items():
        if name not in vars(cls):
            setattr(cls, name, method)
    return cls


def refuse_value(instance: object, name: str, value: object) -> None:
    """Nothing in a frozen instance is set."""
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def refuse_deletion(instance: object, name: str) -> None:
    """Nothing in a frozen instance is taken out."""
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def get_state(instance: Any) -> list[Any]:
    """The values of the fields in their order, which is what is pickled."""
    return [getattr(instance, field.name) for field in dataclasses.fields(instance)]


def set_state(instance: Any, state: list[Any]) -> None:
    """The fields get the values that were pickled."""
    for field, value in zip(dataclasses.fields(instance), state, strict=True):
        object.__setattr__(instance, field.name, value)


_SHARED: dict[str, Callable[..., Any]] = {
    "__setattr__": refuse_value,
    "__delattr__": refuse_deletion,
    "__getstate__": get_state,
    "__setstate__": set_state,
}
