"""Over a response: a note, a title, a header or a condition in front of it that speaks of all that follows.

A block in front that gives no answer and calculates nothing is about the response where it is a label by its form, or
where it speaks of the text as a text: "the message below", "this", a title without a verb. One word that speaks ill is
enough there.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from mixseek.matching.phrases import Lexicon, Phrases, table
from mixseek.matching.stance.before import own_voice
from mixseek.matching.stance.ill_words import (
    HARMLESS,
    MATTER,
    MATTER_UNSPACED,
    POLARITY,
    SENTENCE,
    is_elsewhere,
    is_fine_unspaced,
    shared_words,
    speaks_ill,
    speaks_ill_unspaced,
)
from mixseek.matching.stance.words import (
    BACKWARD,
    DEGREES,
    FORWARD,
    MATTERS,
    UNSPACED,
    Stance,
    is_negated,
    is_unspaced,
    split_words,
)

_SAYS = Phrases("head_patterns")
_WORDS = table("heads")
_ILL = Lexicon(_WORDS["ill"])
_OF_TEXTS = Lexicon(_WORDS["ill"], *(table("reservations")[name] for name in ("withdrawal", "deception")))
_FINE, _DECIDED_WELL = Lexicon(_WORDS["fine"]), Lexicon(_WORDS["decided_well"])
_SETS = {name: frozenset(words.split()) for name, words in _WORDS.items()}
_TEXTS, _GRANTS, _NOTHING, _ANSWERING = (_SETS[name] for name in ("texts", "grants", "nothing", "answering"))
_WORKS, _ASKED, _MENDS, _VERBS, _UNTITLED = (_SETS[name] for name in ("works", "asked", "mends", "verbs", "untitled"))
_DECIDES = _SETS["decides"]
_AHEAD = FORWARD | _SETS["ahead"]
_BELOW = _AHEAD - {"next"}
_REACH = 900
_MOST_LINES = 14
_MOST_BLOCKS = 4
_LONGEST_NOTE = 420
_LONGEST_LABEL = 120
_MOST_WORDS = 70
_MOST_TITLE_WORDS = 14
_MOST_VALUE_WORDS = 10
_MOST_KEY_WORDS = 3
_SHORT_UNSPACED = 40
_RULE = re.compile(r"\s*(?:[-=*_~#+]\s?){3,90}")
_EDGES = " \t-*_~=>#/%!\"'"
# A line of labels: between brackets, between bars, or with a key.
_BRACKETED = re.compile(
    r"\s{0,8}(?:[*_#]{0,3}\s?[\[(<|{].{1,118}[\])>|}][*_.:]{0,3}|[@※=~+!<>]{1,6}.{1,100}[@※=~+!<>]{1,6})\s{0,8}"
)
_KEY = re.compile(r"(?P<key>[^\W\d][^:=\n.,!?\"]{0,30}?)\s{0,3}[:=]\s{0,3}(?P<value>[^\s].{0,100})")
_PARTS = re.compile(r"[\[\]()<>;{}@※]")
_SEVERAL = re.compile(r",\s?(?=[^\W\d][\w -]{0,24}[:=])")
_DASH = re.compile(r"\s-{1,3}\s")
_DETERMINERS = frozenset({"the", "this", "that", "these", "those", "my", "our", "a", "an", "whole", "entire", "old"})


class _Block(NamedTuple):
    """Lines in front of a response that belong together; labels stand alone, notes are parted by a blank line."""

    text: str
    end: int
    is_label: bool
    is_parted: bool


def ill_spoken_over(text: str, start: int, cut: int, question: str, kind: str) -> Stance | None:
    """Whether what stands over the answer at `start` speaks ill of it, or makes it one of a condition."""
    if (leading := _led(text, start)) is not None:
        if _is_contrary(text, start, leading):
            return Stance.SUPPOSED
        if _is_disowned_before(leading, question, kind):
            return _unless_answered(text, leading.end(), start, cut)
    for block in _blocks(text, start):
        is_other_script = not block.text.isascii() and is_unspaced(block.text)
        if block.is_label:
            is_ill = _is_ill_label_unspaced(block.text) if is_other_script else _is_ill_label(block, question, kind)
        else:
            is_ill = _is_ill_note_unspaced(block) if is_other_script else _is_ill_note(block, question, kind)
        if is_ill is None:
            return None  # the response has begun
        if is_ill:
            return _unless_answered(text, block.end, start, cut)
    return None


def _unless_answered(text: str, end: int, start: int, cut: int) -> Stance | None:
    """Denied, unless the response speaks for itself again before its answer: "A scammer says: … That is wrong." """
    return None if own_voice(text.lower(), end, cut) <= start else Stance.DENIED


def _blocks(text: str, start: int) -> Iterator[_Block]:
    head = len(text) - len(text.lstrip())
    if text[head : head + 1] in {"\\", "$"}:
        return
    lines = text[head : min(start, head + _REACH)].split("\n")[:-1]
    note: list[str] = []
    count, place = 0, head
    for line in lines[:_MOST_LINES]:
        place += len(line) + 1
        is_rule = bool(line.strip()) and _RULE.fullmatch(line) is not None
        is_label = not is_rule and not note and _is_label(line)
        if note and (is_rule or not line.strip()):
            yield _Block("\n".join(note), place, is_label=False, is_parted=True)
            note, count = [], count + 1
        elif is_label:
            yield _Block(line, place, is_label=True, is_parted=False)
        elif line.strip() and not is_rule:
            note.append(line)
        if count == _MOST_BLOCKS:
            return
    if note and not count:
        yield _Block(note[0], place, is_label=False, is_parted=False)


def _is_label(line: str) -> bool:
    if len(line) > _LONGEST_LABEL:
        return False
    if _BRACKETED.fullmatch(line):
        return True
    if " | " in line:
        return True
    key = _KEY.fullmatch(line.strip(_EDGES))
    return key is not None and len(key["key"].split()) <= _MOST_KEY_WORDS


def _is_ill_label(block: _Block, question: str, kind: str) -> bool | None:
    lowered = block.text.lower().replace('"', "")
    if shared_words(lowered, question) > (0 if kind == "boolean" else 1):
        return None
    is_bracketed = _BRACKETED.fullmatch(block.text) is not None or " | " in block.text
    for part in _parts(lowered):
        label = _KEY.fullmatch(part)
        key, value = (label["key"], label["value"]) if label is not None else ("", part)
        words, keys = split_words(value), split_words(key)
        if not _ANSWERING.isdisjoint(keys) and (not is_bracketed or block.text.lstrip()[0] == "{"):
            return None
        if len(words) > _MOST_VALUE_WORDS and not is_bracketed:
            return _is_ill_note(block._replace(is_parted=True), question, kind)
        is_nothing = value.strip(" .!") == "0" or (bool(words) and words[0] in _NOTHING and len(words) <= 2)
        if is_nothing and not _GRANTS.isdisjoint(_key_words(key)) and (kind != "boolean" or keys[-1:] != ["true"]):
            return True
        is_denying = not _GRANTS.isdisjoint(words) and is_negated(words)
        if (
            (key and _is_ill_sentence(value, kind))
            or (is_denying and kind != "boolean")
            or _is_flag(_key_words(key), words)
        ):
            return True
        is_decision = not _DECIDES.isdisjoint([*keys, *_key_words(key)]) and len(words) > 0
        if is_decision and not any(word in _DECIDED_WELL for word in words):
            return True
        if not key and is_bracketed and _WORKS.isdisjoint(words) and _is_ill_bracket(part, kind):
            return True
    return False


def _is_ill_bracket(part: str, kind: str) -> bool:
    words = split_words(part)
    if len(words) > 1 and MATTERS.isdisjoint(words):
        kind = "text"  # "invalid ballot" is no answer, "invalid" may be one
    return _is_ill_sentence(part, kind) or _is_denied(part) or _is_strange(part)


def _parts(line: str) -> list[str]:
    """The labels of a line: those in brackets, and each row of a table as one."""
    cells = [cell.strip(_EDGES) for cell in line.split("|")] if "|" in line else []
    if cells and not any(":" in cell or "=" in cell for cell in cells):
        return [": ".join(cell for cell in cells if cell)]
    pieces = (piece for cell in (cells or [line]) for piece in _SEVERAL.split(cell))
    parts = (part.strip(_EDGES) for piece in pieces for part in _PARTS.split(piece))
    return [part.rstrip(":") for part in parts if part and any(map(str.isalpha, part))]


def _key_words(key: str) -> list[str]:
    return re.split(r"[\s_-]", key.strip())


def _is_flag(keys: list[str], words: list[str]) -> bool:
    """Whether a field says so by yes or no: "rejected: true"."""
    is_ill = any(key in _ILL or speaks_ill(key, is_ahead=True) for key in keys)
    return is_ill and words[:1] in (["yes"], ["true"], ["y"])


def _is_ill_note(block: _Block, question: str, kind: str) -> bool | None:
    cased = _DASH.sub(", ", _SAYS.stamp.sub("", block.text.strip(_EDGES)))
    plain = cased.lower()
    words = split_words(plain)
    if len(block.text) > _LONGEST_NOTE or len(words) > _MOST_WORDS or not words:
        return None
    if any(MATTER.search(line.strip(_EDGES + "[]()<>|")) for line in cased.split("\n")):
        return None
    if words[0] in {"to", "first", "step"} or not _WORKS.isdisjoint(words):
        return None
    if shared_words(plain, question) > (0 if kind == "boolean" else 1):
        return None
    is_pointed = _refers(words) or _SAYS.about_to.search(plain) is not None
    if not block.is_parted and not _points_ahead(words):
        return False
    for line in plain.split("\n"):
        for sentence in SENTENCE.split(line):
            is_about = is_pointed or _is_strong(sentence) or _is_title(sentence, kind)
            if is_about and _is_ill_sentence(sentence, kind):
                return True
            if block.is_parted and (_is_denied(sentence) or _is_strange(sentence)):
                return True
    return False


def _is_denied(sentence: str) -> bool:
    """Whether a sentence denies something of the text that it speaks of: "this one didn't make it"."""
    words = split_words(sentence)
    if not words or sentence.rstrip().endswith("?") or not (words[0] in {"this", "these"} or _AHEAD & set(words)):
        return False
    is_harmless = _is_harmless(words) or any(word in HARMLESS for word in words)
    return is_negated(words) and not _DENIALS.isdisjoint(words) and not is_harmless and DEGREES.isdisjoint(words)


def _is_strange(sentence: str) -> bool:
    """Whether a sentence speaks of the text below, and nothing in it is known to be harmless."""
    words = split_words(sentence)
    if not _FEWEST_WORDS <= len(words) <= _MOST_TITLE_WORDS * 2 or sentence.rstrip().endswith("?"):
        return False
    is_named = words[0] == "this" and words[1] in {"is", "one"}
    if is_named or (_BELOW.isdisjoint(words) and "this" not in words and words[-1] not in {"it", "here"}):
        return False
    return not _is_harmless(words) and not any(word in HARMLESS or word in _FINE for word in words)


_FEWEST_WORDS = 4
_DENIALS = frozenset({"not", "never", "nobody", "cannot"})


def _is_ill_sentence(sentence: str, kind: str) -> bool:
    words = split_words(sentence)
    return bool(words) and not _is_harmless(words) and _speaks_ill(sentence, kind)


def _speaks_ill(sentence: str, kind: str) -> bool:
    """Whether a sentence speaks ill of anything, in words of remarks or of labels."""
    spoken = POLARITY.sub("", sentence) if kind == "boolean" else sentence
    if sentence.rstrip(" \"')").endswith("?"):
        return False
    words = split_words(spoken)
    is_marked = any(word in _ILL for word in words) and not is_negated(words)
    return is_marked or _is_disowned(spoken) or speaks_ill(spoken, is_ahead=True)


def _is_disowned(sentence: str) -> bool:
    return any(pattern.search(sentence) for pattern in (_SAYS.ill, _SAYS.by_other))


def _is_strong(sentence: str) -> bool:
    """Whether a sentence says what is said of texts only: that one is withdrawn, faked or another's."""
    words = split_words(sentence)
    return any(word in _OF_TEXTS for word in words) or _is_disowned(sentence)


