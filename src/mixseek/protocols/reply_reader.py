"""Reads a judge's reply: exactly one JSON object, or the reasons why there is none. For every protocol.

Never raises and takes linear time, whatever the text: a reply has been paid for and must be accounted for.
"""

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from mixseek.domain.judgments import Finding, Flag
from mixseek.protocols.repairs import ALWAYS_ALLOWED, REPAIR_DETAILS, SYNTAX_REPAIRS, Repair, ReplyMode
from mixseek.protocols.reply_json import (
    MAX_DEPTH,
    Decoded,
    canonical,
    decode_object,
    decode_plain,
    excerpt,
    excerpt_text,
)
from mixseek.protocols.reply_objects import STRUCTURE, Objects, find_objects
from mixseek.settings.models import parse_toml

# Reads typed fields out of a reply's object and collects every objection; nothing is ever coerced.

Kind = TypeVar("Kind")
Figure = TypeVar("Figure", int, float)


def closed_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with exactly these fields."""
    required = list(properties)
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


class FieldReader:
    """Each getter returns the value, or None after noting why not; seed 003 §6 says which flag is which."""

    def __init__(self, value: Mapping[str, Any], path: str = "", findings: list[Finding] | None = None) -> None:
        self._value = value
        self.path = path  # what stands before a field's name in messages
        self.findings: list[Finding] = [] if findings is None else findings

    def nested(self, name: str, missing: Flag = Flag.UNPARSABLE_OUTPUT) -> "FieldReader | None":
        """An object inside, whose objections join these; `missing` is what its absence means."""
        value = self._value.get(name)
        if isinstance(value, dict):
            return FieldReader(value, f"{self.path}{name}.", self.findings)
        if value is None:
            said = "is null" if name in self._value else "is missing"
            self.note(missing, f"{self.path}{name} {said}, expected an object")
        else:
            self._wrong_type(name, "an object", value)
        return None

    def array(self, name: str) -> list[Any] | None:
        """A list, possibly empty."""
        return self._of_kind(name, "an array", list)

    def has(self, name: str) -> bool:
        """The field is there, whatever it says."""
        return name in self._value

    def given(self, name: str) -> Any:
        """The value as it is; None where there is none. Notes nothing."""
        return self._value.get(name)

    def boolean(self, name: str) -> bool | None:
        """true or false; 0, 1 and "true" are not."""
        return self._of_kind(name, "true or false", bool)

    def integer(self, name: str, minimum: int, maximum: int) -> int | None:
        """An integer in the range; true is not 1 and 4.0 is not 4."""
        return self._in_range(name, self._of_kind(name, "an integer", int), minimum, maximum)

    def number(self, name: str, minimum: float, maximum: float) -> int | float | None:
        """A number in the range, whole or not; true is not 1."""
        return self._in_range(name, self._of_kind(name, "a number", int, float), minimum, maximum)

    def _in_range(self, name: str, value: Figure | None, minimum: float, maximum: float) -> Figure | None:
        if value is None or minimum <= value <= maximum:
            return value
        self.violation(f"{self.path}{name} is {excerpt(value)}, outside the scale {minimum} to {maximum}")
        return None

    def text(self, name: str) -> str | None:
        """A string, possibly empty."""
        return self._of_kind(name, "a string", str)

    def nullable_text(self, name: str) -> str | None:
        """A string or null; None also after an objection, see `is_null`."""
        return None if self.is_null(name) else self.text(name)

    def is_null(self, name: str) -> bool:
        """The field is there and says null."""
        return name in self._value and self._value[name] is None

    def choice(self, name: str, choices: Collection[str]) -> str | None:
        """One of the protocol's own words, spelled as in the protocol."""
        value = self.text(name)
        if value is None or value in choices:
            return value
        self.violation(f"{self.path}{name} is {excerpt(value)}, expected one of {', '.join(choices)}")
        return None

    def identifier(self, name: str) -> str | None:
        """A string or an integer, as text. Without it the reply cannot be aligned with a sample."""
        if self._value.get(name) is None:
            self.note(Flag.INCOMPLETE_COVERAGE, f"field missing: {self.path}{name}, which names the sample")
            return None
        value = self._of_kind(name, "a string or an integer", str, int)
        return None if value is None else str(value)

    def unknown_keys(self, known: Collection[str]) -> list[str]:
        """Keys that the protocol does not know, in the reply's order."""
        return [key for key in self._value if key not in known]

    def note(self, flag: Flag, detail: str) -> None:
        """One more objection."""
        self.findings.append(Finding(flag, detail))

    def violation(self, detail: str) -> None:
        """An objection to a reply that does not keep to the protocol."""
        self.note(Flag.PROTOCOL_VIOLATION, detail)

    def contradiction(self, detail: str) -> None:
        """An objection to a reply that disagrees with itself or with what is known."""
        self.note(Flag.INTERNAL_INCONSISTENCY, detail)

    def _of_kind(self, name: str, expected: str, *kinds: type[Kind]) -> Kind | None:
        value = self._value.get(name)
        if value is None:
            said = f"{self.path}{name} is null" if name in self._value else f"field missing: {self.path}{name}"
            self.note(Flag.UNPARSABLE_OUTPUT, said)
        elif isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds):
            return value
        else:
            self._wrong_type(name, expected, value)
        return None

    def _wrong_type(self, name: str, expected: str, value: object) -> None:
        self.note(Flag.UNPARSABLE_OUTPUT, f"{self.path}{name} is {excerpt(value)}, expected {expected}")


