"""`mixseek answer` from the command line: what it asks, what it refuses, and what becomes of every end of an answer."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.flows.answer_material import answer, records_of, rows_of, run_of, succeed, write_targets
from tests.flows.live import KEYS
from tests.flows.loopback import Hand, loopback
from tests.flows.running import mixseek_here, read_jsonl, the_one_line, write_jsonl
from tests.flows.scripted_targets import SAID, THOUGHT, Script, last_words, scripted

QUESTIONS = [
    {"id": "one", "question": "Who walks first?", "ground_truth": "the ant", "topic": "walks"},
    {"id": "two", "question": "Who sings last?", "ground_truth": "the wren", "topic": "songs"},
]


@pytest.fixture(scope="module")
def target() -> Iterator[tuple[Script, Hand]]:
    """One server for all tests of this file; a test takes what was asked before it looks."""
    with scripted() as (script, hand):
        yield script, hand


def spec(hand: Hand, model: str = "aster") -> str:
    return f"openai:{model}@{hand.base_url}"


def refuse(*words: str | Path, cwd: Path, run: str = "spring") -> str:
    """The only line of a command that is refused as it was given."""
    done = answer(*words, cwd=cwd, run=run)
    assert (done.returncode, done.stdout) == (2, ""), done
    return the_one_line(done)


def judge_answers(cwd: Path, *words: str, run: str = "spring", name: str = "judged") -> dict[str, Any]:
    done = mixseek_here(
        *("judge", f"answers:{run}", "--workspace", "ws", "--run", name, "--json", "--judge"),
        *(words or ("rules",)),
        cwd=cwd,
        env=KEYS,
    )
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_a_run_grows_by_what_is_new_and_asks_for_nothing_else(target: tuple[Script, Hand], tmp_path: Path) -> None:
    """One more target, variant, repeat or question; what was asked for once stays, whatever a later command says."""
    script, hand = target
    data = write_jsonl(tmp_path / "q.jsonl", QUESTIONS)
    targets = write_targets(tmp_path, hand.base_url, {"aster": {"seed": 7}, "birch": {"seed": None}})
    for name in "AB":
        (tmp_path / f"{name}.md").write_text(f"{name}: {{{{ question }}}}")
    first, second = targets[:2], targets[2:]
    a, b = ("--variant", "A=A.md"), ("--variant", "B=B.md")
    script.taken()

    def asked(*words: str) -> list[str]:
        succeed(data, *words, cwd=tmp_path)
        return [f"{body['model']} {body['messages'][-1]['content'][:5]} {body.get('seed')}" for body in script.taken()]

    assert asked(*first, *a, "--limit", "1") == ["model-aster A: Wh 7"]
    assert asked(*first, *a) == ["model-aster A: Wh 7"]
    assert asked(*first, *second, *a) == ["model-birch A: Wh None"] * 2
    assert asked(*first, *b) == ["model-aster B: Wh 7"] * 2
    assert sorted(asked(*first, *a, "--repeats", "3")) == [f"model-aster A: Wh {seed}" for seed in (8, 8, 9, 9)]
    assert asked(*first, *a) == asked(*first, *b, "--limit", "1") == []
    # In another run the cache knows it: of a file with one more question only that is asked.
    write_jsonl(data, [*QUESTIONS, {"id": "three", "question": "Why?"}])
    assert "were started with other questions" in refuse(data, *first, *a, cwd=tmp_path)
    assert succeed(data, *first, *a, cwd=tmp_path, run="summer")["planned"] == 3
    assert last_words(script.taken()) == ["A: Why?"]
    assert [(row["id"], row["seed"]) for row in rows_of(tmp_path) if row["question_id"] == "one"] == [
        ("one/model-aster (aster)/A/1", 7),
        ("one/model-aster (aster)/A/2", 8),
        ("one/model-aster (aster)/A/3", 9),
        ("one/model-birch (birch)/A/1", None),
        ("one/model-aster (aster)/B/1", 7),
    ]


def test_a_run_is_not_continued_with_something_else(target: tuple[Script, Hand], tmp_path: Path) -> None:
    """One line says what differs; nobody is asked, and the answers stay as they are."""
    script, hand = target
    data = write_jsonl(tmp_path / "q.jsonl", QUESTIONS)
    words = write_targets(tmp_path, hand.base_url, {"aster": {"temperature": 0.5}})
    prompt = tmp_path / "A.md"
    prompt.write_text("{{ question }}")
    words += ["--variant", "A=A.md"]
    succeed(data, *words, cwd=tmp_path)
    journal = run_of(tmp_path).journal.read_bytes()
    script.taken()
    ending = "; choose a new name with --run, or leave --run out to get one"

    mapped = refuse(data, *words, "--map", "question=topic", cwd=tmp_path)
    prompt.write_text("{{ question }}!")
    reworded = refuse(data, *words, cwd=tmp_path)
    prompt.write_text("{{ question }}")
    write_targets(tmp_path, hand.base_url, {"aster": {"temperature": 0.6}})
    hotter = refuse(data, *words, cwd=tmp_path)
    (tmp_path / "mixseek.toml").unlink()
    # Under the name that the table had given it, in another place.
    succeed(data, "--target", spec(hand, "one"), "--variant", "A=A.md", cwd=tmp_path, run="other")
    there = spec(hand, "one").replace("127.0.0.1", "localhost")
    same_name = refuse(data, "--target", there, "--variant", "A=A.md", cwd=tmp_path, run="other")

    assert mapped == f"mixseek: answers spring: were started with another column mapping{ending}"
    assert reworded == f"mixseek: answers spring: were started with another text of variant A{ending}"
    assert hotter == f"mixseek: answers spring: were started with other settings of target aster{ending}"
    assert same_name.startswith(f"mixseek: targets {spec(hand, 'one')} and {there} would both be called 'one' in the")
    assert run_of(tmp_path).journal.read_bytes() == journal
    assert len(script.taken()) == len(QUESTIONS)


def test_what_a_budget_leaves_unasked_is_a_row_and_a_hole_and_comes_later(
    target: tuple[Script, Hand], tmp_path: Path
) -> None:
    """Of ten questions three and then two are asked, at two cents; the others are INCOMPLETE_COVERAGE, never wrong."""
    script, hand = target
    data = write_jsonl(
        tmp_path / "q.jsonl", ({"id": f"{n}", "question": f"Say {n}!", "ground_truth": f"Say {n}!"} for n in range(10))
    )
    words = write_targets(tmp_path, hand.base_url, {"aster": {"price_input": 1_000.0, "price_output": 0.0}})
    script.taken()

    by_calls = answer(data, *words, "--max-calls", "3", "--concurrency", "1", cwd=tmp_path)
    left = Counter(row["response_error"] for row in rows_of(tmp_path))
    judged = judge_answers(tmp_path)
    by_cost = answer(data, *words, "--max-cost", "0.05", "--concurrency", "1", cwd=tmp_path)
    asked = len(script.taken())
    complete = succeed(data, *words, cwd=tmp_path)

    assert [(done.returncode, json.loads(done.stdout)["state"]) for done in (by_calls, by_cost)] == [
        (4, "incomplete"),
        (4, "incomplete"),
    ]
    assert "stopped: --max-calls 3 is reached" in by_calls.stderr
    assert "stopped: --max-cost 0.05 is reached (0.0400 USD" in by_cost.stderr
    assert left == {None: 3, "not answered yet: the run stopped before; the same `mixseek answer` command goes on": 7}
    assert (judged["counts"]["valid"] + judged["counts"]["undecided"], judged["counts"]["invalid"]) == (3, 7)
    assert asked == 3 + 2
    assert (complete["finished"], complete["open"], len(script.taken())) == (10, 0, 10 - asked)
    assert [row["id"].split("/")[0] for row in rows_of(tmp_path)] == [str(n) for n in range(10)]


def test_answers_that_somebody_changed_are_not_judged(target: tuple[Script, Hand], tmp_path: Path) -> None:
    """Whoever reads them says so in one line: to judge, to show, to export, to go on."""
    _, hand = target
    data = write_jsonl(tmp_path / "q.jsonl", QUESTIONS)
    succeed(data, "--target", spec(hand), cwd=tmp_path)
    journal = run_of(tmp_path).journal
    journal.write_bytes(journal.read_bytes().replace(b"You ask: Who sings", b"You ask: Who hides"))

    for words in (
        ("judge", "answers:spring", "--judge", "rules"),
        ("show", "answers:spring", "one"),
        ("export", "answers:spring", "--to", "rows.jsonl"),
        ("answer", str(data), "--target", spec(hand), "--run", "spring"),
    ):
        done = mixseek_here(*words, "--workspace", "ws", cwd=tmp_path, env=KEYS)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert "changed since it was written" in the_one_line(done)


# By the word in the prompt: how it ends, whether there is a response, and reasoning apart from it.
EXPECTED: dict[str, tuple[str | None, str | None, str | None]] = {
    "PLAIN": ("finished", "You ask: PLAIN", None),
    "CONTENT": ("finished", SAID, THOUGHT),
    "FIELD": ("finished", SAID, THOUGHT),
    "TAGS": ("finished", SAID, THOUGHT),
    "BLOCKS": ("finished", SAID, THOUGHT),
    "CHANNELS": ("finished", SAID, THOUGHT),
    "CUT": ("cut_off", "The answer", None),
    "UNCLOSED": ("cut_off", "", THOUGHT),
    "DECLINE": ("withheld", None, None),
    "REFUSAL": ("withheld", None, None),
    "FILTER": ("withheld", None, None),
    "EMPTY": ("empty", None, None),
    "BLANK": ("empty", None, None),
    "ONLY": ("empty", None, THOUGHT),
    "BROKEN": (None, None, None),
}
# Columns of an answer, behind those of its question.
COLUMNS = (
    *("id", "question_id", "prompt_variant", "target_model", "output_id", "repeat", "prompt_digest", "seed"),
    *("response", "reasoning", "finish_reason", "response_state", "usage", "cost_usd", "latency_seconds"),
    *("served_model", "request_id", "attempts", "refusal", "response_error"),
)


@pytest.fixture(scope="module")
def answered(target: tuple[Script, Hand], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One answer of every kind, as `spring`."""
    place = tmp_path_factory.mktemp("answered")
    rows = ({"id": word.lower(), "question": word, "ground_truth": "4", "kind": [word]} for word in EXPECTED)
    data = write_jsonl(place / "q.jsonl", rows)
    words = write_targets(place, target[1].base_url, {"aster": {"model": "aster", "max_tokens": 50, "seed": 3}})
    document = succeed(data, *words, cwd=place)
    assert (document["state"], document["open"], document["failed"]) == ("complete", 0, 1)
    return place