def _is_harmless(words: list[str]) -> bool:
    """Whether something else is spoken of: the question, what was mended, an earlier attempt, everybody."""
    if not _MENDS.isdisjoint(words) or words[:2] in (["let", "me"], ["i", "will"]):
        return True
    if _AHEAD.isdisjoint(words):
        if not _ASKED.isdisjoint(words):
            return True
        if any(word in BACKWARD and noun in _TEXTS for word, noun in pairwise(words)):
            return True
    return words[0] != "not" and is_elsewhere(words) and not _refers(words)


def _points_ahead(words: list[str]) -> bool:
    return not _AHEAD.isdisjoint(words) or words[0] in {"this", "these", "here"}


def _refers(words: list[str]) -> bool:
    """Whether a note speaks of a text."""
    if not _AHEAD.isdisjoint(words) or "here" in words or "it" in words[1:]:
        return True
    follows = [*words[1:], ""]
    if any(word in {"this", "these"} and noun not in _ASKED for word, noun in zip(words, follows, strict=True)):
        return True
    return any(word in _DETERMINERS and noun in _TEXTS for word, noun in pairwise(words)) or words[0] in _TEXTS


def _is_title(sentence: str, kind: str) -> bool:
    words = split_words(sentence)
    if not words or len(words) > _MOST_TITLE_WORDS or words[0] in _UNTITLED:
        return False
    return _VERBS.isdisjoint(words) and (len(words) > 1 or kind != "boolean")


