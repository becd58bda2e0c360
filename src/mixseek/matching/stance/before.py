"""Before an answer: who is said to speak in what follows, and whether that is called wrong."""

import re
from itertools import pairwise
from typing import NamedTuple

from mixseek.matching.stance.remarks import remark
from mixseek.matching.stance.sentences import NEAR, VERB_REACH, Setting, is_closed, is_no_answer, judged, valued
from mixseek.matching.stance.words import (
    AHEAD,
    ANSWER_NOUNS,
    ANSWERS,
    BACKWARD,
    BREAK,
    CLOSED,
    CONTRASTS,
    FORWARD,
    FRAME_VALUES,
    FRAMING,
    HEAD,
    LINKS,
    MARKERS,
    NEGATORS,
    OUTCOMES,
    RIGHT,
    SOURCES,
    SPEAKERS,
    SPEECH,
    SUPPOSES,
    THIRD_PERSON,
    UNSPACED,
    WITHDRAWS,
    WRONG,
    Sentence,
    Stance,
    is_negated,
    is_unspaced,
    split_sentences,
    split_words,
)

# A frame stands at the head of a response, and a quotation that it opens begins at once.
_FRAME_HEAD = 240
_EARLY_QUOTE = 40
_HEAD_SENTENCES = 3


class Frame(NamedTuple):
    """A sentence at the head that somebody else may speak behind; None where it is only a hint of one."""

    stance: Stance | None
    reach: int  # where what it introduces ends


UNFRAMED = Frame(None, -1)
# What a sentence hands over to: the rest of the line, a quotation, or the next line.
# Blanks behind a quotation mark end its sentence: reasoning or a code fence was taken out there.
_HANDS_OVER = re.compile(r":(?=\s|$)|(?<=[^\x00-\x7f]):|:?,?\s[\"'](?=\S|$)|(?:^|[^\x00-\x7f])[:,]?\"")
# The same where no letter of another script can stand: each way begins with a sign, which is quickly passed over.
_HANDS_OVER_ENGLISH = re.compile(r":(?=\s|$)|:,\s[\"'](?=\S|$)|,\s[\"'](?=\S|$)|\s[\"'](?=\S|$)|^[:,]?\"")
_COLON = re.compile(r":(?=\s|$)")
_BEFORE_QUOTE = re.compile(r"\s'")
_LONGEST_FRAME = 30


def _handing_over(sentence: str) -> re.Match[str] | None:
    """Where a sentence hands over; without a quotation, in English, only a colon does."""
    if sentence.isascii() and '"' not in sentence and ("'" not in sentence or not _BEFORE_QUOTE.search(sentence)):
        return _COLON.search(sentence) if ":" in sentence else None
    return (_HANDS_OVER_ENGLISH if sentence.isascii() else _HANDS_OVER).search(sentence)


class _Opening(NamedTuple):
    """A sentence that may introduce what follows, up to where it hands over."""

    remark: str
    words: list[str]
    is_first: bool
    is_inline: bool  # what follows stands on the same line
    opens_quote: bool
    has_colon: bool


def frame_before(text: str, start: int, cut: int) -> Frame:
    """The sentence at the head that introduces all that follows, the answer included."""
    head = len(text) - len(text.lstrip())
    if text[head : head + 1] in {"{", "["} or not _may_frame(text[head : min(start, head + _FRAME_HEAD)]):
        return UNFRAMED
    hint = UNFRAMED
    for place, sentence in enumerate(split_sentences(text, head, min(cut, head + _FRAME_HEAD))):
        if place == _HEAD_SENTENCES or sentence.start >= start:
            break
        mark = _handing_over(sentence.text)
        if mark is not None and sentence.start + mark.start() >= start:
            mark = None
        if mark is not None and mark[0][-1] == '"' and sentence.end <= start and _points_forward(sentence.text):
            mark = None  # what is quoted is a word of the sentence, and what it points to follows
        opening: _Opening | None = None
        if place == 0:
            opening = _opening(sentence, mark, is_first=True)
            if is_spoken(opening.words[:VERB_REACH]) or _is_spoken_unspaced(sentence.text):
                hint = Frame(None, cut)
            if not sentence.text.isascii() and UNSPACED.by_name.match(sentence.text):
                return Frame(Stance.ATTRIBUTED, cut)
            is_whole = mark is None and sentence.end <= start
            words = opening.words if is_whole else split_words(text[sentence.start : min(start, sentence.end)])
            if _forbids_saying(words):
                is_handed_over = mark is not None or not FORWARD.isdisjoint(opening.words)
                reach = own_voice(text, sentence.end, cut) if is_handed_over else _turned(text, sentence.end, cut)
                return Frame(Stance.DENIED, reach) if start < reach else UNFRAMED
        if mark is None:
            ends_line = text.startswith("\n", sentence.end) or sentence.text[-1] == "\n"
            known = opening.words if opening is not None else None
            if sentence.end > start or not (ends_line or _points_forward(sentence.text, known)):
                continue
        opening = opening or _opening(sentence, mark, is_first=False)
        quote = _quote_end(text, sentence, mark)
        stance = _introduced(opening) or (_said_around(text, opening, quote) if quote is not None else None)
        if stance is None:
            continue
        reach = quote if quote is not None else own_voice(text, sentence.end, cut)
        if start < reach:
            return Frame(stance, reach)
    return hint


