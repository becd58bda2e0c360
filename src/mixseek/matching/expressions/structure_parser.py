"""Lists, relations, brackets, sets and matrices around the scalar grammar."""

from fractions import Fraction
from typing import Final

from mixseek.matching.expressions import names
from mixseek.matching.expressions.cursor import MAX_DEPTH
from mixseek.matching.expressions.scalar_parser import ScalarParser
from mixseek.matching.expressions.source import fold_source
from mixseek.matching.expressions.tokens import END, tokenize
from mixseek.matching.expressions.tree import (
    Bracketed,
    Builder,
    Chain,
    Collection,
    Listing,
    Matrix,
    Node,
    Number,
    Product,
    Quantity,
    Ratio,
    SetOperation,
    UnreadableExpressionError,
    Words,
)

MAX_LENGTH: Final = 1_500
MAX_UNIT_PARTS: Final = 10
_RELATIONS: Final = frozenset("=<>≤≥≠≈∈")
_SET_OPERATIONS: Final = frozenset("∪∩∖")
_CLOSINGS: Final = frozenset({")", "]", "}", "\\}", "⟩"})
# From weakest to strongest hold on its neighbours.
_SEPARATORS: Final = ("row", ";", "or", "and", ",", "quad")


def read_expression(text: str) -> tuple[Node, bool] | None:
    """The tree, and whether another reading is as common; None when the text is no expression we read."""
    if len(text) > MAX_LENGTH:
        return None
    try:
        parser = StructureParser(tokenize(fold_source(text)))
        node = parser.document()
    except UnreadableExpressionError:
        return None
    return node, parser.ambiguous


