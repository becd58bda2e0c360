"""Texts as rules see them: what is the answer to a reader and what is not, folded; and what is known of languages.

Parts that do not count (reasoning blocks, special tokens, run-on questions) are blanked with spaces, so offsets stay
those of the original.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

# What of a response is the answer to a reader: reasoning blocks, special tokens and run-on questions are not.
#
# Parts that do not count are blanked with spaces, so offsets stay those of the original.

# Character folding that keeps every offset: spans are promised in the original response, so nothing here may change a
# length. What needs more than one character (ligatures, NFKC in general) is done later, on short pieces.

_NAMED = {
    **dict.fromkeys("‘’‚‛′", "'"),
    **dict.fromkeys("“”„‟″«»「」『』", '"'),
    **dict.fromkeys("−˗➖⁃", "-"),
    # 。 not to a full stop: one that needs no space behind it still ends a sentence. And str.lower() turns İ into two
    # characters, which would shift every span behind it.
    **dict(zip("｡、【】〔〕⟨〈⟩〉İ", "。,[]()<<>>I", strict=True)),
    # Invisible characters separate nothing a reader sees, and must not hide a letter.
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\u061c", " "),
    # So do the marks of writing direction, which stand around Latin letters in Arabic and Hebrew.
    **dict.fromkeys("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", " "),
}


class CharacterTable(dict[int, str]):
    """For `str.translate`, filled as characters are met: a whole table would cost every start of the program 0.2 s."""

    def __init__(self, fold_character: Callable[[str], str]) -> None:
        super().__init__()
        self._fold_character = fold_character

    def __missing__(self, code: int) -> str:
        folded = self[code] = self._fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    category, code = unicodedata.category(character), ord(character)
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category in {"Zs", "Pd"}:
        return " " if category == "Zs" else "-"
    if 0xFF01 <= code <= 0xFF5E or 0x1D400 <= code <= 0x1D6A3 or 0x24B6 <= code <= 0x24CF:
        # Full-width, mathematical and circled letters: all name an option as well as plain ones do.
        return unicodedata.normalize("NFKC", character)
    return character


_TABLE = CharacterTable(_fold_character)
_FOREIGN = re.compile(r"[^\x00-\x7f]+")


def fold(text: str) -> str:
    """The text with widths, digits, quotes, dashes and spaces in ASCII; same length, same offsets."""
    # Only what is not ASCII is translated: a few quotation marks in a page of English cost what they are.
    return text if text.isascii() else _FOREIGN.sub(lambda found: found[0].translate(_TABLE), text)


# Some families of models put a name of their own in front (<seed:think>) or say more in the tag.
_NAMES = ("think", "thinking", "thought", "reasoning", "scratchpad")
_LONGEST_PREFIX = 24
_BLOCKS = rf"(?:[a-z][\w.-]{{0,20}}:)?(?:{'|'.join(_NAMES)})"
_OPEN_TAG = re.compile(rf"<({_BLOCKS})(?:\s[^<>\n]{{0,80}})?>", re.IGNORECASE)
# Struck through: taken back in so many signs.
_STRUCK = re.compile(r"~~(?=\S)[^~\n]{1,300}(?<=\S)~~")
_CLOSE_TAG = re.compile(rf"</({_BLOCKS})\s?>", re.IGNORECASE)
# Marks of single families of models count as well; a channel that is not the final one is no answer.
_MARKS = ("◁", "THINK]", "_thought|>", "<|channel|>")
_MARKED_CLOSE = re.compile(r"◁/think▷|\[/THINK\]|<\|end_of_thought\|>|<\|channel\|>final<\|message\|>")
_MARKED_OPEN = re.compile(
    r"(?:◁think▷|\[THINK\]|<\|begin_of_thought\|>|<\|channel\|>(?:analysis|commentary)\b).*", re.DOTALL
)
# The same channels where the tokens were lost on the way: "analysisWe need …assistantfinalThe answer is B".
_BARE_FINAL = "assistantfinal"
_BARE_ANALYSIS = re.compile(r"\s*analysis(?=[A-Z][a-z']*\b)")
_SPECIAL = re.compile(
    r"<\|[^<>|\n]{1,30}\|>|</?s>|\[/?INST\]|<(?:eos|bos|pad|unk|end_of_turn|start_of_turn)>", re.IGNORECASE
)
_TOKEN_PARTS = ("<|", "s>", "inst]", "<pad>", "<unk>", "_of_turn>")
_LEADING_TOKENS = re.compile(rf"(?:\s*(?:{_SPECIAL.pattern}))+", re.IGNORECASE)
# Where a model has said that it is done, what follows is another conversation.
_END = re.compile(r"<\|(?:im_end|endoftext|end_of_text|eot_id|eom_id|end)\|>|</s>|<(?:eos|end_of_turn)>", re.IGNORECASE)
# The fence is markup; what stands between fences is still the model's answer.
_CODE_FENCE = re.compile(r"```[a-zA-Z]*")

# Answers stand at the end; a longer response is looked at from here on, so that no length costs more than this one.
WINDOW = 24_000


class Visible(NamedTuple):
    """A part of the response, blanked where it is not meant for the reader.

    `offset` is where it begins in the response; `cut` is where a run-on question begins (or the end), and `lead` where
    the answer begins behind greetings and headings, one of which may announce it.
    """

    text: str
    lowered: str
    offset: int
    cut: int
    rules: tuple[str, ...]
    lead: int = 0
    is_headed: bool = False


def visible_part(response: str) -> Visible:
    """Blank what is not meant for the reader, in the window at the end."""
    offset = max(0, len(response) - WINDOW)
    if offset and _is_inside_reasoning(response, offset) and _CLOSE_TAG.search(response, offset) is None:
        return Visible("", "", len(response), 0, ("unclosed_reasoning_dropped",))
    rules: list[str] = []
    text = _blank_bare_channel(fold(response[offset:]), response, rules)
    whole, lowered = text, text.lower()
    # Every mark that is looked for holds one of these.
    if "<" in text or "◁" in text or ("[" in text and ("think]" in lowered or "inst]" in lowered)):
        text = _blank_reasoning(text, rules)
        if any(map(lowered.__contains__, _TOKEN_PARTS)):
            text, count = _SPECIAL.subn(_blank, _blank_behind_end(text, rules))
            if count:
                rules.append("special_tokens_removed")
    if "```" in text:
        text = _CODE_FENCE.sub(_blank, text)
    if "~~" in text:
        text = _STRUCK.sub(_blank, text)
    return Visible(text, lowered if text is whole else text.lower(), offset, len(text), tuple(rules))


def part_before(response: str, tail: Visible) -> str:
    """What a reader sees before the window at the end; empty where all of it is reasoning."""
    closes_late = _CLOSE_TAG.search(response, tail.offset) is not None
    if closes_late or _is_inside_reasoning(response, tail.offset):
        opened = _OPEN_TAG.search(response, 0, min(WINDOW, tail.offset))
        # Where the prompt had opened it, all is reasoning up to its close.
        return response[: opened.start()] if opened else ""
    return response[: tail.offset]


def without_reasoning(text: str) -> str:
    """The text with its reasoning blanked."""
    return _blank_reasoning(text, [])


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _blank_bare_channel(text: str, response: str, rules: list[str]) -> str:
    final = text.rfind(_BARE_FINAL)
    if final >= 0:
        rules.append("reasoning_dropped")
        return " " * (final + len(_BARE_FINAL)) + text[final + len(_BARE_FINAL) :]
    if response.startswith("analysis") and _BARE_ANALYSIS.match(response):
        rules.append("unclosed_reasoning_dropped")
        return " " * len(text)
    return text


def _blank_behind_end(text: str, rules: list[str]) -> str:
    """Only the special tokens of a chat template may stand before the end that counts."""
    leading = _LEADING_TOKENS.match(text)
    done = _END.search(text, leading.end() if leading else 0)
    if done is None:
        return text
    if text[done.end() :].strip():
        rules.append("end_of_text")
    return text[: done.start()] + " " * (len(text) - done.start())


def _is_inside_reasoning(response: str, place: int) -> bool:
    """Whether a reasoning block opened before `place` is still open there."""
    return any(_last_open(response, place, name) > _last_close(response, place, name) for name in _NAMES)


def _last_open(response: str, place: int, name: str) -> int:
    prefixed = response.rfind(f":{name}>", 0, place)
    is_close = prefixed < 0 or "</" in response[max(0, prefixed - _LONGEST_PREFIX) : prefixed]
    return max(response.rfind(f"<{name}>", 0, place), -1 if is_close else prefixed)


def _last_close(response: str, place: int, name: str) -> int:
    prefixed = response.rfind(f":{name}>", 0, place)
    is_close = prefixed >= 0 and "</" in response[max(0, prefixed - _LONGEST_PREFIX) : prefixed]
    return max(response.rfind(f"</{name}>", 0, place), prefixed if is_close else -1)


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Start and end of each reasoning block, and whether it was closed, by a tag of its own name."""
    place = 0
    while (opened := _OPEN_TAG.search(text, place)) is not None:
        name = opened[1].lower()
        closes = (found for found in _CLOSE_TAG.finditer(text, opened.end()) if found[1].lower() == name)
        close = next(closes, None)
        place = len(text) if close is None else close.end()
        yield opened.start(), place, close is not None


