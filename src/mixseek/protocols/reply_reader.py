"""Reads a judge's reply: exactly one JSON object, or the reasons why there is none. For every protocol.

    text ── think block cut ── objects found ── one, readable ── value + repairs
                                            └─ none, several, broken ── findings

Never raises and takes linear time, whatever the text: a reply has been paid for and must be accounted for.
"""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from mixseek.domain.judgments import Finding, Flag
from mixseek.protocols.reply_json import canonical, decode_plain, excerpt, excerpt_text
from mixseek.protocols.reply_objects import Located, Objects, find_objects
from mixseek.protocols.reply_repairs import ALWAYS_ALLOWED, REPAIR_DETAILS, SYNTAX_REPAIRS, Repair, ReplyMode
from mixseek.protocols.reply_thought import without_thought

PROSE = "the protocol asks for a JSON object, and the reply does not even begin one"
_MARKS = re.compile(r"[\s`:;]*+[{}\[\],][\s`:;{}\[\],]*+")
_TOOL_CALL_KEYS = frozenset({"tool_calls", "function_call", "tool_use", "arguments", "tool_name"})


class ReplyReading(NamedTuple):
    """`value` is None when no single object could be read. Findings beside a value are strict mode's objections."""

    value: Mapping[str, Any] | None
    findings: tuple[Finding, ...] = ()
    repairs: tuple[Repair, ...] = ()


def read_reply(text: str, mode: ReplyMode, expected_keys: Collection[str] = ()) -> ReplyReading:
    """`expected_keys` only help to tell a reply from an error or a refusal that came as JSON."""
    text = text.strip().strip("\ufeff").strip()
    if not text:
        return _unreadable(Flag.UNPARSABLE_OUTPUT, "the reply is empty")
    plain = decode_plain(text) if text[0] == "{" else None
    if plain:
        stranger = _not_a_verdict(plain, expected_keys)
        return ReplyReading(plain) if stranger is None else ReplyReading(None, (stranger,))
    spoken = without_thought(text)
    thought = (Repair.THINK_BLOCK,) if spoken.had_thought else ()
    if spoken.unclosed:
        return _unreadable(Flag.UNPARSABLE_OUTPUT, "the reply ends inside its think block: it was cut off", thought)
    remaining = spoken.text.strip()
    objects = find_objects(remaining)
    problems = _why_not_one(remaining, objects, expected_keys)
    if problems:
        return ReplyReading(None, problems, thought)
    value = objects.found[0].decoded.value
    repairs = tuple(dict.fromkeys(thought + _repairs_of(remaining, objects.found)))
    stranger = _not_a_verdict(value, expected_keys)
    if stranger is not None:
        return ReplyReading(None, (stranger,), repairs)
    return ReplyReading(value, (*violations(repairs, mode), *_stray_marks(remaining, objects.found, mode)), repairs)


def violations(repairs: Collection[Repair], mode: ReplyMode) -> tuple[Finding, ...]:
    """What strict mode says of repairs; nothing in repair mode."""
    if mode is ReplyMode.REPAIR:
        return ()
    refused = [repair for repair in repairs if repair not in ALWAYS_ALLOWED]
    syntax = [finding for repair in refused if repair in SYNTAX_REPAIRS for finding in _syntax_of(repair)]
    return (
        *syntax,
        *(
            Finding(Flag.PROTOCOL_VIOLATION, f"{REPAIR_DETAILS[repair]} ({repair}; strict mode allows no repair)")
            for repair in refused
        ),
    )


def _unreadable(flag: Flag, detail: str, repairs: tuple[Repair, ...] = ()) -> ReplyReading:
    return ReplyReading(None, (Finding(flag, detail),), repairs)


def _why_not_one(text: str, objects: Objects, expected_keys: Collection[str]) -> tuple[Finding, ...]:
    """Nothing when the text holds exactly one object, given once or in identical copies.

    Whatever else is wrong, a syntax error is named as well (seed 003 §6).
    """
    found, broken = objects.found, objects.broken
    if not found:
        return broken[:1] or _why_no_object(text)
    if _stand_in_array(text, found):
        return (
            *_violation("the reply is a JSON array; exactly one object is asked for"),
            *_array_syntax(text, broken),
        )
    broken = (*broken, *_half_objects(text, found, expected_keys))
    if broken:
        return (
            *_violation(f"beside a readable object stands one that cannot be read ({broken[0].detail})"),
            *[finding for finding in broken if finding.flag is Flag.UNPARSABLE_OUTPUT][:1],
        )
    different = len({canonical(located.decoded.value) for located in found})
    if different > 1:
        mended = dict.fromkeys(repair for located in found for repair in located.decoded.repairs)
        return (
            *_violation(f"the reply holds {different} different JSON objects; exactly one is asked for"),
            *(finding for repair in mended if repair in SYNTAX_REPAIRS for finding in _syntax_of(repair)),
        )
    if not found[0].decoded.value:
        # Braces in prose are no answer; braces that are the whole reply are an empty one.
        is_all = not _repairs_of(text, found)
        return _unparsable("the object is empty") if is_all else _why_no_object(text)
    return ()


