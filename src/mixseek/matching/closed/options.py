"""Multiple choice: a letter (or number) from a list, or the listed text in its place."""

import re
import unicodedata
from functools import cached_property, lru_cache

from mixseek.lazy_dataclass import dataclass
from mixseek.matching.numbers import UNITS, read_numbers, with_plain_dates, word_numbers
from mixseek.matching.phrases import Phrases
from mixseek.matching.readings import Decision, Reader, Reading

# The options a question lists, by letter or by number.

# "(A) text", "A) text", "A. text", "A: text" at the start of a line; two or more in a row from A (or 1) are a list.
_LETTERED = re.compile(r"(?:^|\n)[ \t]*+(?:[-*][ \t]*+)?(?:\(([A-Za-z])\)|\[([A-Z])\]|([A-Z])[.):、．])[ \t]*([^\n]*)")
_INLINE = re.compile(r"\(([A-Z])\)\s*([^()\n]+?)(?=[\s,;]*\([A-Z]\)|\s*$|\n)")
_NUMBERED = re.compile(r"(?:^|\n)[ \t]*(?:\(?(\d{1,2})[.)、]|\[(\d{1,2})\])[ \t]*([^\n]+)")
_FIRST_LABELS = ("\nA.", "\nA)", "\nA:", "\n[A]", "\nA、", "\n(a)", "\n- A", "\n* A", "\n A")


@lru_cache(maxsize=64)  # asked several times for each response; nobody changes what it returns
def lettered_options(question: str) -> dict[str, str]:
    """Label and text of the last run of lettered options: examples come before, the real list last."""
    if "(A)" not in question:
        if "A" not in question and "(a)" not in question:
            return {}
        if not any(map(f"\n{question}".__contains__, _FIRST_LABELS)):
            return {}
    lines = [("".join(labels).upper(), text.strip()) for *labels, text in _LETTERED.findall(question)]
    return _last_run(lines, "A") or _last_run([(m[1], m[2].strip(" ,;.")) for m in _INLINE.finditer(question)], "A")


def numbered_options(question: str) -> dict[str, str]:
    """The last run of options numbered from 1."""
    return _last_run([(m[1] or m[2], m[3].strip()) for m in _NUMBERED.finditer(question)], "1")


def _last_run(labelled: list[tuple[str, str]], first: str) -> dict[str, str]:
    run: list[tuple[str, str]] = []
    best: list[tuple[str, str]] = []
    for label, text in labelled:
        place = int(label) - 1 if label.isdigit() else ord(label) - ord("A")
        run = [] if label == first or place != len(run) else run
        if place == len(run) and (run or label == first):
            run.append((label, text))
        if len(run) >= 2:
            best = run
    return dict(best)


_SAYS = Phrases("options")
# A letter that a sentence names where no list offers any: the letter "R", the note E, "the commonest type is O."
_NAMED_LETTER = re.compile(
    r"\b(?:letter|note)\s[\"'“‘]?([A-Z])\b|[\"“]([A-Z])[\"”]|\b(?:is|was|to|called)\s([A-Z])(?=[.!]?\s*\Z)"
)
_PLAIN_DATE = re.compile(r"\d\d \d\d \d{4}")
_OPTION_LINE = re.compile(r"[\s*-]*[(\[]?([A-Z0-9]{1,2})[)\].:]")
_NON_WORD = re.compile(r"[\W_]+")
_STEM = 4
_LIST_REACH = 1_500
_LISTED = re.compile(r"(?:^|(?<=[\s(\[*]))[(\[*]{0,3}([A-Za-z])[)\].:]{1,2}(?:[\s*]|\Z)")
_TICKS = frozenset("✓✔✅✗✘❌×○〇⭕")
_AROUND_LABEL = " \n\t.)]}*\"'$"
_NO_WORDS = re.compile(r"[\W_]*")


def comparable(text: str) -> str:
    """Option text reduced to its words: punctuation, case and the spelling of dates do not hide an equal text."""
    return _NON_WORD.sub(" ", with_plain_dates(text).casefold()).strip()


def _is_unspaced(text: str) -> bool:
    """Japanese or Chinese: words stand without spaces, so boundaries prove nothing."""
    return not text.isascii() and any("\u3040" <= character <= "\u9fff" for character in text)


def _place_in(words: str, text: str) -> int:
    """Where comparable `words` contain comparable `text` as words; -1 where they do not."""
    if _is_unspaced(text):
        return words.replace(" ", "").find(text.replace(" ", ""))
    return f" {words} ".find(f" {text} ") if text in words else -1


