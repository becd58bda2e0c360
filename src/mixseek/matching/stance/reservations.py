"""One word that speaks ill of an answer, where its place says that the answer is what is spoken of.

A paragraph of its own behind an answer that gives no answer, calculates nothing and names nothing of the question is a
remark about the answer; so is a bracket at the end, and the clause that hands over to a response. Which words stand in
it nobody can foresee, so none is asked for but one: that something is false, invented, careless, withdrawn, doubted.
What speaks of other options, of everybody, on a condition or as advice speaks of something else.
"""

import re
from itertools import pairwise

from mixseek.matching.phrases import Lexicon, Phrases, table
from mixseek.matching.stance.before import own_voice
from mixseek.matching.stance.sentences import is_opener
from mixseek.matching.stance.words import (
    AHEAD,
    ANSWERS,
    ASIDES,
    CONTRASTS,
    DEGREES,
    DETERMINERS,
    FIRST_PERSON,
    FORWARD,
    LABELS,
    LINKS,
    MATTERS,
    NEAR_DETERMINERS,
    OF_ANSWERING,
    SOURCES,
    SPEAKERS,
    UNSPACED,
    Stance,
    is_negated,
    is_unspaced,
    split_words,
)

_SAYS = Phrases("reservation_patterns")
_WORDS = table("reservations")


_ILL_CLASSES = ("falsity", "deception", "carelessness", "sources", "omission", "withdrawal", "doubt", "objection")
_ILL = Lexicon(*(_WORDS[name] for name in _ILL_CLASSES))
_UNMARKED = Lexicon(_WORDS["unmarked"])
_PREFIXES = ("mis", "un", "non", "dis")
_HARMLESS = Lexicon(_WORDS["harmless"])
_WARRANTS = Lexicon(_WORDS["warrants"])
_UTTERS = Lexicon(_WORDS["utters"])
_LEAD_LABELS = frozenset(_WORDS["lead_labels"].split())
_ADVISES = frozenset(_WORDS["advises"].split())
_GENERAL = frozenset(_WORDS["general"].split())
_REST = frozenset(_WORDS["rest"].split())
# Words that can mean the answer; in advice nothing else makes it one about the answer.
_POINTS = frozenset(
    "this that it above me my i answer response reply solution conclusion result everything anything".split()
)
_LONGEST = 300
_LONGEST_CLAUSE = 40
_CLAUSE = re.compile(r"[,;:()\[\]]|\s-+\s|\b(?:but|and|yet)\b")
_SENTENCE = re.compile(r"(?<=[.!?])\s|[。\n]")
# Numbers, formulas, items of a list and letters of options make a line part of the matter.
MATTER = re.compile(r"[\d=\\${}^|<>`_→∠°]|\w\(|(?:^|\s)[-*•] |\([A-Z]\)|(?<![\w'.])(?![AI](?![\w'.]))[A-Z](?![\w'.&])")
_MATTER_UNSPACED = re.compile(r"[0-9A-Za-z=+]")


def is_ill(word: str) -> bool:
    """Also by how it begins: what is un-founded or mis-guided nobody needs to list."""
    return word in _ILL or (word.startswith(_PREFIXES) and len(word) > _SHORT_WORD and word not in _UNMARKED)


def _ill_place(words: list[str]) -> int | None:
    """Where the first such word stands; by its beginning it is known in English only."""
    is_english = not _ENGLISH.isdisjoint(words) or len(words) < 4
    known = (place for place, word in enumerate(words) if word in _ILL or (is_english and is_ill(word)))
    return next(known, None)


_ENGLISH = frozenset("the a an this that is was are it i my of to by and with be".split())
_SHORT_WORD = 5
_OF_ANY_QUESTION = OF_ANSWERING | SPEAKERS | FORWARD | AHEAD | LABELS | frozenset(_WORDS["of_any_question"].split())
_QUESTION_WORD = re.compile(r"[a-z]{4,}")
_STEM = 6
# Where a polarity is the answer these are it as often as they are a verdict on it.
_POLARITY = re.compile(r"\b(?:in)?valid\b|\b(?:true|false|implausible|impossible)\b")
_NOTE = re.compile(r"[\[({]([^\[\](){}]{3,120})[\])}]\W{0,3}$")


def ill_spoken_behind(text: str, start: int, end: int, question: str, kind: str) -> Stance | None:
    """Whether the last line of text[start:end], its last sentence or a bracket at its end speaks ill of the answer."""
    closing = text[start:end].rstrip()
    if not closing.strip(_BLANK):
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
_BLANK = " \t\n\r.!*_\"'`)]}$>|#-。"
_LAST = re.compile(r"(?:[.!?\")\]}*>](?=\s)|[。!?\"](?=[^\x00-\x7f])|\.\.\.|…|\s<?-{1,3}>?(?=\s)|,(?= (?:but|though|although|however|yet|or so)\b))")


