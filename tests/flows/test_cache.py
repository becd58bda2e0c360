"""`mixseek cache` and `mixseek serve-mock`, from outside."""

import json
import signal
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.flows.live import judge, riddles
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, start, the_one_line, write_jsonl
from tests.waiting import PATIENCE_SECONDS


def cache(*words: str, cwd: Path) -> dict[str, object]:
    done = mixseek_here("cache", *words, "--workspace", "ws", "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    state: dict[str, object] = json.loads(done.stdout)
    return state


def test_the_cache_tells_its_size_and_forgets_what_it_is_told_to(tmp_path: Path) -> None:
    """What was dropped is asked for again; the run that it came from keeps its own."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(20))
    assert cache("size", cwd=tmp_path)["replies"] == 0
    with loopback() as endpoint:
        judge(data, endpoint.spec, cwd=tmp_path)
        full = cache("size", cwd=tmp_path)
        kept = cache("prune", "--older-than", "1", cwd=tmp_path)
        emptied = cache("prune", "--keep", "0", cwd=tmp_path)
        again = judge(data, endpoint.spec, cwd=tmp_path)
        asked = endpoint.requests

    assert (full["replies"], kept["replies"], kept["dropped"]) == (20, 20, 0)
    assert (emptied["replies"], emptied["dropped"]) == (0, 20)
    assert again.returncode == 0
    assert asked == 20


@pytest.mark.parametrize(
    ("words", "said"),
    [(["prune"], "say what to drop"), (["prune", "--keep", "many"], "not a size"), (["prune", "--keep", "-1"], "size")],
)
def test_a_prune_that_says_nothing_useful_is_one_line(words: list[str], said: str, tmp_path: Path) -> None:
    """Exit 2."""
    done = mixseek_here("cache", *words, "--workspace", "ws", cwd=tmp_path)

    assert done.returncode == 2
    assert said in the_one_line(done)


@pytest.mark.parametrize(
    ("words", "status", "header"),
    [
        (["--refuse-keys"], 401, None),
        (["--context", "10"], 400, None),
        (["--fault-rate", "1", "--fault", "rate-limit", "--retry-after", "7"], 429, "7"),
        (["--fault-rate", "100%", "--fault", "server-error"], 500, None),
    ],
)
def test_the_mock_fails_as_it_is_told(words: list[str], status: int, header: str | None, tmp_path: Path) -> None:
    """Over HTTP, as a judge would see it; and it leaves at SIGTERM."""
    process = start("serve-mock", "--port", "0", "--latency", "0", *words, cwd=tmp_path)
    try:
        base_url = process.stdout.readline().split()[4]
        body = json.dumps({"model": "mock", "messages": [{"role": "user", "content": "is it correct, or is it not?"}]})
        request = urllib.request.Request(f"{base_url}/chat/completions", body.encode(), method="POST")  # noqa: S310
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=PATIENCE_SECONDS)  # noqa: S310 - loopback
        refused.value.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()

    assert refused.value.code == status
    assert refused.value.headers.get("Retry-After") == header
    assert process.returncode == 0