def _begins(words: str, text: str) -> bool:
    return _place_in(words, text) == 0


def _holds(words: str, text: str) -> bool:
    return _place_in(words, text) >= 0


def named_letter(text: str, label: str) -> tuple[int, int] | None:
    """Where a text without options names the letter, if it names no other one."""
    named = list(_NAMED_LETTER.finditer(text))
    if {letter[letter.lastindex or 0] for letter in named} != {label}:
        return None
    return named[0].span(named[0].lastindex or 0)


@dataclass(frozen=True)
class OptionReader(Reader):
    """The gold label; the question's options are read only when more than the label is in doubt."""

    label: str
    question: str
    kind = "option"

    @cached_property
    def options(self) -> dict[str, str]:
        """What is on offer; with no list in sight every label counts as offered."""
        return numbered_options(self.question) if self._numbered else lettered_options(self.question)

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {label: comparable(text) for label, text in self.options.items()}

    @property
    def _numbered(self) -> bool:
        return self.label.isdigit()

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """A letter in front, else letters in brackets, else an option's text."""
        lead = self._lead(piece) if firm else None
        stated = lead or self._bracketed(piece, firm=firm) or self._by_text(piece)
        if stated is not None or not firm or (none := _SAYS.none.search(piece)) is None:
            return stated
        return Reading(Decision.INCORRECT, *none.span(), "none_of_the_options")

    def _lead(self, piece: str) -> Reading | None:
        match = (_SAYS.lead_number if self._numbered else _SAYS.lead_letter).match(piece)
        if match is None:
            return None
        label = match[1].upper()
        start, end = match.span(1)
        bracketed = piece[start - 1 : start] in {"(", "[", "{"} and piece[end : end + 1] in {")", "]", "}"}
        if not self._numbered and not bracketed and not self._is_letter(piece, start, end, match):
            return None
        if not piece[end:].strip(_AROUND_LABEL) and not self._numbered:
            return self._named(label, start, end)  # nothing is said of it
        if _SAYS.ruled_out.match(piece, end) and not _begins(comparable(piece[end:]), self._texts.get(label) or "?"):
            return None
        if self._numbered and (meant := self._text_of_number(label, piece, end)) is not None:
            return meant._replace(start=start, end=end)
        replaced = None if self._numbered else _SAYS.replaced_by.match(piece, end)
        if replaced is not None and replaced[1] != label:
            return Reading(Decision.UNDECIDED, start, replaced.end(), "another_label_behind")
        more = (_SAYS.more_numbers if self._numbered else _SAYS.more_letters).match(piece, match.end(2))
        if more is not None and more[1] != label and (not self.options or more[1] in self.options):
            return Reading(Decision.INCORRECT, start, more.end(), "several_options_named")
        if self._other_text_follows(label, piece[end : end + 300]):
            return Reading(Decision.UNDECIDED, start, end, "label_and_text_disagree")
        return self._named(label, start, end)

    def _text_of_number(self, label: str, piece: str, end: int) -> Reading | None:
        """A bare number may be an option's text: 7 where the list says "2. 7"; None where it can only be a label."""
        meant = [other for other, text in self._texts.items() if text == label and other != label]
        if not meant or piece[end:].strip(" .*)]}$"):
            return None
        named = self._named(meant[0], 0, 0)
        is_open = label in self.options and self.label in (label, meant[0])
        return named.left_open("label_or_text") if is_open else named

    def _other_text_follows(self, label: str, rest: str) -> bool:
        """Whether the words right behind a label are another option's text and not its own."""
        if _NO_WORDS.fullmatch(rest):
            return False
        words = comparable(rest)
        own_text = self._texts.get(label)
        return (
            bool(own_text)
            and not _begins(words, own_text or "")
            and self._begins_with_other(words, label, own_text or "")
        )

    def _begins_with_other(self, words: str, label: str, own_text: str) -> bool:
        return any(
            text and text not in own_text and _begins(words, text)
            for other, text in self._texts.items()
            if other != label
        )

    def _is_letter(self, piece: str, start: int, end: int, match: re.Match[str]) -> bool:
        """Whether a bare letter is an option and not a word: "A dog", "I think", "a 5 % rise"."""
        letter = piece[start:end]
        following = match[3]
        if letter == "A" and following == ":":
            # "A:" opens an answer; it names option A only when that option's text follows.
            own_text = self._texts.get("A")
            return bool(own_text) and comparable(piece[end:]).startswith(own_text or "")
        stands_alone = not (following.isascii() and following.isalnum()) and following != "'"
        if _SAYS.goes_on.match(piece, end):
            return True
        if letter.islower():
            is_named = _SAYS.label_word.search(piece, 0, start) is not None
            # "b. Carbon dioxide" is led by its label; "i. e." is not.
            is_label = following in {".", ")", ":"} and letter != "i" and piece[match.end() : match.end() + 1].isspace()
            return stands_alone and (is_named or is_label or len(piece.strip(" .*()\"'")) == 1)
        if letter in "AI" and not stands_alone:
            text = self.options.get(letter)
            rest = comparable(piece[end : end + 200])
            return bool(text) and rest.startswith(comparable(text or "")[:40])
        return True

    def _named(self, label: str, start: int, end: int) -> Reading:
        if label == self.label:
            return Reading(Decision.CORRECT, start, end, "option_label")
        is_offered = not self.options or label in self.options
        return Reading(Decision.INCORRECT, start, end, "option_label" if is_offered else "option_not_offered")

    def _bracketed(self, piece: str, *, firm: bool) -> Reading | None:
        sentence = piece if not firm else piece[:250]
        others = sentence
        seen: dict[str, tuple[int, int]] = {}
        for match in (_SAYS.bracketed_number if self._numbered else _SAYS.bracketed).finditer(sentence):
            label = match[match.lastindex or 1].upper()
            if self.options and label not in self.options:
                continue
            before = sentence[max(0, match.start() - 40) : match.start()]
            dismissed = _SAYS.dismissed.match(sentence, match.end())
            if _SAYS.negated.search(before) or dismissed:
                # What dismisses another option does not dismiss this one.
                rest = dismissed.end() if dismissed else match.end()
                others = others[: match.start()] + " " * (rest - match.start()) + others[rest:]
                continue
            seen[label] = match.span(match.lastindex or 1)
        if len(seen) != 1:
            return None
        (label, (start, end)) = next(iter(seen.items()))
        if not firm and _SAYS.negated.search(others, end):
            return None
        return self._named(label, start, end)

    def _by_text(self, piece: str) -> Reading | None:
        words = comparable(piece)
        hits = [(label, text) for label, text in self._texts.items() if text and _holds(words, text)]
        # "red" inside "dark red": a text that is part of another hit is not a hit of its own.
        hits = [hit for hit in hits if not any(hit[1] != other[1] and _holds(other[1], hit[1]) for other in hits)]
        if len(hits) > 1:
            # "It is ambiguous because …"; "The one to the right of the pink ball is brown."
            claim = _SAYS.reason.split(piece, maxsplit=1)[0]
            held = [hit for hit in hits if _holds(comparable(claim), hit[1])]
            if len(held) > 1 and (concluded := _SAYS.behind_verb.match(claim)) is not None:
                held = [hit for hit in held if _holds(comparable(concluded[1]), hit[1])]
            if len(held) != 1:
                # "The tallest is Mina; Otto and Piet are shorter": the one that is said to be it.
                is_it = r"\b(?:is|was)\s+(?:the\s+|an?\s+)?"
                held = [hit for hit in hits if re.search(rf"{is_it}{_spelled(hit[1])}\b", claim, re.IGNORECASE)]
            hits = held
        if len(hits) != 1:
            return None
        label, text = hits[0]
        # Without the option's own words, which may hold a negation themselves.
        if _SAYS.negated.search(piece.casefold().replace(self.options[label].casefold().rstrip("."), " ")):
            return None
        # The whole piece where the words are written in another way.
        match = re.search(_spelled(text), piece, re.IGNORECASE)
        decision = Decision.CORRECT if label == self.label else Decision.INCORRECT
        return Reading(decision, *(match.span() if match else (0, len(piece))), "option_text")

    def is_other(self, text: str, place: int) -> bool:
        """Another label that is on offer, or another option's text; not one that a verb says something about."""
        match = (_SAYS.next_number if self._numbered else _SAYS.next_letter).match(text, place)
        if match is not None and match[1] != self.label:
            return not self.options or match[1] in self.options
        words = comparable(text[place : place + 80])
        return self._begins_with_other(words, self.label, self._texts.get(self.label, ""))

    def is_absent(self, text: str) -> bool:
        """Neither the label on its own nor a word that sets the option's text apart from the others."""
        if not self.options or re.search(rf"(?<![A-Za-z0-9]){self.label}(?![A-Za-z0-9])", text):
            return False
        if any(match[match.lastindex or 1].upper() == self.label for match in _SAYS.small_label.finditer(text)):
            return False
        if _SAYS.by_place.search(text.lower()) or (self._numbered and _is_said(int(self.label), text)):
            return False
        texts = dict(self._texts)
        if all(re.search(rf"(?<![A-Za-z0-9]){other}(?![A-Za-z0-9])", text) for other in texts if other != self.label):
            return False  # all the others are named, perhaps to rule them out
        if _PLAIN_DATE.search(texts.get(self.label, "")):
            return False  # a day can be named without its year, or by its distance from another
        if _counts_alike(self.options.get(self.label, ""), text):
            return False
        own_marks = _marks(texts.pop(self.label, ""))
        words = comparable(text)
        # "grasshoppers" for "Grasshopper".
        named_marks = {
            mark for mark in own_marks if _holds(words, mark) or (len(mark) > _STEM and f" {mark}" in f" {words}")
        }
        if not named_marks:
            return bool(own_marks)
        others = [_marks(other) for other in texts.values()]
        return bool(others) and named_marks <= others[0].intersection(*others[1:])

    def is_cut_list(self, text: str, place: int) -> bool:
        """Whether the label at `place` is of a list of options, from the first on, with which the text breaks off."""
        labels = list(_LISTED.finditer(text, max(0, place - _LIST_REACH), place + _LIST_REACH))
        reached = sum(item.start(1) <= place for item in labels)
        if not reached or place > labels[reached - 1].end() + 1:
            return False
        run = [labels[reached - 1]]
        for item in reversed(labels[: reached - 1]):
            if _letter_of(item) != _letter_of(run[0]) - 1:
                break
            run.insert(0, item)
        for item in labels[reached:]:
            if _letter_of(item) != _letter_of(run[-1]) + 1:
                break
            run.append(item)
        if len(run) < 2 or run[0][1].upper() != "A":
            return False
        ends = [item.start() for item in run[1:]] + [len(text)]
        echoes = [(item[1].upper(), text[item.end() : end]) for item, end in zip(run, ends, strict=True)]
        # A label without a word is listed only where the list breaks off: "it cannot be (A). (B)" gives an answer.
        is_listed = all(any(map(str.isalnum, rest)) for _, rest in echoes[:-1])
        return is_listed and all(self._is_echo(label, rest) for label, rest in echoes)

    def _is_echo(self, label: str, rest: str) -> bool:
        """Whether what stands behind a label is its text or a part of it; without a list, anything but a verdict."""
        words = comparable(rest)
        own_text = self._texts.get(label)
        return own_text.startswith(words) if own_text else _SAYS.says_something.search(rest) is None

    def lists_every_option(self, text: str) -> bool:
        """Whether the lines of the text are the options, all of them, and nothing else."""
        lines = [line for line in text.split("\n") if line.strip()]
        if len(self.options) < 2 or len(lines) < len(self.options):
            return False
        named = [
            match[1]
            for line in lines[-len(self.options) - 1 :]
            if (match := _OPTION_LINE.match(line))
            # "(E) is correct" is a verdict on the option, and so is a tick.
            and comparable(line[match.end() :]) in {"", self._texts.get(match[1], "")}
            and _TICKS.isdisjoint(line)
        ]
        return named[-len(self.options) :] == list(self.options)


def _letter_of(item: re.Match[str]) -> int:
    return ord(item[1].upper())


def _spelled(text: str) -> str:
    """A pattern for comparable text as it may be written."""
    return r"[\W_]*".join(map(re.escape, text.split()))


def _is_said(number: int, text: str) -> bool:
    """Whether the number stands in the text as a word, or as a sign such as ② or 二."""
    word = next((word for word, value in UNITS.items() if value == number), None)
    if word is not None and re.search(rf"\b{word}\b", text, re.IGNORECASE):
        return True
    return not text.isascii() and any(unicodedata.numeric(sign, None) == number for sign in set(text))


def _counts_alike(option: str, text: str) -> bool:
    """Whether a number that the option has in words stands in the text in figures: "four" and 4."""
    spoken = {value for token in word_numbers(option) for value in token.values}
    return bool(spoken) and any(
        not spoken.isdisjoint(token.values) for token in read_numbers(text, words=False, once=True)
    )


def _marks(text: str) -> set[str]:
    """What of an option's text can be looked up: words, or pairs of characters where there are no spaces."""
    if _is_unspaced(text):
        bare = text.replace(" ", "")
        return {bare[place : place + 2] for place in range(max(1, len(bare) - 1))}
    return set(text.split())
