"""A mistyped address is said; nothing leaves the machine for somebody who was not meant."""

from pathlib import Path

import pytest
from tests.flows.live import CANARY, KEYS, judge, riddles
from tests.flows.loopback import answering
from tests.flows.running import mixseek_here, the_one_line, write_jsonl


@pytest.mark.parametrize("address", ["localhost:8000/v1", "127.0.0.1:8000", "htp://localhost:1/v1", "ftp://h/v1"])
@pytest.mark.parametrize("timeout", [(), ("--timeout", "5")])
def test_an_at_sign_is_followed_by_http_or_nothing_is_sent(
    address: str, timeout: tuple[str, ...], tmp_path: Path
) -> None:
    """The provider's public host is not where somebody wanted to be who typed an address."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(1))
    judged = judge(data, f"openai:m@{address}", *timeout, cwd=tmp_path)
    checked = mixseek_here("judges", "check", f"openai:m@{address}", cwd=tmp_path, env=KEYS)

    for done in (judged, checked):
        assert done.returncode == 2
        assert "begins with http:// or https://; write openai:m@http" in the_one_line(done)
    assert not (tmp_path / "ws" / "runs" / "r").exists()


@pytest.mark.parametrize("rest", ["m＠http://localhost:1/v1", "http://localhost:1/v1", "localhost:1/v1", "m@http：//h"])
def test_an_address_that_is_none_is_no_models_name_either(rest: str, tmp_path: Path) -> None:
    """A full-width at sign or colon, a forgotten model, a forgotten at sign."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(1))
    done = judge(data, f"openai:{rest}", cwd=tmp_path)

    assert done.returncode == 2
    assert "begins with http:// or https://; write openai:" in the_one_line(done)


def test_a_bare_models_name_is_offered_with_its_provider(tmp_path: Path) -> None:
    """Instead of a list of everything that there is."""
    done = judge(write_jsonl(tmp_path / "data.jsonl", riddles(1)), "gpt-4o", cwd=tmp_path)

    assert done.returncode == 2
    assert the_one_line(done).endswith("did you mean openai:gpt-4o?")


def test_a_gguf_path_may_hold_an_at_sign(tmp_path: Path) -> None:
    """It is a file here, and no address."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(1))
    done = judge(data, f"gguf:{tmp_path}/a@b.gguf", "--timeout", "5", cwd=tmp_path)

    assert done.returncode == 2
    assert "http" not in the_one_line(done)


@pytest.mark.parametrize("command", ["judge", "check"])
def test_a_redirect_is_not_followed_with_the_key(command: str, tmp_path: Path) -> None:
    """Whoever it points to is not whom the key was meant for."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(1))
    with answering(lambda asked: (200, {}, b"{}")) as stranger:
        location = {"Location": f"{stranger.base_url}/chat/completions"}
        with answering(lambda asked: (307, location, b"")) as endpoint:
            if command == "judge":
                done = judge(data, endpoint.spec, cwd=tmp_path)
            else:
                done = mixseek_here("judges", "check", endpoint.spec, cwd=tmp_path, env=KEYS)

    assert done.returncode in (1, 2)
    assert "use the final address as base URL" in done.stderr + done.stdout
    assert CANARY not in done.stderr + done.stdout
    assert endpoint.requests >= 1
    assert stranger.requests == 0