# Only the neighbourhood of the object is looked at, so a megabyte of prose costs nothing.
_NEAR = 80
_FENCE_BEFORE = re.compile(r"(?<![`~])(?:`{3,}+|~{3,}+)[ \t]*+[A-Za-z0-9_+.-]{0,20}\s*+\Z")
_FENCE_AFTER = re.compile(r"\s*(?:`{3,}|~{3,})")

# A refusal opens the reply; further on, the words are as likely to be about the judged response.
_OPENING_LENGTH = 400

_PHRASES = parse_toml((Path(__file__).parent / "reply_phrases.toml").read_text(encoding="utf-8"))
_REFUSALS = tuple(
    re.compile(re.sub(r"<([A-Z_]+)>", lambda part: _PHRASES["parts"][part[1]], pattern), re.IGNORECASE | re.DOTALL)
    for pattern in _PHRASES["refusals"]["patterns"]
)
_GIVES_SCORE = re.compile(_PHRASES["refusals"]["gives_score"], re.IGNORECASE)
_QUOTED = re.compile(_PHRASES["refusals"]["quoted"])
_JUDGES = re.compile("|".join(_PHRASES["judging"]["anywhere"]), re.IGNORECASE | re.MULTILINE)
_MARKS_AT_EDGE = re.compile("|".join(_PHRASES["judging"]["at_the_edge"]), re.IGNORECASE)
_BEGUN = re.compile("|".join(_PHRASES["judging"]["begun"]), re.IGNORECASE)
# How a text ends that was not cut off, quotes and brackets aside.
_SENTENCE_END = re.compile(r"[.!?。！？…][\s\"'”’」』）)*_`]{0,20}\Z")
# Of prose, its first and last words: where a mark stands that is nothing but a word.
_EDGE = 100
_MOST_READ = 8_000
_LETTER = re.compile(r"[^\W\d_]")
_ENDPOINT_ERROR = re.compile(rf"\A\W{{0,200}}(?:{'|'.join(_PHRASES['endpoint_errors']['patterns'])})", re.IGNORECASE)

# Python's or JavaScript's notation, or JSON in full-width marks. Reading them would be guessing at what was meant.
_LOOKALIKE = re.compile(
    r"\A(?:(?:`{3,}|~{3,})[^\n]{0,20}\n)?\s*[{｛]\s*"
    r"(?:'[^'\n]{1,100}'\s*:|[A-Za-z_]\w{0,100}\s*:|[“”＂「『‘][^\n]{0,100}[“”＂」』’]\s*[:：]|\"[^\"\n]{0,100}\"\s*[：，])"
    r"|\A\s*｛"
)


