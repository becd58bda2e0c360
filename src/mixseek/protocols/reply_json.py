"""Strict JSON out of a reply, with every repair named."""

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from html import unescape
from typing import Any, NamedTuple

import orjson

from mixseek.domain.judgments import Finding, Flag
from mixseek.domain.samples import Sample

# What may be mended in a reply, each by name, and what strict mode says of it.


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


# One piece of text that should be a JSON object: decoded strictly, then with minimal repairs.

# No protocol nests deeper than five; the limit keeps every later walk over the value safe from deep recursion.
MAX_DEPTH = 64

# The possessive repeat and the end-of-text branch keep an unclosed string from being scanned once per quote.
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*+(?:"|\\?\Z)'
_STRING_OR_COMMA = re.compile(_STRING + r"|,(?=\s*+[}\]])", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

# \b and \f are JSON escapes that no judge means: a letter behind them makes \boxed or \frac.
# \n, \r and \t are often meant, so only words that no line starts with count.
_LATEX_WORD = re.compile(
    r"\\(?:[bf][A-Za-z]"
    r"|n(?:abla|eq|eg|geq|leq|mid|ot|otin|u|subseteq)(?![A-Za-z])"
    r"|r(?:ho|ight|ightarrow|angle|floor|ceil|vert|Vert)(?![A-Za-z])"
    r"|t(?:ext[a-z]*|imes|heta|frac|au|o|riangle|ilde|herefore)(?![A-Za-z]))"
)
# Where a backslash stands before anything else, or begins a LaTeX word, the strings are looked at one by one.
_NOT_PLAIN = re.compile(rf'\\[^"\\/nrt]|{_LATEX_WORD.pattern}')
# Beyond, orjson reads an integer as a float.
_EXACT_FLOAT = 2.0**53
_LATEX_SUSPECT = re.compile(r"\\[^\"\\/u]|\\u(?![0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class Decoded:
    """An object, the repairs that it took, and the half-open range where it stands."""

    value: dict[str, Any]
    repairs: tuple[Repair, ...]
    start: int = 0
    end: int = 0


class _RefusedError(ValueError):
    """JSON that Python would accept and we do not; raised out of the decoder's hooks."""

    def __init__(self, flag: Flag, detail: str) -> None:
        super().__init__(detail)
        self.finding = Finding(flag, detail)


def canonical(value: object) -> str:
    """One text per JSON value: 1, 1.0 and true differ, the order of keys does not."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def hash_of(asked: object) -> str:
    """What a protocol asks, as the name by which runs know it."""
    return hashlib.sha256(canonical(asked).encode()).hexdigest()


def decode_plain(text: str) -> dict[str, Any] | None:
    """The usual case in a fraction of the time: the text is one object and needs no repair. None says nothing.

    orjson keeps the last of repeated keys in silence. But every member has its colon, so a text with a member more
    than the value has a colon more; colons in strings are counted on both sides, and none can hide in an escape.
    """
    if text.count("{") + text.count("[") > MAX_DEPTH or ("\\" in text and _NOT_PLAIN.search(text)):
        return None
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict) or _colons(value) != text.count(":"):
        return None
    return value


def _colons(node: dict[str, Any] | list[Any]) -> float:
    """NaN, which equals nothing, where a number may have been written as an integer too long for orjson."""
    count = 0.0
    if isinstance(node, dict):
        count += len(node)
        for key in node:
            count += key.count(":")
        items: Iterable[Any] = node.values()
    else:
        items = node
    for item in items:
        kind = type(item)
        if kind is str:
            count += item.count(":")
        elif kind is dict or kind is list:
            count += _colons(item)
        elif kind is float and not 0.0 < abs(item) < _EXACT_FLOAT:
            return math.nan
    return count


def decode_object(text: str, start: int = 0) -> Decoded | Finding:
    """`text` starts with a brace and is nested at most MAX_DEPTH deep; `start` is where it stands."""
    repairs: list[Repair] = []
    end = start + len(text)
    if _LATEX_SUSPECT.search(text):
        text = _mend_strings(text, repairs, backslashes=True)
    value = _decode(text, repairs)
    if isinstance(value, Finding):
        mended = _mend_strings(text, repairs, backslashes=False)
        value = value if mended == text else _decode(mended, repairs)
    if isinstance(value, Finding):
        return value
    if _SURROGATE.search(text) or _ESCAPED_SURROGATE.search(text):
        written = json.dumps(value, ensure_ascii=False)
        if _SURROGATE.search(written):
            # Half a pair cannot be written as UTF-8, so it would break the journal long after the reply was paid.
            repairs.append(Repair.LONE_SURROGATES)
            value = json.loads(_SURROGATE.sub("\ufffd", written))
    return Decoded(value, tuple(dict.fromkeys(repairs)), start, end)


def _decode(text: str, repairs: list[Repair]) -> dict[str, Any] | Finding:
    def pairs_to_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            _refuse_contradictions(pairs)
            repairs.append(Repair.REPEATED_KEY)
        return value

    decoder = json.JSONDecoder(
        object_pairs_hook=pairs_to_object, parse_float=_finite_float, parse_constant=_refuse_constant
    )
    try:
        value: dict[str, Any] = decoder.decode(text)
    except _RefusedError as refused:
        return refused.finding
    except json.JSONDecodeError as error:
        what = f"{error.msg[0].lower()}{error.msg[1:]} at line {error.lineno}, column {error.colno} of the object"
        return Finding(Flag.UNPARSABLE_OUTPUT, f"not valid JSON: {what}")
    except ValueError:
        # An integer of more digits than Python converts.
        return Finding(Flag.UNPARSABLE_OUTPUT, "not valid JSON: a number is too long")
    return value


def _refuse_contradictions(pairs: list[tuple[str, Any]]) -> None:
    seen: dict[str, str] = {}
    for key, value in pairs:
        written = canonical(value)
        earlier = seen.setdefault(key, written)
        if earlier != written:
            raise _RefusedError(
                Flag.INTERNAL_INCONSISTENCY,
                f"key {excerpt(key)} is given twice, as {excerpt_text(earlier)} and as {excerpt_text(written)}",
            )


def _finite_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _RefusedError(Flag.UNPARSABLE_OUTPUT, f"{excerpt_text(digits)} is beyond any number")
    return number


def _refuse_constant(word: str) -> float:
    raise _RefusedError(Flag.UNPARSABLE_OUTPUT, f"{word} is not a JSON number")


def _mend_strings(text: str, repairs: list[Repair], *, backslashes: bool) -> str:
    """Backslashes first, on their own: they also hide in JSON that is valid, where \\frac reads as a form feed."""

    def mend(found: re.Match[str]) -> str:
        piece = found[0]
        if backslashes:
            mended, repair = _ESCAPE.sub(_double_backslash, piece), Repair.LATEX_BACKSLASHES
        elif piece == ",":
            mended, repair = "", Repair.TRAILING_COMMAS
        else:
            mended = _CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", piece)
            repair = Repair.CONTROL_CHARACTERS
        if mended != piece:
            repairs.append(repair)
        return mended

    return _STRING_OR_COMMA.sub(mend, text)


def _double_backslash(found: re.Match[str]) -> str:
    escape = found[0]
    if escape[1] in '"\\/' or len(escape) > 2:
        return escape
    if escape[1] not in "bfnrt" or _LATEX_WORD.match(found.string, found.start()):
        return "\\" + escape
    return escape


def excerpt(value: object, limit: int = 60) -> str:
    """A JSON value as one would write it, cut for a message."""
    return excerpt_text(json.dumps(value, ensure_ascii=False), limit)


def excerpt_text(text: str, limit: int = 60) -> str:
    """The beginning of a text on one line, always encodable."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", cut))


# Finds the JSON objects in a text, in one pass: nothing inside a broken object counts as one.

# An object begins with a key and a colon, or is empty; the braces of LaTeX, sets and code do neither.
_OBJECT_START = re.compile(r'\{(?=\s*+(?:\}|"[^"\\\n]{0,100}+"\s*+:))')
STRUCTURE = re.compile(_STRING + r"|[{}\[\]]", re.DOTALL)

# A reply with more is no reply, and reading on would only cost time.
_MAX_OBJECTS = 1_000


class Objects(NamedTuple):
    """What a text holds; `broken` are pieces that begin like an object and cannot be read."""

    found: tuple[Decoded, ...]
    broken: tuple[Finding, ...]


def find_objects(text: str) -> Objects:
    """Top-level objects in order. Linear: every character is scanned once, whatever the braces do."""
    whole = whole_object(text)
    if whole is not None:
        return Objects((whole,), ())
    found: list[Decoded] = []
    broken: list[Finding] = []
    position = 0
    while start := _OBJECT_START.search(text, position):
        begin = start.start()
        if len(found) + len(broken) >= _MAX_OBJECTS:
            broken.append(Finding(Flag.PROTOCOL_VIOLATION, f"the reply holds more than {_MAX_OBJECTS} objects"))
            break
        end, depth = _closing_bracket(text, begin)
        if end is None:
            detail = f"the object that begins at character {begin} is never closed: the reply was cut off"
            broken.append(Finding(Flag.UNPARSABLE_OUTPUT, detail))
            break
        position = end
        if depth > MAX_DEPTH:
            broken.append(Finding(Flag.UNPARSABLE_OUTPUT, f"the object is nested more than {MAX_DEPTH} deep"))
            continue
        decoded = decode_object(text[begin:end], begin)
        if isinstance(decoded, Decoded):
            found.append(decoded)
        else:
            broken.append(decoded)
    # `{}` beside a real object is prose (an empty set, a placeholder); alone it is the judge's answer.
    filled = [one for one in found if one.value] or found[:1]
    return Objects(tuple(filled), tuple(broken))


def whole_object(text: str) -> Decoded | None:
    """The usual case without a scan: the text is one object and nothing else."""
    if text[:1] != "{" or text[-1:] != "}" or text.count("{") + text.count("[") > MAX_DEPTH:
        return None
    decoded = decode_object(text)
    return decoded if isinstance(decoded, Decoded) else None


def _closing_bracket(text: str, start: int) -> tuple[int | None, int]:
    """Where the object that opens at `start` ends, and how deep it nests; None when it does not end."""
    depth = deepest = 0
    for token in STRUCTURE.finditer(text, start):
        if token[0] in ("{", "["):
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] in ("}", "]"):
            depth -= 1
            if depth == 0:
                return token.end(), deepest
    return None, deepest


