"""From text as models write it to the one spelling of LaTeX that the tokenizer reads."""

import re
import unicodedata
from typing import Final

_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿˣ", "0123456789+-()nx")
_SUBSCRIPTS: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉ₙ", "0123456789n")
_SUPERSCRIPT_RUN: Final = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿˣ]+")
_SUBSCRIPT_RUN: Final = re.compile("[₀₁₂₃₄₅₆₇₈₉ₙ]+")
_SYMBOLS: Final = {
    **dict.fromkeys("−–—‒﹣－", "-"),
    **dict.fromkeys("×∗✕⨯", r"\times "),
    **dict.fromkeys("·⋅∙•", r"\cdot "),
    **dict.fromkeys("∪⋃", r"\cup "),
    **dict.fromkeys("∅⌀", r"\emptyset "),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’ʹ′", "'"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2009\u200a\u202f\u3000", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u2061\u2062\u00ad", ""),
    "÷": "/",
    "∕": "/",
    "⁄": "/",
    "√": r"\sqrt ",
    "∛": r"\sqrt[3]",
    "∜": r"\sqrt[4]",
    "π": r"\pi ",
    "∞": r"\infty ",
    "°": r"^\circ ",
    "º": r"^\circ ",
    "±": r"\pm ",
    "∓": r"\mp ",
    "≤": r"\le ",
    "≦": r"\le ",
    "⩽": r"\le ",
    "≥": r"\ge ",
    "≧": r"\ge ",
    "⩾": r"\ge ",
    "≠": r"\ne ",
    "≈": r"\approx ",
    "≅": r"\approx ",
    "≃": r"\approx ",
    "≡": "=",
    "∈": r"\in ",
    "∩": r"\cap ",
    "∖": r"\setminus ",
    "∨": r"\lor ",
    "∧": r"\land ",
    "ℝ": r"\mathbb{R}",
    "ℤ": r"\mathbb{Z}",
    "ℕ": r"\mathbb{N}",
    "ℚ": r"\mathbb{Q}",
    "ℂ": r"\mathbb{C}",
    "⟨": r"\langle ",
    "⟩": r"\rangle ",
    "⌊": r"\lfloor ",
    "⌋": r"\rfloor ",
    "⌈": r"\lceil ",
    "⌉": r"\rceil ",
    "…": r"\ldots ",
    "、": ",",
    "，": ",",
    "；": ";",
    "：": ":",
    "．": ".",
    "。": ".",
    "％": "%",
    "∠": r"\angle ",
    "△": r"\triangle ",
    "ℓ": r"\ell ",
    "€": "",
    "£": "",
    "¥": "",
    "₹": "",
    "￥": "",
}
_GREEK_LETTERS: Final = (
    "α=alpha β=beta γ=gamma δ=delta ε=epsilon ζ=zeta η=eta θ=theta ι=iota κ=kappa λ=lambda μ=mu ν=nu ξ=xi "
    "ρ=rho σ=sigma τ=tau υ=upsilon φ=phi ϕ=varphi χ=chi ψ=psi ω=omega Γ=Gamma Δ=Delta Θ=Theta Λ=Lambda "
    "Ξ=Xi Π=Pi Σ=Sigma Φ=Phi Ψ=Psi Ω=Omega"
)
_GREEK: Final = {pair[0]: f"\\{pair[2:]} " for pair in _GREEK_LETTERS.split()}
_TRANSLATION: Final = str.maketrans({**_SYMBOLS, **_GREEK})

# JSON and Python read \f, \b, \t, \r and \n in unescaped LaTeX as control characters; the rest of the name tells.
_MANGLED: Final = re.compile(
    r"\\?(?:(\x0c)(?=rac|box|lo)|(\x08)(?=oxed|inom|egin|eta|ar)|(\t)(?=ext|imes|frac|an\b|heta|au|o\b)"
    r"|(\r)(?=ight|ho|m\b)|(\n)(?=eq|u\b))"
)
_MANGLED_LETTERS: Final = {1: "\\f", 2: "\\b", 3: "\\t", 4: "\\r", 5: "\\n"}
_ENVIRONMENT: Final = re.compile(r"\\begin|&")
_SINGLE_COMMAND: Final = re.compile(r"(?<!\\)(?:\\\\)*\\[A-Za-z]")
_DOUBLED_COMMAND: Final = re.compile(r"\\\\(?=[A-Za-z])")
_DOUBLED_DELIMITER: Final = re.compile(r"\\\\(?=[()\[\]{},;!%])")
# 12{,}345  12,\!345  12\,345: a thousands separator that LaTeX keeps from looking like a list.
_THIN_THOUSANDS: Final = re.compile(
    r"(?<=\d)\s*(?:\{\s*,\s*\}|,\s*\\!|\\!\s*,|\\[,;: ]|~)\s*(?:\\!)?\s*(?=\d{3}(?!\d))"
)
_SPACED_THOUSANDS: Final = re.compile(r"(?<![\d.,/^_])(\d{1,3})((?: \d{3})+)(?![\d/])")
_BRACED_COMMA: Final = re.compile(r"(?<=\d)\{\s*,\s*\}(?=\d)")
_GLUED_JOINER: Final = re.compile(r"(?<=[\d)}])(and|or)(?=[A-Z\d(\\-])")
_MARKDOWN: Final = re.compile(r"(?<![\w)}])\*\*|\*\*(?![\w(\\-])|__(?=\S)|`+|</?(?:b|i|strong|em|answer|s)>")
_LEADING_WORDS: Final = re.compile(
    r"^(?:(?:approximately|approx\.?|about|around|exactly|roughly|equals?|the|is|are|only|either|both|just|simply"
    r"|(?:final )?answers?:?|ans:?)\s+"
    r"|\\approx\s*|≈\s*|[=:~]\s*)+",
    re.IGNORECASE,
)


