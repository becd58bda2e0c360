"""Prompts whose constant part is marked are judged as others are: the marks change what is paid, never what is said."""

from pathlib import Path

import pytest
from tests.flows.live import KEYS, riddles
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, read_jsonl, write_jsonl


@pytest.mark.parametrize(
    ("provider", "model"), [("openai", "gpt-5.6"), ("openai", "gpt-5"), ("anthropic", "claude-sonnet-4-5")]
)
def test_marks_change_no_verdict_and_no_kept_reply(provider: str, model: str, tmp_path: Path) -> None:
    """With and without: the same verdicts; and replies that were kept with marks serve where there are none."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(6))
    with loopback() as endpoint:
        url = endpoint.base_url if provider == "openai" else endpoint.base_url.removesuffix("/v1")
        for name, cache in (("marked", "true"), ("plain", "false")):
            settings = f'provider = "{provider}"\nmodel = "{model}"\nbase_url = "{url}"\ncache = {cache}\n'
            (tmp_path / "mixseek.toml").write_text(f"[judges.here]\n{settings}", encoding="utf-8")
            for workspace in (name, "shared"):
                options = ("--judge", "here", "--workspace", workspace, "--run", name, "--quiet", "--json")
                done = mixseek_here("judge", data.name, *options, cwd=tmp_path, env=KEYS)
                assert done.returncode == 0, done.stderr
        asked = endpoint.stats()["requests"]
    # Six for each of three runs: the fourth takes what the third has kept.
    assert asked == 18
    verdicts = []
    for name in ("marked", "plain"):
        exported = mixseek_here("export", name, "--workspace", name, "--to", f"{name}.jsonl", cwd=tmp_path)
        assert exported.returncode == 0, exported.stderr
        verdicts.append(sorted((row["id"], row["verdict"]) for row in read_jsonl(tmp_path / f"{name}.jsonl")))
    assert verdicts[0] == verdicts[1] != []
