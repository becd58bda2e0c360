"""Where a remark is about the answer by its place alone, so that one word that speaks ill of it is enough.

A paragraph of its own behind an answer that gives no answer, calculates nothing and names nothing of the question is a
remark about the answer; so is a bracket at the end, and the clause that hands over to a response.
"""

import re
from itertools import pairwise

from mixseek.matching.phrases import Lexicon, Phrases, table
from mixseek.matching.stance.before import own_voice
from mixseek.matching.stance.ill_words import (
    LONGEST_CLAUSE,
    MATTER,
    MATTER_UNSPACED,
    NAME,
    POLARITY,
    SAID,
    SENTENCE,
    is_ill_remark,
    shared_words,
    speaks_ill,
    speaks_ill_unspaced,
)
from mixseek.matching.stance.sentences import is_opener
from mixseek.matching.stance.words import (
    BLANK,
    DETERMINERS,
    FIRST_PERSON,
    LINKS,
    MATTERS,
    NEAR_DETERMINERS,
    SOURCES,
    UNSPACED,
    Stance,
    is_unspaced,
    split_words,
)

_SAYS = Phrases("reservation_patterns")
_WORDS = table("reservations")
_UTTERS = Lexicon(_WORDS["utters"])
_DESCRIBED, _OWN_WORDS, _BACKWARD = (frozenset(_WORDS[name].split()) for name in ("described", "own_words", "backward"))
_LONGEST = 300
_NOTE = re.compile(r"[\[({]([^\[\](){}]{3,120})[\])}]\W{0,3}$")


def ill_spoken_behind(text: str, start: int, end: int, question: str, kind: str) -> Stance | None:
    """Whether the last line of text[start:end], its last sentence or a bracket at its end speaks ill of the answer."""
    closing = text[start:end].rstrip()
    if not closing.strip(BLANK):
        return None
    line = closing[closing.rfind("\n") + 1 :].strip(_EDGES) if "\n" in closing else ""
    if line and len(line) <= _LONGEST and is_ill_remark(line, question, kind, is_own=True):
        return Stance.DOUBTED
    note = _NOTE.search(closing[-_LONGEST:])
    if note is not None and not NAME.search(note[1]) and is_ill_remark(note[1], question, kind):
        return Stance.DOUBTED
    last = _last_words(closing[-_LONGEST:], is_own=line == "")
    is_pointed = bool(last) and (is_unspaced(last) or _points_back(last, kind))
    return Stance.DOUBTED if is_pointed and is_ill_remark(last, question, kind) else None


def ill_spoken_aside(aside: str, question: str) -> Stance | None:
    """The same of closing lines that are no part of the answer: "-- this post was taken down"."""
    lines = (line for line in aside.split("\n") if line.strip() and len(line) <= _LONGEST)
    is_ill = any(is_ill_remark(line.strip(_EDGES), question, "text") for line in lines)
    return Stance.DOUBTED if is_ill else None


_EDGES = " \t-*_~=>|#"
# The last sentence of a line begins behind a full stop, a quotation or an arrow; or a "but" begins it.
_LAST = re.compile(
    r"[.!?\")\]}*>](?=\s)|[。!?\"](?=[^\x00-\x7f])|\.\.\.|…|\s<?-{1,3}>?(?=\s)"
    r"|,(?= (?:but|though|although|however|yet|or so)\b)"
)


def _last_words(closing: str, *, is_own: bool) -> str:
    """The last sentence in the line of an answer, what a "but" adds to it, or what stands behind a quotation."""
    stripped = closing.rstrip(BLANK)
    marks = list(_LAST.finditer(closing, 0, len(stripped)))
    line = closing[closing.rfind("\n") + 1 : marks[-1].end()] if marks else ""
    if not marks or not (is_own or marks[-1][0] == '"' or not line.strip(BLANK + "{[(<")):
        return ""
    return closing[marks[-1].end() :].strip(_EDGES + "<")


def _points_back(sentence: str, kind: str) -> bool:
    """Whether a few words begin with what was said, or with whoever said it: "this is …", "but that misses …"."""
    words = split_words(sentence.lower())
    if len(words) > _MOST_INLINE or NAME.search(sentence):
        return False
    body = words[next((place for place in range(len(words)) if not is_opener(words, place)), len(words)) :]
    if not body:
        return False
    if body[0] in FIRST_PERSON or body[0] in _BACKWARD or ("that", "what") in pairwise(body[:5]):
        return True
    nouns = {noun for determiner, noun in pairwise(body) if determiner in {"this", "that", "my", "the"}}
    return not (SAID - (MATTERS if kind == "boolean" else frozenset())).isdisjoint(nouns)


_MOST_INLINE = 14


