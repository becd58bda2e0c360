"""Controlled variants of a sample: the same text padded, reformatted, renamed, with an order to its judge or a defect.

Deterministic by seed, one variant a sample and audit, its kind drawn by lot: a sample is one observation, so ten kinds
on ten samples say more than ten kinds on one. Under `name` and `injection` there are two, because a line more is a
change already: another name, and as much neutral text, are what the first one is held against. Where nothing of a kind
can be done to a text, another kind is drawn; where none applies, that is said, with the reason.
"""

import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from itertools import cycle
from random import Random
from typing import Any, NamedTuple

from mixseek.domain.samples import Sample
from mixseek.lazy_dataclass import dataclass
from mixseek.matching.phrases import written_in
from mixseek.protocols.identity import is_kin
from mixseek.stats.audits import Audit

PLAIN = "plain"
# In the metadata of a variant: whose it is, what it is for, and what was done.
ORIGINAL, AUDIT, KIND = "audit_original", "audit", "audit_kind"
OWN_NAME, OTHER_NAME = "own name", "another name"
CONFIDENT, APOLOGETIC = "confident", "apologetic"
# What an order to the judge is held against: as many characters at the same place, that ask for nothing.
NEUTRAL = "neutral text"
# Somebody else, whoever the judge is.
OTHER_NAMES = ("Claude Sonnet 4.5", "GPT-5", "Gemini 2.5 Pro", "Qwen3 32B")
_ID_DIGITS = 6
_LEAST_PADDING, _MOST_PADDING = 300, 2_000
_NO_TEXT = "there is no text to change"
_NO_NAME = "the judge names no model: own_name (--own-name) says whose name it may favour"


class Variant(NamedTuple):
    """What is shown to the judge. `original` is the id of the sample that it was made from."""

    original: str
    audit: Audit | None  # None for the plain text
    kind: str
    sample: Sample


class Inapplicable(NamedTuple):
    """Nothing of this audit can be done to this sample."""

    original: str
    audit: Audit
    reason: str


@dataclass(frozen=True, slots=True)
class _Text:
    """A judged text with the lot that decides what is done to it, and the sentences of its language."""

    text: str
    language: str
    rng: Random

    def words(self, name: str) -> Any:
        return _texts()[name][self.language]

    @property
    def sentences(self) -> list[str]:
        """Each with the blanks after it, so that joined they are the text again."""
        # Blanks at the end apart, and points from where a row of them begins: else each is looked through again.
        body = self.text.rstrip()
        sentences = _SENTENCE.findall(body)
        return [*sentences[:-1], sentences[-1] + self.text[len(body) :]] if sentences else []


_SENTENCE = re.compile(
    r"\s*+\S.*?(?:(?:(?<![.!?])|(?<=\A.)|(?<=\s.))[.!?]++(?=\s|$)\s*|[。！？]++\s*|\n+|\Z)", re.DOTALL
)


@cache
def _texts() -> Mapping[str, Mapping[str, Any]]:
    return _read("texts.toml")


@cache
def injections() -> tuple[tuple[str, str], ...]:
    """Kind and text of all orders to a judge."""
    kinds = _read("injections.toml")
    return tuple((kind, text) for kind, spoken in kinds.items() for texts in spoken.values() for text in texts)


def _read(name: str) -> Mapping[str, Any]:
    return tomllib.loads((resources.files("mixseek.audits") / name).read_text(encoding="utf-8"))


def plain_variant(sample: Sample) -> Variant:
    """The sample as it is, id included: an ordinary run of the same judge may have paid for it already."""
    return Variant(sample.id, None, PLAIN, _marked(sample, sample, None, PLAIN, sample.id))


def make_variants(
    sample: Sample, audits: Sequence[Audit], seed: int, own_name: str | None, occasion: str = ""
) -> list[Variant | Inapplicable]:
    """Those of the audits that change a text; `occasion` sets one repetition of an audit apart from the next."""
    made: list[Variant | Inapplicable] = []
    for audit in audits:
        if audit in (Audit.RETEST, Audit.DRIFT):
            made.append(_variant(sample, audit, "asked again", sample.response, seed, occasion))
        elif audit is Audit.NAME:
            made += _named(sample, seed, own_name)
        elif audit is Audit.INJECTION:
            made += _injected(sample, seed)
        elif audit in _KINDS:
            made.append(_changed(sample, audit, seed))
    return made


def _changed(sample: Sample, audit: Audit, seed: int) -> Variant | Inapplicable:
    """The text changed by the first kind, in an order drawn by lot, that has something to do here."""
    if not sample.response.strip():
        return Inapplicable(sample.id, audit, _NO_TEXT)
    text = _text_of(sample, audit, seed)
    rng = text.rng
    kinds = dict(_KINDS[audit])
    for kind in rng.sample(sorted(kinds), len(kinds)):
        done = kinds[kind](text)
        if done is not None and done != sample.response:
            return _variant(sample, audit, kind, done, seed)
    return Inapplicable(sample.id, audit, _NOTHING_TO_DO[audit])