def _without(text: str, blocks: Sequence[tuple[int, int, bool]]) -> str:
    parts = []
    place = 0
    for start, end, _ in blocks:
        parts += [text[place:start], " " * (end - start)]
        place = end
    return "".join((*parts, text[place:]))


def _blank_reasoning(text: str, rules: list[str]) -> str:
    """Closed blocks, a close without an open (the prompt had opened it), and an unclosed tail."""
    blocks = list(_blocks(text))
    if any(is_closed for *_, is_closed in blocks):
        rules.append("reasoning_dropped")
    if not all(is_closed for *_, is_closed in blocks):
        rules.append("unclosed_reasoning_dropped")
    text = _without(text, blocks) if blocks else text
    # Looked for first: patterns of so many beginnings are dear, and few texts hold any of them.
    is_marked = any(mark in text for mark in _MARKS)
    ends = [found.end() for found in _CLOSE_TAG.finditer(text)] if "</" in text else []
    ends += [found.end() for found in _MARKED_CLOSE.finditer(text)] if is_marked else []
    if ends:
        rules.append("reasoning_dropped")
        text = " " * max(ends) + text[max(ends) :]
    unclosed = _MARKED_OPEN.search(text) if is_marked else None
    if unclosed is not None:
        rules.append("unclosed_reasoning_dropped")
        text = text[: unclosed.start()] + " " * len(unclosed[0])
    return text