def _is_spoken_unspaced(sentence: str) -> bool:
    """Whether a sentence begins with somebody who says the rest of it: 我朋友说42."""
    if sentence.isascii():
        return False
    spoken = UNSPACED.spoken.search(sentence[:_EARLY_QUOTE])
    return spoken is not None and spoken.start() <= VERB_REACH


def _may_frame(head: str) -> bool:
    """Few responses hold any of these words at their head: one look saves the others the rest."""
    if " not " in head and ("you" in head or " to " in head[:_EARLY_QUOTE]):
        return True
    if not head.isascii() or '"' in head[:_EARLY_QUOTE] or _FORBIDS.match(head):
        return True
    words = head.replace(":", " ").replace(",", " ").replace(".", " ").replace("n't", " not ").split()
    if _FRAME_HINTS.isdisjoint(words):
        return False
    if "not" in words and not (ANSWERS.isdisjoint(words) and FORWARD.isdisjoint(words)):
        return True
    if ":" in head and not THIRD_PERSON.isdisjoint(words):
        return True
    is_nobody = SPEAKERS.isdisjoint(words) and MARKERS.isdisjoint(words)
    return not (FRAME_VALUES.isdisjoint(words) and (is_nobody or SPEECH.isdisjoint(words)))


# Without one of these nothing below is found.
_FRAME_HINTS = FRAME_VALUES | SPEECH | THIRD_PERSON | {"not"}


def _opening(sentence: Sentence, mark: re.Match[str] | None, *, is_first: bool) -> _Opening:
    if mark is None:
        return _Opening(sentence.text, split_words(sentence.text), is_first, False, False, False)
    remark, rest = sentence.text[: mark.end()], sentence.text[mark.end() :].strip()
    opens_quote = mark[0][-1] in "\"'" or rest[:1] in {'"', "'"}
    return _Opening(remark, split_words(remark), is_first, bool(rest), opens_quote, ":" in mark[0])


def _introduced(opening: _Opening) -> Stance | None:
    if is_unspaced(opening.remark):
        return _introduced_unspaced(opening)
    words, vocabulary = opening.words, set(opening.words)
    if opening.is_first and _is_commented(opening):
        return Stance.DENIED
    if opening.remark.rstrip().endswith("?") or len(words) > _LONGEST_FRAME or not vocabulary.isdisjoint(BACKWARD):
        return None
    if opening.is_first and _is_no_answer_ahead(opening):
        return Stance.DENIED
    # "It is not true that the following holds:" has no other word for a frame than its negation.
    is_denied = "not" in vocabulary and not vocabulary.isdisjoint(FORWARD - {"next"}) and vocabulary & RIGHT
    if vocabulary.isdisjoint(FRAMING) and not is_denied:
        return None
    if opening.is_first and _is_denied_by_me(opening):
        return Stance.DENIED
    has_noun = not vocabulary.isdisjoint(ANSWERS)
    points_ahead = bool(vocabulary & FORWARD) or (opening.is_first and has_noun and not vocabulary.isdisjoint(AHEAD))
    hands_over = opening.has_colon or opening.opens_quote
    if hands_over or (points_ahead and not opening.is_inline):
        if vocabulary & SUPPOSES and (vocabulary & SPEAKERS or points_ahead):
            return Stance.SUPPOSED
        if (
            is_spoken(words)
            or (opening.is_first and opening.has_colon and _says_another(words))
            or (len(words) <= VERB_REACH and has_noun and vocabulary & SPEAKERS)
        ):
            return Stance.ATTRIBUTED
    if {"which", "of"} <= vocabulary or vocabulary & {"let", "we"} or _is_long(opening):
        return None  # "which of the following is false" repeats the question, "let us find the error" is a plan
    if opening.is_first and not opening.is_inline and _is_called_wrong(words, opening.has_colon):
        return Stance.DENIED
    if not (points_ahead or (hands_over and has_noun and opening.is_first)):
        return None
    if vocabulary & WITHDRAWS:
        return Stance.TAKEN_BACK
    stance = valued(words, is_own=False)
    return stance if stance in {Stance.DENIED, Stance.DOUBTED} else None