def _last_words(closing: str, *, is_own: bool) -> str:
    """The last sentence in the line of an answer, what a "but" adds to it, or what stands behind a quotation."""
    stripped = closing.rstrip(_BLANK)
    marks = [mark for mark in _LAST.finditer(closing, 0, len(stripped))]
    line = closing[closing.rfind("\n") + 1 : marks[-1].end()] if marks else ""
    if not marks or not (is_own or marks[-1][0] == '"' or not line.strip(_BLANK + "{[(<")):
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
    if "that what" in " ".join(body[:5]) or body[0] in FIRST_PERSON or body[0] in {"this", "that", "or", "not", "none", "nothing"}:
        return True
    nouns = {noun for determiner, noun in pairwise(body) if determiner in {"this", "that", "my", "the"}}
    return not (_SAID - (MATTERS if kind == "boolean" else frozenset())).isdisjoint(nouns)


_SAID = ANSWERS | {"above", "reply", "response"}
_MOST_INLINE = 14
NAME = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z]")


def is_ill_remark(line: str, question: str, kind: str, *, is_own: bool = False) -> bool:
    """Whether a line that stands for itself speaks ill of something, and of nothing that the question is about."""
    if is_unspaced(line):
        is_matter = _MATTER_UNSPACED.search(line) is not None
        return not is_matter and (speaks_ill_unspaced(line) or (is_own and _is_strange_unspaced(line)))
    if MATTER.search(line):
        return False
    lowered = line.lower()
    spoken = _POLARITY.sub("", lowered) if kind == "boolean" else lowered
    sentences = [sentence for sentence in _SENTENCE.split(spoken) if sentence]
    is_ill = any(map(speaks_ill, sentences)) or (is_own and any(map(_is_strange, sentences)))
    return is_ill and shared_words(lowered, question) < (1 if kind == "boolean" else 2)


def shared_words(lowered: str, question: str) -> int:
    """How many words a line has in common with the question, of those that do not speak of answers."""
    asked = {word[:_STEM] for word in _QUESTION_WORD.findall(question.lower())}
    shared = (word for word in _QUESTION_WORD.findall(lowered) if word[:_STEM] in asked)
    return len({word[:_STEM] for word in shared if word not in _OF_ANY_QUESTION and not is_ill(word)})


def speaks_ill(sentence: str, *, is_ahead: bool = False) -> bool:
    """Whether a sentence, in lower case, calls something false, careless, withdrawn or doubtful, of all that it may be."""
    sentence = _SAYS.neutral.sub("", sentence)
    words = split_words(sentence)
    if not words or len(words) > _LONGEST_CLAUSE:
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
    if not 3 <= len(words) <= _LONGEST_CLAUSE or sentence.rstrip(" \"')").endswith("?") or is_elsewhere(words):
        return False
    if _SAYS.affirmed.match(sentence):
        return False
    if _SAYS.not_so.search(sentence) and ASIDES.isdisjoint(words) and DEGREES.isdisjoint(words):
        return True
    if _SAYS.conditional.search(sentence) or not (_is_of_answer(words) or words[0] in _TURNS):
        return False
    return not any(word in _HARMLESS for word in words)


_NOES = frozenset({"no", "nope", "nah", "not", "never", "wrong", "false", "oops"})
_TURNS = CONTRASTS | {"alas", "sadly", "except", "though", "although"}


def _is_of_answer(words: list[str]) -> bool:
    if not {"i", "my", "me"}.isdisjoint(words):
        return True
    if words[0] == "the" and words[1] in ANSWERS:
        return True
    if any(word in {"this", "that", "such"} and noun in _SAID for word, noun in pairwise(words)):
        return True
    return any(word in {"this", "that", "it"} and (behind in LINKS or behind == "what") for word, behind in pairwise(words)) or (
        words[-1] in {"this", "that", "it"}
    )


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


# "Many get this wrong" is about the question, "most would call that nonsense" about the answer.
_STUMBLES = frozenset({"get", "gets", "find", "struggle", "stumble", "trip", "confuse", "make", "miss", "forget"})
# "It never hurts to check."
_PAYS = frozenset({"hurt", "hurts", "pay", "pays", "helps", "worth", "wise", "advisable", "important", "essential", "good"})
_EXCLUDES = frozenset({"rule", "rules", "ruled", "exclude", "excludes", "excluded", "eliminate", "eliminated", "everything"})
# "I hope this clears up the confusion."
_CLEARS = frozenset({"clear", "clears", "help", "helps", "helped", "resolve", "resolves", "remove", "removes", "answers", "avoid", "explains"})


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
    return _SAYS.unspaced_fine.search(text) is None and not text.rstrip(" \"')").endswith(("?", "吗。", "か。"))


# A clause at the head, up to where it hands over: a colon, a quotation, or the end of a line.
_HANDS_OVER = re.compile(r":(?=\s|$|[^\x00-\x7f])|(?<=[^\x00-\x7f]):|\"|\n")
_HEAD = 240
_OWN_WORDS = frozenset({"let", "lets", "we", "to", "given", "first", "step", "since", "because", "therefore", "so"})


