"""`mixseek compete` from outside: a race to its leader board, stopped and taken up again, and every refusal."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.flows.arena import arena, compete, document, race_text, write
from tests.flows.live import CANARY, KEYS, begin, read_until, stop_at_once, wait_until
from tests.flows.running import environment, mixseek_here, read_jsonl, the_one_line
from tests.waiting import wait_for

TEAMS = 3
SMALL = "min = 1\nmax = 2"
OFFLINE = """
task = "Count."
[[teams]]
id = "one"
command = ["sh", "-c", "echo one"]
[evaluator]
[[evaluator.metrics]]
type = "semantic"
judge = "rules"
options = {ground_truth = "one"}
[rounds]
min = 1
max = 2
"""
# The command, but it says every half second that it waits, and waits for less than a second once it is to stop.
IMPATIENT = """
from mixseek.cli.main import run
from mixseek.competition import play, sessions
sessions._FIRST_WORD_SECONDS = 0.5
sessions._NEXT_WORD_SECONDS = 0.5
play._SECONDS_AFTER_STOP = 0.7
run()
"""


def replies(cwd: Path) -> list[dict[str, Any]]:
    return [line for line in read_jsonl(cwd / "ws" / "competitions" / "e" / "journal.jsonl") if line["t"] == "reply"]


def test_a_race_ends_in_a_leader_board(tmp_path: Path) -> None:
    """Scores on stderr as they come, the board on stdout; again, nothing is asked."""
    with arena() as endpoint:
        write(tmp_path, race_text(endpoint.spec, TEAMS, rounds=SMALL))
        done = compete(tmp_path)
        asked = endpoint.requests
        again = compete(tmp_path, "--json")
        sent = endpoint.requests - asked
    teams = document(again)["teams"]

    assert done.returncode == again.returncode == 0, done.stderr
    assert "Team 1: round 2: " in done.stderr
    assert "all rounds played" in done.stdout
    assert (document(again)["status"], sent, document(again)["sent"]["calls"]) == ("finished", 0, 0)
    assert [team["rank"] for team in teams] == [1, 2, 3]
    assert teams[0]["rounds"][1]["opinion"]["should_continue"] is True
    assert teams[0]["rounds"][1]["metrics"][0]["comment"] == "Go on."
    # The endpoint counts 100 and 10 for each of two opinions; whoever looks later sees the same.
    shown = json.loads(mixseek_here("leaderboard", "e", "-w", "ws", "--json", cwd=tmp_path).stdout)["teams"]
    assert [(team["judging"]["input_tokens"], team["judging"]["output_tokens"]) for team in teams] == [(200, 20)] * 3
    assert [team["judging"] for team in shown] == [team["judging"] for team in teams]
    # A submission, two metrics and an opinion for each team and round.
    assert asked == len(replies(tmp_path)) == TEAMS * 2 * 4


def test_the_language_of_a_race_is_that_of_everything_anybody_is_shown(tmp_path: Path) -> None:
    """Default templates, history, board, position, fence, roles and criteria; Japanese unless it is said."""
    with arena() as endpoint:
        text = race_text(endpoint.spec, 2, rounds="min = 2\nmax = 2").replace('language = "en"\n', "")
        write(tmp_path, f'language = "en"\n{text}')
        done = compete(tmp_path)
    asked = "\n".join(endpoint.texts)

    assert done.returncode == 0, done.stderr
    assert {kind for kind, _, _ in endpoint.asked} == {"team", "metric", "judgment"}
    assert "Current rank of your team: " in asked
    assert "## Round 1" in asked
    assert re.findall(r"[\u3000-\u30ff\u4e00-\u9fff]", asked) == []


def test_no_key_is_written_anywhere(tmp_path: Path) -> None:
    """Neither to the journal nor to the store."""
    with arena() as endpoint:
        write(tmp_path, race_text(endpoint.spec, 1, rounds=SMALL))
        compete(tmp_path)

    files = [path for path in (tmp_path / "ws").rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []


def test_a_key_that_an_endpoint_repeats_is_written_nowhere_and_said_at_every_door(tmp_path: Path) -> None:
    """Terminal, page and JSON count the replies: who has them may have the key."""
    with arena() as endpoint:
        endpoint.reply_id = CANARY
        write(tmp_path, race_text(endpoint.spec, 1, rounds=SMALL))
        done = compete(tmp_path)
    mixseek_here("leaderboard", "e", "-w", "ws", "--to", "page.html", cwd=tmp_path)
    (team,) = json.loads(mixseek_here("leaderboard", "e", "-w", "ws", "--json", cwd=tmp_path).stdout)["teams"]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]

    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []
    # Two rounds: a submission, two metrics and an opinion each.
    assert [team[part]["masked_replies"] for part in ("submitting", "evaluating", "judging")] == [2, 4, 2]
    for shown in (done.stdout, (tmp_path / "page.html").read_text(encoding="utf-8")):
        assert "masked in 8 of its replies" in " ".join(shown.split())


def test_submissions_that_a_limit_ended_are_said_under_the_board(tmp_path: Path) -> None:
    """They are judged as they are, by terminal, page and JSON: a rank may be that of a limit."""
    with arena() as endpoint:
        endpoint.finish_reason = "length"
        write(tmp_path, race_text(endpoint.spec, 1, rounds=SMALL))
        done = compete(tmp_path)
    mixseek_here("leaderboard", "e", "-w", "ws", "--to", "page.html", cwd=tmp_path)
    (team,) = json.loads(mixseek_here("leaderboard", "e", "-w", "ws", "--json", cwd=tmp_path).stdout)["teams"]

    assert team["submitting"]["cut_off_replies"] == 2
    for shown in (done.stdout, (tmp_path / "page.html").read_text(encoding="utf-8")):
        assert "2 of its submissions ended at a limit and are cut off" in " ".join(shown.split())


def test_the_same_submission_is_evaluated_once_and_scored_alike(tmp_path: Path) -> None:
    """Handing in the same text again buys no second draw."""
    text = race_text("SPEC", 0, rounds=SMALL)
    teams = "".join(
        f'[[teams]]\nid = "c{n}"\ncommand = ["sh", "-c", "echo Submission of same in round 1"]\n' for n in (1, 2)
    )
    with arena() as endpoint:
        write(tmp_path, text.replace("SPEC", endpoint.spec).replace("[evaluator]", teams + "[evaluator]"))
        done = compete(tmp_path, "--json")
        asked = endpoint.asked["metric", "same", 1]
    scores = {entry["score"] for team in document(done)["teams"] for entry in team["rounds"]}

    assert done.returncode == 0, done.stderr
    assert asked == 2
    assert len(scores) == 1


@pytest.mark.parametrize(("policy", "rounds", "code"), [("continue", 3, "max_rounds"), ("stop", 1, "judge_out")])
def test_a_judge_that_is_out_has_no_opinion_and_the_policy_decides(
    policy: str, rounds: int, code: str, tmp_path: Path
) -> None:
    """Recorded as such; the scores stand."""
    with arena() as endpoint:
        endpoint.refuses.add("judgment")
        text = race_text(endpoint.spec, 1, rounds="min = 1\nmax = 3")
        write(tmp_path, text.replace("[judgment]", f'[judgment]\non_outage = "{policy}"'))
        done = compete(tmp_path, "--json")
    team = document(done)["teams"][0]

    # Where it stopped for want of an opinion, the same command asks once more.
    assert done.returncode == (0 if policy == "continue" else 4), done.stderr
    assert (len(team["rounds"]), team["stop_reason"]) == (rounds, code)
    assert "invalid" in team["rounds"][0]["opinion"]["reason"]


@pytest.mark.parametrize("fault", ["invalid", "out"])
def test_where_a_race_stopped_for_want_of_an_opinion_the_same_command_asks_once_more(
    fault: str, tmp_path: Path
) -> None:
    """An invalid reply of yesterday is no answer either; both replies are kept."""
    with arena() as endpoint:
        if fault == "invalid":
            endpoint.refuses.add("judgment")
        else:
            endpoint.statuses["judgment"] = 400
        text = race_text(endpoint.spec, 1, rounds="min = 1\nmax = 2")
        write(tmp_path, text.replace("[judgment]", '[judgment]\non_outage = "stop"'))
        done = compete(tmp_path)
        asked = endpoint.requests
        still = compete(tmp_path)
        once_more = endpoint.requests - asked
        endpoint.refuses.clear()
        endpoint.statuses.clear()
        again = compete(tmp_path, "--json")
    team = document(again)["teams"][0]

    assert done.returncode == still.returncode == 4
    # With a re-ask, where there was something to re-ask about.
    assert once_more == (2 if fault == "invalid" else 1)
    assert again.returncode == 0, again.stderr
    assert [entry["opinion"]["should_continue"] for entry in team["rounds"]] == [True, True]
    assert len([line for line in replies(tmp_path) if "rather not" in line["text"]]) == (4 if fault == "invalid" else 0)


def test_a_judge_of_progress_that_refuses_its_key_stops_the_race_before_it_is_paid_for(tmp_path: Path) -> None:
    """No outage: it will never have an opinion. One line, exit 2, and with the right key it goes on at that round."""
    with arena() as endpoint:
        endpoint.statuses["judgment"] = 401
        write(tmp_path, race_text(endpoint.spec, 1, rounds="min = 1\nmax = 3"))
        done = compete(tmp_path)
        metrics = endpoint.asked["metric", "t0", 1]
        endpoint.statuses.clear()
        again = compete(tmp_path, "--json")
        paid_twice = endpoint.asked["metric", "t0", 1] - metrics

    assert done.returncode == 2
    assert "401" in done.stderr.splitlines()[-1]
    assert CANARY not in done.stderr + done.stdout
    assert again.returncode == 0, again.stderr
    assert paid_twice == 0
    assert all(entry["opinion"]["should_continue"] for entry in document(again)["teams"][0]["rounds"])


def test_an_invalid_reply_of_a_metric_leaves_no_score_and_says_why(tmp_path: Path) -> None:
    """Exit 1 and not 4: running again would change nothing. There is nothing to rank by, and that is said with why."""
    with arena() as endpoint:
        endpoint.refuses.add("metric")
        write(tmp_path, race_text(endpoint.spec, 1, rounds=SMALL))
        done = compete(tmp_path, "--json")
        asked = endpoint.requests
        again = compete(tmp_path, "--json")
        sent = endpoint.requests - asked
    team = document(done)["teams"][0]

    assert done.returncode == again.returncode == 1
    for one in (done, again):
        assert "rounds without a score: 2; their judge's reply is there and cannot be used" in one.stderr
        assert "no round got a score; the commonest reason: the judge's reply is invalid (JUDGE_REFUSAL" in one.stderr
        assert "run the same command again" not in one.stderr
    # The replies are there and are invalid; they are not asked for a third time.
    assert sent == 0
    assert (team["rank"], [entry["score"] for entry in team["rounds"]]) == (None, [None, None])
    assert "JUDGE_REFUSAL_OR_EVASION" in team["rounds"][0]["metrics"][0]["comment"]


@pytest.mark.parametrize("on_missing", ["continue", "stop"])
def test_invalid_metric_replies_are_asked_for_again_without_playing_again(on_missing: str, tmp_path: Path) -> None:
    """The rounds get their scores and the board its order; every attempt stays in the journal, and is paid for once.

    A team that was stopped for want of a score plays on; the others are over and stay so.
    """
    with arena() as endpoint:
        endpoint.refuses.add("metric")
        text = race_text(endpoint.spec, 2, rounds=SMALL).replace(
            "[evaluator]", f'[evaluator]\non_missing = "{on_missing}"'
        )
        write(tmp_path, text)
        done = compete(tmp_path)
        rounds = 1 if on_missing == "stop" else 2
        endpoint.refuses.clear()
        before, first = dict(endpoint.asked), replies(tmp_path)
        healed = compete(tmp_path, "--retry-invalid", "--json")
        submissions = {key: n - before.get(key, 0) for key, n in endpoint.asked.items() if key[0] == "team"}
        asked = endpoint.requests
        again = compete(tmp_path, "--json")
        sent = endpoint.requests - asked
    teams = document(healed)["teams"]

    assert (done.returncode, healed.returncode, again.returncode) == (1, 0, 0), healed.stderr
    assert "--retry-invalid asks for it again" in done.stderr
    assert all(n == (0 if number <= rounds else 1) for (_, _, number), n in submissions.items())
    assert [team["rank"] for team in teams] == [1, 2]
    assert all(entry["score"] is not None for team in teams for entry in team["rounds"])
    assert document(again)["teams"] == teams
    assert sent == 0
    # Each invalid metric had two attempts (a reply and a re-ask); they stay, and what they cost is still counted.
    kept = replies(tmp_path)
    assert kept[: len(first)] == first
    assert len(kept) > len(first)
    assert teams[0]["evaluating"]["input_tokens"] == 100 * (2 * rounds * 3 + 2 * (2 - rounds))
    assert document(healed)["evaluations"] == {"scored": 8, "invalid": 0, "missing": 0}


def test_one_healed_metric_is_not_lost_while_another_stays_invalid(tmp_path: Path) -> None:
    """A later command without the option takes the last attempt of each, not the first."""
    wrong, right = {"total_score": 1}, {"criteria": {"quality": {"reason": "so", "score": 40}}, "comment": "c"}
    rows = {"one/1/a": wrong, "one/1/b": wrong}
    metrics = "".join(
        f'[[evaluator.metrics]]\ntype = "LLMPlain"\nname = "{name}"\njudge = "replay:replies.jsonl"\n'
        f'options = {{instruction = "Look at {name}."}}\n'
        for name in "ab"
    )
    head, tail = OFFLINE.split("[[evaluator.metrics]]")
    write(tmp_path, head + metrics + tail[tail.index("[rounds]") :].replace("max = 2", "max = 1"))

    def say(**changed: Any) -> None:
        rows.update({f"one/1/{name}": reply for name, reply in changed.items()})
        text = "".join(json.dumps({"id": key, "reply": json.dumps(reply)}) + "\n" for key, reply in rows.items())
        write(tmp_path, text, "replies.jsonl")

    say()
    codes = [compete(tmp_path).returncode]
    say(a={**right, "total_score": 40})
    codes.append(compete(tmp_path, "--retry-invalid").returncode)
    say(a=wrong, b={**right, "total_score": 40})
    healed = compete(tmp_path, "--retry-invalid", "--json")

    assert codes == [1, 1]
    assert healed.returncode == 0, healed.stderr
    assert document(healed)["teams"][0]["rounds"][0]["score"] == 40


@pytest.mark.parametrize(
    ("gate", "code", "said"),
    [
        (("--fail-under", "99"), 1, "gate --fail-under not met: best score "),
        (("--fail-under", "99%"), 1, "under the limit of 99"),
        (("--fail-under", "1%"), 0, ""),
        (("--max-invalid", "10%"), 0, ""),
        (("--fail-under", "0.8"), 2, "could be points or a share; write 80 or 0.8%"),
        (("--fail-under", "high"), 2, "not a number of points"),
        (("--fail-under", "101"), 2, "outside 0..100"),
    ],
)
def test_a_race_has_gates(gate: tuple[str, str], code: int, said: str, tmp_path: Path) -> None:
    """On the best score, in points, and on the share of metric replies that cannot be used."""
    with arena() as endpoint:
        write(tmp_path, race_text(endpoint.spec, 1, rounds=SMALL))
        done = compete(tmp_path, *gate)

    assert done.returncode == code, done.stderr
    assert said in " ".join(done.stderr.split())


def test_too_many_invalid_metric_replies_fail_the_race(tmp_path: Path) -> None:
    """Half of them here: the judge of one metric writes prose. What the gate saw is in the document."""
    with arena() as endpoint:
        text = race_text(endpoint.spec, 1, rounds=SMALL)
        rows = "".join(json.dumps({"id": f"t0/{n}/Relevance", "reply": "Well."}) + "\n" for n in (1, 2))
        write(tmp_path, rows, "replies.jsonl")
        write(tmp_path, text.replace('type = "Relevance"', 'type = "Relevance"\njudge = "replay:replies.jsonl"'))
        done = compete(tmp_path, "--max-invalid", "10%", "--json")

    assert done.returncode == 1
    assert "gate --max-invalid not met: 2 of 4 metric replies cannot be used (50.00%)" in done.stderr
    assert document(done)["gates"] == [{"gate": "max_invalid", "limit": 0.1, "actual": 0.5, "met": False}]


def test_somebody_who_reads_the_store_for_long_does_not_end_a_race(tmp_path: Path) -> None:
    """The race waits, says so, and loses nothing."""
    script = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print('held', flush=True); input()"
    store = tmp_path / "ws" / "competitions.duckdb"
    said = ""
    with arena() as endpoint:
        write(tmp_path, race_text(endpoint.spec, 1, rounds=SMALL))
        compete(tmp_path)
        holder = subprocess.Popen(
            [sys.executable, "-c", script, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        racing = subprocess.Popen(
            [sys.executable, "-c", IMPATIENT, "compete", "race.toml", "--execution", "second", "-w", "ws"],
            cwd=tmp_path,
            env=environment(**KEYS),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert racing.stderr is not None
        # Again and again, as long as it waits.
        while said.count("waiting") < 4 and (line := racing.stderr.readline()):
            said += line
        is_waiting = racing.poll() is None
        holder.communicate("\n", timeout=30)
        _, rest = racing.communicate(timeout=180)

    assert is_waiting
    assert racing.returncode == 0, said + rest
    assert "another process has it open; waiting for it to be closed (nothing is lost)" in said


def test_a_metric_whose_reply_could_not_be_had_is_asked_for_again(tmp_path: Path) -> None:
    """Exit 4, and the same command heals it: here a reply is added to the recorded ones."""
    scored = {"criteria": {"quality": {"reason": "so", "score": 40}}, "comment": "c", "total_score": 40}
    rows = [{"id": "one/1/plain", "reply": json.dumps(scored)}, {"id": "one/2/plain", "reply": json.dumps(scored)}]
    metric = 'type = "LLMPlain"\nname = "plain"\njudge = "replay:replies.jsonl"\n'
    head, tail = OFFLINE.split('type = "semantic"')
    counting = head.replace('"echo one"', '"cat > text; grep -c . text"')
    write(tmp_path, counting + metric + tail[tail.index("[rounds]") :])
    write(tmp_path, json.dumps(rows[0]) + "\n", "replies.jsonl")
    done = compete(tmp_path, "--json")
    write(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "replies.jsonl")
    again = compete(tmp_path, "--json")

    assert done.returncode == 4
    assert "rounds without a score: 1; their metrics are missing" in done.stderr
    assert "run the same command again" in done.stderr
    assert again.returncode == 0, again.stderr
    assert [entry["score"] for entry in document(again)["teams"][0]["rounds"]] == [40, 40]


def test_a_model_that_refuses_its_key_ends_its_own_team(tmp_path: Path) -> None:
    """Others go on; exit 4, because the same command lets it try again."""
    with arena() as endpoint:
        endpoint.statuses["team"] = 401
        more = '[[teams]]\nid = "sh"\ncommand = ["sh", "-c", "echo Submission of sh in round 1"]'
        write(tmp_path, race_text(endpoint.spec, 1, rounds=SMALL, more=more))
        done = compete(tmp_path, "--json")
        endpoint.statuses.clear()
        again = compete(tmp_path, "--json")

    assert done.returncode == 4
    assert [(team["team_id"], team["stop_reason"]) for team in document(done)["teams"]] == [
        ("sh", "max_rounds"),
        ("t0", "team_failed"),
    ]
    assert CANARY not in done.stderr + done.stdout
    assert again.returncode == 0, again.stderr


def test_a_model_that_declined_is_asked_again_by_the_next_command(tmp_path: Path) -> None:
    """Not the journal: that would decline for ever. Both replies are kept."""
    with arena() as endpoint:
        endpoint.declines = True
        write(tmp_path, race_text(endpoint.spec, 1, rounds=SMALL))
        done = compete(tmp_path)
        endpoint.declines = False
        again = compete(tmp_path, "--json")

    assert done.returncode == 4
    assert "team t0: team_failed: round 1: the model declines: " in done.stderr
    assert again.returncode == 0, again.stderr
    texts = [line["text"] for line in replies(tmp_path)]
    assert sum("Submission of t0 in round 1" in text for text in texts) == 1
    assert sum(text.startswith("I'm sorry") for text in texts) == 1


def test_a_hanging_command_is_cut_off(tmp_path: Path) -> None:
    """In its round's time, and with a sentence."""
    text = OFFLINE.replace('"echo one"', '"echo one; sleep 6000"') + "round_timeout_seconds = 0.5\n"
    write(tmp_path, text)
    done = compete(tmp_path)

    assert done.returncode == 4
    assert "team one: round_timeout: round 1: no submission within 0.5 s" in done.stderr