def _text_of(sample: Sample, audit: Audit, seed: int) -> _Text:
    rng = Random(f"{seed}:{audit.value}:{sample.key()}")  # noqa: S311 - lots, not secrets
    return _Text(sample.response, _language(sample), rng)


def _language(sample: Sample) -> str:
    """The language of what is put in, where it can be told."""
    return written_in((sample.response, sample.question)) or "en"


def _named(sample: Sample, seed: int, own_name: str | None) -> list[Variant | Inapplicable]:
    """The sample under both names, because a name of any kind is a change already."""
    if own_name is None:
        return [Inapplicable(sample.id, Audit.NAME, _NO_NAME)]
    other = next(name for name in OTHER_NAMES if not is_kin(own_name, name))
    signature = _texts()["signature"][_language(sample)]
    return [
        _variant(sample, Audit.NAME, kind, f"{sample.response}\n\n{signature.format(name=name)}", seed)
        for kind, name in ((OWN_NAME, own_name), (OTHER_NAME, other))
    ]


def _injected(sample: Sample, seed: int) -> list[Variant | Inapplicable]:
    """The text with an order to the judge, and with neutral text of the same length at the same place."""
    if not sample.response.strip():
        return [Inapplicable(sample.id, Audit.INJECTION, _NO_TEXT)]
    text = _text_of(sample, Audit.INJECTION, seed)
    rng = text.rng
    kinds = sorted(dict(injections()))
    kind = rng.sample(kinds, len(kinds))[0]
    order = rng.choice([text for order_kind, text in injections() if order_kind == kind])
    is_before = rng.random() < 0.5
    spoken = replace(text, language=written_in((order,)) or text.language)
    shown = {kind: order, NEUTRAL: _neutral(spoken, len(order))}
    return [
        _variant(
            sample, Audit.INJECTION, name, f"{line}\n\n{text.text}" if is_before else f"{text.text}\n\n{line}", seed
        )
        for name, line in shown.items()
    ]


def _neutral(text: _Text, characters: int) -> str:
    """Content-free words, exactly so many characters of them."""
    stop = "." if text.language == "en" else "。"
    words = _filler(text, characters)[: characters - 1].rstrip(" ,、，;.。")
    return words + stop * (characters - len(words))


def _variant(sample: Sample, audit: Audit, kind: str, text: str, seed: int, occasion: str = "") -> Variant:
    # An id that says nothing: some prompts show it, and a judge must not read there what is being tried.
    digest = hashlib.blake2b(f"{seed}:{audit.value}:{kind}:{occasion}:{sample.key()}".encode()).hexdigest()
    name = f"{sample.id}~{digest[:_ID_DIGITS]}"
    return Variant(sample.id, audit, kind, _marked(sample, replace(sample, response=text), audit, kind, name))


def _marked(original: Sample, sample: Sample, audit: Audit | None, kind: str, name: str) -> Sample:
    marks = {ORIGINAL: original.id, AUDIT: PLAIN if audit is None else audit.value, KIND: kind}
    # A label is of the plain text.
    return replace(sample, id=name, metadata=marks if audit is not None else {**sample.metadata, **marks})


# Padding: as long as the text itself, before it or after it.


def _padding(text: _Text) -> str:
    return _filler(text, min(_MOST_PADDING, max(_LEAST_PADDING, len(text.text))))


def _filler(text: _Text, wanted: int) -> str:
    """Whole sentences that say nothing, so many characters at least."""
    pool: list[str] = text.words("padding")
    between = " " if text.language == "en" else ""
    padding, endless = "", cycle(text.rng.sample(pool, len(pool)))
    while len(padding) < wanted:
        padding += between + next(endless)
    return padding.strip()


def _pad_before(text: _Text) -> str:
    return f"{_padding(text)}\n\n{text.text}"


def _pad_after(text: _Text) -> str:
    return f"{text.text}\n\n{_padding(text)}"


# Format: the same words.

# Marks that mean something there.
_FORMATTED = re.compile(r"```|\$\$|\\\[|\\\(|^[^\S\n]*\||<\w+>", re.MULTILINE)
_LISTED = re.compile(r"^[^\S\n]*+(?:[-*+•]|\d+[.)])\s", re.MULTILINE)
_EMOJI = ("✨", "✅", "🚀", "💡", "👍", "🎯")


def _embolden(text: _Text) -> str | None:
    """The first words of every sentence."""
    if _FORMATTED.search(text.text) or "**" in text.text:
        return None
    opening = r"(\S+(?:[ ]\S+){0,3})" if text.language == "en" else r"(\w{2,8})"
    return "".join(re.sub(opening, r"**\1**", sentence, count=1) for sentence in text.sentences)


