"""What may be mended in a reply, each by name, and what strict mode says of it."""

from enum import StrEnum


class ReplyMode(StrEnum):
    """STRICT: every repair but a think block is a violation (seed 003 §5). REPAIR: accepted and recorded."""

    STRICT = "strict"
    REPAIR = "repair"


class Repair(StrEnum):
    """Minimal repairs: none of them changes what the judge said."""

    THINK_BLOCK = "think_block"
    CODE_FENCE = "code_fence"
    PROSE_BEFORE = "prose_before"
    PROSE_AFTER = "prose_after"
    TRAILING_COMMAS = "trailing_commas"
    CONTROL_CHARACTERS = "control_characters"
    LATEX_BACKSLASHES = "latex_backslashes"
    LONE_SURROGATES = "lone_surrogates"
    REPEATED_KEY = "repeated_key"
    REPEATED_OBJECT = "repeated_object"
    EXTRA_KEYS_IGNORED = "extra_keys_ignored"
    BLANK_REASONS = "blank_reasons"
    VERDICT_IN_WORDS = "verdict_in_words"


# A think block is how reasoning models speak, not a liberty that the judge took. Keys that nobody asked for change
# neither dimension nor scale (seed 003 §6), and its §5 only recommends the structure. Strict mode allows both.
ALWAYS_ALLOWED = frozenset({Repair.THINK_BLOCK, Repair.EXTRA_KEYS_IGNORED})
# What no JSON parser takes as it stands. Seed 003 §6 names a syntax error UNPARSABLE_OUTPUT, mended or not.
SYNTAX_REPAIRS = frozenset({Repair.TRAILING_COMMAS, Repair.CONTROL_CHARACTERS, Repair.LATEX_BACKSLASHES})
REPAIR_DETAILS = {
    Repair.THINK_BLOCK: "a think block stands before the object",
    Repair.CODE_FENCE: "the object stands inside a Markdown code fence",
    Repair.PROSE_BEFORE: "text stands before the object",
    Repair.PROSE_AFTER: "text stands after the object",
    Repair.TRAILING_COMMAS: "a comma stands before a closing bracket",
    Repair.CONTROL_CHARACTERS: "a string holds line breaks or other control characters that are not escaped",
    Repair.LATEX_BACKSLASHES: "a string holds backslashes that are not escaped, as in \\frac",
    Repair.LONE_SURROGATES: "a string holds half of a surrogate pair, which is no character",
    Repair.REPEATED_KEY: "a key is given twice, with the same value",
    Repair.REPEATED_OBJECT: "the same object is given more than once",
    Repair.VERDICT_IN_WORDS: "the verdict stands in a mark or in plain words, without an object",
    Repair.EXTRA_KEYS_IGNORED: "the object holds keys that the protocol does not know",
    Repair.BLANK_REASONS: "a sample that failed at a gate has no reason for each of its noughts",
}