def test_every_end_of_an_answer_is_told_apart_and_has_its_reason(answered: Path) -> None:
    """A text has no reason, and what has a reason has no text; reasoning is never part of a response."""
    rows = {row["question"]: row for row in rows_of(answered)}

    assert {word: (row["response_state"], row["response"], row["reasoning"]) for word, row in rows.items()} == EXPECTED
    for word, (state, response, _) in EXPECTED.items():
        assert (rows[word]["response_error"] is None) == (response is not None), word
        assert (
            str(rows[word]["response_error"]).startswith(f"{state}: ")
            or state not in ("withheld", "empty")
            or (word == "FILTER" and "content policy" in rows[word]["response_error"])
        ), rows[word]
    assert "does not know" in rows["BROKEN"]["response_error"]
    assert rows["DECLINE"]["refusal"] == "I cannot help with that."
    assert {row["served_model"] for word, row in rows.items() if word not in ("FILTER", "BROKEN")} == {"aster-0925"}


def test_what_has_no_answer_is_a_hole_to_a_judge_and_never_wrong(answered: Path) -> None:
    """The cut off ones are judged by what there is, and named beside the mean."""
    document = judge_answers(answered)
    done = mixseek_here("export", "judged", "--workspace", "ws", "--to", "judged.jsonl", cwd=answered)
    assert done.returncode == 0, done.stderr
    judged = {row["id"].split("/")[0].upper(): row for row in read_jsonl(answered / "judged.jsonl")}
    holes = {word for word, (_, response, _) in EXPECTED.items() if response is None}

    assert {word for word, row in judged.items() if row["status"] == "invalid"} == holes
    assert all("INCOMPLETE_COVERAGE" in str(judged[word]["flags"]) for word in holes)
    assert all(row["is_correct"] is None for word, row in judged.items() if word in holes)
    assert all(row["is_correct"] for row in judged.values() if EXPECTED[row["id"].split("/")[0].upper()][1] == SAID)
    planted = Counter(state for state, *_ in EXPECTED.values())
    assert {name: document["responses"][name]["count"] for name in ("cut_off", "withheld", "empty")} == {
        name: planted[name] for name in ("cut_off", "withheld", "empty")
    }