def _is_ill_label_unspaced(line: str) -> bool | None:
    for part in _parts(line):
        label = _KEY.fullmatch(part)
        if label is not None and _SAYS.unspaced_answering.match(label["key"]):
            return None
        if label is not None and _SAYS.unspaced_decides.match(label["key"]):
            return _is_ill_unspaced(label["value"]) or not _SAYS.unspaced_decided_well.match(label["value"])
        denials = (_SAYS.unspaced_nothing, _SAYS.unspaced_negated)
        if label is not None and any(pattern.match(label["value"]) for pattern in denials):
            return True
    return _is_ill_unspaced(line)


def _is_ill_note_unspaced(block: _Block) -> bool | None:
    plain = _SAYS.stamp.sub("", block.text)
    if len(plain) > _LONGEST_NOTE // 2 or MATTER_UNSPACED.search(plain) or _SAYS.unspaced_works.search(plain):
        return None
    if not block.is_parted and not _SAYS.unspaced_ahead.search(plain):
        return False
    if len(plain) > _SHORT_UNSPACED and not _SAYS.unspaced_refers.search(plain):
        return False
    sentences = re.split(r"[。!\n]", plain)
    is_strange = block.is_parted and any(map(_is_strange_unspaced, sentences))
    return is_strange or any(map(_is_ill_unspaced, sentences))


