"""Reads a judge's reply: exactly one JSON object, or the reasons why there is none. For every protocol.

    text ── think block cut ── objects found ── one, readable ── value + repairs
                                            └─ none, several, broken ── findings

Never raises and takes linear time, whatever the text: a reply has been paid for and must be accounted for.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from mixseek.domain.judgments import Finding, Flag
from mixseek.protocols.reply.json import (
    ALWAYS_ALLOWED,
    REPAIR_DETAILS,
    SYNTAX_REPAIRS,
    Located,
    Objects,
    Repair,
    ReplyMode,
    canonical,
    decode_plain,
    excerpt,
    excerpt_text,
    find_objects,
)

# What stands around an object, and what a reply without one is: a refusal, an endpoint's error, or just prose.

# Only the neighbourhood of the object is looked at, so a megabyte of prose costs nothing.
_NEAR = 80
_FENCE_BEFORE = re.compile(r"(?:`{3,}|~{3,})[ \t]*[A-Za-z0-9_+.-]{0,20}\s*\Z")
_FENCE_AFTER = re.compile(r"\s*(?:`{3,}|~{3,})")

# A refusal opens the reply; further on, the words are as likely to be about the judged response.
_OPENING_LENGTH = 400

# A quoted refusal is the judged response's.
_QUOTED = re.compile(r"「[^」]{0,200}」|『[^』]{0,200}』|“[^”]{0,200}”|\"[^\"]{0,200}\"|(?<!\w)'[^\n]{0,200}?'(?!\w)")
_I = r"(?<!\w)I"
_NOT_ABLE = r"(?:cannot|can['’]?t|can not|could ?n['’o]t|won['’]?t|will not|(?:am|['’]m) (?:unable|not able))"
_DUTIES = (
    r"(?:evaluat|judg|assess|grad|scor|rat|determin|decid|verif|provid|assist|help|compl|fulfil|answer|respond|engag"
    r"|continu|giv|offer|mak|process|perform|participat|do|say)(?:e|es|ing|y|l|ely|)\b"
)
# Within one sentence: "I cannot find any mistake. Score 10." declines nothing.
_SOON = r"[^.!?\n]{0,25}?"
_EVALUATES = r"(?:evaluat|judg|assess|grad|scor|rat)(?:e|es|ing|)\b"
_JA_DUTY = r"(?:評価|判定|採点|点数|評点|スコア|お答え|お応え|お引き受け|お手伝い|ご要望|ご依頼)"
_JA_LINK = r"(?:する|行う|付ける|つける|出す|提供|提示|実施|こと|には|[をはがにの])*+"
_JA_NOT = (
    r"(?:(?:でき|行え|行い|いたし|致し|し|沿え|応じられ|付けられ)(?:ません|かね)"
    r"|お断り|(?:差し)?控え(?:させ|ます)|拒否し|不可能|不能)"
)
_ZH_NOT = r"(?:无法|無法|不能|不便|不予|不会|不會|不应|不應|拒绝|拒絕|(?:没有|沒有|无|無)能力|暂不|暫不)"
_ZH_EVALUATES = r"(?:评测|評測|评分|評分|评估|評估|评判|評判|评价|評價|评审|評審|打分|给分|給分|判分)"
_REFUSALS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"{_I} ?{_NOT_ABLE}\b{_SOON}\b{_DUTIES}",
        rf"{_I} (?:must |have to |will )?(?:respectfully |politely )?(?:decline|refuse)\b",
        rf"{_I}(?:['’]m| am) not (?:going|willing|comfortable)\b{_SOON}\b{_EVALUATES}",
        rf"{_I}(?:['’]d| would) (?:rather|prefer) not\b{_SOON}\b{_EVALUATES}",
        rf"{_I} do(?: not|n['’]t) feel comfortable\b{_SOON}\b{_EVALUATES}",
        rf"(?:appropriate for me to|(?:prevent|prohibit|keep)s? me from) {_EVALUATES}",
        rf"\A\W*(?:unable to|cannot|can['’]?t|not able to|refusing to|declin(?:e|ing) to) {_EVALUATES}",
        r"\A\W*(?:evaluation|scoring|grading|judge?ment)s? (?:is |was )?(?:declined|refused|(?:not |im)possible)",
        r"\bno (?:score|rating|grade|verdict) (?:can|could|will) be (?:given|assigned|provided)\b",
        rf"(?:\A|[.!?\n] ?)(?:I(?:['’]m| am) )?(?:very |so |really )?sorry\b.{{0,40}}?{_I} ?{_NOT_ABLE}",
        rf"\bas an? (?:AI|artificial intelligence|(?:large )?language model)\b"
        rf".{{0,60}}?{_I} ?(?:{_NOT_ABLE}|do(?: not|n['’]t))",
        r"(?:申し訳|恐れ入り|恐縮|すみません|ごめん).{0,120}?(?:できません|できかね|致しかね|いたしかね|お断り|控え)",
        r"(?<!な)(?:評価|判定|採点|回答|対応|お手伝い|判断|お答え)(?:する|を行う)?(?:こと)?(?:は|が|を)?"
        r"(?:できません|できかね|いたしかね|致しかね|お断り|控えさせ)",
        rf"(?<!な){_JA_DUTY}{_JA_LINK}{_JA_NOT}",
        r"(?:抱歉|对不起|對不起|很遗憾|很遺憾|不好意思).{0,80}?(?:无法|無法|不能|不便|拒绝|拒絕|帮不了|幫不了|不在我的)",
        r"我(?:无法|無法|不能|不便|拒绝|拒絕).{0,20}?(?:评|評|判|打分|回答|协助|協助|提供|完成|满足|滿足|处理|處理|帮|幫)",
        # Without a subject, or with one that is the judge: what cannot be evaluated, it does not evaluate.
        rf"(?:\A\W*|我|本模型|内容|內容|输出|輸出|回答|[，,。；])(?:也|均|都|将|將|暂时|目前)?{_ZH_NOT}"
        rf"(?:对[^，。！？\n]{{0,12}}?)?(?:进行|進行|给出|給出|提供|做出|作出|给予)?{_ZH_EVALUATES}",
        rf"\A\W*{_ZH_EVALUATES}(?:无法|無法|不能)(?:进行|進行|完成|给出)",
    )
)
# Who gives a score does not decline to.
_GIVES_SCORE = re.compile(
    r"(?:\bscore|\brating|评分|評分|得分|分数|スコア|点数|採点結果)\s*(?:\bis\b|为|為|是|は|[:：=])\s*\W{0,3}\d",
    re.IGNORECASE,
)

_ENDPOINT_ERROR = re.compile(
    r"\A\W*(?:"
    r"(?:\w+\s?)?error(?::|\W*\Z|\b.{0,60}?\b[1-5]\d{2,3}\b)"
    r"|(?:[a-z_]\w*\.){0,6}\w*(?:error|exception|timeout)(?:\W*\Z|[:(])"
    r"|(?:http[/ ]?\S{0,4} ?)?[45]\d\d\b.{0,40}?"
    r"(?:error|too many|bad|gateway|unavailable|timeout|forbidden|unauthorized|not found)"
    r"|(?:http )?status(?:[ _]?code)?\W{0,3}[45]\d\d\b"
    r"|(?:request|connection) (?:failed|error|reset|refused|timed out|aborted)"
    r"|https?connectionpool\(|upstream (?:request|connect)|no healthy upstream"
    r"|(?:read )?time(?:d )?-?out\b|rate.?limit|too many requests"
    r"|(?:you )?(?:have )?exceeded your current quota|quota exceeded|invalid api.?key|insufficient (?:balance|quota)"
    r"|(?:the )?(?:server|model|engine|service) is (?:currently |temporarily )?(?:overloaded|unavailable|busy)"
    r"|(?:bad request|unauthorized|forbidden|not found)\W*\Z"
    r"|service (?:temporarily )?unavailable|internal server error|bad gateway"
    r"|(?:错误|錯誤)?[：: ]*(?:api ?)?(?:请求|請求|调用|調用|网络|網絡|连接|連接|接口).{0,8}?"
    r"(?:超时|超時|失败|失敗|错误|錯誤|异常)"
    r"|(?:api)?(?:リクエスト|接続|通信).{0,6}?(?:タイムアウト|失敗|エラー)"
    r"|traceback \(|<!doctype html|<html)",
    re.IGNORECASE,
)

# Python's or JavaScript's notation, or JSON in full-width marks. Reading them would be guessing at what was meant.
_LOOKALIKE = re.compile(
    r"\A(?:(?:`{3,}|~{3,})[^\n]{0,20}\n)?\s*[{｛]\s*"
    r"(?:'[^'\n]{1,100}'\s*:|[A-Za-z_]\w{0,100}\s*:|[“”＂「『‘][^\n]{0,100}[“”＂」』’]\s*[:：]|\"[^\"\n]{0,100}\"\s*[：，])"
    r"|\A\s*｛"
)


def without_fence_before(prefix: str) -> tuple[str, bool]:
    """The text before an object without the opening fence that it ends with, and whether there was one."""
    found = _FENCE_BEFORE.search(prefix[-_NEAR:])
    if found is None:
        return prefix, False
    return prefix[: len(prefix) - len(found[0])], True


def without_fence_after(suffix: str) -> tuple[str, bool]:
    """The text after an object without the closing fence that it begins with, and whether there was one."""
    found = _FENCE_AFTER.match(suffix[:_NEAR])
    return (suffix[found.end() :], True) if found else (suffix, False)


def is_refusal(text: str) -> bool:
    """The judge declines, in English, Japanese or Chinese."""
    opening = _QUOTED.sub("", text.strip().strip('"“”「」')[:_OPENING_LENGTH])
    return _GIVES_SCORE.search(opening) is None and any(pattern.search(opening) for pattern in _REFUSALS)


def is_endpoint_error(text: str) -> bool:
    """An HTTP client's complaint or an error page that was stored where a reply should be."""
    return _ENDPOINT_ERROR.match(text.strip()[:_OPENING_LENGTH]) is not None


def is_lookalike(text: str) -> bool:
    """Begins like an object whose keys or marks are not JSON's."""
    return _LOOKALIKE.match(text[:_OPENING_LENGTH]) is not None


# Cuts the judge's own reasoning off its reply. What stands in it, JSON included, is not the reply.

_OPENING = re.compile(r"\s*+<think(?:ing)?>", re.IGNORECASE)
_CLOSING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)

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
        if closing is None or _holds_object(rest[: closing.start()]):
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


def _holds_object(text: str) -> bool:
    return bool(find_objects(text).found)


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
    before, after = _environment(text, found[:1])
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
    if mode is ReplyMode.REPAIR or not any(map(_MARKS.fullmatch, _environment(text, found))):
        return ()
    return _unparsable("not valid JSON: a brace, bracket or comma too many stands around the object")


def _environment(text: str, found: tuple[Located, ...]) -> tuple[str, str]:
    """What stands before the first object and after the last, without a code fence."""
    before, _ = without_fence_before(text[: found[0].start])
    after, _ = without_fence_after(text[found[-1].end :])
    return before.strip(), after.strip()


def _repairs_of(text: str, found: tuple[Located, ...]) -> tuple[Repair, ...]:
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