def is_refusal(text: str) -> bool:
    """The judge declines, in English, Japanese or Chinese."""
    opening = _QUOTED.sub("", text.strip().strip('"“”「」')[:_OPENING_LENGTH])
    return _GIVES_SCORE.search(opening) is None and any(pattern.search(opening) for pattern in _REFUSALS)


# How the objection to a reply begins that is about something else.
UNRELATED = "not about the judged text, and without a mark for it"


def is_unrelated(text: str) -> bool:
    """Plain prose that neither names what was to be judged nor gives it any mark, in whatever words or figures.

    Only prose: what looks like data is a broken reply, and what gives a verdict in words has another fault.
    """
    # A longer text says in its beginning or in its end what it is about.
    parts = (text,) if len(text) <= 2 * _MOST_READ else (text[:_MOST_READ], text[-_MOST_READ:])
    if text[0] in "{[<`|｛" or not any(map(_LETTER.search, parts)) or any(map(_JUDGES.search, parts)):
        return False
    edges = (text[:_EDGE], text[-_EDGE:])
    if _SENTENCE_END.search(text[-_EDGE:]) is None and any(map(_BEGUN.search, edges)):
        return False
    return not any(map(_MARKS_AT_EDGE.search, edges))


# Cuts the judge's own reasoning off its reply. What stands in it, JSON included, is not the reply.

_TAGS = "think(?:ing)?|thought|reasoning|scratchpad"
_OPENING = re.compile(
    rf"\s*+(?:<(?:{_TAGS})>|◁think▷|\[THINK\]|<\|channel\|>(?:analysis|commentary)\b[^<\n]{{0,80}}<\|message\|>"
    # The same channels where their tokens were lost on the way: "analysisWe need …assistantfinal{…}".
    r"|(?-i:analysis(?=[A-Z{\[])))",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    rf"</(?:{_TAGS})>|◁/think▷|\[/THINK\]|<\|channel\|>final<\|message\|>|assistantfinal", re.IGNORECASE
)

# Judges think about think tags, so the first closing tag may be a mention. Each further one costs a scan.
_MAX_MENTIONS = 8


@dataclass(frozen=True, slots=True)
class Spoken:
    """The reply without the think block that led it."""

    text: str
    had_thought: bool = False
    unclosed: bool = False


def without_thought(text: str) -> Spoken:
    """A close without an open counts too: chat templates open the block inside the prompt."""
    opening = _OPENING.match(text)
    if opening is None and (_CLOSING.search(text) is None or text.lstrip()[:1] in {"{", "[", "`"}):
        # A reply that begins with its object has no thought before it; tags further on are mentions.
        return Spoken(text)
    rest = text[opening.end() :] if opening else text
    closing = _first_closing(rest)
    if closing is None:
        return Spoken("", had_thought=True, unclosed=True) if opening else Spoken(text)
    rest = rest[closing.end() :]
    for _ in range(_MAX_MENTIONS):
        closing = _first_closing(rest)
        if closing is None or find_objects(rest[: closing.start()]).found:
            break
        rest = rest[closing.end() :]
    return Spoken(rest, had_thought=True)


def _first_closing(text: str) -> re.Match[str] | None:
    """The first closing tag that is not inside a readable object, where it would be part of a comment."""
    if _CLOSING.search(text) is None:
        return None
    found = find_objects(text).found
    starts = [located.start for located in found]
    for tag in _CLOSING.finditer(text):
        before = bisect_right(starts, tag.start()) - 1
        if before < 0 or found[before].end <= tag.start():
            return tag
    return None


PROSE = "the protocol asks for a JSON object, and the reply does not even begin one"
_MARKS = re.compile(r"[\s`:;]*+[{}\[\],][\s`:;{}\[\],]*+")
_TOOL_CALL_KEYS = frozenset({"tool_calls", "function_call", "tool_use", "arguments", "tool_name"})


class ReplyReading(NamedTuple):
    """`value` is None when no single object could be read. Findings beside a value are strict mode's objections."""

    value: Mapping[str, Any] | None
    findings: tuple[Finding, ...] = ()
    repairs: tuple[Repair, ...] = ()
    # What is said before and behind the object.
    prose: str = ""