def test_a_second_signal_leaves_at_once_and_takes_the_programs_along(tmp_path: Path) -> None:
    """Even one that would never end."""
    write(tmp_path, OFFLINE.replace('"echo one"', '"echo $$ > pid; sleep 600"'))
    process = begin("compete", "race.toml", "--execution", "e", "-w", "ws", cwd=tmp_path)
    pid = tmp_path / "pid"
    assert wait_until(lambda: pid.is_file() and pid.read_text(encoding="utf-8").endswith("\n"), process)
    err = stop_at_once(process)
    sleeper = Path("/proc") / pid.read_text(encoding="utf-8").strip()
    wait_for(lambda: not sleeper.exists())

    assert process.returncode == 130
    assert "Traceback" not in err


def test_rules_and_commands_need_no_model(tmp_path: Path) -> None:
    """Offline from end to end."""
    write(tmp_path, OFFLINE)
    done = compete(tmp_path, "--json")
    team = document(done)["teams"][0]

    assert done.returncode == 0, done.stderr
    assert [entry["score"] for entry in team["rounds"]] == [100, 100]


def test_a_signal_drains_and_the_same_command_goes_on(tmp_path: Path) -> None:
    """What was in flight is kept; the whole costs one request a question."""
    with arena() as endpoint:
        # From the second question of a team on, answers wait until the signal has been heard.
        endpoint.hold_after(TEAMS)
        write(tmp_path, race_text(endpoint.spec, TEAMS, rounds="min = 1\nmax = 3"))
        process = begin("compete", "race.toml", "--execution", "e", "-w", "ws", cwd=tmp_path)
        assert wait_until(lambda: endpoint.requests > TEAMS, process)
        process.send_signal(signal.SIGINT)
        heard = read_until(process, "once more to stop at once")
        endpoint.release()
        _, err = process.communicate()
        err = heard + err
        paid, kept = endpoint.requests, len(replies(tmp_path))
        board = mixseek_here("leaderboard", "e", "-w", "ws", "--json", cwd=tmp_path)
        again = compete(tmp_path, "--json")

    assert process.returncode == 130, err
    assert "run the same command again to resume" in err
    assert "Traceback" not in err
    assert kept == paid
    assert json.loads(board.stdout)["status"] == "interrupted"
    assert again.returncode == 0, again.stderr
    assert endpoint.requests == len(replies(tmp_path))
    assert {team["stop_reason"] for team in document(again)["teams"]} == {"max_rounds"}