def test_an_export_has_the_columns_of_the_question_and_of_the_answer(answered: Path) -> None:
    """The same rows as JSON lines, as CSV and as Parquet; nothing is guessed of a type."""
    for suffix in ("jsonl", "csv", "parquet"):
        words = ("export", "answers:spring", "--workspace", "ws", "--to", f"rows.{suffix}")
        done = mixseek_here(*words, cwd=answered)
        assert (done.returncode, done.stderr) == (0, f"mixseek: 15 rows written to rows.{suffix}\n")
    lines = read_jsonl(answered / "rows.jsonl")
    with (answered / "rows.csv").open(newline="", encoding="utf-8") as stream:
        cells = list(csv.DictReader(stream))
    with duckdb.connect() as connection:
        table = connection.execute("SELECT * FROM read_parquet(?)", [str(answered / "rows.parquet")])
        names = [column[0] for column in table.description or ()]
        records = [dict(zip(names, values, strict=True)) for values in table.fetchall()]

    columns = {"question", "ground_truth", "kind", *COLUMNS}
    assert {name for row in lines for name in row} == set(cells[0]) == set(names) == columns
    assert [row["id"] for row in lines] == [row["id"] for row in cells] == [row["id"] for row in records]
    assert [row["id"] for row in lines] == [f"{word.lower()}/aster/plain/1" for word in EXPECTED]
    for line, cell, record in zip(lines, cells, records, strict=True):
        assert line["output_id"] == line["id"]
        assert (line["repeat"], line["seed"], line["attempts"] in (1, None)) == (1, 3, True)
        assert cell["response"] == (line["response"] or "")
        assert json.loads(cell["kind"]) == json.loads(record["kind"]) == line["kind"]
        assert record["response"] == line["response"]
        assert (record["seed"], record["latency_seconds"]) == (3, line["latency_seconds"])


