"""Cut folded source into tokens, one canonical spelling each."""

import re
from typing import Final, NamedTuple

from mixseek.matching.expressions import names
from mixseek.matching.expressions.tree import UnreadableExpressionError
from mixseek.matching.expressions.units import is_unit_word

MAX_TOKENS: Final = 400
MAX_DIGITS: Final = 400
MAX_NESTING: Final = 12


class Token(NamedTuple):
    """`kind`: number repeating letter symbol constant set function command words operator begin finish end."""

    kind: str
    text: str
    spaced: bool = False  # white space stood before it


END: Final = Token("end", "")
_TOKEN: Final = re.compile(
    r"""(?P<space>(?:[\s~$]|\\[,;:!>\ $()\[\]]|\\(?:left|right)\s*\.)+)
    |(?P<row>\\\\(?:\s*\[[^\]\n]{0,20}\])?)
    |(?P<environment>\\(?:begin|end)\s*\{[a-zA-Z]{1,20}\*?\})
    |(?P<command>\\[A-Za-z]+)
    |(?P<escaped>\\[{}%&|\#_])
    |(?P<number>\d+\.(?=\\overline)|\d+(?:\.\d+)?(?:[eE][-+]?\d{1,4}(?![A-Za-z\d.]))?|\.\d+)
    |(?P<word>[A-Za-z]+)
    |(?P<foreign>[^\W\d_]+)
    |(?P<operator><=|>=|=<|!=|==|\*\*|\.\.\.|[-+*/^_=<>|(){}\[\],;:!%&'])""",
    re.VERBOSE,
)
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?")
_ZERO_GROUP: Final = re.compile(r",0\d\d")
# m/s, cm^2, N·m, 円: words and units, as opposed to \\text{5 cm} or \\mathbf{(x, y)}
_UNIT_TEXT: Final = re.compile(r"[^\W\d_][^\W\d_\s./'-]*(?:[\s./'-]+[^\W\d_]+|\^\{?-?\d\}?|\\cdot\s*|[,.](?=\s|$))*")
_COLUMNS: Final = re.compile(r"\s*(?:\[[a-z]\]\s*)?\{[clr|@{}\s]{1,40}\}")
_ALIASES: Final = {"<=": "≤", ">=": "≥", "=<": "≤", "!=": "≠", "==": "=", "**": "^", "...": "…"}
_ESCAPES: Final = {"\\{": "\\{", "\\}": "\\}", "\\%": "%", "\\|": "|", "\\&": "and", "\\_": "_", "\\#": "#"}
_OPENING: Final = frozenset({"(", "[", "\\{", "⟨"})
_CLOSING: Final = frozenset({")", "]", "\\}", "⟩"})


def tokenize(text: str) -> list[Token]:
    """All tokens, then END; raises UnreadableExpressionError at the first character that is no mathematics."""
    found = _Tokenizer(text, len(text))
    found.run(0, len(text))
    found.tokens.append(END)
    return found.tokens