_SYSTEM_START: Final = re.compile(r"\\left\s*\\\{\s*\\begin\{(?:array|aligned|matrix)\}(?:\s*\{[clr|\s]{1,10}\})?")
_SYSTEM_END: Final = re.compile(r"\\end\{(?:array|aligned|matrix)\}\s*\\right\s*\.")
_HTML_INDEX: Final = re.compile(r"<(su[bp])>([^<>]{1,20})</su[bp]>")


def fold_source(text: str) -> str:
    """One spelling for what looks alike; the result is not meant to be shown."""
    text = repair_commands(text)
    if "\\right" in text and "\\begin" in text:
        text = _SYSTEM_END.sub(r"\\end{cases}", _SYSTEM_START.sub(r"\\begin{cases}", text))
    if "<su" in text:
        text = _HTML_INDEX.sub(lambda found: ("_{" if found[1] == "sub" else "^{") + found[2] + "}", text)
    if not text.isascii():
        text = _fold_unicode(text)
    if "**" in text or "`" in text or "__" in text or "</" in text:
        text = _MARKDOWN.sub("", text)
    if "\\" in text or "{" in text or "~" in text:
        text = _BRACED_COMMA.sub(".", _THIN_THOUSANDS.sub("", text))
    if " " in text:
        text = _SPACED_THOUSANDS.sub(_join_thousands, text)
    if "or" in text or "and" in text:
        text = _GLUED_JOINER.sub(r" \1 ", text)
    return _LEADING_WORDS.sub("", _trim(text))


def repair_commands(text: str) -> str:
    r"""Undo one level of escaping: \\frac for \frac, and a form feed where \f stood."""
    if "\x0c" in text or "\x08" in text or "\t" in text or "\r" in text or "\n" in text:
        text = _MANGLED.sub(lambda found: _MANGLED_LETTERS[found.lastindex or 1], text)
    if "\\\\" not in text:
        return text
    if not _SINGLE_COMMAND.search(text):
        return text.replace("\\\\", "\\")
    if not _ENVIRONMENT.search(text):
        text = _DOUBLED_DELIMITER.sub(r"\\", _DOUBLED_COMMAND.sub(r"\\", text))
    return text


def _fold_unicode(text: str) -> str:
    text = _SUPERSCRIPT_RUN.sub(lambda run: "^{" + run.group().translate(_SUPERSCRIPTS) + "}", text)
    text = _SUBSCRIPT_RUN.sub(lambda run: "_{" + run.group().translate(_SUBSCRIPTS) + "}", text)
    text = "".join(map(_fold_vulgar_fraction, text)) if any(character >= "¼" for character in text) else text
    text = text.translate(_TRANSLATION)
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_TRANSLATION)


def _fold_vulgar_fraction(character: str) -> str:
    """½ is \\frac{1}{2}: NFKC alone would glue 2½ into 21/2."""
    if character.isascii() or unicodedata.category(character) != "No":
        return character
    top, slash, bottom = unicodedata.normalize("NFKC", character).partition("⁄")
    return rf"\frac{{{top}}}{{{bottom}}}" if slash and bottom else character


def _join_thousands(found: re.Match[str]) -> str:
    return found.group(1) + found.group(2).replace(" ", "")


def _trim(text: str) -> str:
    """Outer white space, quotation marks and final punctuation carry no meaning."""
    text = text.strip(" \t\r\n\"'`")
    while text and text[-1] in ".,;:!" and not text.endswith(("\\!", "\\,", "\\;", "\\:")):
        if text[-1] == "!" and len(text) > 1 and (text[-2].isalnum() or text[-2] in ")}"):
            break  # a factorial
        text = text[:-1].rstrip()
    return text