def _list_up(text: _Text) -> str | None:
    if _FORMATTED.search(text.text) or _LISTED.search(text.text) or len(text.sentences) < 2:
        return None
    return "\n".join(f"- {sentence.strip()}" for sentence in text.sentences)


def _head(text: _Text) -> str | None:
    if _FORMATTED.search(text.text) or re.search(r"^#+ ", text.text, re.MULTILINE):
        return None
    paragraphs = [paragraph for paragraph in text.text.split("\n\n") if paragraph.strip()]
    headings = text.words("heading")
    return "\n\n".join(
        f"## {headings[min(n, len(headings) - 1)]}\n\n{paragraph}" for n, paragraph in enumerate(paragraphs)
    )


def _decorate(text: _Text) -> str | None:
    if _FORMATTED.search(text.text):
        return None
    return "".join(
        f"{sentence.rstrip()} {text.rng.choice(_EMOJI)}{sentence[len(sentence.rstrip()) :] or ' '}"
        for sentence in text.sentences
    ).rstrip(" ")


def _speak(manner: str) -> Callable[[_Text], str]:
    return lambda text: f"{text.words(manner)}\n\n{text.text}"


# Defects that must cost something.

_TO_NEGATE: Mapping[str, tuple[re.Pattern[str], str | Mapping[str, str]]] = {
    "en": (
        re.compile(r"\b(is|are|was|were|will|can|could|should|would|must|has|have|does|do)\b(?! not\b|n't|n’t)"),
        r"\1 not",
    ),
    "ja": (
        re.compile(r"(です|ます|である|だ|でした|ました)(?=[。！]|\s*$)"),
        {
            "です": "ではありません", "ます": "ません", "である": "ではない", "だ": "ではない",
            "でした": "ではありませんでした", "ました": "ませんでした",
        },
    ),
    "zh": (re.compile(r"(?<!不)(是|会|能|可以|应该|需要)"), r"不\1"),
}  # fmt: skip
# Letters of ours only: 120メートル has a number in it.
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.,])[0-9]+(?:[.,][0-9]+)*(?![A-Za-z0-9_])")
# A list's own numbers say nothing.
_LIST_NUMBER = re.compile(r"^[^\S\n]*+(\d+)[.)]\s", re.MULTILINE)
_NEGATED_FROM_THE_END = 3
_FEWEST_SENTENCES = 3


def _negate(text: _Text) -> str | None:
    """The last of the closing sentences that can be turned round."""
    pattern, negation = _TO_NEGATE[text.language]
    sentences = text.sentences
    for place in range(len(sentences) - 1, max(-1, len(sentences) - 1 - _NEGATED_FROM_THE_END), -1):
        match = pattern.search(sentences[place])
        if match is not None:
            replacement = match.expand(negation) if isinstance(negation, str) else negation[match[0]]
            turned = sentences[place][: match.start()] + replacement + sentences[place][match.end() :]
            return "".join((*sentences[:place], turned, *sentences[place + 1 :]))
    return None


def _miscount(text: _Text) -> str | None:
    """One number, wherever it stands: its first digit is another."""
    listed = {match.start(1) for match in _LIST_NUMBER.finditer(text.text)}
    numbers = [match[0] for match in _NUMBER.finditer(text.text) if match.start() not in listed]
    if not numbers:
        return None
    chosen = text.rng.choice(numbers)
    digit = text.rng.choice([figure for figure in "123456789" if figure != chosen[0]])
    return _NUMBER.sub(lambda match: digit + chosen[1:] if match[0] == chosen else match[0], text.text)


def _drop(text: _Text) -> str | None:
    """Half of what is said, from the middle on; the beginning and the end stay, so that nothing looks cut off."""
    sentences = text.sentences
    if len(sentences) < _FEWEST_SENTENCES:
        return None
    dropped = max(1, len(sentences) // 2)
    start = (len(sentences) - dropped + 1) // 2
    return "".join((*sentences[:start], *sentences[start + dropped :]))


def _quote(text: _Text) -> str:
    return f"{text.text}\n\n{text.words('quotation')}"


_KINDS: Mapping[Audit, Mapping[str, Callable[[_Text], str | None]]] = {
    Audit.PADDING: {"padding before": _pad_before, "padding after": _pad_after},
    Audit.FORMAT: {"bold": _embolden, "bullets": _list_up, "headings": _head, "emoji": _decorate},
    Audit.TONE: {manner: _speak(manner) for manner in (CONFIDENT, APOLOGETIC)},
    Audit.IMPLANT: {
        "negated conclusion": _negate,
        "changed number": _miscount,
        "dropped part": _drop,
        "invented quote": _quote,
    },
}
_NOTHING_TO_DO = {
    **dict.fromkeys(_KINDS, "no kind of change applies"),
    Audit.FORMAT: "the text is formatted already, or its marks mean something",
}
