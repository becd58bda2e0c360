"""A run for a cluster, as far as it goes without one: what is refused, how shards are cut, what is left of one."""

import importlib.util
import pickle
from pathlib import Path

import pytest
from tests.flows.running import mixseek_here, write_jsonl

import mixseek
from mixseek.domain.samples import Sample
from mixseek.engine.call import PendingSample
from mixseek.engine.live import LiveBatch
from mixseek.engine.offline import Batch, judge_one
from mixseek.errors import ConfigurationError
from mixseek.judges.specs import RulesJudge
from mixseek.protocols.answers import AnswerProtocol
from mixseek.protocols.registry import load_protocol
from mixseek.runs.answers.request import AnswerRequest, plan_answers
from mixseek.runs.cluster.driver import cut_shards, refuse_bound_parts, rest_of, samples_of
from mixseek.runs.cluster.worker import ShardOrder, find_difference, installed_software, look_around
from mixseek.runs.live import encode_judged
from mixseek.runs.requests.request import LiveOptions, Plan
from mixseek.storage.journal.recall import recall_journal

SAMPLES = [Sample(f"s{number}", f"The answer is {number}.", ground_truth=str(number)) for number in range(10)]
PROTOCOL = load_protocol("semantic")


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="the extra is installed")
@pytest.mark.parametrize("command", [("judge",), ("answer", "--target", "openai:m@http://127.0.0.1:9/v1")])
def test_without_the_extra_one_line_says_how_to_get_it(command: tuple[str, ...], tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "rows.jsonl", [{"id": "1", "question": "2+2?", "response": "4", "ground_truth": "4"}])

    done = mixseek_here(*command, data, "--on", "ray", "--workspace", "ws", cwd=tmp_path, env={"OPENAI_API_KEY": "k"})

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mixseek: --on ray needs an extra: pip install 'mixseek[ray]'\n"
    assert not (tmp_path / "ws/runs").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--shards", "3"], "only means something with --on ray"),
        (["--on", "ray", "--budget", "9"], "--budget: its rounds wait for one another"),
        (["--on", "spark"], "'spark' is no place to judge at"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: list[str], said: str, tmp_path: Path) -> None:
    done = mixseek_here("judge", "rows.jsonl", *options, cwd=tmp_path)

    assert done.returncode == 2
    assert said in done.stderr


def test_from_python_an_address_without_ray_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"^address: only means something with on='ray'$"):
        mixseek.judge([{"response": "4", "ground_truth": "4"}], address="here:1")


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is not None, reason="the extra is installed")
def test_an_address_of_object_storage_needs_the_extra_too(tmp_path: Path) -> None:
    done = mixseek_here("judge", "s3://bucket/rows.parquet", cwd=tmp_path)

    assert done.returncode == 2
    assert done.stderr == "mixseek: s3://bucket/rows.parquet: needs an extra: pip install 'mixseek[ray]'\n"


def test_answers_may_be_asked_for_from_a_cluster_but_not_read_from_a_file_there(tmp_path: Path) -> None:
    """What is asked stands in the samples, so the protocol goes to the nodes as it is."""
    data = write_jsonl(tmp_path / "questions.jsonl", [{"id": "1", "question": "2+2?"}])
    replies = write_jsonl(tmp_path / "replies.jsonl", [{"id": "1/plain", "reply": "4"}])

    def plan_for(target: str) -> Plan:
        return plan_answers(AnswerRequest(str(data), tmp_path / "ws", (target,), environment={"OPENAI_API_KEY": "k"}))

    plan = plan_for("openai:m@http://127.0.0.1:9/v1")
    refuse_bound_parts(plan)
    assert plan.protocol == AnswerProtocol()
    assert pickle.dumps(plan.protocol)
    with pytest.raises(ConfigurationError, match="is bound to this machine"):
        refuse_bound_parts(plan_for(f"replay:{replies}"))


def test_a_node_is_of_use_with_the_same_software_and_in_sight_of_the_workspace(tmp_path: Path) -> None:
    """What differs is named, with both versions."""
    token = tmp_path / "runs/r/shards/1/here"
    software = installed_software()

    assert find_difference(software) is None
    assert str(find_difference({**software, "math-verify": "0.1"})).endswith(
        f"has math-verify {software['math-verify']}, and this command 0.1; install the same on every node"
    )
    assert "choose a --workspace on a path that all nodes share" in str(look_around(software, token))
    token.parent.mkdir(parents=True)
    token.touch()
    assert look_around(software, token) is None


def test_shards_are_cut_in_the_order_of_the_dataset_and_where_texts_are_long() -> None:
    batches = [Batch([sample]) for sample in SAMPLES]
    long = Sample("long", "x" * (40 << 20))

    shards = list(cut_shards([*batches[:5], Batch([long]), *batches[5:]], 4))

    assert [[samples_of(one)[0].id for one in shard] for shard in shards] == [
        ["s0", "s1", "s2", "s3"],
        ["s4", "long"],
        ["s5", "s6", "s7", "s8"],
        ["s9"],
    ]


@pytest.mark.parametrize("is_live", [False, True])
def test_what_an_attempt_that_died_had_settled_is_not_judged_again(is_live: bool, tmp_path: Path) -> None:
    """Nor counted again as skipped: the progress has seen it."""
    torn = tmp_path / "torn.jsonl"
    judged = [encode_judged(one, judge_one(one, PROTOCOL, (RulesJudge(),))) for one in SAMPLES[:6]]
    torn.write_bytes(b"".join(line for lines in judged for line in lines))
    order = ShardOrder(tmp_path, tmp_path, PROTOCOL, ("rules",), {}, LiveOptions(), False, {})
    live = LiveBatch([PendingSample(one, one.key()) for one in SAMPLES], skipped=3)

    (rest,) = rest_of([live if is_live else Batch(SAMPLES, skipped=3)], recall_journal(torn, ["rules"]), order)

    left = [one.sample for one in rest.samples] if isinstance(rest, LiveBatch) else list(rest.samples)
    assert (left, rest.skipped) == (SAMPLES[6:], 0)