def _is_commented(opening: _Opening) -> bool:
    """ "The grader gave zero points for this:" comments on what it leads to, before the line of that."""
    leads_on = opening.has_colon or not FORWARD.isdisjoint(opening.words)
    if opening.is_inline or not leads_on or MARKERS.isdisjoint(opening.words):
        return False
    sentence = Sentence(0, len(opening.remark), opening.remark, opens_line=True)
    return remark(sentence, Setting("text"), own_line=True) in _TAKES_AWAY


def _is_denied_by_me(opening: _Opening) -> bool:
    """ "I disagree with the statement "…", "I am going to lie to you now." """
    words = opening.words
    if words[0] != "i" or not BACKWARD.isdisjoint(words):
        return False
    if not opening.is_inline and not _LIES.isdisjoint(words):
        return not {"will", "going", "now", "shall", "about"}.isdisjoint(words) and NEGATORS.isdisjoint(words)
    names_answer = not ANSWER_NOUNS.isdisjoint(words) or not FORWARD.isdisjoint(words)
    is_quoted = opening.opens_quote or opening.has_colon
    return is_quoted and names_answer and valued(words, is_own=False) in _TAKES_AWAY


_LIES = frozenset({"lie", "lying", "mislead", "deceive", "bluff", "fabricate", "invent", "joke"})


def _is_long(opening: _Opening) -> bool:
    """Whether a sentence with something behind it on its line says more than what follows is."""
    reach = 2 * VERB_REACH if not FORWARD.isdisjoint(opening.words) else VERB_REACH
    return opening.is_inline and len(opening.words) > reach


def _is_no_answer_ahead(opening: _Opening) -> bool:
    """ "What follows is not the answer.", "This isn't my solution:"; who will not give an answer has not denied one."""
    words = opening.words
    if not {"i", "we", "if"}.isdisjoint(words) or not is_no_answer(words):
        return False
    return not FORWARD.isdisjoint(words) or (opening.has_colon and words[0] in AHEAD)


def _forbids_saying(words: list[str]) -> bool:
    """ "It would be wrong to say …", "nobody should believe that …", at the beginning."""
    if words and words[0] in _FORBIDDERS and is_negated(words[:VERB_REACH]):
        for verb, joint in pairwise(words[: VERB_REACH + 1]):
            if joint == "that" and verb in SPEECH:
                return True
    for place, word in enumerate(words[:NEAR]):
        if word == "to" and place and not SPEECH.isdisjoint(words[place + 1 : place + 3]):
            before = words[:place]
            is_denied = valued(before, is_own=False) is Stance.DENIED
            return is_denied and before[0] in {"it", "one", "you", "anyone", "that"} and words[place - 1] not in LINKS
    return False


_FORBIDS = re.compile(r"(?:nobody|no one|never|do not|don't|(?:you|one|people|we) (?:should|must|can)\b)")
_FORBIDDERS = frozenset({"nobody", "do", "never", "no", "you", "one", "people", "not", "we"})


def _turned(text: str, start: int, cut: int) -> int:
    """Where a response soon turns from what one should not say to what it says itself."""
    sentences = split_sentences(text, start, min(cut, start + HEAD))
    is_turn = (sentence.start for sentence in sentences if not _TURNING.isdisjoint(split_words(sentence.text)[:1]))
    return next(is_turn, cut)


_TURNING = CONTRASTS | {"rather", "instead", "correctly", "really"}


def _points_forward(sentence: str, words: list[str] | None = None) -> bool:
    """Whether a sentence says of what stands behind it that it speaks of that: "the following", 次のように."""
    if sentence.rstrip(" \"'").endswith("?"):
        return False
    if is_unspaced(sentence):
        return UNSPACED.forward.search(sentence) is not None
    words = split_words(sentence) if words is None else words
    return not FORWARD.isdisjoint((*words[:4], *words[-1:]))


def _is_called_wrong(words: list[str], has_colon: bool) -> bool:
    """ "I will now give a deliberately false answer.", "What you should not write:"."""
    nouns = ANSWERS | OUTCOMES
    if any(word in WRONG and noun in nouns for word, noun in pairwise(words)) and NEGATORS.isdisjoint(words):
        return True
    is_advice = has_colon and "you" in words and not NEGATORS.isdisjoint(words)
    return is_advice and not SPEECH.isdisjoint(words)


