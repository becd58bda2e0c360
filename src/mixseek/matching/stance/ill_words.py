"""Words that speak ill of an answer, and sentences that do: which are about it, and which about something else.

Which words stand beside them nobody can foresee, so none is asked for but one: that something is false, invented,
careless, withdrawn or doubted. What speaks of other options, of everybody, on a condition or as advice speaks of
something else.
"""

import re
from itertools import pairwise

from mixseek.matching.phrases import Lexicon, Phrases, table
from mixseek.matching.stance.words import (
    AHEAD,
    ANSWERS,
    ASIDES,
    CONTRASTS,
    DEGREES,
    FORWARD,
    LABELS,
    LINKS,
    OF_ANSWERING,
    SPEAKERS,
    is_negated,
    is_unspaced,
    split_words,
)

_SAYS = Phrases("reservation_patterns")
_WORDS = table("reservations")
_ILL_CLASSES = ("falsity", "deception", "carelessness", "sources", "omission", "withdrawal", "doubt", "objection")
_ILL = Lexicon(*(_WORDS[name] for name in _ILL_CLASSES))
_UNMARKED, HARMLESS, _WARRANTS = (Lexicon(_WORDS[name]) for name in ("unmarked", "harmless", "warrants"))
_SETS = {name: frozenset(words.split()) for name, words in _WORDS.items()}
_LEAD_LABELS, _ADVISES, _GENERAL, _REST = (_SETS[name] for name in ("lead_labels", "advises", "general", "rest"))
_STUMBLES, _PAYS, _EXCLUDES, _CLEARS = (_SETS[name] for name in ("stumbles", "pays", "excludes", "clears"))
_POINTS, _NOES, _ENGLISH = (_SETS[name] for name in ("points", "noes", "english"))
_OF_ANY_QUESTION = OF_ANSWERING | SPEAKERS | FORWARD | AHEAD | LABELS | _SETS["of_any_question"]
_TURNS = CONTRASTS | _SETS["turns"]
# What was said, by a noun.
SAID = ANSWERS | {"above", "reply", "response"}
_PREFIXES = ("mis", "un", "non", "dis")
_SHORT_WORD = 5
LONGEST_CLAUSE = 40
_CLAUSE = re.compile(r"[,;:()\[\]]|\s-+\s|\b(?:but|and|yet)\b")
SENTENCE = re.compile(r"(?<=[.!?])\s|[。\n]")
_SENTENCE_UNSPACED = re.compile(r"(?<=[。!?])(?=[^\s\"')])")
# Numbers, formulas, items of a list and letters of options make a line part of the matter.
MATTER = re.compile(r"[\d=\\${}^|<>`_→∠°]|\w\(|(?:^|\s)[-*•] |\([A-Z]\)|(?<![\w'.])(?![AI](?![\w'.]))[A-Z](?![\w'.&])")
MATTER_UNSPACED = re.compile(r"[0-9A-Za-z=+]")
# A capital in the middle of a sentence.
NAME = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z]")
_QUESTION_WORD = re.compile(r"[a-z]{4,}")
_STEM = 6
# Where a polarity is the answer these are it as often as they are a verdict on it.
POLARITY = re.compile(r"\b(?:in)?valid\b|\b(?:true|false|implausible|impossible)\b")


def is_ill_remark(line: str, question: str, kind: str, *, is_own: bool = False) -> bool:
    """Whether a line that stands for itself speaks ill of something, and of nothing that the question is about."""
    if is_unspaced(line):
        is_matter = MATTER_UNSPACED.search(line) is not None
        is_ill = any(map(speaks_ill_unspaced, _SENTENCE_UNSPACED.split(line)))
        return not is_matter and (is_ill or (is_own and _is_strange_unspaced(line)))
    if MATTER.search(line):
        return False
    lowered = line.lower()
    spoken = POLARITY.sub("", lowered) if kind == "boolean" else lowered
    sentences = [sentence for sentence in SENTENCE.split(spoken) if sentence]
    is_ill = any(map(speaks_ill, sentences)) or (is_own and any(map(_is_strange, sentences)))
    return is_ill and shared_words(lowered, question) < (1 if kind == "boolean" else 2)


def shared_words(lowered: str, question: str) -> int:
    """How many words a line has in common with the question, of those that do not speak of answers."""
    asked = {word[:_STEM] for word in _QUESTION_WORD.findall(question.lower())}
    shared = (word for word in _QUESTION_WORD.findall(lowered) if word[:_STEM] in asked)
    return len({word[:_STEM] for word in shared if word not in _OF_ANY_QUESTION and not is_ill(word)})


def speaks_ill(sentence: str, *, is_ahead: bool = False) -> bool:
    """Whether a sentence, in lower case, calls something false, careless, withdrawn or doubtful."""
    sentence = _SAYS.neutral.sub("", sentence)
    words = split_words(sentence)
    if not words or len(words) > LONGEST_CLAUSE:
        return False
    if sentence.rstrip(" \"')").endswith("?"):
        return _SAYS.rhetorical.search(sentence) is not None
    condition = _SAYS.conditional.search(sentence)
    if condition is not None and not sentence[: condition.start()].endswith("as "):
        sentence = _without_condition(sentence, condition)
        words = split_words(sentence)
        if words[:1] in (["your"], ["you"], ["please"]):
            return False  # of somebody else, or an offer
    if condition is not None and condition[0] == "whether ":
        return False  # what is doubted is named
    if not words or (not is_ahead and is_elsewhere(words)):
        return False
    if _SAYS.phrases.search(sentence) and not is_negated(words):
        return True
    return any(_is_ill_clause(clause) for clause in _CLAUSE.split(sentence))


