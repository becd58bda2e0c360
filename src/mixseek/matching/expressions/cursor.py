"""A place in a list of tokens, and how deep the parser has gone."""

from typing import Final

from mixseek.matching.expressions.tokens import END, Token
from mixseek.matching.expressions.tree import UnreadableExpressionError

# Deep enough for any answer a person writes, shallow enough for Python's stack: each level takes about six frames.
MAX_DEPTH: Final = 40


class TokenCursor:
    """Every step forward goes through here."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.index = 0
        self.depth = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.index]

    def take(self) -> Token:
        token = self.tokens[self.index]
        if token is not END:
            self.index += 1
        return token

    def at(self, operator: str) -> bool:
        token = self.tokens[self.index]
        return token.text == operator and token.kind == "operator"

    def accept(self, operator: str) -> bool:
        if self.at(operator):
            self.index += 1
            return True
        return False

    def operator_in(self, wanted: frozenset[str]) -> str | None:
        """Take the next operator if it is one of these."""
        token = self.tokens[self.index]
        if token.kind == "operator" and token.text in wanted:
            self.index += 1
            return token.text
        return None

    def expect(self, operator: str) -> None:
        if not self.accept(operator):
            raise UnreadableExpressionError(f"{operator} missing")

    def enter(self) -> None:
        """Called on the way down; `leave` on the way up. Bounds the stack here and in whoever walks the tree."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnreadableExpressionError("too deep")

    def leave(self) -> None:
        self.depth -= 1
