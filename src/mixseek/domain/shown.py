"""Results that can be printed: what they look like is known to `reports`, far above whoever computes them."""

from functools import singledispatch
from html import escape
from typing import Any


@singledispatch
def shown_text(result: object) -> str:
    """The text as a terminal would show it. Renderers register their types.

    One that nobody renders shows its fields.
    """
    return object.__repr__(result)


@singledispatch
def shown_html(result: object) -> str:
    """The HTML as a notebook shows it; the same as on a terminal where nobody registers more."""
    return f"<pre>{escape(shown_text(result))}</pre>"


class Shown:
    """A result that `print`, IPython and notebooks show as the command line does."""

    __slots__ = ()

    def __str__(self) -> str:
        return shown_text(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The text for IPython, which would show every field."""
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return shown_html(self)
