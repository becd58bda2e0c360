"""Result files of real batches, read by the reader that collects our own; skipped where they are not there."""

import json
from pathlib import Path

import pytest

from mixseek.datasets.importers.registry import recognise
from mixseek.judges.batches.lines import LineFormat, read_line
from mixseek.judges.endpoint.anthropic_messages import AnthropicMessages
from mixseek.judges.endpoint.dialects import Wire
from mixseek.judges.endpoint.gemini_content import GeminiContent
from mixseek.judges.endpoint.openai_chat import OpenAIChat

LOGS = Path(__file__).resolve().parents[4] / "shared" / "data" / "logs"
FILES: list[tuple[str, LineFormat, Wire]] = [
    ("openai_batch/answers_chat_output.jsonl", LineFormat.OPENAI, OpenAIChat()),
    ("openai_batch/answers_chat_error.jsonl", LineFormat.OPENAI, OpenAIChat()),
    ("openai_batch/answers_responses_output.jsonl", LineFormat.OPENAI, OpenAIChat()),
    ("openai_batch/answers_responses_error.jsonl", LineFormat.OPENAI, OpenAIChat()),
    ("openai_batch/judge_chat_output.jsonl", LineFormat.OPENAI, OpenAIChat()),
    ("anthropic_batch/answers_results.jsonl", LineFormat.ANTHROPIC, AnthropicMessages()),
    ("anthropic_batch/judge_results.jsonl", LineFormat.ANTHROPIC, AnthropicMessages()),
    ("gemini_batch/answers_output.jsonl", LineFormat.GEMINI, GeminiContent()),
]


@pytest.mark.parametrize(("name", "line_format", "wire"), FILES)
def test_recorded_batches_are_read_as_our_own_are(name: str, line_format: LineFormat, wire: Wire) -> None:
    """Each answer has the text that importing the file gives, with its tokens; each failure its words."""
    path = LOGS / name
    if not path.is_file():
        pytest.skip("the recorded batches are not beside the project")
    log = recognise(path)
    assert log is not None
    imported = {sample.question_id: sample for sample in log.log.samples([])}
    lines = [read_line(line_format, json.loads(line)) for line in path.read_text().splitlines()]

    assert [line.custom_id for line in lines] == list(imported)
    for line in lines:
        sample = imported[line.custom_id]
        if line.document is None:
            assert line.failure is not None
            assert line.failure.words == sample.error
            continue
        answer = wire.read(line.document)
        if sample.error is None:
            assert answer.text == (sample.response or "")
        assert answer.usage.input_tokens
        assert answer.usage.output_tokens is not None