def _why_no_object(text: str) -> tuple[Finding, ...]:
    if not text:
        return _unparsable("nothing follows the think block")
    # Late, here and below: a reply that is nothing but its object needs none of these patterns.
    from mixseek.protocols.reply_prose import is_endpoint_error, is_lookalike, is_refusal

    if is_endpoint_error(text):
        return _unparsable(f"an endpoint's error instead of a reply: {excerpt_text(text)}")
    if is_refusal(text):
        return (Finding(Flag.JUDGE_REFUSAL_OR_EVASION, f"the judge declines: {excerpt_text(text)}"),)
    if is_lookalike(text):
        wanted = "keys and texts need straight double quotes; braces, colons and commas are ASCII"
        return _unparsable(f"no JSON object in the reply, only its like ({wanted}): {excerpt_text(text)}")
    unparsable = _unparsable(f"no JSON object in the reply: {excerpt_text(text)}")
    if text.startswith(("{", "`")):
        return unparsable
    # Seed 003 §6 names prose twice: it cannot be parsed, and it is not the JSON that the protocol asks for.
    return (*unparsable, *_violation(PROSE))


def _unparsable(detail: str) -> tuple[Finding, ...]:
    return (Finding(Flag.UNPARSABLE_OUTPUT, detail),)


def _violation(detail: str) -> tuple[Finding, ...]:
    return (Finding(Flag.PROTOCOL_VIOLATION, detail),)


def _syntax_of(repair: Repair) -> tuple[Finding, ...]:
    return _unparsable(f"not valid JSON: {REPAIR_DETAILS[repair]}")


def _stand_in_array(text: str, found: tuple[Located, ...]) -> bool:
    """Also an array that is not closed, inside a fence or not, and one whose first entries are no objects."""
    before, after = _around(text, found[:1])
    return (before.endswith("[") and after[:1] in {",", "]", ""}) or (before.startswith("[") and before.endswith(","))


def _array_syntax(text: str, broken: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What is wrong with an array as JSON; nothing where it can be read."""
    if broken:
        return tuple(finding for finding in broken if finding.flag is Flag.UNPARSABLE_OUTPUT)[:1]
    try:
        json.JSONDecoder().raw_decode(text, text.index("["))
    except (ValueError, RecursionError):
        return _unparsable("not valid JSON: the array cannot be read")
    return ()


def _half_objects(text: str, found: tuple[Located, ...], expected_keys: Collection[str]) -> tuple[Finding, ...]:
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


def _stray_marks(text: str, found: tuple[Located, ...], mode: ReplyMode) -> tuple[Finding, ...]:
    """Braces, brackets and commas around the object are no prose but a syntax error, where nothing is repaired."""
    if mode is ReplyMode.REPAIR or not any(map(_MARKS.fullmatch, _around(text, found))):
        return ()
    return _unparsable("not valid JSON: a brace, bracket or comma too many stands around the object")


def _around(text: str, found: tuple[Located, ...]) -> tuple[str, str]:
    """What stands before the first object and after the last, without a code fence."""
    from mixseek.protocols.reply_prose import without_fence_after, without_fence_before

    before, _ = without_fence_before(text[: found[0].start])
    after, _ = without_fence_after(text[found[-1].end :])
    return before.strip(), after.strip()


def _repairs_of(text: str, found: tuple[Located, ...]) -> tuple[Repair, ...]:
    from mixseek.protocols.reply_prose import without_fence_after, without_fence_before

    prefix, opened = without_fence_before(text[: found[0].start])
    suffix, closed = without_fence_after(text[found[-1].end :])
    around = {
        Repair.CODE_FENCE: opened or closed,
        Repair.PROSE_BEFORE: bool(prefix.strip()),
        Repair.PROSE_AFTER: bool(suffix.strip()),
        Repair.REPEATED_OBJECT: len(found) > 1,
    }
    inside = [repair for located in found for repair in located.decoded.repairs]
    return tuple(repair for repair, applied in around.items() if applied) + tuple(inside)


def _not_a_verdict(value: Mapping[str, Any], expected_keys: Collection[str]) -> Finding | None:
    """An object without a single expected key: an error, a refusal, a wrapper or a bundle in the reply's place."""
    if not expected_keys or any(key in value for key in expected_keys):
        return None
    from mixseek.protocols.reply_prose import is_refusal

    if any(isinstance(item, str) and is_refusal(item) for item in value.values()):
        return Finding(Flag.JUDGE_REFUSAL_OR_EVASION, f"the judge declines: {excerpt(value)}")
    if "error" in value:
        return Finding(Flag.UNPARSABLE_OUTPUT, f"an endpoint's error instead of a reply: {excerpt(value)}")
    if not _TOOL_CALL_KEYS.isdisjoint(value):
        return Finding(
            Flag.PROTOCOL_VIOLATION, f"a tool call instead of the object that is asked for: {excerpt(value)}"
        )
    for key, item in value.items():
        if isinstance(item, Mapping) and any(name in item for name in expected_keys):
            return Finding(
                Flag.PROTOCOL_VIOLATION, f"the object that is asked for stands inside {excerpt(key)}, not by itself"
            )
        if isinstance(item, list) and item and all(_is_one_of_many(entry, expected_keys) for entry in item):
            return Finding(
                Flag.PROTOCOL_VIOLATION,
                f"the reply is a bundle of {len(item)} entr{'y' if len(item) == 1 else 'ies'} in {excerpt(key)}; "
                "exactly one object is asked for, by itself",
            )
    return None


def _is_one_of_many(entry: object, expected_keys: Collection[str]) -> bool:
    return isinstance(entry, Mapping) and any(name in entry for name in expected_keys)
