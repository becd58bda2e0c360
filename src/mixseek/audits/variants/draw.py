"""Controlled variants of a sample: the same text padded, reformatted, renamed, with an order to its judge or a defect.

Deterministic by seed, one variant a sample and audit, its kind drawn by lot: a sample is one observation, so ten kinds
on ten samples say more than ten kinds on one. Under `name` and `injection` there are two, because a line more is a
change already: another name, and as much neutral text, are what the first one is held against. Where nothing of a kind
can be done to a text, another kind is drawn; where none applies, that is said, with the reason.
"""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from random import Random

from mixseek.audits.variants.defects import drop_part, invent_quote, miscount, negate
from mixseek.audits.variants.formats import decorate, embolden, list_up, put_headings, speak
from mixseek.audits.variants.model import (
    APOLOGETIC,
    AUDIT,
    CONFIDENT,
    IN_A_STEP,
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
from mixseek.domain.steps import StepRole
from mixseek.matching.phrases import written_in
from mixseek.protocols.identity import is_kin
from mixseek.protocols.transcripts import says_answer
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
    sample: Sample,
    audits: Sequence[Audit],
    seed: int,
    own_name: str | None,
    occasion: str = "",
    shown_steps: Collection[int] = (),
) -> list[Variant | Inapplicable]:
    """Those of the audits that change a text; `occasion` sets one repetition of an audit apart from the next.

    `shown_steps` are the numbers of the steps that the judge will see: an order may be hidden in a tool's result there.
    """
    made: list[Variant | Inapplicable] = []
    for audit in audits:
        if audit in (Audit.RETEST, Audit.DRIFT):
            made.append(_variant(sample, audit, "asked again", sample.response, seed, occasion))
        elif audit is Audit.NAME:
            made += _named(sample, seed, own_name)
        elif audit is Audit.INJECTION:
            made += _injected(sample, seed, shown_steps)
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


def _injected(sample: Sample, seed: int, shown_steps: Collection[int]) -> list[Variant | Inapplicable]:
    """The text with an order to the judge, and with neutral text of the same length at the same place.

    Where tools gave results, the place is one of these for half of the samples: an agent reads them, and its judge too.
    """
    results = [
        number
        for number in sorted(shown_steps)
        if sample.steps[number - 1].role is StepRole.TOOL and (sample.steps[number - 1].result or "").strip()
    ]
    if not sample.response.strip() and not results:
        return [Inapplicable(sample.id, Audit.INJECTION, _NO_TEXT)]
    text = _judged_text(sample, Audit.INJECTION, seed)
    rng = text.rng
    kinds = sorted(dict(injections()))
    kind = rng.sample(kinds, len(kinds))[0]
    order = rng.choice([text for order_kind, text in injections() if order_kind == kind])
    is_before = rng.random() < 0.5
    spoken = replace(text, language=written_in((order,)) or text.language)
    # Only of samples with steps, so that all others are drawn as before there were any.
    step = rng.choice(results) if results and (rng.random() < 0.5 or not sample.response.strip()) else None
    shown = {kind if step is None else f"{kind}{IN_A_STEP}": order, NEUTRAL: neutral_text(spoken, len(order))}
    return [_injected_at(sample, step, kind, line, seed, is_before=is_before) for kind, line in shown.items()]


def _injected_at(sample: Sample, step: int | None, kind: str, line: str, seed: int, *, is_before: bool) -> Variant:
    """The line before or after the response, or the result of a step."""
    text = sample.response if step is None else sample.steps[step - 1].result or ""
    text = f"{line}\n\n{text}" if is_before else f"{text}\n\n{line}"
    if step is None:
        return _variant(sample, Audit.INJECTION, kind, text, seed)
    changed = replace(sample.steps[step - 1], result=text)
    steps = (*sample.steps[: step - 1], changed, *sample.steps[step:])
    name = _id_of(sample, Audit.INJECTION, kind, seed)
    marked = _marked(sample, replace(sample, steps=steps), Audit.INJECTION, kind, name)
    return Variant(sample.id, Audit.INJECTION, kind, marked)


def _answering(sample: Sample, text: str) -> Sample:
    """The sample with another response; where its last step said the old one, that says the new one too."""
    steps = sample.steps
    if steps and says_answer(steps[-1], sample.response):
        steps = (*steps[:-1], replace(steps[-1], text=text))
    return replace(sample, response=text, steps=steps)


def _id_of(sample: Sample, audit: Audit, kind: str, seed: int, occasion: str = "") -> str:
    # An id that says nothing: some prompts show it, and a judge must not read there what is being tried.
    digest = hashlib.blake2b(f"{seed}:{audit.value}:{kind}:{occasion}:{sample.key()}".encode()).hexdigest()
    return f"{sample.id}~{digest[:_ID_DIGITS]}"


def _variant(sample: Sample, audit: Audit, kind: str, text: str, seed: int, occasion: str = "") -> Variant:
    name = _id_of(sample, audit, kind, seed, occasion)
    return Variant(sample.id, audit, kind, _marked(sample, _answering(sample, text), audit, kind, name))


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
