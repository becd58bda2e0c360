"""The rules judge hands over what the protocol's rules say."""

import pickle

from mixseek.domain.judgments import Undecided, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.judges.specs import RulesJudge
from mixseek.protocols.registry import load_protocol


def test_rules_decide_without_any_text() -> None:
    judge = RulesJudge()
    outcome = judge.reply(Sample("1", "So the answer is (B).", ground_truth="(B)"), load_protocol("semantic"))

    assert judge.name == "rules"
    assert isinstance(outcome, ValidJudgment)
    assert outcome.verdict == "correct"


def test_rules_decline_without_a_ground_truth() -> None:
    assert RulesJudge().reply(Sample("1", "B"), load_protocol("semantic")) == Undecided("no ground truth")


def test_the_judge_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(RulesJudge())) == RulesJudge()  # noqa: S301 - our own bytes