# What the rules know of languages: the phrases they look for, and what a dataset is written in.


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(resources.files("mixseek.matching").joinpath("phrases.toml").read_text(encoding="utf-8"))


def table(name: str) -> dict[str, str]:
    """One table of `phrases.toml`."""
    return dict(_tables()[name])


class Phrases:
    """The patterns of one table, by name, compiled when one is first used: a short command needs few of them.

    Lines of an entry are joined, and `{name}` stands for another entry.
    """

    def __init__(self, name: str) -> None:
        self.table = name
        self.texts = {entry: re.sub(r"(?:\A|\n)\s*", "", text) for entry, text in table(name).items()}

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name in {"table", "texts"} or name not in self.texts:
            raise AttributeError(f"no such entry in phrases.toml: {name}")
        pattern = re.compile(self._written_out(self.texts[name]))
        setattr(self, name, pattern)
        return pattern

    def _written_out(self, text: str) -> str:
        return _ENTRY.sub(lambda found: self._written_out(self.texts[found[1]]), text)


# Not \text{...}, whose braces are escaped.
_ENTRY = re.compile(r"\{([a-z_]+)\}")

# A dataset's language is told by its scripts: enough to say that a prompt speaks another one.
_KANA = re.compile(r"[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9d]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")

# Of each text; the beginning tells, and a megabyte costs nothing.
_HEAD = 2_000
# Fewer letters say nothing: a dataset of numbers and option letters has no language.
_MIN_LETTERS = 20
# A word of Latin takes several letters where an ideograph is one.
_LETTERS_PER_WORD = 5
# The share of kana in Japanese prose is about a half; names and quotations bring a little into Chinese.
_MIN_KANA = 0.2
_MIN_SHARE = 0.8


def written_in(texts: Iterable[str]) -> str | None:
    """`en`, `ja` or `zh`; None where the scripts are mixed, others, or too few letters to tell.

    Latin letters count as English, which our prompts have; French data are as well served by that.
    """
    heads = "".join(text[:_HEAD] for text in texts)
    kana, han, latin = (len(script.findall(heads)) for script in (_KANA, _HAN, _LATIN))
    if kana + han + latin < _MIN_LETTERS:
        return None
    words = kana + han + latin / _LETTERS_PER_WORD
    if latin / _LETTERS_PER_WORD / words >= _MIN_SHARE:
        return "en"
    if kana / (kana + han) >= _MIN_KANA:
        return "ja"
    return "zh" if han / words >= _MIN_SHARE / 2 else None
