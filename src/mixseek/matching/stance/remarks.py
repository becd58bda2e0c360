"""A remark behind an answer that speaks of nothing but answering: a check, a verdict of somebody else, a dismissal.

Such a sentence need not name the answer: "Both sides do not agree." It is told by its words, which are all of those
that speak of answers, of checking them and of those who judge them, and by their sum: what disagrees or is not met.
A word or two of another kind may stand in it where it has a line of its own. What is about something else ("it is not
found in Europe") has more of them.
"""

import re

from mixseek.matching.phrases import Phrases
from mixseek.matching.stance.sentences import Setting, is_answer, is_opener, is_quoting
from mixseek.matching.stance.words import (
    AGREEMENTS,
    ANSWER_NOUNS,
    ASIDES,
    CHECKS,
    COMMENTS,
    DEGREES,
    DISAGREEMENTS,
    DOUBTS,
    ELSEWHERE,
    FIRST_PERSON,
    KEPT,
    LINKS,
    MARKERS,
    MARKING,
    MATTERS,
    MAY_ANSWER,
    MAY_BE,
    NEGATORS,
    OBJECTIONS,
    OF_ANSWERING,
    OPENERS,
    POINTERS,
    POLAR,
    REPAIRS,
    RIGHT,
    SPEAKERS,
    TESTED,
    UNSPACED,
    WITHDRAWS,
    WRONG,
    Sentence,
    Stance,
    is_negated,
    is_unspaced,
    split_words,
)

_LONGEST = 24
# Whoever comments is named before his verb within so many words.
_SUBJECT_REACH = 7
# A check may be the condition of what it shows: "when I put it back, …".
_CONDITION_REACH = 6
_CONDITIONS = frozenset({"if", "when", "whenever", "once", "after", "as"})
_ELSEWHERE = ELSEWHERE - _CONDITIONS - CHECKS - {"question", "problem", "since"}
_FAILS = WRONG | DISAGREEMENTS
_HOLDS = RIGHT | AGREEMENTS
_REMARKS = NEGATORS | {"zero", "another", "other"} | _FAILS | WITHDRAWS | REPAIRS | OBJECTIONS | DOUBTS
_SAYS = Phrases("stance_within")
# Each idiom holds one of these.
_IDIOM_PARTS = (
    "too ", "second thought", "drawing", " over", " again", "afresh", "anew", "scratch", "square", "gun", "ahead of my",
    "my bad", "the mark", "the point", " back", "track", "dead end", "of salt", "pretend", " out", " away", " aside",
    " off", "never", "n't", "not ",
)  # fmt: skip
# Who is told not to mind the explanation may well mind the answer.
_WHOLE = (POINTERS | {"answer", "response", "reply", "solution", "me"}) - {"any", "such", "these", "those"}
_GENERAL = frozenset(
    {
        "common",
        "typical",
        "frequent",
        "often",
        "usually",
        "many",
        "most",
        "people",
        "everyone",
        "sometimes",
        "frequently",
    }
)
_USES = frozenset(
    {"use", "copy", "listen", "quote", "cite", "submit", "share", "rely", "trust", "believe", "adopt", "write", "take"}
)
_ODDS = frozenset({"bet", "swear", "count", "stake", "wager", "vouch", "guarantee", "promise"})


# A line about one of the options: "**B** is wrong".
_OPTION = re.compile(
    r"[\s*_(\[`\"'-]*[a-j](?:[*_`)\].:\"']|\s+(?:is|was|are|says|isn't|cannot|can't|would|has|does|doesn't|fails)\b)"
)


def remark(sentence: Sentence, setting: Setting, *, own_line: bool) -> Stance | None:
    """What a closing sentence says of the answer; None where it may be about something else."""
    if setting.kind == "option" and _OPTION.match(sentence.text):
        return None
    words = split_words(sentence.text)
    words = words[next((place for place in range(len(words)) if not is_opener(words, place)), len(words) - 1) :]
    if not words or len(words) > _LONGEST:
        return None
    if words[0] == "never-mind" or is_afterthought(words):
        is_bare = len(words) == 1 or words[-1] == "not"
        return Stance.TAKEN_BACK if is_bare or not _WHOLE.isdisjoint(words[:4]) or is_quoting(words) else None
    if own_line and any(map(sentence.text.__contains__, _IDIOM_PARTS)) and _SAYS.unsaid.search(sentence.text):
        return Stance.TAKEN_BACK if len(_strange(words)) <= 2 and _ELSEWHERE.isdisjoint(words) else None
    if _is_dropped(words, own_line):
        return Stance.TAKEN_BACK
    if _REMARKS.isdisjoint(words) or not _is_about_answering(words):
        return None
    if setting.kind == "boolean" and _may_be_polarity(words):
        return None
    if not WITHDRAWS.isdisjoint(words):
        is_own = own_line and OF_ANSWERING.issuperset(words) and NEGATORS.isdisjoint(words)
        return Stance.TAKEN_BACK if is_own and (_names_answer(words, setting) or is_quoting(words)) else None
    verb = _comment(words, own_line)
    spare = (2 if len(words) >= 8 else 1) if sentence.opens_line else 0
    if len(_strange(words[verb:])) > spare:
        return None
    if verb:
        return _commented(words, verb, own_line)
    return _checked(words, setting, own_line)


