r"""LaTeX as plain text, for answers that are words in mathematical dress: \boxed{\text{(B)}}, $\mathbf{True}$."""

import re
from typing import Final

from mixseek.matching.expressions.names import OPERATOR_COMMANDS, word_set

# Commands whose braces only dress their content.
_DRESS: Final = word_set(
    "text textbf textit textrm textnormal textsf texttt textsc emph underline overline mbox hbox fbox boxed "
    "mathrm mathbf mathit mathsf mathtt mathnormal mathcal mathbb boldsymbol bm operatorname left right big Big "
    "framebox bigg Bigg bigl bigr Bigl Bigr displaystyle textstyle ensuremath"
)
_SPELLED: Final = {
    **{name: mark for name, mark in OPERATOR_COMMANDS.items() if len(mark) == 1 and not mark.isascii()},
    "times": "×",
    "cdot": "·",
    "div": "÷",
    "lt": "<",
    "gt": ">",
    "circ": "°",
    "degree": "°",
    "pi": "π",
    "infty": "∞",
    "ldots": "…",
    "dots": "…",
    "cdots": "…",
    "checkmark": "✓",
    "rightarrow": "→",
    "to": "→",
    "quad": " ",
    "qquad": " ",
    "space": " ",
    "newline": " ",
    "langle": "<",
    "rangle": ">",
    "lbrack": "[",
    "rbrack": "]",
    "lbrace": "{",
    "rbrace": "}",
}
_PIECE: Final = re.compile(r"\\([A-Za-z]+)\*?\s?|\\(.)|\^\\circ\b|[${}~]", re.DOTALL)
_SPACES: Final = re.compile(r"\s+")
_DEGREE: Final = re.compile(r"\^\s*\{?\s*\\(?:circ|degree)\b\s*\}?")
_FRACTION: Final = re.compile(r"\\[dtc]?frac\s*(?:\{([^{}]{1,40})\}\s*\{([^{}]{1,40})\}|(\d)\s*(\d))")


def plain_from_latex(text: str) -> str:
    """One linear pass: dress and delimiters go, known symbols become characters, unknown commands stay as they are."""
    if "\\" not in text and "$" not in text and "{" not in text and "~" not in text:
        return text.strip()
    text = _DEGREE.sub("°", text)
    text = _FRACTION.sub(_spell_fraction, text)
    return _SPACES.sub(" ", _PIECE.sub(_spell, text)).strip()


def _spell(found: re.Match[str]) -> str:
    name, escaped = found.group(1), found.group(2)
    if name is not None:
        if name in _DRESS:
            return ""
        return _SPELLED.get(name, found.group())
    if escaped is not None:
        # \, \; \! \( \[ are spacing and delimiters; \% \$ \{ \_ are the character itself
        return escaped if escaped in "%$&#_{}" else " " if escaped in ",;:\\ \n" else ""
    return " " if found.group() == "~" else ""


def _spell_fraction(found: re.Match[str]) -> str:
    top, bottom = found.group(1) or found.group(3), found.group(2) or found.group(4)
    return f"{top}/{bottom}"