def test_turns_to_be_filled_in_are_asked_one_after_the_other(target: tuple[Script, Hand], tmp_path: Path) -> None:
    """Each is sent what was answered before; the last one is the response, and the row has the whole conversation."""
    script, hand = target
    user = [{"role": "user", "content": text} for text in ("First", "Then", "Last TAGS")]
    blank, kind = {"role": "assistant", "content": None}, {"role": "system", "content": "Be kind."}
    said = {"role": "assistant", "content": "the truth"}
    refused = {"role": "user", "content": "FILTER"}
    data = write_jsonl(
        tmp_path / "q.jsonl",
        [
            {"id": "talk", "messages": [kind, user[0], blank, user[1], blank, user[2], blank]},
            {"id": "known", "messages": [user[0], said]},
            {"id": "broken", "messages": [refused, blank, user[1], blank]},
        ],
    )
    script.taken()
    document = succeed(data, "--target", spec(hand), cwd=tmp_path)
    bodies, rows = script.taken(), {row["question_id"]: row for row in rows_of(tmp_path)}

    turns = ["First", "You ask: First", "Then", "You ask: Then", "Last TAGS"]
    sent = [[turn["content"] for turn in body["messages"]] for body in bodies]
    assert [texts for texts in sent if texts[0] == "Be kind."] == [["Be kind.", *turns[:end]] for end in (1, 3, 5)]
    assert (len(bodies), document["finished"], document["withheld"]) == (5, 2, 1)
    assert [turn["content"] for turn in rows["talk"]["messages"]] == ["Be kind.", *turns, SAID]
    assert (rows["talk"]["response"], rows["talk"]["reasoning"]) == (SAID, THOUGHT)
    assert (rows["known"]["ground_truth"], rows["known"]["response"]) == ("the truth", "You ask: First")
    assert (rows["broken"]["response"], rows["broken"]["response_state"]) == (None, "withheld")
    succeed(data, "--target", spec(hand), cwd=tmp_path)
    assert not script.taken()