# A clause at the head, up to where it hands over: a colon or a quotation in its line.
_HANDS_OVER = re.compile(r":(?=\s|$|[^\x00-\x7f])|(?<=[^\x00-\x7f]):|\"")
_HEAD = 240


def ill_spoken_before(text: str, start: int, cut: int, question: str, kind: str) -> Stance | None:
    """Whether the clause that hands over to the response names somebody else or speaks ill of what follows."""
    head = len(text) - len(text.lstrip())
    first = _FIRST_WORD.match(text, head, start)
    if first is None or (first[0].lower() in _OWN_WORDS and not text.startswith(" me ", first.end())):
        return None  # a look: most responses begin with a number, a sign or a step of their own
    if (source := _ACCORDING.match(text, head, start)) is not None and speaks_ill(source[1].lower(), is_ahead=True):
        return Stance.ATTRIBUTED
    line_end = text.find("\n", head, start)
    end = min(start if line_end < 0 else line_end, head + _HEAD)
    for place, mark in enumerate(_HANDS_OVER.finditer(text, head, end)):
        if place == _MOST_MARKS:
            break
        quote = _opened(text, mark)
        if quote is not None and _is_name(text, quote, start):
            continue
        clause = SENTENCE.split(text[head : mark.start()].rstrip("。"))[-1]
        stance = _introduced(clause, question, kind)
        if stance is not None and quote is None and own_voice(text.lower(), mark.end(), cut) <= start:
            return None
        if stance is not None:
            return stance
    return None


def _opened(text: str, mark: re.Match[str]) -> int | None:
    """Where a quotation begins that a mark opens or leads to."""
    if mark[0] == '"':
        return mark.end()
    behind = text[mark.end() : mark.end() + 3].lstrip()
    return text.index('"', mark.end()) + 1 if behind[:1] == '"' else None


# Behind a bracket, a mark of emphasis or of a quotation.
_FIRST_WORD = re.compile(r"[\"'*_(\[>~-]{0,4}[^\W\d_]+")
_ACCORDING = re.compile(r"according to ([^,:.\n\d]{3,80}),", re.IGNORECASE)
_MOST_MARKS = 3
_GOES_ON = re.compile(r"[,.]?\"[,.]? [a-z(]")


def _is_name(text: str, quote: int, start: int) -> bool:
    """Whether what a mark of quotation opens ends before the answer, in the middle of a sentence."""
    close = text.find('"', quote)
    return close < 0 or text.rfind('"') < start or (close < start and _GOES_ON.match(text, close) is not None)


def _introduced(clause: str, question: str, kind: str) -> Stance | None:
    if not clause.isascii() and is_unspaced(clause):
        return _introduced_unspaced(clause)
    if MATTER.search(clause):
        return None
    lowered = POLARITY.sub("", clause.lower()) if kind == "boolean" else clause.lower()
    words = split_words(lowered)
    if not words or len(words) > LONGEST_CLAUSE or _is_own_voice(words):
        return None
    is_uttered = _is_uttered(words)
    if not is_uttered and not speaks_ill(lowered, is_ahead=True):
        return None
    if shared_words(lowered, question) > (0 if kind == "boolean" else 1):
        return None
    return Stance.ATTRIBUTED if is_uttered else Stance.DENIED


def _is_own_voice(words: list[str]) -> bool:
    return words[0] in _OWN_WORDS and words[:2] != ["let", "me"]


def _is_uttered(words: list[str]) -> bool:
    """Whether the last words before a colon say that somebody else speaks: "my uncle whispered", "one would say"."""
    if words[0] in FIRST_PERSON - {"my", "our"} or not SOURCES.isdisjoint(words[:3]):
        return False
    place = next((place for place in range(len(words) - 1, 0, -1) if words[place] in _UTTERS), 0)
    if not place and words[-1].endswith("ed") and len(words[-1]) > _SHORTEST_VERB and words[-1] not in _DESCRIBED:
        place = len(words) - 1
    if not place or len(words) - place > _LAST_VERB or words[place - 1] in DETERMINERS | NEAR_DETERMINERS | LINKS:
        return False  # "the claim:", "the answer is put:"
    return FIRST_PERSON.isdisjoint(words[max(0, place - 2) : place])


_LAST_VERB, _SHORTEST_VERB = 4, 5


def _introduced_unspaced(clause: str) -> Stance | None:
    clause = _MACHINES.sub("", clause)
    if MATTER_UNSPACED.search(clause) or _SAYS.unspaced_source.match(clause) or UNSPACED.asks.search(clause):
        return None
    if _SAYS.unspaced_uttered.search(clause):
        return Stance.ATTRIBUTED
    return Stance.DENIED if speaks_ill_unspaced(clause, is_ahead=True) else None


_MACHINES = re.compile(r"(?i)(?:chat)?gpt|ai|llm|bot")
