"""Which verdict of a tier counts: what was tested decides, and everything else is handed on with all that it said."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest
from tests.cases import each

from mixseek.cascades.certificate import (
    Certificate,
    CertifiedLabels,
    CertifiedSource,
    Tier,
    certify_judge,
    certify_protocol,
)
from mixseek.cascades.file import CascadeTable, certified, write_cascade
from mixseek.cascades.following import FollowedCascade, follow_cascade, follow_given
from mixseek.domain.confidence import Confidence, ConfidenceSource
from mixseek.domain.judgments import InvalidJudgment, Method, Missing, Outcome, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import ReplyKey
from mixseek.domain.routing import HANDED_ON, LAST_WORD, heard_judgment
from mixseek.errors import ConfigurationError, GateError
from mixseek.storage.journal.manifest import JudgeEntry, ProtocolEntry

PROTOCOL = ProtocolEntry(name="semantic", version="1", language="en", hash="ab" * 32, prompt_hashes={})
SURE = Tier(name="a", judges=("a",), confidence=ConfidenceSource.LOGPROBS, threshold=0.9)
PANEL = Tier(name="three", judges=("a", "b", "c"), confidence=ConfidenceSource.PANEL, threshold=0.6)
BESIDE = Tier(name="d", judges=("d",), beside=("a", "b"), confidence=ConfidenceSource.PANEL, threshold=0.6)
LAST = Tier(name="z", judges=("z",))


def followed(directory: Path, *tiers: Tier, last: str = "people") -> FollowedCascade:
    """A cascade of these tiers, written and read."""
    names = dict.fromkeys(judge for tier in tiers for judge in tier.judges)
    judges = tuple(certify_judge(JudgeEntry(name=name, kind="k"), (f"{name}-v1",)) for name in names)
    certificate = Certificate(
        made_on=date(2026, 11, 19),
        agree=0.95,
        confidence=0.9,
        decided_share=0.6,
        agreement=0.98,
        agreement_low=0.95,
        agreement_high=1.0,
        thresholds={tier.name: tier.threshold for tier in tiers if tier.threshold is not None},
        labels=CertifiedLabels(count=200, texts=400, questions=400, drawn="random", digest="12" * 32),
        protocol=certify_protocol(PROTOCOL),
        judges=judges,
        sources=(CertifiedSource(name="march", kind="run", digest="34" * 32),),
    )
    path = directory / "cascade.toml"
    write_cascade(path, certified(CascadeTable(agree=0.95, confidence=0.9, last=last), tiers, certificate))
    return follow_cascade(path)


def says(word: str, sure: float | None = None) -> ValidJudgment:
    confidence = None if sure is None else Confidence(sure, ConfidenceSource.LOGPROBS, {word: sure})
    fields = {"is_correct": word == "correct", "comment": f"it is {word}"}
    return ValidJudgment(float(word == "correct"), word, fields, Method.CROSS_JUDGE, confidence=confidence)


RIGHT, WRONG = says("correct"), says("incorrect")


def heard(**outcomes: Outcome) -> Mapping[ReplyKey, Outcome]:
    return {ReplyKey(judge): outcome for judge, outcome in outcomes.items()}


@each(("sure", "counts"), [(0.95, True), (0.9, True), (0.899, False), (None, False)])
def test_a_judge_decides_from_its_threshold_on(tmp_path: Path, sure: float | None, counts: bool) -> None:
    """Whoever does not say how sure it is has handed on, whatever it says."""
    outcome = followed(tmp_path, SURE).settle(0, heard(a=says("correct", sure)))[ReplyKey("a")]

    assert isinstance(outcome, ValidJudgment) is counts
    assert heard_judgment(outcome) == says("correct", sure)


def test_another_source_of_confidence_is_none(tmp_path: Path) -> None:
    """What was tested with probabilities is not decided by a word that a judge writes of itself."""
    judgment = ValidJudgment(
        1.0, "correct", {}, Method.CROSS_JUDGE, confidence=Confidence(1.0, ConfidenceSource.WRITTEN)
    )

    assert isinstance(followed(tmp_path, SURE).settle(0, heard(a=judgment))[ReplyKey("a")], Undecided)


@each(
    ("members", "verdict"),
    [
        ((RIGHT, RIGHT, RIGHT), "correct"),
        # The last one who was asked is not the panel.
        ((RIGHT, RIGHT, WRONG), "correct"),
        ((WRONG, RIGHT, WRONG), "incorrect"),
        ((RIGHT, WRONG, Missing("timeout")), None),
        # Two of three: whoever gave no verdict does not agree.
        ((RIGHT, RIGHT, InvalidJudgment(())), "correct"),
        ((RIGHT, Missing("timeout"), InvalidJudgment(())), None),
    ],
)
def test_a_panel_decides_by_its_majority(tmp_path: Path, members: tuple[Outcome, ...], verdict: str | None) -> None:
    settled = followed(tmp_path, PANEL).settle(0, heard(a=members[0], b=members[1], c=members[2]))

    joined = settled.pop(ReplyKey("panel:three"))
    assert (joined.verdict if isinstance(joined, ValidJudgment) else None) == verdict
    # Its members have no word of their own.
    assert not any(isinstance(outcome, ValidJudgment) for outcome in settled.values())
    assert [heard_judgment(outcome) for outcome in settled.values()] == [
        member if isinstance(member, ValidJudgment) else None for member in members
    ]


@each(("others", "counts"), [((RIGHT, RIGHT), True), ((RIGHT, WRONG), True), ((WRONG, WRONG), False)])
def test_a_judge_is_as_sure_as_earlier_ones_agree_with_it(
    tmp_path: Path, others: tuple[ValidJudgment, ...], counts: bool
) -> None:
    route = followed(tmp_path, SURE, SURE.model_copy(update={"name": "b", "judges": ("b",)}), BESIDE)
    handed = {
        place: outcome
        for tier, judge in enumerate("ab")
        for place, outcome in route.settle(tier, heard(**{judge: others[tier]})).items()
    }

    outcome = route.settle(2, {**handed, **heard(d=RIGHT)})[ReplyKey("d")]

    assert isinstance(outcome, ValidJudgment) is counts


def test_the_last_judge_has_the_last_word_and_it_is_marked(tmp_path: Path) -> None:
    outcome = followed(tmp_path, SURE, LAST, last="z").settle(1, heard(a=says("correct", 0.5), z=WRONG))[ReplyKey("z")]

    assert isinstance(outcome, ValidJudgment)
    assert (outcome.verdict, outcome.fields[LAST_WORD]) == ("incorrect", True)


def test_what_is_no_verdict_stays_what_it_is(tmp_path: Path) -> None:
    for outcome in (Missing("timeout"), InvalidJudgment(()), Undecided("no rule decides")):
        assert followed(tmp_path, SURE).settle(0, heard(a=outcome))[ReplyKey("a")] == outcome


def test_what_is_handed_on_says_all_that_was_said(tmp_path: Path) -> None:
    outcome = followed(tmp_path, SURE).settle(0, heard(a=says("correct", 0.5)))[ReplyKey("a")]

    assert isinstance(outcome, Undecided)
    assert outcome.fields["comment"] == "it is correct"
    assert outcome.fields[HANDED_ON]["verdict"] == "correct"
    assert "0.5" in outcome.reason
    assert "0.9" in outcome.reason


def test_a_changed_judge_voids_it_before_anything_is_asked(tmp_path: Path) -> None:
    route = followed(tmp_path, SURE)
    route.check([JudgeEntry(name="a", kind="k")], PROTOCOL)

    with pytest.raises(GateError, match=r"judge a: model none, now other.*plan again"):
        route.check([JudgeEntry(name="a", kind="k", model="other")], PROTOCOL)
    with pytest.raises(GateError, match="protocol hash"):
        route.check([JudgeEntry(name="a", kind="k")], PROTOCOL.model_copy(update={"hash": "cd" * 32}))


def test_another_model_version_voids_it_with_its_first_reply(tmp_path: Path) -> None:
    route = followed(tmp_path, SURE)
    route.check_reply(Reply("…", "a", 1, {"model": "a-v1"}))
    route.check_reply(Reply("…", "a", 1, {}))

    with pytest.raises(GateError, match=r"a-v1.*now.*a-v2"):
        route.check_reply(Reply("…", "a", 1, {"model": "a-v2"}))


def test_an_edited_threshold_voids_it(tmp_path: Path) -> None:
    path = followed(tmp_path, SURE).path
    path.write_text(
        path.read_text(encoding="utf-8").replace("threshold = 0.9\n", "threshold = 0.1\n"), encoding="utf-8"
    )

    with pytest.raises(GateError, match=r"threshold of 'a'|edited"):
        follow_cascade(path).check([JudgeEntry(name="a", kind="k")], PROTOCOL)


@each("option", ["judges", "panel", "repeats"])
def test_what_the_file_says_is_not_said_again(tmp_path: Path, option: str) -> None:
    path = followed(tmp_path, SURE).path

    with pytest.raises(ConfigurationError, match="the cascade file says"):
        follow_given({"cascade_file": path, option: 3}, tmp_path / "ws")