def test_retry_cut_off_asks_once_more_with_twice_the_limit_and_keeps_both(
    target: tuple[Script, Hand], tmp_path: Path
) -> None:
    """Where that is enough the answer is finished; where it is not, the longer one stands, cut off."""
    script, hand = target
    data = write_jsonl(tmp_path / "q.jsonl", [{"id": "long", "question": "CUT"}, {"id": "short", "question": "Hello"}])
    words = write_targets(tmp_path, hand.base_url, {"enough": {"max_tokens": 50}, "little": {"max_tokens": 20}})
    before = succeed(data, *words, cwd=tmp_path)
    script.taken()
    document = succeed(data, *words, "--retry-cut-off", cwd=tmp_path)
    asked = script.taken()
    again = succeed(data, *words, "--retry-cut-off", cwd=tmp_path)

    assert (before["finished"], before["cut_off"]) == (2, 2)
    assert sorted(body.get("max_tokens") or body["max_completion_tokens"] for body in asked) == [40, 100]
    assert (document["finished"], document["cut_off"], document["asked_longer"]) == (3, 1, 2)
    assert (again["finished"], again["cut_off"], script.taken()) == (3, 1, [])
    ends = {row["target_model"]: row for row in rows_of(tmp_path) if row["question_id"] == "long"}
    assert ends["model-enough (enough)"]["response"] == SAID
    assert ends["model-little (little)"]["response_state"] == "cut_off"
    kept = [reply["text"] for reply in records_of(tmp_path, "reply") if reply["judge"] == "enough"]
    assert sorted(kept) == ["The answer", SAID, "You ask: Hello"]


def test_a_judge_that_is_its_target_judges_itself_and_sees_reasoning_when_asked_to(
    target: tuple[Script, Hand], answered: Path
) -> None:
    """By its model's name, whatever the table is called; `--show-reasoning` puts what stands apart before it."""
    script, hand = target
    hot = write_targets(answered, hand.base_url, {"hot": {"model": "aster", "seed": 3}})
    data = write_jsonl(answered / "one.jsonl", [{"id": "1", "question": "FIELD", "ground_truth": "4"}])
    succeed(data, *hot, cwd=answered, run="hot")
    with loopback() as endpoint:
        itself, other = (
            judge_answers(answered, f"openai:{model}@{endpoint.base_url}", "--protocol", "cross", run="hot", name=model)
            for model in ("aster", "cedar")
        )
    shown: list[bool] = []
    for words in ((), ("--show-reasoning",)):
        script.taken()
        judge_answers(answered, spec(hand, "elm"), *words, run="hot", name=f"shown-{len(words)}")
        shown.append(any(THOUGHT in json.dumps(body["messages"]) for body in script.taken()))

    assert {row["target_model"] for row in rows_of(answered, run="hot")} == {"aster (hot)"}
    assert (itself["control"]["counts"]["valid"], itself["counts"]["valid"]) == (1, 0)
    assert (other["control"], other["counts"]["valid"]) == (None, 1)
    assert shown == [False, True]


