"""The vocabulary of written mathematics: which command or word is a function, an operator, a letter, a separator."""

from typing import Final


def word_set(text: str) -> frozenset[str]:
    """Long closed sets read best as running text."""
    return frozenset(text.split())


# Commands that draw an operator, and the one character the parser knows it by.
OPERATOR_COMMANDS: Final = {
    "times": "*",
    "cdot": "*",
    "ast": "*",
    "bullet": "*",
    "div": "/",
    "pm": "±",
    "mp": "∓",
    "le": "≤",
    "leq": "≤",
    "leqslant": "≤",
    "leqq": "≤",
    "ge": "≥",
    "geq": "≥",
    "geqslant": "≥",
    "geqq": "≥",
    "lt": "<",
    "gt": ">",
    "ne": "≠",
    "neq": "≠",
    "approx": "≈",
    "simeq": "≈",
    "cong": "≈",
    "thickapprox": "≈",
    "doteq": "≈",
    "equiv": "=",
    "in": "∈",
    "cup": "∪",
    "bigcup": "∪",
    "cap": "∩",
    "setminus": "∖",
    "backslash": "∖",
    "smallsetminus": "∖",
    "mid": "|",
    "vert": "|",
    "lvert": "|",
    "rvert": "|",
    "lbrace": "\\{",
    "rbrace": "\\}",
    "lbrack": "[",
    "rbrack": "]",
    "langle": "⟨",
    "rangle": "⟩",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "lceil": "⌈",
    "rceil": "⌉",
    "colon": ":",
    "circ": "∘",
    "degree": "∘",
    "prime": "'",
    "lor": "or",
    "vee": "or",
    "land": "and",
    "wedge": "and",
    "quad": "quad",
    "qquad": "quad",
    "cr": "row",
    "newline": "row",
    "ldots": "…",
    "cdots": "…",
    "dots": "…",
    "dotsc": "…",
    "dotsb": "…",
}

# Commands that change how something looks and nothing else.
SILENT_COMMANDS: Final = word_set(
    "left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm displaystyle textstyle "
    "scriptstyle limits nolimits rm bf it thinspace medspace thickspace enspace hfill boxed fbox ensuremath "
    "mathstrut strut nonumber angle measuredangle triangle hline phantom therefore"
)

# Commands that take words: their content is prose, a unit, or a letter in another face.
TEXT_COMMANDS: Final = word_set("text mbox textrm textnormal textsf texttt hbox")
FACE_COMMANDS: Final = word_set(
    "mathrm mathbf mathit mathsf mathtt mathnormal mathcal mathfrak boldsymbol bm textbf textit emph operatorname "
    "vec hat bar tilde overrightarrow overline widehat underline mathop"
)
FRACTION_COMMANDS: Final = word_set("frac dfrac tfrac cfrac nicefrac sfrac")
BINOMIAL_COMMANDS: Final = word_set("binom dbinom tbinom")

FUNCTIONS: Final = word_set(
    "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh ln log lg exp max min gcd lcm "
    "sqrt cbrt root abs floor ceil factorial binom arsinh arcosh artanh"
)
FUNCTION_SYNONYMS: Final = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "tg": "tan", "ctg": "cot"}
INVERSES: Final = {
    "sin": "arcsin",
    "cos": "arccos",
    "tan": "arctan",
    "cot": "arccot",
    "sec": "arcsec",
    "csc": "arccsc",
    "sinh": "arsinh",
    "cosh": "arcosh",
    "tanh": "artanh",
}
# One letter before "(" is a product unless the letter is the usual name of a function.
FUNCTION_LETTERS: Final = frozenset("fghFGHW")

GREEK: Final = word_set(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho varrho sigma "
    "tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell hbar"
)
CONSTANT_WORDS: Final = {"pi": "pi", "infty": "infinity", "infinity": "infinity", "inf": "infinity", "oo": "infinity"}
CONSTANT_LETTERS: Final = {"e": "e", "i": "i"}
NAMED_SETS: Final = {"R": "R", "Z": "Z", "N": "N", "Q": "Q", "C": "C"}
EMPTY_SET_COMMANDS: Final = frozenset({"emptyset", "varnothing"})

PERCENT_WORDS: Final = frozenset({"percent", "percentage", "pct"})
SEPARATOR_WORDS: Final = {"and": "and", "or": "or", "union": "∪"}

SCALE_WORDS: Final = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
}
# After a value these words change it or talk about it; a unit does neither.
NOT_UNITS: Final = word_set(
    "is are was were be not no plus minus times divided multiplied less more than over under point half and or but "
    "because since if when then wrong incorrect correct right instead except without isn doesn hundred thousand "
    "million billion trillion"
)
WORDS_FOR_EVERYTHING: Final = frozenset({"all real numbers", "all reals", "all real values", "the real numbers"})
WORDS_FOR_NOTHING: Final = frozenset(
    {"no solution", "no solutions", "no real solution", "no real solutions", "empty set"}
)

MATRIX_ENVIRONMENTS: Final = word_set("matrix pmatrix bmatrix Bmatrix smallmatrix array psmallmatrix bsmallmatrix")
LINE_ENVIRONMENTS: Final = word_set("cases rcases aligned align align* gathered gather gather* split equation")

# Short words of English that must not be read as a product of letters.
SHORT_WORDS: Final = word_set(
    "a an the is are was be not for yes no all any to of by per on at as if so we it its has out one two six ten "
    "may can who how why day new old our you he she his her him do did does but nor yet off up via each none"
)