def test_a_budget_stops_and_can_be_raised(tmp_path: Path) -> None:
    """Exit 4 with the reason; nothing is asked twice."""
    with arena() as endpoint:
        write(tmp_path, race_text(endpoint.spec, TEAMS, rounds=SMALL))
        done = compete(tmp_path, "--max-calls", "7", "--quiet")
        first = endpoint.requests
        again = compete(tmp_path, "--quiet")

    assert (done.returncode, first) == (4, 7)
    assert "--max-calls 7 is reached" in the_one_line(done)
    assert again.returncode == 0, again.stderr
    assert endpoint.requests == TEAMS * 2 * 4


def test_a_second_process_on_the_same_execution_is_told_so(tmp_path: Path) -> None:
    """Before it asks anything."""
    with arena() as endpoint:
        # Held, so that it is still there when the second one has started, however busy the machine is.
        endpoint.hold_after(2)
        write(tmp_path, race_text(endpoint.spec, TEAMS, rounds=SMALL))
        process = begin("compete", "race.toml", "--execution", "e", "-w", "ws", cwd=tmp_path)
        assert wait_until(lambda: endpoint.requests > 2, process)
        second = compete(tmp_path)
        endpoint.release()
        process.communicate()

    assert second.returncode == 4
    the_one_line(second)
    assert endpoint.requests == TEAMS * 2 * 4