def read_reply(text: str, mode: ReplyMode, expected_keys: Collection[str] = ()) -> ReplyReading:
    """`expected_keys` only help to tell a reply from an error or a refusal that came as JSON."""
    text = text.strip().strip("\ufeff").strip()
    if not text:
        return ReplyReading(None, _unparsable("the reply is empty"))
    plain = decode_plain(text) if text[0] == "{" else None
    if plain:
        stranger = _not_a_verdict(plain, expected_keys)
        return ReplyReading(None, stranger) if stranger else ReplyReading(plain)
    spoken = without_thought(text)
    thought = (Repair.THINK_BLOCK,) if spoken.had_thought else ()
    if spoken.unclosed:
        return ReplyReading(None, _unparsable("the reply ends inside its think block: it was cut off"), thought)
    remaining = spoken.text.strip()
    objects = find_objects(remaining)
    problems = _why_not_one(remaining, objects, expected_keys)
    if problems:
        return ReplyReading(None, problems, thought)
    value = objects.found[0].value
    repairs = tuple(dict.fromkeys(thought + _repairs_of(remaining, objects.found)))
    stranger = _not_a_verdict(value, expected_keys)
    if stranger:
        return ReplyReading(None, stranger, repairs)
    findings = (*violations(repairs, mode), *_stray_marks(remaining, objects.found, mode))
    return ReplyReading(value, findings, repairs, "\n".join(_environment(remaining, objects.found)[:2]).strip())


def violations(repairs: Collection[Repair], mode: ReplyMode) -> tuple[Finding, ...]:
    """What strict mode says of repairs; nothing in repair mode."""
    if mode is ReplyMode.REPAIR:
        return ()
    refused = [repair for repair in repairs if repair not in ALWAYS_ALLOWED]
    said = [f"{REPAIR_DETAILS[repair]} ({repair}; strict mode allows no repair)" for repair in refused]
    return (*_syntax_errors(refused), *(Finding(Flag.PROTOCOL_VIOLATION, detail) for detail in said))


def _why_not_one(text: str, objects: Objects, expected_keys: Collection[str]) -> tuple[Finding, ...]:
    """Nothing when the text holds one object or identical copies. A syntax error is named in any case (seed 003 §6)."""
    found, broken = objects.found, objects.broken
    if not found:
        return broken[:1] or _why_no_object(text)
    if _stand_in_array(text, found):
        return (
            *_violation("the reply is a JSON array; exactly one object is asked for"),
            *(_syntax_findings(broken) if broken else _array_syntax(text)),
        )
    broken = (*broken, *_half_objects(text, found, expected_keys))
    if broken:
        said = _violation(f"beside a readable object stands one that cannot be read ({broken[0].detail})")
        return (*said, *_syntax_findings(broken))
    different = len({canonical(located.value) for located in found})
    if different > 1:
        said = _violation(f"the reply holds {different} different JSON objects; exactly one is asked for")
        return (*said, *_syntax_errors(dict.fromkeys(repair for located in found for repair in located.repairs)))
    if found[0].value:
        return ()
    # Braces in prose are no answer; braces that are the whole reply are an empty one.
    return _why_no_object(text) if _repairs_of(text, found) else _unparsable("the object is empty")


def _why_no_object(text: str) -> tuple[Finding, ...]:
    if not text:
        return _unparsable("nothing follows the think block")
    if _ENDPOINT_ERROR.match(text.strip()[:_OPENING_LENGTH]):
        return _unparsable(f"an endpoint's error instead of a reply: {excerpt_text(text)}")
    if is_refusal(text):
        return (Finding(Flag.JUDGE_REFUSAL_OR_EVASION, f"the judge declines: {excerpt_text(text)}"),)
    if _LOOKALIKE.match(text[:_OPENING_LENGTH]):
        wanted = "keys and texts need straight double quotes; braces, colons and commas are ASCII"
        return _unparsable(f"no JSON object in the reply, only its like ({wanted}): {excerpt_text(text)}")
    if is_unrelated(text):
        # Seed 003 §6: whatever else it is, it evades.
        return (Finding(Flag.JUDGE_REFUSAL_OR_EVASION, f"{UNRELATED}: {excerpt_text(text)}"),)
    unparsable = _unparsable(f"no JSON object in the reply: {excerpt_text(text)}")
    if text.startswith(("{", "`")):
        return unparsable
    # Seed 003 §6 names prose twice: it cannot be parsed, and it is not the JSON that the protocol asks for.
    return (*unparsable, *_violation(PROSE))


