"""What an audit asks of a judge: drawn samples, their variants, and the runs that judge them."""

import hashlib
import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from mixseek.audits.variants.draw import make_variants, plain_variant
from mixseek.audits.variants.model import Inapplicable, Variant
from mixseek.datasets.memory import keep_rows
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.declaration import DeclaredProtocol
from mixseek.runs.cards import Card
from mixseek.runs.requests.manifest_entries import describe_judge
from mixseek.runs.requests.request import JudgeRequest, Plan, available_cores, make_plan
from mixseek.runs.required_cards import read_earlier
from mixseek.stats.audits import Audit
from mixseek.storage.workspace import Workspace

LANGUAGES = ("en", "ja", "zh")
# Audits whose values are held against a second asking of the same text.
_NEED_RETEST = (Audit.RETEST, Audit.LANGUAGE, Audit.IMPLANT)


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """`judging` has one judge, and the data that samples are drawn from."""

    judging: JudgeRequest
    items: int = 100
    seed: int = 0
    only: Sequence[Audit] = ()
    # An earlier card of the same judge: its samples are judged again, and drift is looked for.
    since: Path | None = None
    # The model behind a judge that does not say it: a function of the user's, an alias of a gateway.
    own_name: str | None = None


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """What is asked: the variants of the main run, those of each other language, and what does not apply."""

    plan: Plan
    request: AuditRequest
    audits: tuple[Audit, ...]
    samples: Mapping[str, Sample]
    variants: tuple[Variant, ...]
    languages: Mapping[str, tuple[Variant, ...]]
    inapplicable: tuple[Inapplicable, ...]
    earlier: Card | None

    def runs(self) -> Iterator[JudgeRequest]:
        """Ordinary ones, so that cache, budget, resuming, `show` and `report` are those of any run."""
        yield self._request(self.variants, self.request.judging.language)
        for language, variants in self.languages.items():
            named = self.request.judging.run
            request = self._request(variants, language)
            yield request if named is None else replace(request, run=f"{named}-{language}")

    def _request(self, variants: Sequence[Variant], language: str | None) -> JudgeRequest:
        judging = self.request.judging
        path = keep_rows([variant.sample for variant in variants], Workspace(judging.workspace).spool)
        # Rubrics, mapped columns and both of a pair are in the samples already.
        return replace(
            judging, data=str(path), data_name=f"audit-{self.plan.dataset.stem}", language=language, mapping={},
            rubric=None, planned=None, limit=None, cascade=False, panel=None, pairs=None,
        )  # fmt: skip


def plan_audit(request: AuditRequest) -> AuditPlan:
    """Draws the samples and changes them; nothing is sent. Raises ConfigurationError for what cannot work."""
    if len(request.judging.judges) != 1:
        raise ConfigurationError("an audit examines one judge; name exactly one")
    plan = make_plan(request.judging, cores=available_cores())
    earlier = None if request.since is None else read_earlier(request.since, plan)
    samples = draw_samples(plan, request)
    own_name = judged_as(plan, request)
    audits = tuple(audit for audit in Audit if not request.only or audit in request.only)
    wanted = [audit for audit in audits if audit is not Audit.DRIFT or earlier is not None]
    if Audit.RESCALED in audits and earlier is not None and Audit.DRIFT not in wanted:
        wanted.append(Audit.DRIFT)
    if any(audit in audits for audit in _NEED_RETEST) and Audit.RETEST not in wanted:
        wanted.append(Audit.RETEST)
    variants: list[Variant] = []
    inapplicable: list[Inapplicable] = []
    # Under another name the judge is asked again; under the same one, an interrupted look goes on.
    look = (request.judging.run,) if request.judging.run is not None else ()
    occasion = "" if earlier is None else " ".join((earlier.runs[0], earlier.created_at.isoformat(), *look))
    for sample in samples:
        variants.append(plain_variant(sample))
        shown = plan.protocol.shown_steps(sample) if isinstance(plan.protocol, DeclaredProtocol) else ()
        for variant in make_variants(sample, wanted, request.seed, own_name, occasion, shown):
            if isinstance(variant, Inapplicable):
                inapplicable.append(variant)
            else:
                variants.append(variant)
    languages = spread_languages(plan, samples, request.seed) if Audit.LANGUAGE in audits else {}
    named = {sample.id: sample for sample in samples}
    return AuditPlan(plan, request, audits, named, tuple(variants), languages, tuple(inapplicable), earlier)


def judged_as(plan: Plan, request: AuditRequest) -> str | None:
    """The name of the model that judges; None where nobody says it."""
    if request.own_name is not None and not request.own_name.strip():
        raise ConfigurationError("own_name (--own-name) is empty; write the model's name, such as gpt-5-mini")
    return request.own_name or describe_judge(plan.judges[0]).model


def draw_samples(plan: Plan, request: AuditRequest) -> list[Sample]:
    """Samples by lot, in the order of the dataset: the smallest digests under the seed."""

    def lot(sample: Sample) -> bytes:
        return hashlib.blake2b(f"{request.seed}:{sample.key()}".encode()).digest()

    whole = (sample for batch in plan.dataset.batches(512) for sample in batch if sample.response.strip())
    drawn = heapq.nsmallest(request.items, ((lot(sample), place, sample) for place, sample in enumerate(whole)))
    if not drawn:
        raise ConfigurationError(f"{plan.dataset.name}: no sample has a response, so there is nothing to audit with")
    return [sample for _, _, sample in sorted(drawn, key=lambda lot_entry: lot_entry[1])]


def spread_languages(plan: Plan, samples: Sequence[Sample], seed: int) -> dict[str, tuple[Variant, ...]]:
    """Each sample under one other language of the same protocol, drawn by lot; none where it has no other."""
    request = plan.request
    if not isinstance(request.protocol, str):
        return {}
    languages = []
    for language in LANGUAGES:
        try:
            protocol = replace(request, language=language).load_protocol()
        except ConfigurationError:
            continue
        if protocol.language == language != plan.protocol.language and protocol.name == plan.protocol.name:
            languages.append(language)
    spread: dict[str, list[Variant]] = {language: [] for language in languages}
    for sample in samples if languages else ():
        rng = Random(f"{seed}:language:{sample.key()}")  # noqa: S311 - lots, not secrets
        spread[rng.choice(languages)].append(plain_variant(sample))
    return {language: tuple(variants) for language, variants in spread.items() if variants}