class _Tokenizer:
    def __init__(self, text: str, length: int) -> None:
        self.text = text
        self.length = length
        self.tokens: list[Token] = []
        self.spaced = False
        self.depth = 0  # inside brackets a comma separates items; outside it may group thousands
        self.nesting = 0  # of \\text{\\text{…

    def add(self, kind: str, text: str) -> None:
        if len(self.tokens) >= MAX_TOKENS:
            raise UnreadableExpressionError("too long")
        self.tokens.append(Token(kind, text, self.spaced))
        self.spaced = False

    def run(self, position: int, end: int) -> None:
        match = _TOKEN.match
        while position < end:
            found = match(self.text, position, end)
            if found is None:
                raise UnreadableExpressionError(f"character {self.text[position]!r}")
            kind = found.lastgroup
            position = found.end()
            if kind == "space":
                self.spaced = True
            elif kind == "number":
                position = self._number(found)
            elif kind == "operator":
                self._operator(found.group())
            elif kind == "word":
                self._word(found.group())
            elif kind == "command":
                position = self._command(found.group()[1:], position, end)
            elif kind == "escaped":
                self._operator(_ESCAPES[found.group()])
            elif kind == "foreign":
                self.add("words", found.group())
            elif kind == "row":
                self.add("operator", "row")
            else:
                position = self._environment(found.group(), position)

    def _number(self, found: re.Match[str]) -> int:
        text, end = found.group(), found.end()
        grouped = _THOUSANDS.match(self.text, found.start())
        if grouped and (self.depth == 0 or _ZERO_GROUP.search(grouped.group())):
            text, end = grouped.group().replace(",", ""), grouped.end()
        if len(text) > MAX_DIGITS:
            raise UnreadableExpressionError("number too long")
        self.add("number", text)
        return end

    def _operator(self, text: str) -> None:
        if text == "!=" and self.tokens and (self.tokens[-1].kind == "number" or self.tokens[-1].text == ")"):
            self.add("operator", "!")
            text = "="
        text = _ALIASES.get(text, text)
        if text in _OPENING:
            self.depth += 1
        elif text in _CLOSING:
            self.depth = max(0, self.depth - 1)
        self.add("operator", text)

    def _word(self, word: str) -> None:
        lowered = word.lower()
        if len(word) == 1:
            self.add("letter", word)
        elif lowered in names.SEPARATOR_WORDS:
            self.add("operator", names.SEPARATOR_WORDS[lowered])
        elif lowered in names.PERCENT_WORDS:
            self.add("operator", "%")
        elif lowered in names.FUNCTIONS or lowered in names.FUNCTION_SYNONYMS:
            self.add("function", names.FUNCTION_SYNONYMS.get(lowered, lowered))
        elif lowered in names.CONSTANT_WORDS:
            self.add("constant", names.CONSTANT_WORDS[lowered])
        elif lowered in names.GREEK:
            self.add("symbol", word)
        elif len(word) > 3 or is_unit_word(word) or lowered in names.SHORT_WORDS:
            self.add("words", word)
        else:
            for letter in word:
                self.add("letter", letter)

    def _command(self, name: str, position: int, end: int) -> int:
        if name in names.SILENT_COMMANDS:
            self.spaced = True
        elif name in names.TEXT_COMMANDS:
            return self._text(position, end, prose=True)
        elif name in names.FACE_COMMANDS:
            return self._text(position, end, prose=False, accent=name)
        elif name == "mathbb" or name == "Bbb":
            return self._blackboard(position, end)
        elif name in names.OPERATOR_COMMANDS:
            self._operator(names.OPERATOR_COMMANDS[name])
        elif name in names.FRACTION_COMMANDS:
            self.add("command", "frac")
        elif name in names.BINOMIAL_COMMANDS:
            self.add("command", "binom")
        elif name in names.FUNCTIONS:
            self.add("function", name)
        elif name in names.FUNCTION_SYNONYMS:
            self.add("function", names.FUNCTION_SYNONYMS[name])
        elif name in names.CONSTANT_WORDS:
            self.add("constant", names.CONSTANT_WORDS[name])
        elif name in names.GREEK:
            self.add("symbol", name.removeprefix("var"))
        elif name in names.EMPTY_SET_COMMANDS:
            self.add("set", "")
        elif name.startswith(("quad", "qquad")):
            # "\quadx": the space after a command was lost
            self.add("operator", "quad")
            self._word(name.split("quad", 1)[1])
        else:
            raise UnreadableExpressionError(f"command {name}")
        return position

    def _text(self, position: int, end: int, *, prose: bool, accent: str = "") -> int:
        """Prose becomes one `words` token unless it holds mathematics; a letter in another face is the letter."""
        start, stop, after = group_bounds(self.text, position, end)
        content = self.text[start:stop].strip()
        lowered = content.lower()
        if not content:
            self.spaced = True
        elif lowered in names.SEPARATOR_WORDS or lowered in names.PERCENT_WORDS:
            self._word(content)
        elif not prose and len(content) == 1 and content in "ijk" and accent not in {"mathrm", "operatorname"}:
            self.add("symbol", f"unit vector {content}")  # bold or hatted: a basis vector, not the imaginary unit
        elif accent == "overline" and content.isdigit():
            self.add("repeating", content)
        elif not prose and ((len(content) == 1 and content.isalpha()) or lowered in names.FUNCTIONS):
            self._word(content)
        elif _UNIT_TEXT.fullmatch(content):
            if accent in {"overline", "overrightarrow", "vec", "mathcal"} and len(content) <= 3:
                self.add("symbol", content)
            else:
                self.add("words", content)
        else:
            self.nesting += 1
            if self.nesting > MAX_NESTING:
                raise UnreadableExpressionError("too deep")
            self.run(start, stop)
            self.nesting -= 1
        return after

    def _blackboard(self, position: int, end: int) -> int:
        start, stop, after = group_bounds(self.text, position, end)
        letter = self.text[start:stop].strip()
        if letter not in names.NAMED_SETS:
            raise UnreadableExpressionError("set name")
        self.add("set", letter)
        return after

    def _environment(self, text: str, position: int) -> int:
        name = text[text.index("{") + 1 : -1]
        if text.startswith("\\end"):
            self.depth = max(0, self.depth - 1)
            self.add("finish", name)
            return position
        self.depth += 1
        self.add("begin", name)
        columns = _COLUMNS.match(self.text, position) if name == "array" else None
        return columns.end() if columns else position


def group_bounds(text: str, position: int, end: int) -> tuple[int, int, int]:
    """Where a command's argument starts, where it stops, and where the text goes on; one character if unbraced."""
    while position < end and text[position].isspace():
        position += 1
    if position >= end:
        raise UnreadableExpressionError("missing argument")
    if text[position] != "{":
        return position, position + 1, position + 1
    depth = 0
    for place in range(position, min(end, position + 2_000)):
        character = text[place]
        if character == "{" and text[place - 1 : place] != "\\":
            depth += 1
        elif character == "}" and text[place - 1 : place] != "\\":
            depth -= 1
            if depth == 0:
                return position + 1, place, place + 1
    raise UnreadableExpressionError("unbalanced braces")