def test_another_race_under_the_same_name_is_refused_and_a_renamed_team_is_not(tmp_path: Path) -> None:
    """Names of teams and limits of time change nothing about what is asked."""
    write(tmp_path, OFFLINE)
    compete(tmp_path)
    write(tmp_path, OFFLINE.replace('id = "one"', 'id = "one"\nname = "The One"') + "round_timeout_seconds = 9\n")
    renamed = compete(tmp_path)
    write(tmp_path, OFFLINE.replace("Count.", "Count again."))
    refused = compete(tmp_path)

    assert renamed.returncode == 0, renamed.stderr
    assert refused.returncode == 2
    assert "'e'" in the_one_line(refused)


def test_the_same_race_has_the_same_name_and_another_race_another(tmp_path: Path) -> None:
    """Without --execution the content decides."""
    names = []
    for text in (OFFLINE, OFFLINE, OFFLINE.replace("max = 2", "max = 3")):
        write(tmp_path, text)
        done = mixseek_here("compete", "race.toml", "--dry-run", "--json", cwd=tmp_path)
        names.append(document(done)["execution"])

    assert names[0] == names[1] != names[2]
    assert names[0].startswith("race-")


def test_options_of_a_metric_may_be_anything_that_toml_knows(tmp_path: Path) -> None:
    """Dates and NaN too; they reach the user's metric as they are."""
    write(
        tmp_path,
        "from mixseek.evaluator.metrics import BaseMetric\n"
        "class Day(BaseMetric):\n"
        "    async def evaluate(self, request):\n"
        "        return self.scored(self.setting.options['day'].day)\n",
        "own_metric_of_days.py",
    )
    metric = '[[evaluator.metrics]]\ntype = "own_metric_of_days:Day"\noptions = {day = 2026-01-07, odd = nan}\n[rounds]'
    write(tmp_path, OFFLINE.replace("[rounds]", metric))
    done = compete(tmp_path, "--json")

    assert done.returncode == 0, done.stderr
    assert document(done)["teams"][0]["best_score"] == (100 + 7) / 2