def is_spoken(words: list[str]) -> bool:
    """Whether somebody is said to say something who is not the one who answers."""
    for place, word in enumerate(words):
        if word not in SPEECH:
            continue
        before, behind = words[max(0, place - VERB_REACH) : place], words[place + 1 :]
        if "i" in before or "we" in before:
            continue
        is_passive = "it" in before and not {"been", "is", "was"}.isdisjoint(before)
        around = before if word != "according" else behind[:VERB_REACH]
        is_near = len(behind) <= VERB_REACH or not AHEAD.isdisjoint(behind) or word == "according"
        if is_near and (is_passive or not SPEAKERS.isdisjoint(around)):
            return True
    return False


def _says_another(words: list[str]) -> bool:
    """ "He says:", "Dr Smith once claimed this:": whoever does that is not the one who answers."""
    verb = next((place for place, word in enumerate(words[: VERB_REACH + 1]) if word in THIRD_PERSON), 0)
    return verb > 0 and CLOSED.issuperset(words[verb + 1 :]) and SOURCES.isdisjoint(words[:verb])


def _introduced_unspaced(opening: _Opening) -> Stance | None:
    remark = opening.remark
    if UNSPACED.asks.search(remark):
        return None
    points_ahead = UNSPACED.ahead.search(remark)
    if not opening.has_colon and not opening.opens_quote and not points_ahead:
        return None
    is_wrong = UNSPACED.wrong.search(UNSPACED.unwrong.sub("", remark)) is not None
    is_spoken = UNSPACED.spoken.search(remark) is not None or (opening.opens_quote and UNSPACED.speakers.search(remark))
    # "Let x be the number of boxes, as follows:" supposes nothing that anybody answered.
    has_noun = UNSPACED.nouns.search(remark) is not None
    is_answered = is_spoken or is_wrong or has_noun
    if is_answered and UNSPACED.supposes.search(remark) and (points_ahead or UNSPACED.speakers.search(remark)):
        return Stance.SUPPOSED
    if opening.is_first and opening.has_colon and UNSPACED.supposed_ahead.search(remark):
        return Stance.SUPPOSED
    if is_spoken:
        return Stance.ATTRIBUTED
    # "Wait, no, there is another step:" corrects what stands before it.
    is_about_it = UNSPACED.forward.search(remark) is not None or (opening.is_first and has_noun)
    return Stance.DENIED if is_wrong and is_about_it else None


def _quote_end(text: str, sentence: Sentence, mark: re.Match[str] | None) -> int | None:
    """Where the quotation ends that a frame opens: at the last such mark, for what is quoted may quote."""
    if mark is None:
        return None
    behind = sentence.start + mark.end()
    quote = text[behind - 1] if text[behind - 1] in "\"'" else text[behind : behind + 3].strip()[:1]
    if not quote or quote not in "\"'":
        return None
    last = text.rfind(quote, behind + 1)
    is_title = ":" in mark[0] and text[last - 1 : last] not in _ENDS and _GOES_ON.match(text, last + 1) is not None
    return last if last >= 0 and not is_title else None


# He said: "Jaws" came first. What is quoted is a name in what he said.
_ENDS = (".", "!", "?", "。")
_GOES_ON = re.compile(r"\s[a-z(]")
_ARTICLE = re.compile(r"^(?:the|an?|this|that)\b")


def _said_around(text: str, opening: _Opening, quote: int) -> Stance | None:
    """What the words before and behind a quotation say together: the claim "…" is false; "…"というのは誤解です."""
    stop = BREAK.search(text, quote + 1)
    before, behind = _ARTICLE.sub("", opening.remark.strip("\"' ")), text[quote + 1 : stop.end() if stop else len(text)]
    around = f"this {before} {behind}"
    if not behind.strip() or len(opening.words) > VERB_REACH:
        return None
    sentence = Sentence(0, len(around), around, opens_line=True)
    stance = judged(sentence, Setting("text"), is_next=True)
    return None if stance is Stance.ASSERTED else stance


# "The correct answer is:" may still be said by whoever was introduced.
_TAKES_AWAY = frozenset({Stance.DENIED, Stance.DOUBTED, Stance.TAKEN_BACK})


def own_voice(text: str, start: int, cut: int) -> int:
    """Where the response speaks for itself again, soon behind what it introduced; farther on the slip is quoted."""
    setting = Setting("text", is_framed=True)
    for sentence in split_sentences(text, start, min(cut, start + HEAD)):
        words = split_words(sentence.text) if sentence.opens_line else []
        if len(words) > 1 and is_closed(words) and judged(sentence, setting, is_next=True) in _TAKES_AWAY:
            return sentence.start
    return cut
