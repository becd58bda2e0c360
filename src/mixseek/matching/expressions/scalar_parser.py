"""Recursive descent over sums, products, powers and functions; brackets are left to the structure parser."""

from fractions import Fraction
from typing import Final

from mixseek.matching.expressions import names
from mixseek.matching.expressions.cursor import MAX_DEPTH, TokenCursor
from mixseek.matching.expressions.tokens import END, Token
from mixseek.matching.expressions.tree import (
    Bracketed,
    Call,
    Constant,
    Degrees,
    NamedSet,
    Negative,
    Node,
    Number,
    Percent,
    PlusMinus,
    Power,
    Product,
    Quotient,
    Sum,
    Symbol,
    UnreadableExpressionError,
    Words,
)

MAX_POSTFIXES: Final = 4
_ADDITIVE: Final = frozenset("+-±∓")
_MULTIPLICATIVE: Final = frozenset("*/")
_POSTFIX: Final = frozenset("^!%∘")
_FACTOR_KINDS: Final = frozenset({"letter", "symbol", "constant", "function", "command", "set", "begin"})
_FACTOR_OPENINGS: Final = frozenset({"(", "{", "⌊", "⌈"})
_CLOSERS: Final = {"⌊": "⌋", "⌈": "⌉"}
_ROUNDING: Final = {"⌊": "floor", "⌈": "ceil"}
_ONE: Final = Number(Fraction(1))