def _strange(words: list[str]) -> list[str]:
    """The words that are about something else; a single letter is a name in the matter, and tells it twice."""
    return [word for word in words if word not in OF_ANSWERING for _ in range(2 if len(word) == 1 else 1)]


def _names_answer(words: list[str], setting: Setting) -> bool:
    return not POINTERS.isdisjoint(words) or any(
        is_answer(words, place, setting.matters) for place in range(len(words))
    )


def _is_about_answering(words: list[str]) -> bool:
    """Not under a condition other than that of a check, and not about another answer."""
    words = [word for place, word in enumerate(words) if not _is_other_value(words, place)]
    if not _ELSEWHERE.isdisjoint(words):
        return False
    conditions = [place for place, word in enumerate(words) if word in _CONDITIONS and word in ELSEWHERE]
    return all(not CHECKS.isdisjoint(words[place : place + _CONDITION_REACH]) for place in conditions)


def _is_other_value(words: list[str], place: int) -> bool:
    """A check that "yields another value" disagrees with the one that was given."""
    return (
        words[place] in {"another", "other"}
        and words[place + 1 : place + 2] in _VALUES
        and not CHECKS.isdisjoint(words)
    )


_VALUES = (["value"], ["result"], ["number"], ["figure"], ["answer"], ["outcome"], ["total"], ["sum"])


def _may_be_polarity(words: list[str]) -> bool:
    """Whether what is called wrong may be what the question asks about: "the argument does not hold"."""
    if not CHECKS.isdisjoint(words):
        return False
    rest = [word for word in words if word not in LINKS and word not in POLAR and word not in {"and", "or"}]
    return not rest or (not MATTERS.isdisjoint(words) and not MAY_ANSWER.isdisjoint(words))


def _is_dropped(words: list[str], own_line: bool) -> bool:
    """ "Undo that.", "Bin the above.": whatever one is told to do with an answer but to keep it in mind."""
    verb, rest = words[0], words[1:]
    if verb in {"kindly", "just", "you", "let", "lets"} and len(rest) > 1:
        return False
    if len(rest) > 5 or not rest or verb in KEPT or not own_line or not OF_ANSWERING.issuperset(rest):
        return False
    if verb in OF_ANSWERING and verb not in WITHDRAWS:
        return False
    return rest[0] in {"this", "that", "it", "everything"} or is_answer(rest, len(rest) - 1, frozenset())


def _comment(words: list[str], own_line: bool) -> int:
    """Where somebody other than the one who answers is said to comment; 0 where nobody is."""
    if words[0] in FIRST_PERSON - {"my", "our"} or words[0] in POINTERS or words[0] in {"you", "there"}:
        return 0
    for place, word in enumerate(words[: _SUBJECT_REACH + 1]):
        if not place or (word not in COMMENTS and word not in OBJECTIONS):
            continue
        subject = words[:place]
        is_known = not (MARKERS | SPEAKERS).isdisjoint(subject)
        if not is_known and (word in LINKS or subject[0] in NEGATORS):
            return 0  # "no step was skipped"
        if not FIRST_PERSON.isdisjoint(subject[1:]) or not ANSWER_NOUNS.isdisjoint(subject[:-1]):
            return 0
        is_person = is_known or (own_line and CHECKS.isdisjoint(subject) and len(_strange(subject)) <= 3)
        return place if is_person else 0
    return 0


