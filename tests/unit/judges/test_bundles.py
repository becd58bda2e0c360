"""Entries of bundled replies find their samples, or nobody: a name that fits two fits none."""

import json
from pathlib import Path
from typing import Any

import pytest

from mixseek.domain.judgments import Flag, InvalidJudgment, Missing, Reply, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.engine.offline import ask
from mixseek.errors import DatasetError
from mixseek.judges.replay import DatasetReplayJudge, FileReplayJudge
from mixseek.protocols.registry import load_protocol

PROTOCOL = load_protocol("semantic")


def entry(name: Any, key: str = "file", **more: Any) -> dict[str, Any]:
    return {key: name, "scores": {"A": 1}, **more}


def sample(sample_id: str, output_id: str | None = None, **fields: Any) -> Sample:
    return Sample(sample_id, "response", output_id=output_id, **fields)


def opened(path: Path, content: Any) -> FileReplayJudge:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    return FileReplayJudge.open(path, "replay:b", takes_bundles=True)


def matched(path: Path, content: Any, *samples: Sample) -> dict[str, Reply | Missing]:
    judge = opened(path, content).matched_to(lambda: samples)
    return {one.id: judge.reply(one, PROTOCOL) for one in samples}


def name_in(outcome: Reply | Missing) -> Any:
    """What the entry that was found calls itself; None where none was found."""
    return json.loads(outcome.text).get("file") if isinstance(outcome, Reply) else None