class ScalarParser(TokenCursor):
    """Sums, products, powers, functions. `ambiguous` is set where two readings are common, such as 1/2x."""

    ambiguous = False
    bars = 0  # open | signs: inside them the next | closes

    # Groups hold sums and sums hold groups; the structure parser, the only class ever made, fills these two in.

    def bracketed(self) -> Node:
        """The group that starts at the cursor: one item, a tuple, a set."""
        raise NotImplementedError

    def environment(self) -> Node:
        r"""\begin{…}: a matrix or a system."""
        raise NotImplementedError

    # The grammar

    def sum(self) -> Node:
        self.enter()
        terms = [self.product()]
        while (sign := self.operator_in(_ADDITIVE)) is not None:
            term = self.product()
            if sign == "+":
                terms.append(term)
            elif sign == "-":
                terms.append(Negative(term))
            else:
                terms.append(PlusMinus(term, 1 if sign == "±" else -1))
        self.leave()
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def product(self) -> Node:
        factors = [self.signed()]
        divided = 0
        while True:
            sign = self.operator_in(_MULTIPLICATIVE)
            if sign == "*":
                factors.append(self.signed())
            elif sign == "/":
                left = factors[0] if len(factors) == 1 else Product(tuple(factors))
                factors = [Quotient(left, self.signed())]
                divided += 1
                if divided > MAX_DEPTH:
                    raise UnreadableExpressionError("too deep")
            elif self.starts_factor():
                if divided and len(factors) == 1:
                    self.ambiguous = True  # 1/2x
                factors.append(self.juxtaposed(factors))
            else:
                return factors[0] if len(factors) == 1 else Product(tuple(factors))

    def starts_factor(self) -> bool:
        token = self.next
        if token.kind == "operator":
            return token.text in _FACTOR_OPENINGS or (token.text == "|" and not self.bars)
        return token.kind in _FACTOR_KINDS or (token.kind == "number" and self._starts_mixed_number())

    def _starts_mixed_number(self) -> bool:
        """2 1/2: two integers side by side, then a slash, then an integer."""
        before, here = self.tokens[self.index - 1], self.tokens[self.index : self.index + 3]
        return (
            before.kind == "number"
            and before.text.isdigit()
            and len(here) == 3
            and here[0].text.isdigit()
            and here[1].text == "/"
            and here[2].kind == "number"
        )

    def juxtaposed(self, factors: list[Node]) -> Node:
        """The next factor; a whole number before a proper fraction of numbers is a mixed number, not a product."""
        before = self.tokens[self.index - 1]
        mixed = len(factors) == 1 and before.kind == "number" and before.text.isdigit()
        if self.next.kind == "number":
            top = Fraction(self.take().text)
            self.expect("/")
            bottom = Fraction(self.take().text)
            if not 0 < top < bottom:
                raise UnreadableExpressionError("two numbers side by side")
            return self._mixed(factors, Number(top / bottom))
        factor = self.power()
        if mixed and isinstance(factor, Quotient) and _is_proper(factor):
            return self._mixed(factors, factor)
        return factor

    def _mixed(self, factors: list[Node], fraction: Node) -> Node:
        whole = factors.pop()
        if isinstance(whole, Negative):
            return Negative(Sum((whole.inner, fraction)))
        return Sum((whole, fraction))

    def signed(self) -> Node:
        negative = False
        for _ in range(3):
            sign = self.operator_in(_ADDITIVE)
            if sign is None:
                break
            if sign == "-":
                negative = not negative
            elif sign != "+":
                return PlusMinus(self.power(), 1 if (sign == "±") != negative else -1)
        node = self.power()
        return Negative(node) if negative else node

    def power(self) -> Node:
        node = self.primary()
        for _ in range(MAX_POSTFIXES):
            sign = self.operator_in(_POSTFIX)
            if sign is None:
                return node
            if sign == "^":
                node = self._raise(node)
            elif sign == "!":
                node = Call("factorial", (node,))
            else:
                node = Percent(node) if sign == "%" else Degrees(node)
        raise UnreadableExpressionError("too deep")

    def _raise(self, base: Node) -> Node:
        if self.accept("∘"):
            return Degrees(base)
        if self.at("{") and self.tokens[self.index + 1].text == "∘":
            self.index += 2
            self.expect("}")
            return Degrees(base)
        exponent = self.exponent()
        return Power(base, exponent)

    def exponent(self) -> Node:
        self.enter()
        node: Node
        if self.accept("-"):
            node = Negative(self.exponent())
        elif self.accept("+"):
            node = self.exponent()
        else:
            node = self.primary()
            if self.at("^"):
                self.take()
                node = Power(node, self.exponent())
        self.leave()
        return node

    def primary(self) -> Node:
        self.enter()
        node = self._primary()
        self.leave()
        return node

    def _primary(self) -> Node:
        token = self.next
        match token.kind:
            case "number":
                self.index += 1
                return self._number(token.text)
            case "letter" | "symbol":
                self.index += 1
                return self._symbol(token)
            case "constant":
                self.index += 1
                return Constant(token.text)
            case "function":
                self.index += 1
                return self.call(token.text)
            case "command":
                self.index += 1
                return self._command(token.text)
            case "set":
                self.index += 1
                return NamedSet(token.text)
            case "words":
                return self._words()
            case "begin":
                return self.environment()
            case "operator":
                return self._delimited(token.text)
            case _:
                raise UnreadableExpressionError(f"unexpected {token.text!r}")

    def _delimited(self, opening: str) -> Node:
        if opening == "|":
            self.index += 1
            self.bars += 1
            inner = self.sum()
            self.bars -= 1
            self.expect("|")
            return Call("abs", (inner,))
        if opening in _CLOSERS:
            self.index += 1
            inner = self.sum()
            self.expect(_CLOSERS[opening])
            return Call(_ROUNDING[opening], (inner,))
        if opening in {"(", "[", "{", "\\{", "⟨"}:
            return self.bracketed()
        raise UnreadableExpressionError(f"unexpected {opening!r}")

    def _number(self, text: str) -> Node:
        if text.isdigit() and self.next.kind != "repeating":
            return Number(Fraction(int(text)))
        mantissa, _, exponent = text.lower().partition("e")
        whole, _, decimals = mantissa.partition(".")
        if self.next.kind == "repeating" and "." not in exponent:
            return self._repeating(whole, decimals, self.take().text)
        scale = Fraction(10) ** int(exponent) if exponent else Fraction(1)
        place = Fraction(1, 10 ** len(decimals)) * scale
        return Number(int(whole + decimals) * place, place)

    def _repeating(self, whole: str, decimals: str, period: str) -> Number:
        """0.1\\overline{6}: exact."""
        shift = Fraction(1, 10 ** len(decimals))
        value = Fraction(f"{whole or 0}.{decimals or 0}") + shift * Fraction(int(period), 10 ** len(period) - 1)
        return Number(value)

    def _symbol(self, token: Token) -> Node:
        name = token.text
        while True:
            if self.at("_"):
                self.take()
                name += "_" + self._subscript()
            elif self.accept("'"):
                name += "'"
            elif self.at("^") and self.tokens[self.index + 1].text in {"'", "*"}:
                self.index += 2
                name += "'"
            else:
                break
        if name in names.CONSTANT_LETTERS:
            return Constant(name)
        if name[0] in names.FUNCTION_LETTERS and token.kind == "letter" and self.at("("):
            group = self.bracketed()
            arguments = group.items if isinstance(group, Bracketed) else (group,)
            return Call(name, arguments)
        return Symbol(name)

    def _subscript(self) -> str:
        """The subscript as text: it only tells symbols apart."""
        if not self.accept("{"):
            return self.take().text
        parts: list[str] = []
        level = 1
        while level:
            token = self.take()
            if token is END:
                raise UnreadableExpressionError("unbalanced braces")
            level += (token.text == "{") - (token.text == "}")
            parts.append(token.text)
        return "".join(parts[:-1])

    def _words(self) -> Node:
        words: list[str] = []
        while self.next.kind == "words":
            words.append(self.take().text)
        return Words(" ".join(words))

    def _command(self, name: str) -> Node:
        first = self.argument()
        second = self.argument()
        return Quotient(first, second) if name == "frac" else Call("binom", (first, second))

    def argument(self) -> Node:
        """One TeX argument: a braced group, or a single digit or symbol: \\frac12 is one half."""
        token = self.next
        if token.kind == "number" and len(token.text) > 1:
            self.tokens = list(self.tokens)
            self.tokens[self.index] = Token("number", token.text[1:])
            return Number(Fraction(token.text[0])) if token.text[0].isdigit() else self.primary()
        return Negative(self.primary()) if self.accept("-") else self.primary()

    def call(self, name: str) -> Node:
        index: Node | None = None
        exponent: Node | None = None
        for _ in range(2):
            if self.accept("_"):
                index = self.argument() if self.at("{") else self.primary()
            elif self.at("^"):
                self.take()
                exponent = self.exponent()
            elif name == "sqrt" and self.at("["):
                self.take()
                index = self.sum()
                self.expect("]")
        if exponent == Negative(_ONE) and name in names.INVERSES:
            name, exponent = names.INVERSES[name], None
        arguments = self._call_arguments(name)
        if index is not None:
            arguments = (*arguments, index)
        node: Node = Call(name, arguments)
        return node if exponent is None else Power(node, exponent)

    def _call_arguments(self, name: str) -> tuple[Node, ...]:
        if self.at("(") or self.at("\\{"):
            group = self.bracketed()
            return group.items if isinstance(group, Bracketed) else (group,)
        if self.at("{") or name in {"sqrt", "cbrt", "abs"}:
            return (self.primary(),)
        return (self._implicit_argument(),)

    def _implicit_argument(self) -> Node:
        """sin 2x cos x: the argument ends where the next function begins."""
        self.enter()
        factors = [self.signed()]
        while self.starts_factor() and self.next.kind != "function" and not self.at("("):
            factors.append(self.power())
        if self.at("/"):
            self.ambiguous = True  # cos 3π/8
        self.leave()
        return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _is_proper(fraction: Quotient) -> bool:
    top, bottom = fraction.numerator, fraction.denominator
    return (
        isinstance(top, Number)
        and isinstance(bottom, Number)
        and top.last_place is None
        and bottom.last_place is None
        and 0 < top.value < bottom.value
    )