def test_a_dry_run_shows_one_request_of_each_kind_and_asks_nobody(target: tuple[Script, Hand], tmp_path: Path) -> None:
    """By variant, and by the settings that targets share; calls, tokens and cost of what is not answered yet."""
    script, hand = target
    data = write_jsonl(tmp_path / "q.jsonl", QUESTIONS)
    cold = {"temperature": 0.0, "system": "Be kind."}
    words = write_targets(tmp_path, hand.base_url, {"aster": cold, "birch": cold, "cedar": {"max_tokens": 9}})
    for name in "AB":
        (tmp_path / f"{name}.md").write_text(f"{name}: {{{{ question }}}} ({{{{ topic }}}})")
    words += ["--variant", "A=A.md", "--repeats", "2"]
    script.taken()
    before = json.loads(answer(data, *words, "--dry-run", "--variant", "B=B.md", cwd=tmp_path).stdout)
    assert not (tmp_path / "ws/answers").exists()
    assert not script.taken()
    succeed(data, *words, cwd=tmp_path)
    script.taken()
    after = json.loads(answer(data, *words, "--dry-run", "--variant", "B=B.md", cwd=tmp_path).stdout)
    text = mixseek_here("answer", data, "--workspace", "ws", *words, "--dry-run", cwd=tmp_path, env=KEYS).stdout

    assert [(request["variant"], request["targets"]) for request in before["requests"]] == [
        (variant, targets)
        for variant in "AB"
        for targets in (["model-aster (aster)", "model-birch (birch)"], ["model-cedar (cedar)"])
    ]
    assert before["requests"][0]["messages"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "A: Who walks first? (walks)"},
    ]
    assert [request["settings"] for request in before["requests"][:2]] == [
        "temperature 0.0, seed 100",
        "max_tokens 9, seed 100",
    ]
    assert (before["planned"], before["calls"], after["calls"]) == (24, 24, 12)
    assert before["cost_usd"] > after["cost_usd"] > 0
    assert "user: A: Who walks first? (walks)" in text
    assert "nothing was sent" in text
    assert not script.taken()


def test_recorded_answers_are_a_target_beside_a_live_one(target: tuple[Script, Hand], tmp_path: Path) -> None:
    """They are called as their file is and never repeated; what the file lacks is missing, and comes when it does."""
    script, hand = target
    data = write_jsonl(tmp_path / "q.jsonl", QUESTIONS)
    replies = write_jsonl(tmp_path / "elm.jsonl", [{"id": "one/plain", "reply": f"<think>{THOUGHT}</think>{SAID}"}])
    words = ["--target", "replay:elm.jsonl", "--target", spec(hand), "--repeats", "2"]
    script.taken()
    first = answer(data, *words, cwd=tmp_path)
    rows = {row["id"]: row for row in rows_of(tmp_path)}
    write_jsonl(replies, [*read_jsonl(replies), {"id": "two/plain", "reply": "", "finish_reason": "content_filter"}])
    document = succeed(data, *words, cwd=tmp_path)

    assert (first.returncode, json.loads(first.stdout)["open"]) == (4, 1)
    assert list(rows) == [f"{name}/{end}" for name in ("one", "two") for end in ENDS_OF_ROWS]
    assert (rows["one/elm/plain/1"]["response"], rows["one/elm/plain/1"]["reasoning"]) == (SAID, THOUGHT)
    assert rows["two/elm/plain/1"]["response"] is None
    assert rows["two/elm/plain/1"]["response_error"]
    assert (document["finished"], document["withheld"], document["open"]) == (5, 1, 0)
    assert len(script.taken()) == 4
    assert [(account["target"], account["recorded"]) for account in document["targets"]] == [("elm", 2), ("aster", 0)]


# One question's rows: the recorded answer, and two of the live target.
ENDS_OF_ROWS = ("elm/plain/1", "aster/plain/1", "aster/plain/2")


def test_columns_that_give_way_to_the_answer_are_said(tmp_path: Path) -> None:
    """A file that has responses already may be asked again; whoever reads the rows must know whose they are."""
    data = write_jsonl(tmp_path / "q.jsonl", [{**row, "response": "before", "seed": 3} for row in QUESTIONS])
    write_jsonl(tmp_path / "wren.jsonl", [{"id": "one/plain", "reply": "the ant"}, {"id": "two/plain", "reply": "it"}])
    done = answer(data, "--target", "replay:wren.jsonl", cwd=tmp_path)

    assert "`response`, `seed`: prompts may use it, but rows have the answer's own" in done.stderr
    assert [row["response"] for row in rows_of(tmp_path)] == ["the ant", "it"]