def _is_strange_unspaced(sentence: str) -> bool:
    if not _SAYS.unspaced_ahead.search(sentence) or sentence.rstrip().endswith("?"):
        return False
    return not is_fine_unspaced(sentence) and _SAYS.unspaced_fine.search(sentence) is None


def _is_ill_unspaced(sentence: str) -> bool:
    if not sentence.strip() or _SAYS.unspaced_mends.search(sentence) or sentence.rstrip().endswith("?"):
        return False
    cleared = UNSPACED.unfails.sub("", UNSPACED.unwrong.sub("", sentence))
    patterns = (_SAYS.unspaced_ill, _SAYS.unspaced_by_other, UNSPACED.withdraws, UNSPACED.drops, UNSPACED.disowns)
    return any(pattern.search(cleared) for pattern in patterns) or speaks_ill_unspaced(cleared, is_ahead=True)


# What leads to a response in the same line.
_LEADS = re.compile(r"[^:\"\n]{4,240}?[:,]?\s?[:\"]")
_LONGEST_BEHIND = 60


def _led(text: str, start: int) -> re.Match[str] | None:
    return _LEADS.match(text, len(text) - len(text.lstrip()), start)


def _is_disowned_before(leading: re.Match[str], question: str, kind: str) -> bool:
    """ "I never sent this: …"."""
    clause = leading[0].rstrip(':" ,').lower()
    words = split_words(clause)
    if is_unspaced(clause) or not words or len(words) > _MOST_TITLE_WORDS or not _WORKS.isdisjoint(words):
        return False
    is_matter = MATTER.search(leading[0].strip(_EDGES + "[]()<>|")) is not None
    if is_matter or shared_words(clause, question) > (0 if kind == "boolean" else 1):
        return False
    return _is_strong(clause) and _is_ill_sentence(clause, kind)


def _is_contrary(text: str, start: int, leading: re.Match[str]) -> bool:
    """ "Had I …, I would have written: …": what nobody did write."""
    clause = leading[0].rstrip(':" ,')
    if clause.isascii() or not is_unspaced(clause):
        return _SAYS.contrary.search(clause.lower()) is not None
    if text[leading.end() - 1] == ":" and _SAYS.unspaced_contrary_colon.search(clause):
        return True
    close = text.rfind('"', start)
    if close < 0 or _SAYS.unspaced_contrary.search(clause) is None:
        return False
    return _SAYS.contrary_behind.match(text, close + 1, close + 1 + _LONGEST_BEHIND) is not None