def _unparsable(detail: str) -> tuple[Finding, ...]:
    return (Finding(Flag.UNPARSABLE_OUTPUT, detail),)


def _violation(detail: str) -> tuple[Finding, ...]:
    return (Finding(Flag.PROTOCOL_VIOLATION, detail),)


def _syntax_errors(repairs: Iterable[Repair]) -> tuple[Finding, ...]:
    """Seed 003 §6: a syntax error is UNPARSABLE_OUTPUT, whatever else is said of the reply."""
    mended = [REPAIR_DETAILS[repair] for repair in repairs if repair in SYNTAX_REPAIRS]
    return tuple(Finding(Flag.UNPARSABLE_OUTPUT, f"not valid JSON: {detail}") for detail in mended)


def _stand_in_array(text: str, found: tuple[Decoded, ...]) -> bool:
    """Also an array that is not closed, inside a fence or not, and one whose first entries are no objects."""
    before, after, _ = _environment(text, found[:1])
    return (before.endswith("[") and after[:1] in {",", "]", ""}) or (before.startswith("[") and before.endswith(","))


def _syntax_findings(broken: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return tuple(finding for finding in broken if finding.flag is Flag.UNPARSABLE_OUTPUT)[:1]


def _array_syntax(text: str) -> tuple[Finding, ...]:
    """What is wrong with an array as JSON; nothing where it can be read."""
    try:
        json.JSONDecoder().raw_decode(text, text.index("["))
    except (ValueError, RecursionError):
        return _unparsable("not valid JSON: the array cannot be read")
    return ()


def _half_objects(text: str, found: tuple[Decoded, ...], expected_keys: Collection[str]) -> tuple[Finding, ...]:
    """A verdict in broken notation beside or around what can be read: bare or single-quoted keys, no opening brace."""
    if not expected_keys:
        return ()
    ends = [0, *(located.end for located in found)]
    starts = [*(located.start for located in found), len(text)]
    outside = "\x00".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    keys = "|".join(map(re.escape, expected_keys))
    opened = re.search(rf"[{{｛]\s*+,?\s*+[\"'“”‘’「『]?(?:{keys})[\"'“”‘’」』]?\s*+[:：=]", outside)
    if opened or len(set(re.findall(rf'"({keys})"\s*+[:：=]', outside))) > 1:
        return _unparsable("not valid JSON: keys of the object stand outside of what can be read")
    return ()


def _stray_marks(text: str, found: tuple[Decoded, ...], mode: ReplyMode) -> tuple[Finding, ...]:
    """Braces, brackets and commas around the object are no prose but a syntax error, where nothing is repaired."""
    if mode is ReplyMode.REPAIR or not any(map(_MARKS.fullmatch, _environment(text, found)[:2])):
        return ()
    return _unparsable("not valid JSON: a brace, bracket or comma too many stands around the object")


def _environment(text: str, found: tuple[Decoded, ...]) -> tuple[str, str, bool]:
    """What stands before the first object and after the last without a code fence, and whether there was one."""
    before, after = text[: found[0].start], text[found[-1].end :]
    opened, closed = _FENCE_BEFORE.search(before[-_NEAR:]), _FENCE_AFTER.match(after[:_NEAR])
    if opened:
        before = before[: len(before) - len(opened[0])]
    return before.strip(), after[closed.end() if closed else 0 :].strip(), bool(opened or closed)


def _repairs_of(text: str, found: tuple[Decoded, ...]) -> tuple[Repair, ...]:
    before, after, is_fenced = _environment(text, found)
    around = {
        Repair.CODE_FENCE: is_fenced,
        Repair.PROSE_BEFORE: before,
        Repair.PROSE_AFTER: after,
        Repair.REPEATED_OBJECT: len(found) > 1,
    }
    inside = [repair for located in found for repair in located.repairs]
    return (*(repair for repair, applied in around.items() if applied), *inside)


def _not_a_verdict(value: Mapping[str, Any], expected_keys: Collection[str]) -> tuple[Finding, ...]:
    """An object without a single expected key: an error, a refusal, a wrapper or a bundle in the reply's place."""

    def is_verdict(item: object) -> bool:
        return isinstance(item, Mapping) and any(name in item for name in expected_keys)

    if not expected_keys or is_verdict(value):
        return ()
    if any(isinstance(item, str) and is_refusal(item) for item in value.values()):
        return (Finding(Flag.JUDGE_REFUSAL_OR_EVASION, f"the judge declines: {excerpt(value)}"),)
    if "error" in value:
        return _unparsable(f"an endpoint's error instead of a reply: {excerpt(value)}")
    if not _TOOL_CALL_KEYS.isdisjoint(value):
        return _violation(f"a tool call instead of the object that is asked for: {excerpt(value)}")
    for key, item in value.items():
        if is_verdict(item):
            return _violation(f"the object that is asked for stands inside {excerpt(key)}, not by itself")
        if isinstance(item, list) and item and all(map(is_verdict, item)):
            entries = f"{len(item)} entr{'y' if len(item) == 1 else 'ies'}"
            return _violation(
                f"the reply is a bundle of {entries} in {excerpt(key)}; exactly one object is asked for, by itself"
            )
    return ()


# Splits one reply about many samples into one reply each: a list, or an object that holds a list of entries.
#
# Every entry keeps its own text, so a protocol reads it like any other reply; a broken or doubled one spoils no other.

# In the order of trust: what seed 003 calls the sample's identity first.
IDENTITY_NAMES = ("output_id", "sample_id", "id", "file", "file_name", "filename")
# Cross replies name their sample one level down.
_NESTED = "meta"
_MAX_ENTRIES = 100_000

_NAMED_TEXT = re.compile(rf'"({"|".join(IDENTITY_NAMES)})"\s*:\s*(?:"([^"\\\n]{{1,300}})"|(\d{{1,18}})(?![\d.]))')
_EXTENSION = re.compile(r"\.(?:pdf|txt|md|markdown|json|jsonl|html?|docx?)\Z", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s_\-]+")


@dataclass(frozen=True, slots=True)
class BundleEntry:
    """One entry's own JSON text, the names it gives its sample, and what is wrong with it as an entry."""

    text: str
    identities: tuple[str, ...]
    problem: Finding | None = None


# In the reply's order, identical copies given once.
Bundle = tuple[BundleEntry, ...]


def split_bundle(text: str) -> Bundle | None:
    """None when the reply is not about many samples. Never raises; linear in the text."""
    spoken = without_thought(text.strip().strip("\ufeff").strip())
    pieces = list(_objects_in_lists(spoken.text))
    if not pieces:
        return None
    lists: dict[int, list[_Piece]] = defaultdict(list)
    for piece in pieces:
        lists[piece.list_start].append(piece)
    candidates = [[_entry(spoken.text, piece) for piece in members] for members in lists.values()]
    entries = max(candidates, key=_named_count)
    # A list of quotes or of flags is part of one reply; in a bundle, entries say what they are about.
    if 2 * _named_count(entries) < len(entries):
        return None
    return _flagged(_without_doubles(entries), spoken.text)


def fold_identity(name: str) -> str:
    """A file's name without its folder, its extension, case, spaces, underscores and hyphens."""
    last = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return _SEPARATORS.sub("", _EXTENSION.sub("", last.strip())).casefold()


def means_sample(given: str, expected: str) -> bool:
    """Whether an entry of a bundle means that sample, by the rule that brought the two together."""
    return bool(folded := fold_identity(given)) and folded == fold_identity(expected)


@dataclass(frozen=True, slots=True)
class _Piece:
    list_start: int
    start: int
    end: int | None
    depth: int


def _objects_in_lists(text: str) -> Iterator[_Piece]:
    """Objects that stand in a list which is the reply itself or a member of its one object."""
    open_brackets: list[tuple[str, int]] = []
    deepest = entries = 0
    for token in STRUCTURE.finditer(text):
        mark = token[0]
        if mark in ("{", "["):
            if not open_brackets and mark == "[" and text[token.end() : token.end() + 200].lstrip()[:1] != "{":
                # A bracket in prose ("[1]") begins no list of objects.
                continue
            open_brackets.append((mark, token.start()))
            deepest = 0 if _is_entry(open_brackets) else max(deepest, len(open_brackets))
        elif mark in ("}", "]") and open_brackets:
            if _is_entry(open_brackets):
                yield _Piece(open_brackets[-2][1], open_brackets[-1][1], token.end(), deepest)
                entries += 1
                if entries >= _MAX_ENTRIES:
                    return
            open_brackets.pop()
    for depth in (3, 2):
        if len(open_brackets) >= depth and _is_entry(open_brackets[:depth]):
            yield _Piece(open_brackets[depth - 2][1], open_brackets[depth - 1][1], None, deepest)


def _is_entry(open_brackets: Sequence[tuple[str, int]]) -> bool:
    kinds = [mark for mark, _ in open_brackets[:4]]
    return kinds in (["[", "{"], ["{", "[", "{"])


def _entry(text: str, piece: _Piece) -> BundleEntry:
    own = text[piece.start : piece.end]
    if piece.end is None:
        problem = Finding(Flag.UNPARSABLE_OUTPUT, "the bundle ends inside this entry: it was cut off")
        own = own.rstrip()
    elif piece.depth > MAX_DEPTH:
        problem = Finding(Flag.UNPARSABLE_OUTPUT, f"the entry is nested more than {MAX_DEPTH} deep")
    else:
        decoded = decode_object(own)
        if isinstance(decoded, Decoded):
            return BundleEntry(own, _identities(decoded.value))
        problem = decoded
    # What a broken entry says about itself, so that the failure can still be laid at the right sample's door.
    named = dict.fromkeys(found[2] or found[3] for found in _NAMED_TEXT.finditer(own))
    return BundleEntry(own, tuple(named), problem)


def _identities(value: Mapping[str, Any]) -> tuple[str, ...]:
    nested = value.get(_NESTED)
    sources = (value, nested) if isinstance(nested, Mapping) else (value,)
    named = [source.get(name) for source in sources for name in IDENTITY_NAMES]
    texts = [str(name) for name in named if isinstance(name, str | int) and not isinstance(name, bool)]
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def _named_count(entries: Sequence[BundleEntry]) -> int:
    return sum(bool(entry.identities) for entry in entries)


def _without_doubles(entries: Sequence[BundleEntry]) -> Bundle:
    """Copies count once. Entries that contradict each other about one sample are both refused."""
    unlike = dict.fromkeys(entries)
    by_identity: dict[str, list[BundleEntry]] = defaultdict(list)
    for entry in unlike:
        if entry.identities:
            by_identity[entry.identities[0]].append(entry)
    kept: list[BundleEntry] = []
    for entry in unlike:
        same = by_identity[entry.identities[0]] if entry.identities else [entry]
        if len(same) == 1 or entry.problem is not None:
            kept.append(entry)
        elif len({_content(other) for other in same}) > 1:
            detail = f"{len(same)} entries of the bundle are about {entry.identities[0]!r}, and they differ"
            kept.append(replace(entry, problem=Finding(Flag.INTERNAL_INCONSISTENCY, detail)))
        elif same[0] is entry:
            kept.append(entry)
    return tuple(kept)


def _flagged(entries: Bundle, text: str) -> Bundle:
    """Seed 003 §6: flags name an unusable judging, and flags of the whole bundle are those of every entry."""
    wrappers = find_objects(text).found if '"flags"' in text else ()
    flags = wrappers[0].value.get("flags") if len(wrappers) == 1 else None
    if not isinstance(flags, list) or not flags:
        return entries
    known = next((flag for flag in Flag if flag in flags), Flag.PROTOCOL_VIOLATION)
    finding = Finding(known, f"the bundle flags itself as unusable: {excerpt(flags)}")
    return tuple(entry if entry.problem else replace(entry, problem=finding) for entry in entries)


def _content(entry: BundleEntry) -> str:
    decoded = None if entry.problem else decode_object(entry.text)
    return canonical(decoded.value) if isinstance(decoded, Decoded) else entry.text
