"""A line at an edge of a response that has nothing to do with it: company, or a word about the response.

Such a line gives no answer, calculates nothing and has no words in common with the question or with the rest of the
response. It is company where most of what it says is what company says: that it greets, thanks, offers, announces,
names a source, speaks of the question or says how sure it is. Whatever else somebody writes there speaks of the text,
of who wrote it or of what became of it, and nobody can list how: the answer is then left undecided.
"""

import re

from mixseek.matching.phrases import Lexicon, Phrases, table
from mixseek.matching.stance.words import is_unspaced

_SAYS = Phrases("detached_patterns")
_WORDS = table("detached")
_COMPANY = Lexicon(_WORDS["company"], table("reservations")["harmless"])
_FUNCTION = Lexicon(_WORDS["function"])
# Before a noun that nothing else speaks of, these bring somebody in: "my toddler", "an old chatbot".
_BRINGS_IN = frozenset(_WORDS["brings_in"].split())
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*(?:'[a-z]+)?")
_CONTENT = re.compile(r"[a-z]{4,}")
_STEM = 5
_HAN = re.compile(r"[\u30a1-\u30fa\u30fc\u3400-\u9fff]+")
_MOST_SHARED = 0.34
# A number that counts nothing and is no part of a formula.
NUMBER = re.compile(r"(?<![\w.=+*/^$\\-])#?\d{1,4}(?:st|nd|rd|th)?(?![\w=+*/^%$\\]|\.\d)")
# Whoever begins like this is at work on the question, or says what follows.
_OWN_WORK = _SAYS.own_work
# Without one of these a sentence may be in another language.
_ENGLISH = frozenset(_WORDS["english"].split())
# A list, a quotation or a name is the matter itself.
_MATTER = re.compile(r"^\W{0,3}[-*•] |\((?:[\divx]|[A-Z]\))|\"|(?<=[a-z,] )(?!I\b)[A-Z][a-z]")


def is_strange(sentence: str, *, least: int = 1) -> bool:
    """Whether a detached sentence, in lower case, says more of other things than company does."""
    words = _WORD.findall(sentence)
    if not words or is_own_work(sentence) or _SAYS.of_the_matter.match(sentence) is not None:
        return False
    known, strange = _weighed(words)
    return strange > max(known, least)


def is_company(line: str, question: str) -> bool:
    """Whether a line, in lower case, says only what company says, to somebody, and nothing that the question asks."""
    if is_unspaced(line):
        return _is_company_unspaced(line, question)
    words = _WORD.findall(line)
    if not len(words) >= _FEWEST or _ADDRESSES.isdisjoint(words) or _MAY_ANSWER.search(line) or is_own_work(line):
        return False
    known, strange = _weighed(words)
    content = {word[:_STEM] for word in words if word not in _FUNCTION}
    asked = question.lower()
    return known >= max(1, strange) and not any(word in asked for word in content)


def _is_company_unspaced(line: str, question: str) -> bool:
    content = _SAYS.unspaced_function.sub(" ", line)
    pairs = (run[place : place + 2] for run in _HAN.findall(content) for place in range(max(1, len(run) - 1)))
    if _MAY_ANSWER.search(line) or _signs(_SAYS.unspaced_company.sub(" ", content)) or line[-1] not in _STOPS:
        return False
    return _signs(content) > 0 and not any(pair in question for pair in pairs)


_FEWEST = 3
_STOPS = "。!.~"
# Of itself, or to its reader.
_ADDRESSES = frozenset({"i", "i'm", "i've", "me", "my", "we", "you", "your", "this", "here", "no", "not", "nothing"})
# What holds a number, an option or a field, or begins with a polarity, may give the answer; so may what announces it.
_MAY_ANSWER = re.compile(r"[\d=:|<>{}\\$\"]|^\W*(?:yes|no|not|true|false)\b[,.!;:]|answer|solution|result|[答解结結]")


def _weighed(words: list[str]) -> tuple[int, int]:
    """How much of a sentence company says, and how much speaks of other things; whoever is brought in counts twice."""
    known = strange = 0
    before = ""
    for word in words:
        stem, _, ending = word.partition("'") if not word.endswith("n't") else ("not", "", "")
        if stem in _COMPANY:
            known += 1
        elif stem not in _FUNCTION:
            strange += 2 if before in _BRINGS_IN or ending == "s" else 1
        before = stem
    return known, strange


def is_own_work(sentence: str) -> bool:
    """Whether somebody is at work on the question, or writes in a language whose words nobody knows here."""
    lowered = sentence.lower()
    if _OWN_WORK.match(lowered) is not None:
        return True
    words = _WORD.findall(lowered)
    return (len(words) >= _FEWEST or not lowered.isascii()) and _ENGLISH.isdisjoint(words) and not is_unspaced(lowered)


def is_strange_unspaced(sentence: str) -> bool:
    """The same where no spaces part the words, by the signs that carry a meaning."""
    if _SAYS.unspaced_works_on.search(sentence):
        return False
    content = _SAYS.unspaced_function.sub(" ", sentence)
    strange = _SAYS.unspaced_company.sub(" ", content)
    known = _signs(content) - _signs(strange)
    return _signs(strange) > max(known, 1)


def _signs(text: str) -> int:
    return sum(map(len, _HAN.findall(text)))


def is_detached(line: str, question: str, rest: str, most: float = _MOST_SHARED) -> bool:
    """Whether a line has next to no words in common with the question and the rest of the response, in lower case."""
    if _MATTER.search(line):
        return False
    content = _CONTENT.findall(line.lower())
    words = {word[:_STEM] for word in content if word not in _FUNCTION and word not in _COMPANY}
    words = words or {word[:_STEM] for word in content}
    shared = sum(word in question or word in rest for word in words)
    return shared <= len(words) * most


def is_detached_unspaced(line: str, question: str, rest: str) -> bool:
    """The same by pairs of signs."""
    content = _SAYS.unspaced_company.sub(" ", _SAYS.unspaced_function.sub(" ", line))
    pairs = {run[place : place + 2] for run in _HAN.findall(content) for place in range(len(run) - 1)}
    shared = sum(pair in question or pair in rest for pair in pairs)
    return shared <= len(pairs) * _MOST_SHARED
