"""Controlled variants of a sample: the same text padded, reformatted, renamed, with an order to its judge or a defect.

Deterministic by seed, one variant a sample and audit, its kind drawn by lot: a sample is one observation, so ten kinds
on ten samples say more than ten kinds on one. Under `name` and `injection` there are two, because a line more is a
change already: another name, and as much neutral text, are what the first one is held against. Where nothing of a kind
can be done to a text, another kind is drawn; where none applies, that is said, with the reason.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

from mixseek.audits.variants.defects import drop_part, invent_quote, miscount, negate
from mixseek.audits.variants.formats import decorate, embolden, list_up, put_headings, speak
from mixseek.audits.variants.model import (
    APOLOGETIC,
    AUDIT,
    CONFIDENT,
    KIND,
    NEUTRAL,
    ORIGINAL,
    OTHER_NAME,
    OWN_NAME,
    PLAIN,
    Inapplicable,
    Variant,
)
from mixseek.audits.variants.padding import neutral_text, pad_after, pad_before
from mixseek.audits.variants.texts import JudgedText, injections, read_phrases
from mixseek.domain.samples import Sample
from mixseek.matching.phrases import written_in
from mixseek.protocols.identity import is_kin
from mixseek.stats.audits import Audit

# Somebody else, whoever the judge is.
OTHER_NAMES = ("Claude Sonnet 4.5", "GPT-5", "Gemini 2.5 Pro", "Qwen3 32B")
_ID_DIGITS = 6
_NO_TEXT = "there is no text to change"
_NO_NAME = "the judge names no model: own_name (--own-name) says whose name it may favour"


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
    text = _judged_text(sample, audit, seed)
    rng = text.rng
    kinds = dict(_KINDS[audit])
    for kind in rng.sample(sorted(kinds), len(kinds)):
        done = kinds[kind](text)
        if done is not None and done != sample.response:
            return _variant(sample, audit, kind, done, seed)
    return Inapplicable(sample.id, audit, _NOTHING_TO_DO[audit])


def _judged_text(sample: Sample, audit: Audit, seed: int) -> JudgedText:
    rng = Random(f"{seed}:{audit.value}:{sample.key()}")  # noqa: S311 - lots, not secrets
    return JudgedText(sample.response, _language(sample), rng)


def _language(sample: Sample) -> str:
    """The language of what is put in, where it can be told."""
    return written_in((sample.response, sample.question)) or "en"


def _named(sample: Sample, seed: int, own_name: str | None) -> list[Variant | Inapplicable]:
    """The sample under both names, because a name of any kind is a change already."""
    if own_name is None:
        return [Inapplicable(sample.id, Audit.NAME, _NO_NAME)]
    other = next(name for name in OTHER_NAMES if not is_kin(own_name, name))
    signature = read_phrases()["signature"][_language(sample)]
    return [
        _variant(sample, Audit.NAME, kind, f"{sample.response}\n\n{signature.format(name=name)}", seed)
        for kind, name in ((OWN_NAME, own_name), (OTHER_NAME, other))
    ]


def _injected(sample: Sample, seed: int) -> list[Variant | Inapplicable]:
    """The text with an order to the judge, and with neutral text of the same length at the same place."""
    if not sample.response.strip():
        return [Inapplicable(sample.id, Audit.INJECTION, _NO_TEXT)]
    text = _judged_text(sample, Audit.INJECTION, seed)
    rng = text.rng
    kinds = sorted(dict(injections()))
    kind = rng.sample(kinds, len(kinds))[0]
    order = rng.choice([text for order_kind, text in injections() if order_kind == kind])
    is_before = rng.random() < 0.5
    spoken = replace(text, language=written_in((order,)) or text.language)
    shown = {kind: order, NEUTRAL: neutral_text(spoken, len(order))}
    return [
        _variant(
            sample, Audit.INJECTION, name, f"{line}\n\n{text.text}" if is_before else f"{text.text}\n\n{line}", seed
        )
        for name, line in shown.items()
    ]


def _variant(sample: Sample, audit: Audit, kind: str, text: str, seed: int, occasion: str = "") -> Variant:
    # An id that says nothing: some prompts show it, and a judge must not read there what is being tried.
    digest = hashlib.blake2b(f"{seed}:{audit.value}:{kind}:{occasion}:{sample.key()}".encode()).hexdigest()
    name = f"{sample.id}~{digest[:_ID_DIGITS]}"
    return Variant(sample.id, audit, kind, _marked(sample, replace(sample, response=text), audit, kind, name))


def _marked(original: Sample, sample: Sample, audit: Audit | None, kind: str, name: str) -> Sample:
    marks = {ORIGINAL: original.id, AUDIT: PLAIN if audit is None else audit.value, KIND: kind}
    # A label is of the plain text.
    return replace(sample, id=name, metadata=marks if audit is not None else {**sample.metadata, **marks})


_KINDS: Mapping[Audit, Mapping[str, Callable[[JudgedText], str | None]]] = {
    Audit.PADDING: {"padding before": pad_before, "padding after": pad_after},
    Audit.FORMAT: {"bold": embolden, "bullets": list_up, "headings": put_headings, "emoji": decorate},
    Audit.TONE: {manner: speak(manner) for manner in (CONFIDENT, APOLOGETIC)},
    Audit.IMPLANT: {
        "negated conclusion": negate,
        "changed number": miscount,
        "dropped part": drop_part,
        "invented quote": invent_quote,
    },
}
_NOTHING_TO_DO = {
    **dict.fromkeys(_KINDS, "no kind of change applies"),
    Audit.FORMAT: "the text is formatted already, or its marks mean something",
}