def _commented(words: list[str], verb: int, own_line: bool) -> Stance | None:
    """What somebody's comment makes of the answer: "found a mistake in it", "gave no credit", "rejected this"."""
    rest, vocabulary = words[verb:], set(words[verb:])
    points = not POINTERS.isdisjoint(rest) or not ANSWER_NOUNS.isdisjoint(rest)
    if not own_line and not points and len(rest) > 2:
        return None
    negated = is_negated(words)
    if vocabulary & (_FAILS | OBJECTIONS | REPAIRS | WITHDRAWS):
        return Stance.ASSERTED if negated else Stance.DENIED
    if words[verb] in LINKS and vocabulary.isdisjoint(_HOLDS | MARKING):
        return None  # "the teacher's hint was not needed"
    is_nothing = negated or "zero" in vocabulary
    return Stance.DENIED if is_nothing and vocabulary.isdisjoint(DEGREES) else None


def _checked(words: list[str], setting: Setting, own_line: bool) -> Stance | None:
    """What a check of the answer comes to, or what is said of it without naming it."""
    vocabulary = set(words)
    is_check = bool(vocabulary & CHECKS) or (own_line and bool(vocabulary & TESTED))
    # "The correct answer is different" is about the one that was given, too.
    is_another = not ANSWER_NOUNS.isdisjoint(words) and not vocabulary.isdisjoint(DISAGREEMENTS)
    names_answer = _names_answer(words, setting) or "me" in words or is_another
    if not _GENERAL.isdisjoint(words):
        return None  # "a common mistake is …", "many get this wrong"
    if not is_check and not (own_line and names_answer):
        return None
    negated = is_negated(words)
    if own_line and negated and vocabulary & _USES and words[0] in {"do", "never", "not", "you", "nobody"}:
        return Stance.TAKEN_BACK  # "do not copy this down"
    is_other = any(_is_other_value(words, place) for place in range(len(words)))
    if is_other or vocabulary & DISAGREEMENTS or (vocabulary & WRONG and (is_check or names_answer)):
        return None if negated else Stance.DENIED
    if not negated or vocabulary & DEGREES or vocabulary & ASIDES or not vocabulary.isdisjoint(WITHDRAWS):
        return None
    if vocabulary & _HOLDS:
        return Stance.DENIED if is_check or names_answer else None
    is_bare = words[0] in POINTERS and words[-1] in {"it", "that", "this", "thing"} and OF_ANSWERING.issuperset(words)
    return Stance.DOUBTED if own_line and (is_bare or vocabulary & _ODDS) else None


def holds_polarity(sentence: Sentence) -> bool:
    """Whether a "false" in a sentence is somebody's verdict on an answer, and no answer: "the checker said no"."""
    if is_unspaced(sentence.text):
        if UNSPACED.doubts.search(sentence.text):
            return True
        return UNSPACED.judges.search(sentence.text) is not None and remark_unspaced(sentence) is not None
    words = split_words(sentence.text)
    if words[:1] in (["none"], ["nothing"]):
        return words[1:2] == ["of"] and words[2:3] in (["this"], ["that"], ["it"]) and OF_ANSWERING.issuperset(words)
    verb = _comment(words, own_line=True) if words else 0
    is_said = bool(verb) and words[verb] not in LINKS and not MARKERS.isdisjoint(words[:verb])
    return is_said and not _strange(words[verb:]) and _is_about_answering(words)


def is_afterthought(words: list[str]) -> bool:
    """ "Or maybe not." """
    return "not" in words and not MAY_BE.isdisjoint(words) and (MAY_BE | OPENERS | {"or", "not"}).issuperset(words)


_LONGEST_UNSPACED = 60
# Numbers, letters and formulas make it a sentence about the matter.
_MATTER = re.compile(r"[0-9a-z=+]")


def remark_unspaced(sentence: Sentence) -> Stance | None:
    """The same where no spaces part the words: 代入检验，两边不相等。"""
    text = sentence.text.strip()
    if len(text) > _LONGEST_UNSPACED or _MATTER.search(text) or UNSPACED.elsewhere.search(text):
        return None
    if UNSPACED.drops.search(text):
        return Stance.TAKEN_BACK
    cleared = UNSPACED.unfails.sub("", UNSPACED.unwrong.sub("", text))
    if UNSPACED.disowns.search(cleared):
        return Stance.DENIED
    if not UNSPACED.fails.search(cleared):
        is_guess = len(text) <= _BRIEF_UNSPACED and UNSPACED.guesses.search(text)
        return Stance.DOUBTED if is_guess else None
    if UNSPACED.guesses.search(cleared):
        return Stance.DENIED
    is_about = UNSPACED.checks.search(text) or UNSPACED.judges.search(text)
    is_wrong = UNSPACED.wrong.search(cleared) and UNSPACED.back.search(text)
    return Stance.DENIED if is_about or is_wrong else None


_BRIEF_UNSPACED = 16
