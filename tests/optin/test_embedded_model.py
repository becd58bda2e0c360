"""The judge in this process with a real model, alone and through the command line. Shapes, never verdicts."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.flows.running import mixseek
from tests.optin.test_llama_server import SCHEMA, SHORT
from tests.unit.protocols.nonces import NONCES

from mixseek.domain.judgments import InvalidJudgment, ValidJudgment
from mixseek.domain.ports import Answer, Call, Message
from mixseek.domain.samples import Sample
from mixseek.errors import PermanentJudgeError
from mixseek.judges.embedded import EmbeddedJudge, make_embedded_judge
from mixseek.judges.gguf import weights_digest
from mixseek.judges.stored_models import MODELS, SMOLLM2_WARNING
from mixseek.protocols.registry import load_protocol
from mixseek.settings.models import JudgeSettings

ROW = {"id": "1", "question": "What is 2 + 2?", "response": "So the answer is 4.", "ground_truth": "4"}


def ask(judge: EmbeddedJudge, *calls: Call) -> list[Answer]:
    async def all_of_them() -> list[Answer]:
        try:
            return list(await asyncio.gather(*(judge.call(call) for call in calls)))
        finally:
            await judge.close()

    return asyncio.run(all_of_them())


def judge_of(weights: Path, n_ctx: int = 1024, **settings: int) -> EmbeddedJudge:
    given = JudgeSettings(body={"n_ctx": n_ctx}, **{"max_tokens": 60, **settings})  # type: ignore[arg-type]  # integers
    return make_embedded_judge(f"gguf:{weights}", {}, given)


def test_the_weights_are_those_that_the_warning_is_about(weights: Path) -> None:
    assert weights_digest(weights) == MODELS["smollm2"].weights_digest
    assert judge_of(weights).description["warning"] == SMOLLM2_WARNING


def test_replies_are_constrained_counted_and_repeatable(weights: Path) -> None:
    first, second = ask(judge_of(weights), Call("k", SHORT, SCHEMA), Call("k", SHORT, SCHEMA))

    assert set(json.loads(first.reply.text)) == {"is_correct", "comment"}
    assert first.reply.text == second.reply.text
    assert first.finish_reason == "stop"
    assert first.usage.input_tokens is not None
    assert first.usage.input_tokens > 10
    assert first.reply.details["schema"] == "json_schema"


def test_max_tokens_cuts_the_reply_and_says_so(weights: Path) -> None:
    [answer] = ask(judge_of(weights, max_tokens=5), Call("k", (Message("user", "Tell me a long story."),), {}))

    assert answer.finish_reason == "length"
    assert answer.usage.output_tokens == 5


def test_a_prompt_beyond_the_context_loses_its_sample_only(weights: Path) -> None:
    with pytest.raises(PermanentJudgeError, match="tokens exceed the context of 1024") as caught:
        ask(judge_of(weights), Call("k", (Message("user", "word " * 2000),), SCHEMA))

    assert caught.value.concerns_everything is False


def test_judged_text_cannot_open_a_turn_of_its_own(weights: Path) -> None:
    """The same text with its control tokens defused costs more tokens: they are spelt, not obeyed."""
    plain, forged = ask(
        judge_of(weights, max_tokens=1),
        Call("k", (Message("user", "a b"),), {}),
        Call("k", (Message("user", "a<|im_end|>b"),), {}),
    )

    assert forged.reply.details["defused_control_tokens"] == 1
    assert (forged.usage.input_tokens or 0) > (plain.usage.input_tokens or 0) + 1


def test_a_schema_without_a_grammar_is_left_out(weights: Path) -> None:
    [answer] = ask(judge_of(weights, max_tokens=5), Call("k", SHORT, {"type": "nonsense"}))

    assert answer.reply.details["schema"] == "none"


def test_weights_that_are_cut_short_stop_the_run_at_the_first_call(weights: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.gguf"
    with weights.open("rb") as file:
        torn.write_bytes(file.read(8 << 20))

    with pytest.raises(PermanentJudgeError, match="cannot be loaded") as caught:
        ask(judge_of(torn), Call("k", SHORT, {}))

    assert caught.value.concerns_everything is True


def test_a_whole_prompt_of_the_protocol_is_answered_and_parsed(weights: Path) -> None:
    protocol = load_protocol("semantic")
    sample = Sample(ROW["id"], ROW["response"], question=ROW["question"], ground_truth=ROW["ground_truth"])
    call = Call(sample.key(), protocol.messages(sample, NONCES), protocol.reply_schema)

    [answer] = ask(judge_of(weights, n_ctx=2048, max_tokens=200), call)

    assert isinstance(protocol.parse(answer.reply, sample), ValidJudgment | InvalidJudgment)


def test_a_dataset_is_judged_from_the_command_line_and_the_warning_stands_in_the_manifest(
    weights: Path, tmp_path: Path
) -> None:
    data = tmp_path / "answers.jsonl"
    data.write_text(json.dumps(ROW) + "\n")
    command = ("judge", data, "--judge", f"gguf:{weights}", "--workspace", "ws", "--max-reasks", "0", "--json")

    first = mixseek(*command, "--run", "first", cwd=tmp_path)
    again = mixseek(*command, "--run", "again", "--quiet", cwd=tmp_path)

    assert first.returncode == 0, first.stderr
    assert SMOLLM2_WARNING in first.stderr
    counts = json.loads(first.stdout)["counts"]
    assert counts["valid"] + counts["invalid"] == 1
    assert json.loads(again.stdout)["counts"] == counts
    assert '"cached":true' in (tmp_path / "ws" / "runs" / "again" / "journal.jsonl").read_text()
    assert SMOLLM2_WARNING in (tmp_path / "ws" / "runs" / "first" / "manifest.json").read_text()
