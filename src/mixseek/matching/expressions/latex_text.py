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
_COMMAND: Final = re.compile(r"([A-Za-z]+)\*?\s?")
_SPACES: Final = re.compile(r"\s+")
_DEGREE: Final = re.compile(r"\^\s{0,2}\{?\s{0,2}\\(?:circ|degree)\b\s?\}?")
_FRACTION: Final = re.compile(r"\\[dtc]?frac\s?(?:\{([^{}\\]{1,40})\}\s?\{([^{}\\]{1,40})\}|(\d)\s?(\d))")
_DELIMITERS: Final = str.maketrans({"{": None, "}": None, "$": None, "~": " "})
# \% \$ \{ \_ are the character itself; \, \; and a row break are space; \( \[ \! are nothing.
_ESCAPED: Final = {**{mark: mark for mark in "%$&#_{}"}, **dict.fromkeys(",;:\\ \n", " ")}
# An answer is short; a longer text is not one, and is given back as it is.
MAX_LENGTH: Final = 20_000


def plain_from_latex(text: str) -> str:
    """One linear pass: dress and delimiters go, known symbols become characters, unknown commands stay as they are."""
    if len(text) > MAX_LENGTH:
        return text.strip()
    if "\\" not in text:
        if "$" not in text and "{" not in text and "~" not in text:
            return text.strip()
        return text.translate(_DELIMITERS).strip()
    text = _FRACTION.sub(_spell_fraction, _DEGREE.sub("°", text))
    first, *rest = text.split("\\")
    pieces = [first.translate(_DELIMITERS)]
    after_row_break = False
    for part in rest:
        if after_row_break:
            after_row_break = False
            pieces.append(part.translate(_DELIMITERS))
        elif not part:
            after_row_break = True
            pieces.append(" ")
        else:
            pieces.append(_spell(part))
    return _SPACES.sub(" ", "".join(pieces)).strip()


def _spell(part: str) -> str:
    """What follows one backslash: a command and its text, or an escaped character."""
    found = _COMMAND.match(part)
    if found is None:
        return _ESCAPED.get(part[0], "") + part[1:].translate(_DELIMITERS)
    name, rest = found.group(1), part[found.end() :].translate(_DELIMITERS)
    if name in _DRESS:
        return rest
    spelled = _SPELLED.get(name)
    return f"\\{found.group()}{rest}" if spelled is None else spelled + rest


def _spell_fraction(found: re.Match[str]) -> str:
    top, bottom = found.group(1) or found.group(3), found.group(2) or found.group(4)
    return f"{top}/{bottom}"
