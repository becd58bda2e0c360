"""Reads a judge's reply: exactly one JSON object, or the reasons why there is none. For every protocol.

Never raises and takes linear time, whatever the text: a reply has been paid for and must be accounted for.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from mixseek.domain.judgments import Finding, Flag
from mixseek.protocols.replies.refusals import OPENING_LENGTH, UNRELATED, is_endpoint_error, is_refusal, is_unrelated
from mixseek.protocols.replies.repairs import ALWAYS_ALLOWED, REPAIR_DETAILS, SYNTAX_REPAIRS, Repair, ReplyMode
from mixseek.protocols.replies.reply_json import Decoded, canonical, decode_plain, excerpt, excerpt_text
from mixseek.protocols.replies.reply_objects import Objects, find_objects
from mixseek.protocols.replies.thought import without_thought

# Only the neighbourhood of the object is looked at, so a megabyte of prose costs nothing.
_NEAR = 80
_FENCE_BEFORE = re.compile(r"(?<![`~])(?:`{3,}+|~{3,}+)[ \t]*+[A-Za-z0-9_+.-]{0,20}\s*+\Z")
_FENCE_AFTER = re.compile(r"\s*(?:`{3,}|~{3,})")
# Python's or JavaScript's notation, or JSON in full-width marks. Reading them would be guessing at what was meant.
_LOOKALIKE = re.compile(
    r"\A(?:(?:`{3,}|~{3,})[^\n]{0,20}\n)?\s*[{｛]\s*"
    r"(?:'[^'\n]{1,100}'\s*:|[A-Za-z_]\w{0,100}\s*:|[“”＂「『‘][^\n]{0,100}[“”＂」』’]\s*[:：]|\"[^\"\n]{0,100}\"\s*[：，])"
    r"|\A\s*｛"
)
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
    value = objects.readable[0].value
    repairs = tuple(dict.fromkeys(thought + _repairs_of(remaining, objects.readable)))
    stranger = _not_a_verdict(value, expected_keys)
    if stranger:
        return ReplyReading(None, stranger, repairs)
    findings = (*violations(repairs, mode), *_stray_marks(remaining, objects.readable, mode))
    return ReplyReading(value, findings, repairs, "\n".join(_environment(remaining, objects.readable)[:2]).strip())


def violations(repairs: Collection[Repair], mode: ReplyMode) -> tuple[Finding, ...]:
    """What strict mode says of repairs; nothing in repair mode."""
    if mode is ReplyMode.REPAIR:
        return ()
    refused = [repair for repair in repairs if repair not in ALWAYS_ALLOWED]
    details = [f"{REPAIR_DETAILS[repair]} ({repair}; strict mode allows no repair)" for repair in refused]
    return (*_syntax_errors(refused), *(Finding(Flag.PROTOCOL_VIOLATION, detail) for detail in details))


def _why_not_one(text: str, objects: Objects, expected_keys: Collection[str]) -> tuple[Finding, ...]:
    """Nothing when the text holds one object or identical copies. A syntax error is named in any case (seed 003 §6)."""
    readable, broken = objects.readable, objects.broken
    if not readable:
        return broken[:1] or _why_no_object(text)
    if _stand_in_array(text, readable):
        return (
            *_violation("the reply is a JSON array; exactly one object is asked for"),
            *(_syntax_findings(broken) if broken else _array_syntax(text)),
        )
    broken = (*broken, *_half_objects(text, readable, expected_keys))
    if broken:
        violation = _violation(f"beside a readable object stands one that cannot be read ({broken[0].detail})")
        return (*violation, *_syntax_findings(broken))
    different = len({canonical(located.value) for located in readable})
    if different > 1:
        violation = _violation(f"the reply holds {different} different JSON objects; exactly one is asked for")
        return (
            *violation,
            *_syntax_errors(dict.fromkeys(repair for located in readable for repair in located.repairs)),
        )
    if readable[0].value:
        return ()
    # Braces in prose are no answer; braces that are the whole reply are an empty one.
    return _why_no_object(text) if _repairs_of(text, readable) else _unparsable("the object is empty")


def _why_no_object(text: str) -> tuple[Finding, ...]:
    if not text:
        return _unparsable("nothing follows the think block")
    if is_endpoint_error(text):
        return _unparsable(f"an endpoint's error instead of a reply: {excerpt_text(text)}")
    if is_refusal(text):
        return (Finding(Flag.JUDGE_REFUSAL_OR_EVASION, f"the judge declines: {excerpt_text(text)}"),)
    if _LOOKALIKE.match(text[:OPENING_LENGTH]):
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


def _stand_in_array(text: str, readable: tuple[Decoded, ...]) -> bool:
    """Also an array that is not closed, inside a fence or not, and one whose first entries are no objects."""
    before, after, _ = _environment(text, readable[:1])
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


def _half_objects(text: str, readable: tuple[Decoded, ...], expected_keys: Collection[str]) -> tuple[Finding, ...]:
    """A verdict in broken notation beside or around what can be read: bare or single-quoted keys, no opening brace."""
    if not expected_keys:
        return ()
    ends = [0, *(located.end for located in readable)]
    starts = [*(located.start for located in readable), len(text)]
    outside = "\x00".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    keys = "|".join(map(re.escape, expected_keys))
    opened = re.search(rf"[{{｛]\s*+,?\s*+[\"'“”‘’「『]?(?:{keys})[\"'“”‘’」』]?\s*+[:：=]", outside)
    if opened or len(set(re.findall(rf'"({keys})"\s*+[:：=]', outside))) > 1:
        return _unparsable("not valid JSON: keys of the object stand outside of what can be read")
    return ()


def _stray_marks(text: str, readable: tuple[Decoded, ...], mode: ReplyMode) -> tuple[Finding, ...]:
    """Braces, brackets and commas around the object are no prose but a syntax error, where nothing is repaired."""
    if mode is ReplyMode.REPAIR or not any(map(_MARKS.fullmatch, _environment(text, readable)[:2])):
        return ()
    return _unparsable("not valid JSON: a brace, bracket or comma too many stands around the object")


def _environment(text: str, readable: tuple[Decoded, ...]) -> tuple[str, str, bool]:
    """What stands before the first object and after the last without a code fence, and whether there was one."""
    before, after = text[: readable[0].start], text[readable[-1].end :]
    opened, closed = _FENCE_BEFORE.search(before[-_NEAR:]), _FENCE_AFTER.match(after[:_NEAR])
    if opened:
        before = before[: len(before) - len(opened[0])]
    return before.strip(), after[closed.end() if closed else 0 :].strip(), bool(opened or closed)


def _repairs_of(text: str, readable: tuple[Decoded, ...]) -> tuple[Repair, ...]:
    before, after, is_fenced = _environment(text, readable)
    around = {
        Repair.CODE_FENCE: is_fenced,
        Repair.PROSE_BEFORE: before,
        Repair.PROSE_AFTER: after,
        Repair.REPEATED_OBJECT: len(readable) > 1,
    }
    inside = [repair for located in readable for repair in located.repairs]
    return (*(repair for repair, applied in around.items() if applied), *inside)


def _not_a_verdict(value: Mapping[str, Any], expected_keys: Collection[str]) -> tuple[Finding, ...]:
    """An object without a single expected key: an error, a refusal, a wrapper or a bundle in the reply's place."""

    def is_verdict(item: object) -> bool:
        return isinstance(item, dict) and not item.keys().isdisjoint(expected_keys)

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