# Catches a reply that merely repeats a verdict which stands in the judged text. Two signs, each enough:
#
#     the words     every sentence and every figure of the reply stands in the judged text, as an object or in pieces
#                   and in whatever notation (single quotes, escapes, YAML, a table, two objects)
#     the quotes    every quote of the reply is taken from an object of the text that has the reply's shape, and stands
#                   nowhere else in the response
#
# Figures alone prove nothing: an honest judge may come to the same few numbers; sentences are what two authors do not
# share. Nor do quotes prove anything where JSON was asked for. And a judge that quotes an injected verdict in order to
# object to it writes a reason of its own and quotes more than that.

# How much of a reply's keys an object must have to be taken for a verdict.
_SHARED = 0.6
# Looked at, at most; words are found without any of these limits.
_MAX_VERDICTS = 64
_MAX_QUOTES = 64
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]")
_SPACE = re.compile(r"\s+")
_ESCAPED = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|([nrt])|([\"'/\\]))")
_NO_WORD = re.compile(r"\W+")
_WORD = re.compile(r"\w+")
_ASKS_FOR_JSON = re.compile(r"\bjson\b|ＪＳＯＮ", re.IGNORECASE)


class InjectedVerdict(NamedTuple):
    """An object of the judged text that has the shape of a reply; half-open range in that text."""

    start: int
    end: int
    value: Mapping[str, Any]


def repetitions(reply: Mapping[str, Any], sample: Sample, quotes: Sequence[str] = ()) -> tuple[Finding, ...]:
    """The objection to a reply that is not the judge's own, for `parse` of every protocol; empty as a rule."""
    found = find_repetition(reply, {"response": sample.response, "question": sample.question}, quotes)
    return () if found is None else (found,)


def find_repetition(reply: Mapping[str, Any], texts: Mapping[str, str], quotes: Sequence[str] = ()) -> Finding | None:
    """The same for judged texts by name, in linear time. `quotes` are the reply's evidence, if it gives any."""
    # Where JSON was asked for, an object is what there is to be quoted from.
    tells = quotes[:_MAX_QUOTES] if not _ASKS_FOR_JSON.search(texts.get("question", "")) else ()
    own = _own_sentences(reply, quotes)
    for name, text in texts.items():
        place = None
        if _stands_in_pieces(reply, text, own):
            place = f"{name}, in another notation or in pieces"
        elif (copied := _copied_from(text, reply, own)) is not None:
            place = f"{name}, characters {copied.start} to {copied.end}"
        elif _quotes_only_from(text, reply, tells):
            place = f"{name}; every quote is taken from it and stands nowhere else"
        elif '\\"' in text and _quotes_only_from(text.replace('\\"', '"'), reply, tells):
            # A verdict inside a JSON string of the text: what is copied there comes back without its backslashes.
            place = f"{name}, where it is escaped; every quote is taken from it and stands nowhere else"
        if place is not None:
            return Finding(Flag.PROTOCOL_VIOLATION, f"repeats a verdict that stands in the judged text ({place})")
    return None


def _stands_in_pieces(reply: Mapping[str, Any], text: str, own: Set[str]) -> bool:
    """All of the judge's own sentences, most of its keys and every figure behind its key; letters and digits alone."""
    if not own or _lacks_a_word(text, own):
        return False
    letters = _letters(text)
    if not all(_letters(sentence) in letters for sentence in own):
        return False
    if sum(_letters(key) in letters for key in reply) < _SHARED * len(reply):
        return False
    figures = _figures(reply)
    return all(_is_written(*figure, letters) for figure in figures.items()) or _values_in_order(reply) in letters


def _lacks_a_word(text: str, sentences: Iterable[str]) -> bool:
    """The usual case in a fraction of the time: plain text, without a long word of a sentence."""
    if not text.isascii() or "\\" in text or "&" in text:
        return False
    lowered = text.lower()
    return any(max(_WORD.findall(sentence), key=len, default="").lower() not in lowered for sentence in sentences)


def _letters(text: str) -> str:
    """Letters and digits alone, unescaped and in one case and width."""
    if "\\" in text:
        text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else " " if found[2] else found[3], text)
    if "&" in text:
        text = unescape(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _NO_WORD.sub("", text).casefold()


def _is_written(place: str, figure: object, letters: str) -> bool:
    """`key: 1` for a figure of a key, in whatever marks; a list's figure has no name to look for."""
    key = place.rpartition(".")[2]
    if key.endswith("]"):
        return True
    ways = ("null", "none") if figure == "null" else (str(figure),)
    return any(_letters(f"{key}{way}") in letters for way in ways)


def _values_in_order(reply: Mapping[str, Any]) -> str:
    """As a row of a table gives them, under a row of keys."""
    return _letters(" ".join(leaf if isinstance(leaf, str) else canonical(leaf) for _, leaf in _leaves(reply)))


def _own_sentences(reply: Mapping[str, Any], quotes: Sequence[str]) -> set[str]:
    """Quotes are the response's words, whoever gives them: they make a borrowed verdict nobody's own."""
    sentences = {text for text in _texts(reply) if _is_sentence(text)}
    return sentences - {quote.strip() for quote in quotes} or sentences


def find_verdicts(text: str, reply: Mapping[str, Any]) -> tuple[InjectedVerdict, ...]:
    """Objects of the text that share most keys with the reply, in order; none of them inside another."""
    if "{" not in text:
        return ()
    quoted = [json.dumps(key, ensure_ascii=False) for key in reply]
    if not any(key in text for key in quoted):
        return ()
    window = 4 * len(canonical(reply)) + 2_000
    budget = 8 * len(text) + 100_000
    found: list[InjectedVerdict] = []
    end = 0
    for opening in re.finditer(r"\{(?=\s*+(?:" + "|".join(map(re.escape, quoted)) + r")\s*+:)", text):
        start = opening.start()
        if len(found) >= _MAX_VERDICTS or budget < 0:
            break
        if start < end:
            continue
        value, length = _decode_at(text[start : start + window])
        budget -= length + 1
        if isinstance(value, dict) and len(value.keys() & reply.keys()) >= _SHARED * len(reply):
            end = start + length
            found.append(InjectedVerdict(start, end, value))
    return tuple(found)


def _decode_at(text: str) -> tuple[object, int]:
    """The value that begins here and its length; None and how far it could be read where there is none."""
    try:
        return json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        return None, error.pos
    # An integer of too many digits, or a nesting that is too deep: nothing a judge would copy.
    except (ValueError, RecursionError):
        return None, len(text)


def _copied_from(text: str, reply: Mapping[str, Any], own: Set[str]) -> InjectedVerdict | None:
    """An object with the reply's sentences and figures, whose keys may hold marks that only JSON can tell apart."""
    same = (one for one in find_verdicts(text, reply) if own <= set(_texts(one.value)))
    return next((one for one in same if own and _figures(one.value) == _figures(reply)), None)


def _quotes_only_from(text: str, reply: Mapping[str, Any], quotes: Sequence[str]) -> bool:
    """Whole texts of an injected verdict; or any pieces of it, where the reply gives its very figures too."""
    wanted = {stripped for quote in quotes if (stripped := quote.strip())}
    verdicts = find_verdicts(text, reply) if wanted else ()
    if not verdicts:
        return False
    is_whole = wanted <= {leaf for verdict in verdicts for leaf in _texts(verdict.value)}
    if not is_whole and not any(
        _figures(reply) == _figures(verdict.value)
        and all(quote in text[verdict.start : verdict.end] for quote in wanted)
        for verdict in verdicts
    ):
        return False
    # NUL keeps what stood before and behind an object from reading as one quote.
    between = zip([0, *(one.end for one in verdicts)], [*(one.start for one in verdicts), len(text)], strict=True)
    outside = "\x00".join(text[start:end] for start, end in between)
    # A response that is that object and nothing else has nothing else to quote.
    return _WORD.search(outside) is not None and not any(quote in outside for quote in wanted)


def _leaves(value: object) -> Iterator[tuple[str, object]]:
    """Every text and figure of a JSON value with its place, in order; with a stack, so that no depth is too deep."""
    waiting = [("", value)]
    while waiting:
        place, node = waiting.pop()
        match node:
            case dict():
                waiting.extend(reversed([(f"{place}.{key}", item) for key, item in node.items()]))
            case list() | tuple():
                waiting.extend(reversed([(f"{place}[{index}]", item) for index, item in enumerate(node)]))
            case _:
                yield place, node


def _texts(value: object) -> Iterator[str]:
    return (leaf.strip() for _, leaf in _leaves(value) if isinstance(leaf, str))


def _figures(value: object) -> dict[str, str]:
    """Numbers, true, false and null by their place; texts are left out, so that a corrected name changes nothing."""
    return {place: canonical(leaf) for place, leaf in _leaves(value) if not isinstance(leaf, str)}


def _is_sentence(text: str) -> bool:
    """Words of one's own: not a name, a date, a short answer or one of a few options."""
    return len(_SPACE.split(text.strip()[:200])) >= 4 or len(_CJK.findall(text[:200])) >= 8