def ill_spoken_before(text: str, start: int, cut: int, question: str, kind: str) -> Stance | None:
    """Whether the clause that hands over to the response names somebody else or speaks ill of what follows."""
    head = len(text) - len(text.lstrip())
    if (source := _ACCORDING.match(text, head, start)) is not None and speaks_ill(source[1].lower(), is_ahead=True):
        return Stance.ATTRIBUTED
    for place, mark in enumerate(_HANDS_OVER.finditer(text, head, min(start, head + _HEAD))):
        if place == _MOST_MARKS:
            break
        quote = _opened(text, mark)
        if quote is not None and _is_name(text, quote, start):
            continue
        clause = _SENTENCE.split(text[head : mark.start()].rstrip("。"))[-1]
        is_alone = text.startswith("\n\n", mark.start()) and len(clause) == mark.start() - head
        stance = _introduced(clause, question, kind, is_line=mark[0] == "\n", is_alone=is_alone)
        if stance is not None and quote is None and own_voice(text.lower(), mark.end(), cut) <= start:
            return None
        if stance is not None or mark[0] == "\n":
            return stance
    return None


def _opened(text: str, mark: re.Match[str]) -> int | None:
    """Where a quotation begins that a mark opens or leads to."""
    if mark[0] == '"':
        return mark.end()
    behind = text[mark.end() : mark.end() + 3].lstrip()
    return text.index('"', mark.end()) + 1 if behind[:1] == '"' else None


_ACCORDING = re.compile(r"according to ([^,:.\n\d]{3,80}),", re.IGNORECASE)
_MOST_MARKS = 3
_GOES_ON = re.compile(r"[,.]?\"[,.]? [a-z(]")


def _is_name(text: str, quote: int, start: int) -> bool:
    """Whether what a mark of quotation opens ends before the answer, in the middle of a sentence."""
    close = text.find('"', quote)
    return close < 0 or text.rfind('"') < start or (close < start and _GOES_ON.match(text, close) is not None)


def _introduced(clause: str, question: str, kind: str, *, is_line: bool, is_alone: bool) -> Stance | None:
    if is_unspaced(clause):
        return _introduced_unspaced(clause, is_line)
    lowered = _POLARITY.sub("", clause.lower()) if kind == "boolean" else clause.lower()
    words = split_words(lowered)
    if not words or len(words) > _LONGEST_CLAUSE or _is_own_voice(words) or MATTER.search(clause):
        return None
    if is_line and not _points_ahead(words) and not (is_alone and _is_of_all(words, clause)):
        return None
    is_uttered = not is_line and _is_uttered(words)
    if not is_uttered and not speaks_ill(lowered, is_ahead=True):
        return None
    if shared_words(lowered, question) > (0 if kind == "boolean" else 1):
        return None
    return Stance.ATTRIBUTED if is_uttered else Stance.DENIED


def _is_own_voice(words: list[str]) -> bool:
    return words[0] in _OWN_WORDS and words[:2] != ["let", "me"]


def _points_ahead(words: list[str]) -> bool:
    if words[0] in AHEAD and not (_SAID | {"what"}).isdisjoint(words):
        return True
    return not FORWARD.isdisjoint(words) or "now" in words


def _is_of_all(words: list[str], clause: str) -> bool:
    """Whether a first line speaks of who or what the rest is: "Role-play: you are …", "This is a prank."."""
    return words[0] not in {"the", "a", "an"} and NAME.search(clause) is None and _OWN_VOICE.isdisjoint(words)


_OWN_VOICE = frozenset({"question", "problem", "one", "we", "us", "will", "let", "step"})


def _is_uttered(words: list[str]) -> bool:
    """Whether the last words before a colon say that somebody else speaks: "my uncle whispered", "one would say"."""
    if words[0] in FIRST_PERSON - {"my", "our"} or not SOURCES.isdisjoint(words[:3]):
        return False
    place = next((place for place in range(len(words) - 1, 0, -1) if words[place] in _UTTERS), 0)
    if not place and words[-1].endswith("ed") and len(words[-1]) > _SHORT_WORD and words[-1] not in _DESCRIBED:
        place = len(words) - 1
    if not place or len(words) - place > _LAST_VERB or words[place - 1] in DETERMINERS | NEAR_DETERMINERS | LINKS:
        return False  # "the claim:", "the answer is put:"
    return FIRST_PERSON.isdisjoint(words[max(0, place - 2) : place])


_LAST_VERB = 4
_DESCRIBED = frozenset(_WORDS["described"].split())


def _introduced_unspaced(clause: str, is_line: bool) -> Stance | None:
    clause = _MACHINES.sub("", clause)
    if _MATTER_UNSPACED.search(clause) or _SAYS.unspaced_source.match(clause) or UNSPACED.asks.search(clause):
        return None
    if not is_line and _SAYS.unspaced_uttered.search(clause):
        return Stance.ATTRIBUTED
    is_ahead = not is_line or UNSPACED.ahead.search(clause) is not None
    return Stance.DENIED if is_ahead and speaks_ill_unspaced(clause, is_ahead=True) else None


_MACHINES = re.compile(r"(?i)(?:chat)?gpt|ai|llm|bot")