SHAPES = {
    "a list": lambda entries: entries,
    "an object with a list": lambda entries: {"bundle_meta": {"bundle_size": 2}, "per_file_scores": entries},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
@pytest.mark.parametrize("suffix", [".json", ".txt", ".md"])
def test_a_file_may_be_one_bundle(tmp_path: Path, shape: Any, suffix: str) -> None:
    """In whichever shape; each entry is a reply with its own text and no other."""
    found = matched(
        tmp_path / f"b{suffix}", shape([entry("q1.pdf"), entry("q2.pdf")]), sample("1", "q2.pdf"), sample("2", "q1.pdf")
    )

    assert {key: name_in(outcome) for key, outcome in found.items()} == {"1": "q2.pdf", "2": "q1.pdf"}


def test_a_line_may_be_a_bundle_and_names_its_judge(tmp_path: Path) -> None:
    """Beside lines that are single replies."""
    rows = [
        {"judge_model": "gpt-y", "raw_output": json.dumps([entry("q1.pdf")])},
        {"id": "2", "reply": "a reply of its own"},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)

    found = matched(tmp_path / "b.jsonl", text, sample("1", "q1.pdf"), sample("2"))

    assert isinstance(found["1"], Reply)
    assert found["1"].details == {"bundle": ["line 1"], "judge_model": "gpt-y"}
    assert found["2"] == Reply("a reply of its own", "replay:b")


@pytest.mark.parametrize(
    "one",
    [
        sample("7", "q1_base.pdf"),
        sample("q1_base.pdf"),
        sample("7", "out/q1_base.PDF"),
        sample("7", "Q1 Base"),
        sample("7", metadata={"response_path": "runs\\q1-base.pdf"}),
    ],
    ids=["output_id", "id", "folder and case", "no suffix", "file"],
)
def test_a_sample_is_found_by_any_of_its_names(tmp_path: Path, one: Sample) -> None:
    """Folder, suffix, case and separators aside."""
    assert name_in(matched(tmp_path / "b.json", [entry("q1_base.pdf")], one)["q1_base.pdf" if one.id != "7" else "7"])


def test_a_number_is_matched_as_its_text(tmp_path: Path) -> None:
    found = matched(tmp_path / "b.json", [entry(1, key="id"), entry(11, key="id")], sample("11"))

    assert isinstance(found["11"], Reply)
    assert json.loads(found["11"].text)["id"] == 11


def test_an_entry_that_fits_two_samples_is_given_to_neither(tmp_path: Path) -> None:
    """One folder for each model, the same file names in both."""
    samples = (sample("1", "claude/q1.pdf"), sample("2", "gemini/q1.pdf"))

    found = matched(tmp_path / "b.json", [entry("q1.pdf")], *samples)

    assert found["1"] == Missing("'q1.pdf' (b.json) could be about this sample and about '2'")
    assert isinstance(found["2"], Missing)


def test_an_exact_name_is_worth_more_than_a_similar_one(tmp_path: Path) -> None:
    found = matched(tmp_path / "b.json", [entry("q1.pdf")], sample("1", "q1.pdf"), sample("2", "old/q1.pdf"))

    assert name_in(found["1"]) == "q1.pdf"
    assert isinstance(found["2"], Missing)


def test_a_name_that_could_mean_two_entries_means_none(tmp_path: Path) -> None:
    """Guessing would give one sample another's score; the exact name still decides."""
    found = matched(tmp_path / "b.json", [entry("a b.md"), entry("a_b.md")], sample("1", "A B"), sample("2", "a b.md"))

    assert found["1"] == Missing("2 entries could be about id '1': 'a b.md' (b.json), 'a_b.md' (b.json)")
    assert name_in(found["2"]) == "a b.md"


def test_the_row_of_a_bundle_says_which_samples_it_is_about(tmp_path: Path) -> None:
    """One bundle for each model that was judged."""
    rows = [{"target_model": name, "reply": json.dumps([entry("q1.pdf", by=name)])} for name in ("claude", "gemini")]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    samples = [sample(name, "q1.pdf", target_model=name.upper()) for name in ("claude", "gemini")]

    found = matched(tmp_path / "b.jsonl", text, *samples)

    assert {key: isinstance(one, Reply) and json.loads(one.text)["by"] for key, one in found.items()} == {
        "claude": "claude",
        "gemini": "gemini",
    }


def test_what_entries_say_of_themselves_tells_them_apart(tmp_path: Path) -> None:
    """Two entries of one name, or one entry and two samples."""
    entries = [{"meta": {"output_id": "q1.pdf", "target_model": name}, "by": name} for name in ("a", "b")]
    samples = [sample(name, "q1.pdf", target_model=name) for name in ("a", "b")]

    both = matched(tmp_path / "b.json", entries, *samples)
    one = matched(tmp_path / "c.json", entries[:1], *samples)

    assert [isinstance(reply, Reply) and json.loads(reply.text)["by"] for reply in both.values()] == ["a", "b"]
    assert isinstance(one["a"], Reply)
    assert isinstance(one["b"], Missing)


def test_two_bundles_about_one_sample_are_not_chosen_between(tmp_path: Path) -> None:
    rows = [{"reply": json.dumps([entry("q1.pdf", n=number)])} for number in (1, 2)]

    found = matched(tmp_path / "b.jsonl", "".join(json.dumps(row) + "\n" for row in rows), sample("1", "q1.pdf"))

    assert found["1"] == Missing("2 entries could be about id '1': 'q1.pdf' (line 1), 'q1.pdf' (line 2)")


def test_entries_that_contradict_each_other_are_refused_by_the_protocol(tmp_path: Path) -> None:
    """Both texts are kept; neither is chosen."""
    entries = [{"id": 1, "is_correct": True}, {"id": 1, "is_correct": False}]

    found = matched(tmp_path / "b.json", entries, sample("1"))

    assert isinstance(found["1"], Reply)
    assert "true" in found["1"].text
    assert "false" in found["1"].text
    assert isinstance(PROTOCOL.parse(found["1"], sample("1")), InvalidJudgment)


def test_an_entry_that_was_cut_off_is_still_laid_at_its_samples_door(tmp_path: Path) -> None:
    text = json.dumps([entry("q1.pdf"), entry("q2.pdf")])[:-12]

    found = matched(tmp_path / "b.json", text, sample("1", "q1.pdf"), sample("2", "q2.pdf"))

    assert name_in(found["1"]) == "q1.pdf"
    assert isinstance(found["2"], Reply)
    assert found["2"].details["unusable"]["flag"] == "UNPARSABLE_OUTPUT"
    assert isinstance(PROTOCOL.parse(found["2"], sample("2")), InvalidJudgment)


def test_a_bundle_that_calls_itself_unusable_spoils_every_entry(tmp_path: Path) -> None:
    """Seed 003 §6: a flag is the judge's own word that its judging is not to be used."""
    reply = {"id": 1, "is_correct": True, "extracted_answer": "x", "reasoning_score": 5, "error_type": "none"}
    content = {"flags": ["JUDGE_REFUSAL_OR_EVASION"], "results": [{**reply, "comment": "fine"}]}
    one = Sample("1", "The answer is x.", ground_truth="x")
    judge = opened(tmp_path / "b.json", content).matched_to(lambda: [one])

    outcome = ask(judge, one, PROTOCOL).outcome

    assert isinstance(outcome, InvalidJudgment)
    assert [finding.flag for finding in outcome.findings] == [Flag.JUDGE_REFUSAL_OR_EVASION]
    clean = opened(tmp_path / "c.json", {**content, "flags": []}).matched_to(lambda: [one])
    assert isinstance(ask(clean, one, PROTOCOL).outcome, ValidJudgment)


def test_entries_about_nobody_are_counted(tmp_path: Path) -> None:
    judge = opened(tmp_path / "b.json", [entry("q1.pdf"), entry("q9.pdf")]).matched_to(lambda: [sample("1", "q1.pdf")])

    assert judge.matching is not None
    assert [one.label for one in judge.matching.unmatched] == ["'q9.pdf' (b.json)"]
    assert judge.reply(sample("5"), PROTOCOL) == Missing("no entry of the bundle is about id '5'")


def test_one_judge_can_be_taken_out_of_a_file_of_several(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    rows = [{"id": "1", "judge_model": judge, "reply": judge} for judge in ("gpt-y", "claude-x")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    judge = FileReplayJudge.open(Path(f"{path}#claude-x"), f"replay:{path}#claude-x")

    assert judge.reply(sample("1"), PROTOCOL) == Reply(
        "claude-x", f"replay:{path}#claude-x", details={"judge_model": "claude-x"}
    )
    with pytest.raises(DatasetError, match=r"r\.jsonl#gpt-y --judge replay:.*r\.jsonl#claude-x"):
        FileReplayJudge.open(path, "replay")
    with pytest.raises(DatasetError, match="holds no replies of judge 'nobody'"):
        FileReplayJudge.open(Path(f"{path}#nobody"), "replay")


def test_a_file_with_a_number_sign_in_its_name_is_a_file(tmp_path: Path) -> None:
    judge = opened(tmp_path / "r#2.jsonl", '{"id": "1", "reply": "x"}\n')

    assert judge.reply(sample("1"), PROTOCOL) == Reply("x", "replay:b")


def test_without_being_asked_for_nothing_is_taken_apart(tmp_path: Path) -> None:
    """A bundle in a line is one reply; a file that is a bundle is refused with what to add."""
    lines, whole = tmp_path / "r.jsonl", tmp_path / "b.json"
    text = json.dumps([entry("q1.pdf")])
    lines.write_text(json.dumps({"id": "1", "reply": text}), encoding="utf-8")
    whole.write_text(text, encoding="utf-8")

    judge = FileReplayJudge.open(lines, "replay:r").matched_to(lambda: [sample("1"), sample("2", "q1.pdf")])

    assert judge.reply(sample("1"), PROTOCOL) == Reply(text, "replay:r")
    assert judge.reply(sample("2", "q1.pdf"), PROTOCOL) == Missing("no recorded reply for id '2'")
    with pytest.raises(DatasetError, match=r"b\.json: one reply about many samples; add --bundles to take it apart"):
        FileReplayJudge.open(whole, "replay:b")
    lines.write_text(json.dumps({"reply": text}), encoding="utf-8")
    with pytest.raises(DatasetError, match="or add --bundles if it is about many"):
        FileReplayJudge.open(lines, "replay:r")


def test_a_bundle_recorded_under_a_samples_id_is_about_no_other(tmp_path: Path) -> None:
    """Whatever its entries are called; under an id that nobody has, it is a bundle like any other."""
    samples = [sample("1", "q1.pdf"), sample("2", "q2.pdf")]
    both = json.dumps([entry("q1.pdf"), entry("q2.pdf")])

    own = matched(tmp_path / "own.jsonl", json.dumps({"id": "1", "reply": both}), *samples)
    free = matched(tmp_path / "free.jsonl", json.dumps({"id": "batch-7", "reply": both}), *samples)

    assert {key: name_in(outcome) for key, outcome in own.items()} == {"1": "q1.pdf", "2": None}
    assert {key: name_in(outcome) for key, outcome in free.items()} == {"1": "q1.pdf", "2": "q2.pdf"}


def test_a_line_cannot_call_itself_an_entry_of_a_bundle(tmp_path: Path) -> None:
    """That would excuse keys which the protocol does not know."""
    row = {"id": "1", "reply": "{}", "reply_bundled": True, "reply_problem": {"flag": "X", "detail": "y"}}
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")

    plain = DatasetReplayJudge().reply(Sample("1", "r", metadata=row), PROTOCOL)

    assert FileReplayJudge.open(path, "replay:r").reply(sample("1"), PROTOCOL) == Reply("{}", "replay:r")
    assert plain == Reply("{}", "replay")


def test_replies_that_nobody_wants_are_counted_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Lines by id, entries by name."""
    path = tmp_path / "r.jsonl"
    rows = [{"id": f"s{n}", "reply": "x"} for n in range(3_000)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    judge = FileReplayJudge.open(path, "replay:r")
    assert judge.unmatched(2) == (3_000, ["'s0'", "'s1'"])

    for number in (*range(5, 2_000), *range(2_000, 2_998), 4_711):
        judge.note_sample(f"s{number}")

    assert judge.unmatched(6) == (7, [*(f"'s{n}'" for n in range(5)), "'s2998'"])