def test_recorded_replies_play_a_whole_race_offline(tmp_path: Path) -> None:
    """By the names of team, round and metric: for demos, and for judging once more what was judged elsewhere."""
    rows: list[dict[str, Any]] = []
    for number in (1, 2):
        score = {"criteria": {"quality": {"reason": "so", "score": 40 * number}}, "comment": "c"}
        rows += [
            {"id": f"a/{number}", "reply": f"Answer {number}."},
            {"id": f"a/{number}/plain", "reply": json.dumps({**score, "total_score": 40 * number})},
        ]
    write(tmp_path, "\n".join(json.dumps(row) for row in rows), "replies.jsonl")
    write(
        tmp_path,
        'task = "t"\n[[teams]]\nid = "a"\nmodel = "replay:replies.jsonl"\n[evaluator]\njudge = "replay:replies.jsonl"\n'
        '[[evaluator.metrics]]\ntype = "LLMPlain"\nname = "plain"\n[rounds]\nmin = 1\nmax = 2\n',
    )
    done = compete(tmp_path, "--json")

    assert done.returncode == 0, done.stderr
    assert [entry["score"] for entry in document(done)["teams"][0]["rounds"]] == [40, 80]


def test_runs_lists_competitions_and_a_killed_one_is_not_running_for_ever(tmp_path: Path) -> None:
    """While it plays it is running; after kill -9 its lock is free, so it is interrupted; resumed, it is finished."""
    with arena() as endpoint:
        # Nobody gets a first answer: the race is killed before.
        endpoint.hold_after(0)
        write(tmp_path, race_text(endpoint.spec, 1, rounds="min = 2\nmax = 2"))
        command = ("compete", "race.toml", "--execution", "e", "-w", "ws")
        racing = begin(*command, cwd=tmp_path)
        assert wait_until(lambda: endpoint.requests > 0, racing)
        playing = listed(tmp_path)
        os.killpg(racing.pid, signal.SIGKILL)
        racing.communicate()
        killed = listed(tmp_path)
        shown = mixseek_here("runs", "-w", "ws", cwd=tmp_path).stdout
        board = mixseek_here("leaderboard", "e", "-w", "ws", cwd=tmp_path).stdout
        endpoint.release()
        resumed = mixseek_here(*command, cwd=tmp_path, env=KEYS)
    done = listed(tmp_path)

    assert [line["kind"] for line in done] == ["competition"]
    assert (playing[0]["status"], killed[0]["status"]) == ("running", "interrupted")
    assert "interrupted, resumable" in shown
    assert "No runs" not in shown
    assert "interrupted, resumable" in board
    assert resumed.returncode == 0, resumed.stderr
    assert (done[0]["execution"], done[0]["status"], done[0]["teams"], done[0]["rounds"]) == ("e", "finished", 1, 2)
    assert done[0]["leader"] == "Team 0"


def listed(cwd: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(mixseek_here("runs", "-w", "ws", "--json", cwd=cwd).stdout)["competitions"]
    return found
