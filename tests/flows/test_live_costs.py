"""One account: what --max-cost says was spent is what the endpoint counted and what the report shows."""

import json
import re
from pathlib import Path

import pytest
from tests.flows.live import KEYS, riddles
from tests.flows.loopback import Asked, Given, answering, completion
from tests.flows.running import mixseek_here, write_jsonl

PER_INPUT_TOKEN, PER_OUTPUT_TOKEN = 1e-6, 4e-6


@pytest.mark.parametrize(
    ("output_tokens", "lost_in_nine"), [(20, 0), (150, 0), (900, 0), (20, 1), (150, 1), (900, 1), (150, 3)]
)
def test_what_is_said_to_be_spent_is_what_was_spent_and_fills_the_limit(
    output_tokens: int, lost_in_nine: int, tmp_path: Path
) -> None:
    """Replies in flight at the stop, invalid ones and answers without a reply are on the bill too."""
    billed = 0

    def answer(asked: Asked) -> Given:
        nonlocal billed
        billed += 1
        given = completion("no verdict", input_tokens=500, output_tokens=output_tokens)
        if asked.number % 9 >= lost_in_nine:
            return given
        document = json.loads(given[2])
        return 200, {}, json.dumps({**document, "choices": []}).encode()

    data = write_jsonl(tmp_path / "data.jsonl", riddles(400))
    with answering(answer) as endpoint:
        table = (
            f'[judges.mine]\nmodel = "hand"\nbase_url = "{endpoint.base_url}"\n'
            f"price_input = {PER_INPUT_TOKEN * 1e6}\nprice_output = {PER_OUTPUT_TOKEN * 1e6}\n"
        )
        (tmp_path / "mixseek.toml").write_text(table)
        options = ("--max-cost", "0.2", "--concurrency", "16", "--keep-going", "--workspace", "ws", "--run", "r")
        done = mixseek_here("judge", data, "--judge", "mine", *options, cwd=tmp_path, env=KEYS)
    report = mixseek_here("report", "r", "--workspace", "ws", "--json", cwd=tmp_path)
    spent = billed * (500 * PER_INPUT_TOKEN + output_tokens * PER_OUTPUT_TOKEN)
    told = re.search(r"\(([0-9.]+) USD spent by this command\)", done.stderr)

    assert done.returncode == 4, done.stderr
    assert told is not None
    assert float(told[1]) == pytest.approx(spent, abs=1e-4)
    assert 0.17 <= spent <= 0.2 + 1e-9
    account = json.loads(report.stdout)["calls"]["mine"]
    assert float(account["cost_usd"]) == pytest.approx(spent, abs=1e-4)


def test_a_limit_that_lets_nothing_through_leaves_no_run_and_holds_no_name(tmp_path: Path) -> None:
    """--max-cost 0 asks nobody; with money the same name can be used for another protocol."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(3))
    with answering(lambda asked: completion("no verdict")) as endpoint:
        table = f'[judges.mine]\nmodel = "hand"\nbase_url = "{endpoint.base_url}"\nprice_input = 1\nprice_output = 1\n'
        (tmp_path / "mixseek.toml").write_text(table)
        common = ("judge", data, "--judge", "mine", "--workspace", "ws", "--run", "r")
        refused = mixseek_here(*common, "--max-cost", "0", cwd=tmp_path, env=KEYS)
        left = list((tmp_path / "ws" / "runs").iterdir())
        asked = endpoint.requests
        other = mixseek_here(*common, "--language", "ja", cwd=tmp_path, env=KEYS)

    assert refused.returncode == 4, refused.stderr
    assert (left, asked) == ([], 0)
    assert other.returncode == 1, other.stderr