def _is_strange(sentence: str) -> bool:
    """Whether a sentence speaks of the answer or of who gave it, and nothing in it is known to be harmless."""
    words = split_words(sentence)
    if words and _NOES.issuperset(words):
        return True
    if not 3 <= len(words) <= LONGEST_CLAUSE or sentence.rstrip(" \"')").endswith("?") or is_elsewhere(words):
        return False
    if _SAYS.affirmed.match(sentence):
        return False
    if _SAYS.not_so.search(sentence) and ASIDES.isdisjoint(words) and DEGREES.isdisjoint(words):
        return True
    if _SAYS.conditional.search(sentence) or not (_is_of_answer(words) or words[0] in _TURNS):
        return False
    return not any(word in HARMLESS for word in words)


def _is_of_answer(words: list[str]) -> bool:
    if not {"i", "my", "me"}.isdisjoint(words):
        return True
    if words[0] == "the" and words[1] in ANSWERS:
        return True
    if any(word in {"this", "that", "such"} and noun in SAID for word, noun in pairwise(words)):
        return True
    return any(
        word in {"this", "that", "it"} and (behind in LINKS or behind == "what") for word, behind in pairwise(words)
    ) or (words[-1] in {"this", "that", "it"})


def _without_condition(sentence: str, condition: re.Match[str]) -> str:
    """What a sentence says outright: what stands before its condition, or behind the comma that ends it."""
    if sentence[: condition.start()].strip():
        return sentence[: condition.start()]
    return sentence[condition.end() :].partition(",")[2]


def is_elsewhere(words: list[str]) -> bool:
    """Whether a sentence is advice, or is about everybody or the other options."""
    while words and words[0] in _LEAD_LABELS:
        words = words[2:] if words[1:2] == ["that"] else words[1:]
    if not words:
        return True
    if words[0] == "the" and words[1:2] == ["question"]:
        return True
    if words[0] in {"anyone", "whoever", "everyone"} and not {"otherwise", "else", "differently"}.isdisjoint(words):
        return True
    if "hope" in words and not _CLEARS.isdisjoint(words):
        return True
    if "else" in words and not _EXCLUDES.isdisjoint(words):
        return True
    if words[0] == "it" and "to" in words and not _PAYS.isdisjoint(words[:5]):
        return True
    points = not _POINTS.isdisjoint(words)
    if (words[0] in _ADVISES or words[0] == "not") and not points:
        return True
    if not _REST.isdisjoint(words[:4]) and not {"this", "that", "my"} & set(words[:4]):
        return True
    first = words[1] if words[0] in {"a", "the", "one", "it", "is"} and len(words) > 1 else words[0]
    is_general = first in _GENERAL or (words[0] == "it" and not _GENERAL.isdisjoint(words[:4]))
    if is_general:
        return not points or not _STUMBLES.isdisjoint(words)
    return not points and not _GENERAL.isdisjoint(words)


def _is_ill_clause(clause: str) -> bool:
    words = split_words(clause)
    ill = _ill_place(words)
    negated = is_negated([word for word in words if word != "anything"])
    if ill is not None:
        before = clause[: clause.find(words[ill].partition("-")[0])]
        return not negated and _SAYS.any_answer.search(before) is None
    return negated and DEGREES.isdisjoint(words) and any(word in _WARRANTS for word in words)


def speaks_ill_unspaced(text: str, *, is_ahead: bool = False) -> bool:
    """The same where no spaces part the words."""
    if not is_ahead and _SAYS.unspaced_harmless.search(text):
        return False
    if text.rstrip(" \"')").endswith(("?", "吗。", "か。")):
        return False
    cleared = _SAYS.unspaced_unsaid.sub("", text)
    return _SAYS.unspaced_ill.search(cleared) is not None or _SAYS.unspaced_denied.search(cleared) is not None


def _is_strange_unspaced(text: str) -> bool:
    if _SAYS.unspaced_harmless.search(text) or not _SAYS.unspaced_points.search(text):
        return False
    return not is_fine_unspaced(text) and not text.rstrip(" \"')").endswith(("?", "吗。", "か。"))


def is_fine_unspaced(text: str) -> bool:
    """Whether a remark holds something that makes it harmless."""
    return _SAYS.unspaced_fine.search(text) is not None


def is_ill(word: str) -> bool:
    """Whether a word speaks ill, also by how it begins: what is un-founded or mis-guided nobody needs to list."""
    return word in _ILL or (word.startswith(_PREFIXES) and len(word) > _SHORT_WORD and word not in _UNMARKED)


def _ill_place(words: list[str]) -> int | None:
    """Where the first such word stands; by its beginning it is known in English only."""
    is_english = not _ENGLISH.isdisjoint(words) or len(words) < 4
    known = (place for place, word in enumerate(words) if word in _ILL or (is_english and is_ill(word)))
    return next(known, None)
