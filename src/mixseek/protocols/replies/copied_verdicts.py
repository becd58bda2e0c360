"""Catches a reply that merely repeats a verdict which stands in the judged text. Two signs, each enough:

    the words     every sentence and every figure of the reply stands in the judged text, as an object or in pieces
                  and in whatever notation (single quotes, escapes, YAML, a table, two objects)
    the quotes    every quote of the reply is taken from an object of the text that has the reply's shape, and stands
                  nowhere else in the response

Figures alone prove nothing: an honest judge may come to the same few numbers; sentences are what two authors do not
share. Nor do quotes prove anything where JSON was asked for. And a judge that quotes an injected verdict in order to
object to it writes a reason of its own and quotes more than that.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from html import unescape
from typing import Any, NamedTuple

from mixseek.domain.judgments import Finding, Flag
from mixseek.domain.samples import Sample
from mixseek.protocols.replies.reply_json import canonical

# How much of a reply's keys an object must have to be taken for a verdict.
_SHARED = 0.6
# Looked at, at most; words are found without any of these limits.
_MAX_VERDICTS = 64
_MAX_QUOTES = 64
# Four letters with blanks between them; eight ideographs are longer.
_SHORTEST_SENTENCE = 7
# Compiled when a reply is looked at: that takes 4 ms, and whoever only reads a run has no reply to look at.
_CJK = r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]"
_SPACE = re.compile(r"\s+")
_ESCAPED = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|([nrt])|([\"'/\\]))")
_NO_WORD = re.compile(r"\W+")
_WORD = re.compile(r"\w+")
_ARRAYS = (list, tuple)
_ASKS_FOR_JSON = re.compile(r"\bjson\b|ＪＳＯＮ", re.IGNORECASE)


class InjectedVerdict(NamedTuple):
    """An object of the judged text that has the shape of a reply; half-open range in that text."""

    start: int
    end: int
    value: Mapping[str, Any]


def repetitions(reply: Mapping[str, Any], sample: Sample, quotes: Sequence[str] = ()) -> tuple[Finding, ...]:
    """The objection to a reply that is not the judge's own, for `parse` of every protocol; empty as a rule."""
    texts = {"response": sample.response, "question": sample.question}
    # A tool's result and a document may hold a verdict as well.
    for number, step in enumerate(sample.steps, start=1):
        written = {"text": step.text, "arguments": step.arguments_text, "result": step.result}
        texts |= {f"step {number}, its {name}": text for name, text in written.items() if text}
    texts |= {f"context {context.id}": context.text for context in sample.contexts}
    repetition = find_repetition(reply, texts, quotes)
    return () if repetition is None else (repetition,)


def find_repetition(reply: Mapping[str, Any], texts: Mapping[str, str], quotes: Sequence[str] = ()) -> Finding | None:
    """The same for judged texts by name, in linear time. `quotes` are the reply's evidence, if it gives any."""
    # Where JSON was asked for, an object is what there is to be quoted from.
    tells = quotes[:_MAX_QUOTES] if quotes and not _ASKS_FOR_JSON.search(texts.get("question", "")) else ()
    sentences = _own_sentences(reply, quotes)
    if not sentences and not tells:
        # Without a sentence or a quote there is nothing to be recognised by.
        return None
    for name, text in texts.items():
        place = None
        if _stands_in_pieces(reply, text, sentences):
            place = f"{name}, in another notation or in pieces"
        elif (copied := _copied_from(text, reply, sentences)) is not None:
            place = f"{name}, characters {copied.start} to {copied.end}"
        elif _quotes_only_from(text, reply, tells):
            place = f"{name}; every quote is taken from it and stands nowhere else"
        elif '\\"' in text and _quotes_only_from(text.replace('\\"', '"'), reply, tells):
            # A verdict inside a JSON string of the text: what is copied there comes back without its backslashes.
            place = f"{name}, where it is escaped; every quote is taken from it and stands nowhere else"
        if place is not None:
            return Finding(Flag.PROTOCOL_VIOLATION, f"repeats a verdict that stands in the judged text ({place})")
    return None


def _stands_in_pieces(reply: Mapping[str, Any], text: str, sentences: Set[str]) -> bool:
    """All of the judge's own sentences, most of its keys and every figure behind its key; letters and digits alone."""
    if not sentences or _lacks_a_word(text, sentences):
        return False
    letters = _letters(text)
    if not all(_letters(sentence) in letters for sentence in sentences):
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
        text = _ESCAPED.sub(
            lambda escape: chr(int(escape[1], 16)) if escape[1] else " " if escape[2] else escape[3], text
        )
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
    """The values as a row of a table gives them, under a row of keys."""
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
    verdicts: list[InjectedVerdict] = []
    end = 0
    for opening in re.finditer(r"\{(?=\s*+(?:" + "|".join(map(re.escape, quoted)) + r")\s*+:)", text):
        start = opening.start()
        if len(verdicts) >= _MAX_VERDICTS or budget < 0:
            break
        if start < end:
            continue
        value, length = _decode_at(text[start : start + window])
        budget -= length + 1
        if isinstance(value, dict) and len(value.keys() & reply.keys()) >= _SHARED * len(reply):
            end = start + length
            verdicts.append(InjectedVerdict(start, end, value))
    return tuple(verdicts)


def _decode_at(text: str) -> tuple[object, int]:
    """The value that begins here and its length; None and how far it could be read where there is none."""
    try:
        return json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        return None, error.pos
    # An integer of too many digits, or a nesting that is too deep: nothing a judge would copy.
    except (ValueError, RecursionError):
        return None, len(text)


def _copied_from(text: str, reply: Mapping[str, Any], sentences: Set[str]) -> InjectedVerdict | None:
    """An object with the reply's sentences and figures, whose keys may hold marks that only JSON can tell apart."""
    same = (verdict for verdict in find_verdicts(text, reply) if sentences <= _texts(verdict.value))
    return next((verdict for verdict in same if sentences and _figures(verdict.value) == _figures(reply)), None)


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
    between = zip(
        [0, *(verdict.end for verdict in verdicts)], [*(verdict.start for verdict in verdicts), len(text)], strict=True
    )
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


def _texts(value: object) -> set[str]:
    """Every text of a JSON value; where they stand, and in which order, is nobody's question."""
    texts: set[str] = set()
    waiting: list[Iterable[object]] = [(value,)]
    while waiting:
        for node in waiting.pop():
            if isinstance(node, str):
                texts.add(node.strip())
            elif isinstance(node, dict):
                waiting.append(node.values())
            elif isinstance(node, _ARRAYS):
                waiting.append(node)
    return texts


def _figures(value: object) -> dict[str, str]:
    """Numbers, true, false and null by their place; texts are left out, so that a corrected name changes nothing."""
    return {place: canonical(leaf) for place, leaf in _leaves(value) if not isinstance(leaf, str)}


def _is_sentence(text: str) -> bool:
    """Words of one's own: not a name, a date, a short answer or one of a few options."""
    if len(text) < _SHORTEST_SENTENCE:
        return False
    return len(_SPACE.split(text.strip()[:200])) >= 4 or len(re.findall(_CJK, text[:200])) >= 8