class StructureParser(ScalarParser):
    """The whole grammar."""

    builder = False  # inside {x : …} the colon is no ratio

    def document(self) -> Node:
        node = self.listing()
        if self.next is not END:
            raise UnreadableExpressionError(f"unexpected {self.next.text!r}")
        return node

    def listing(self) -> Node:
        """Items up to a closing bracket or the end; a semicolon separates groups of comma lists."""
        groups: list[list[Node]] = [[]]
        alternatives: list[list[Node]] = [[]]
        seen: set[str] = set()
        while True:
            node = self.relation()
            groups[-1].append(node)
            alternatives[-1].append(node)
            separators = self._separators()
            if not separators or self._at_end():
                break
            seen |= separators
            if separators & {"row", ";"}:
                groups.append([])
            if "or" in separators:
                alternatives.append([])
        joiner = next((mark for mark in _SEPARATORS if mark in seen), ",")
        if len(groups) == 1 and _are_solutions(alternatives):
            groups = alternatives
        if len(groups) > 1 and any(len(group) > 1 for group in groups):
            return Listing(tuple(_as_one(group) for group in groups), joiner)
        items = [item for group in groups for item in group]
        return items[0] if len(items) == 1 else Listing(tuple(items), joiner)

    def _at_end(self) -> bool:
        token = self.next
        return token is END or token.kind == "finish" or (token.kind == "operator" and token.text in _CLOSINGS)

    def _separators(self) -> set[str]:
        found: set[str] = set()
        while self.next.kind == "operator" and self.next.text in _SEPARATORS:
            found.add(self.take().text)
        return found

    def relation(self) -> Node:
        self.enter()
        starts = [self.index]
        operands = [self.quantity()]
        operators: list[str] = []
        while self.next.kind == "operator" and self.next.text in _RELATIONS:
            operators.append(self.take().text)
            starts.append(self.index)
            operands.append(self.quantity())
        self.leave()
        if not operators:
            return operands[0]
        stops = [start - 1 for start in starts[1:]] + [self.index]
        texts = tuple(
            "".join(token.text for token in self.tokens[start:stop] if token.text not in {"{", "}"})
            for start, stop in zip(starts, stops, strict=True)
        )
        return Chain(tuple(operands), tuple(operators), texts)

    def quantity(self) -> Node:
        """A value and the words after it, up to the next separator."""
        node = self.ratio()
        if self.next.kind != "words" or isinstance(node, Words):
            return node
        if self.next.text.lower() in names.SCALE_WORDS:
            node = Product((node, Number(Fraction(names.SCALE_WORDS[self.take().text.lower()]))))
        parts: list[str] = []
        while self.next.kind in {"words", "number", "letter"} or self.at("^") or self.at("/") or self.at("*"):
            token = self.take()
            if token.text.lower() in names.NOT_UNITS or len(parts) > MAX_UNIT_PARTS:
                raise UnreadableExpressionError("prose after a value")
            parts.append(token.text if token.kind != "words" else f" {token.text} ")
        return Quantity(node, "".join(parts).strip()) if parts else node

    def ratio(self) -> Node:
        parts = [self.set_expression()]
        while not self.builder and self.accept(":"):
            parts.append(self.set_expression())
        return parts[0] if len(parts) == 1 else Ratio(tuple(parts))

    def set_expression(self) -> Node:
        node = self.sum()
        unions = 0
        while True:
            token = self.next
            if token.kind == "operator" and token.text in _SET_OPERATIONS:
                self.take()
                unions += 1
                if unions > MAX_DEPTH:
                    raise UnreadableExpressionError("too deep")
                node = SetOperation(token.text, node, self.sum())
            else:
                return node

    def starts_factor(self) -> bool:
        """(1,2)U(3,4): between two intervals the letter is a union sign."""
        token = self.next
        if token.text in {"U", "u"} and token.kind == "letter" and self._between_intervals():
            self.tokens = list(self.tokens)
            self.tokens[self.index] = token._replace(kind="operator", text="∪")
            return False
        return super().starts_factor()

    def _between_intervals(self) -> bool:
        before, after = self.tokens[self.index - 1], self.tokens[self.index + 1]
        return before.text in {")", "]"} and after.text in {"(", "["}

    def bracketed(self) -> Node:
        self.enter()
        opening = self.take().text
        bars, builder = self.bars, self.builder
        self.bars, self.builder = (1, True) if opening in {"{", "\\{"} and self._holds_builder() else (0, self.builder)
        if opening == "\\{" and self.accept("\\}"):
            items: tuple[Node, ...] = ()
            closing = "\\}"
        else:
            items = self._items()
            if self.builder and len(items) == 1 and (self.accept("|") or self.accept(":")):
                items = (Builder(items[0], self.listing()),)
            closing = self.take().text
        self.bars, self.builder = bars, builder
        self.leave()
        if closing not in _CLOSINGS:
            raise UnreadableExpressionError("unbalanced brackets")
        return _group(opening, closing, items)

    def _items(self) -> tuple[Node, ...]:
        node = self.listing()
        return node.items if isinstance(node, Listing) else (node,)

    def _holds_builder(self) -> bool:
        """{x | …}: one | or : between this brace and its partner, with a relation after it."""
        level = 1
        mark = False
        for token in self.tokens[self.index :]:
            if token.kind != "operator":
                continue
            level += (token.text in {"{", "\\{"}) - (token.text in {"}", "\\}"})
            if level == 0:
                return False
            mark = mark or token.text in {"|", ":"}
            if mark and token.text in _RELATIONS:
                return True
        return False

    def environment(self) -> Node:
        self.enter()
        name = self.take().text
        rows: list[list[Node]] = [[]]
        while self.next.kind != "finish":
            if self.accept("row"):
                rows.append([])
            elif not self.accept("&") and not self.accept(",") and not self.accept("quad"):
                rows[-1].append(self._cell(name))
            if self.next is END:
                raise UnreadableExpressionError("environment without end")
        self.take()
        self.leave()
        rows = [row for row in rows if row]
        if name in names.MATRIX_ENVIRONMENTS and rows and len({len(row) for row in rows}) == 1:
            return Matrix(tuple(tuple(row) for row in rows))
        if name in names.LINE_ENVIRONMENTS and rows:
            lines = [row[0] if len(row) == 1 else Bracketed("(", ")", tuple(row)) for row in rows]
            return _as_one(lines)
        raise UnreadableExpressionError(f"environment {name}")

    def _cell(self, environment: str) -> Node:
        """One entry; in aligned lines "x &= 1" is a relation with an & in its middle."""
        if environment in names.MATRIX_ENVIRONMENTS:
            return self.sum()
        if environment not in {"cases", "rcases"}:
            self.tokens = [token for place, token in enumerate(self.tokens) if place < self.index or token.text != "&"]
        return self.relation()


def _are_solutions(alternatives: list[list[Node]]) -> bool:
    """a = 1, b = 2 or a = 2, b = 1: each alternative names the same unknowns."""
    if len(alternatives) < 2 or len(alternatives[0]) < 2:
        return False
    named = [tuple(item.texts[0] if isinstance(item, Chain) else "" for item in group) for group in alternatives]
    return all(names_of == named[0] for names_of in named) and "" not in named[0]


def _as_one(items: list[Node]) -> Node:
    return items[0] if len(items) == 1 else Listing(tuple(items), ",")


def _group(opening: str, closing: str, items: tuple[Node, ...]) -> Node:
    if opening in {"{", "\\{"}:
        if len(items) == 1 and (opening == "{" or isinstance(items[0], Builder)):
            return items[0]
        return Collection(items)
    if len(items) == 1 and opening != "⟨":
        if isinstance(items[0], Matrix) or (opening, closing) in {("(", ")"), ("[", "]")}:
            return items[0]
        raise UnreadableExpressionError("half a bracket")
    return Bracketed(opening, closing, items)
