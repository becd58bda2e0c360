"""`mixseek run` and `mixseek init`: whole jobs in one file, through the command line that a user types."""

import json
import re
import signal
from pathlib import Path
from typing import Annotated, Any, get_args

import pytest
from tests.flows.live import KEYS, begin, read_until, wait_until
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, sums, the_one_line, write_jsonl
from typer import Option

from mixseek.cli.asking.job_file import STEPS, command_of, key_of, read_jobs
from mixseek.cli.asking.judge import judge
from mixseek.cli.asking.run import BY_GRAVITY, run
from mixseek.cli.terminal.console import ExitCode
from mixseek.testing.mock_server import MockOptions

OWN = frozenset(key_of(one) for one in command_of(run).params) - {"workspace"}


def write_job(place: Path, text: str, name: str = "job.toml") -> Path:
    path = place / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with ten sums: six right, two wrong, two without a truth."""
    write_jsonl(tmp_path / "sums.jsonl", sums(10))
    return tmp_path


def run_json(place: Path, *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    done = mixseek_here("run", *arguments, "--json", "--quiet", cwd=place, env=KEYS)
    return done.returncode, json.loads(done.stdout)


# Keys are options.


def example_of(parameter: Any) -> Any:
    """A value that the option takes."""
    if parameter.is_flag:
        return True
    examples = {"KEY=VALUE": {"a": {"b": "c"}}, "FIELD=COLUMN": {"response": "output"}, "SHARE": "50%", "RULE": "mean"}
    examples["CHECK"] = ["uses:search"]
    metavar = parameter.metavar
    if choices := get_args(parameter.type_descriptor.annotation) if metavar is None else ():
        return choices[0]
    return examples.get(metavar, 3 if metavar in ("N", "K", "USD", "SECONDS", "DAYS") else "x")


def test_every_option_of_judge_is_a_key_of_a_job(tmp_path: Path) -> None:
    """Read off the command: an option that is added there needs no line anywhere else."""
    parameters = {key_of(one): one for one in command_of(judge).params}
    keys = [key for key in parameters if key not in OWN]
    options = {f"--{key.replace('_', '-')}" for key in keys if key != "data"}
    shown = set(re.findall(r"^\s+(?:-\w, )?(--[a-z-]+)", mixseek_here("judge", "--help", cwd=tmp_path).stdout, re.M))

    assert options == shown - {"--json", "--quiet", "--dry-run", "--log-json", "--help"}
    for key in keys:
        value = "x.jsonl" if key == "data" else example_of(parameters[key])
        rest = {} if key == "data" else {"data": "x.jsonl"}
        text = "".join(f"{name} = {as_toml(one)}\n" for name, one in {**rest, key: value}.items())
        (job,) = read_jobs(write_job(tmp_path, text), (), OWN).jobs
        given = " ".join(job.arguments)
        assert key == "data" or f"--{key.replace('_', '-')}" in given, (key, given)


def as_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {as_toml(one)}" for name, one in value.items()) + "}"
    return json.dumps(value)


def test_a_new_option_is_a_key_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its type, its range and its name; nothing of the job file knows it."""

    def judge_with_colour(data: str, deepest_blue: Annotated[int, Option(min=3, max=5)] = 3) -> None:
        """Another command."""

    monkeypatch.setattr("mixseek.cli.asking.job_file.judge", judge_with_colour)
    path = write_job(tmp_path, 'data = "x"\ndeepest_blue = 4\n')
    (job,) = read_jobs(path, (), OWN).jobs

    assert job.arguments[0] == "--deepest-blue=4"
    done = mixseek_here("run", write_job(tmp_path, 'data = "x"\ndeepest_blue = 6\n'), cwd=tmp_path)
    assert done.returncode == 2
    assert "deepest_blue: Input should be less than or equal to 5" in the_one_line(done)


# What jobs do.


def test_a_whole_job_in_one_file(place: Path) -> None:
    """Mapping, protocol, parameters, judges, gates, labels, a report, an export: all beside the file, from anywhere."""
    rows = [{**row, "answer": row.pop("response")} for row in sums(10)]
    (place / "evals").mkdir()
    write_jsonl(place / "evals" / "sums.jsonl", rows)
    (place / "evals" / "mia.csv").write_text("id,label\nsum-0,correct\nsum-4,incorrect\n", encoding="utf-8")
    job = """
    data = "sums.jsonl"
    map = { response = "answer" }
    protocol = "semantic"
    judge = ["rules"]
    language = "en"
    workspace = "ws"
    run = "whole"
    fail_under = 0.5
    max_undecided = "20%"
    labels = "mia.csv"
    report = { to = "out.html", by = "task_name" }
    export = "rows.jsonl"
    archive = "kept"
    """
    code, told = run_json(place, write_job(place / "evals", job, "whole.toml").relative_to(place))
    (only,) = told["jobs"]

    assert code == told["exit_code"] == 0, told
    assert (only["name"], only["state"]) == ("whole", "done")
    assert only["summary"]["run"] == "whole"
    assert {gate["gate"]: gate["met"] for gate in only["summary"]["gates"]} == {
        "fail_under": True,
        "max_undecided": True,
    }
    assert only["steps"]["labels"]["rater"] == "mia"
    assert only["summary"]["corrected"] is not None
    assert only["steps"]["export"]["rows"] == 10
    written = {path.name for path in (place / "evals").iterdir()}
    assert written == {"sums.jsonl", "mia.csv", "whole.toml", "ws", "out.html", "rows.jsonl", "kept"}
    assert "task_name" in (place / "evals" / "out.html").read_text(encoding="utf-8")


def test_keys_at_the_top_hold_for_all_and_the_jobs_own_win(place: Path) -> None:
    text = 'data = "sums.jsonl"\nlimit = 5\n[jobs.few]\n[jobs.more]\nlimit = 8\n'
    code, told = run_json(place, write_job(place, text), "-w", "elsewhere")

    assert code == 0
    assert [one["summary"]["samples"] for one in told["jobs"]] == [5, 8]
    assert all(one["summary"]["workspace"] == "elsewhere" for one in told["jobs"])
    assert not (place / ".mixseek").exists()


def test_one_failing_job_does_not_hide_the_others(place: Path) -> None:
    """The table says which; the exit code is the worst."""
    text = """
    data = "sums.jsonl"
    [jobs.gated]
    fail_under = "99%"
    [jobs.lost]
    data = "nowhere.jsonl"
    [jobs.fine]
    limit = 3
    [jobs.unlabelled]
    labels = "nobody.csv"
    """
    done = mixseek_here("run", write_job(place, text).name, "-q", cwd=place)
    table = {line.split()[0]: line for line in done.stdout.rsplit("\njob ", 1)[1].splitlines()[1:] if line.strip()}

    assert done.returncode == 2
    assert "gate not met" in table["gated"]
    assert "failed" in table["lost"]
    assert "nowhere.jsonl" in table["lost"]
    assert " done " in table["fine"]
    assert "failed" in table["unlabelled"]
    assert "mixseek: job lost: nowhere.jsonl: no such file" in done.stderr
    # The job whose labels are missing has its summary all the same.
    assert done.stdout.count("mean score") == 3


def test_the_order_of_gravity_is_that_of_the_help(tmp_path: Path) -> None:
    """Every code has its place, and the help names them in that order."""
    said = mixseek_here("run", "--help", cwd=tmp_path).stdout
    listed = re.findall(r"\d+", said.split("worst of all:", 1)[1].split("Interrupted?", 1)[0])

    assert [int(code) for code in listed] == [int(code) for code in BY_GRAVITY]
    assert set(BY_GRAVITY) == set(ExitCode)


def test_only_named_jobs_run_and_a_baseline_may_be_an_earlier_job(place: Path) -> None:
    write_jsonl(place / "later.jsonl", [{**row, "response": "The answer is 1."} for row in sums(10)])
    text = """
    [jobs.before]
    data = "sums.jsonl"
    run = "before"
    [jobs.after]
    data = "later.jsonl"
    run = "after"
    baseline = "before"
    max_drop = "2%"
    """
    path = write_job(place, text)
    code, told = run_json(place, path, "before")
    assert (code, [one["name"] for one in told["jobs"]]) == (0, ["before"])

    code, told = run_json(place, path)

    assert code == 1
    assert [one["state"] for one in told["jobs"]] == ["done", "gate not met"]


def test_judges_of_the_file_win_over_those_of_the_settings(place: Path) -> None:
    """Same model as mixseek.toml; nothing answers at the address of the settings."""
    (place / "mixseek.toml").write_text(
        '[judges.m]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n', encoding="utf-8"
    )
    with loopback(MockOptions(latency_seconds=0)) as endpoint:
        text = (
            f'data = "sums.jsonl"\njudge = "m"\nlimit = 2\n[judges.m]\nmodel = "m"\nbase_url = "{endpoint.base_url}"\n'
        )
        code, told = run_json(place, write_job(place, text))

    assert code == 0, told
    assert told["jobs"][0]["summary"]["counts"]["valid"] == 2


def test_a_dry_run_sends_and_writes_nothing(place: Path) -> None:
    text = 'data = "sums.jsonl"\nreport = "out.html"\njunit = "j.xml"\njudge = "openai:m@http://127.0.0.1:9/v1"\n'
    code, told = run_json(place, write_job(place, text), "--dry-run")

    assert code == 0
    assert told["jobs"][0]["summary"]["calls"] == 10
    assert not (place / "out.html").exists()
    assert not (place / "j.xml").exists()


def test_ctrl_c_stops_all_jobs_and_the_same_command_goes_on(place: Path) -> None:
    """The second job is not begun; nothing that was judged is judged again."""
    with loopback() as endpoint:
        # In the middle of the first: what is asked then is answered when the signal has been heard.
        endpoint.hold(after=2)
        text = f"""
        data = "sums.jsonl"
        judge = "openai:m@{endpoint.base_url}"
        concurrency = 1
        [jobs.slow]
        run = "slow"
        [jobs.later]
        run = "later"
        judge = "rules"
        """
        path = write_job(place, text)
        process = begin("run", str(path), "--json", cwd=place)
        journal = place / ".mixseek" / "runs" / "slow" / "journal.jsonl"
        assert wait_until(lambda: journal.exists() and b'"t":"outcome"' in journal.read_bytes(), process)
        process.send_signal(signal.SIGINT)
        heard = read_until(process, "once more to stop at once")
        endpoint.release()
        out, err = process.communicate()
        err = heard + err
        states = [one["state"] for one in json.loads(out)["jobs"]]

        assert process.returncode == 130, err
        assert states == ["interrupted", "not started"]

        code, told = run_json(place, path)

    assert code == 0
    assert [one["summary"]["samples"] for one in told["jobs"]] == [10, 10]


# What is refused, before anything runs.

_REFUSED = {
    'data = "sums.jsonl"\nfail_undr = 1': "job.toml: unknown key 'fail_undr'; did you mean 'fail_under'?",
    'data = "s"\n[jobs.a]\nlimt = 1': "job.toml: [jobs.a]: unknown key 'limt'; did you mean 'limit'?",
    'data = "s"\n[jobs.a]\nfail_under = "2"': "job.toml: [jobs.a]: fail_under: '2' is outside 0..1",
    'data = "s"\nfail_under = "2"\n[jobs.a]': "job.toml: fail_under: '2' is outside 0..1",
    'data = "s"\nlimit = 0': "job.toml: limit: Input should be greater than or equal to 1",
    'data = "s"\nlimit = true': "job.toml: limit: write a text or a number",
    'data = "s"\nlimit = [1, 2]': "job.toml: limit: one value, not a list",
    'data = "s"\ncascade = "yes"': "job.toml: cascade: write true or false",
    'data = "s"\nlanguage = 1979-05-27': "job.toml: language: write a text or a number",
    'data = "s"\njudge = {a = 1}': "job.toml: judge: a value or a list of them, not a table",
    "protocol = 'semantic'": "data: is missing",
    'data = "s"\njudges = ["rules"]': 'who judges is judge = ["rules"]',
    'data = "s"\njson = true': "job.toml: json: stands on the command line of `mixseek run`",
    'data = "s"\nreport = {too = "x"}': "job.toml: report: unknown key 'too'; did you mean 'to'?",
    'data = "s"\nlabels = {rater = "mia"}': "job.toml: labels.file: is missing",
    'data = "s"\n[judges.v]\nmodle = "x"': "job.toml: unknown key 'judges.v.modle'; did you mean 'model'?",
    'data = "s"\n[judges.v]\napi_key = "x"': "keys do not stand in files",
    'data = "s"\njobs = 3': "job.toml: jobs: write each job as a table",
    'data = "s"\n[jobs]': "job.toml: jobs: write each job as a table",
    'data = "s"\nreport = "r.html"\n[jobs.a]\n[jobs.b]': "jobs a and b both write r.html",
    'data = "s': "job.toml: not valid TOML",
}


@pytest.mark.parametrize("text", _REFUSED, ids=lambda text: text.replace("\n", " ")[-40:])
def test_a_mistake_is_one_line_with_the_place_and_the_remedy(text: str, place: Path) -> None:
    done = mixseek_here("run", write_job(place, text).name, cwd=place)

    assert done.returncode == 2
    assert _REFUSED[text] in the_one_line(done)
    assert not (place / ".mixseek").exists()


def test_a_file_that_is_not_there_and_a_job_that_is_not_in_it(place: Path) -> None:
    path = write_job(place, 'data = "sums.jsonl"\n[jobs.nightly]\n')
    absent = mixseek_here("run", "jobb.toml", cwd=place)
    unknown = mixseek_here("run", path, "nightl", cwd=place)

    assert (absent.returncode, unknown.returncode) == (2, 2)
    assert "jobb.toml: no such file" in the_one_line(absent)
    assert "no job 'nightl'; did you mean 'nightly'?" in the_one_line(unknown)


# A file to begin with.


def test_init_writes_a_job_that_runs_as_it_is_and_nothing_twice(tmp_path: Path) -> None:
    made = mixseek_here("init", cwd=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    again = mixseek_here("init", cwd=tmp_path)
    done = mixseek_here("run", "job.toml", cwd=tmp_path, env={"HTTPS_PROXY": "http://127.0.0.1:9"})

    assert made.returncode == 0
    assert sorted(before) == ["job-samples.jsonl", "job.toml"]
    assert again.returncode == 2
    assert "job.toml: is there already" in the_one_line(again)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "job-report.html").is_file()


def test_what_init_writes_in_comments_is_valid_too(tmp_path: Path) -> None:
    """Every line that looks like a key or a table, uncommented."""
    (tmp_path / "sub").mkdir()
    assert mixseek_here("init", "sub/nightly.toml", "--json", cwd=tmp_path).returncode == 0
    text = (tmp_path / "sub" / "nightly.toml").read_text(encoding="utf-8")
    whole = re.sub(r"^# (?=\[|[a-z_]+ = )", "", text, flags=re.MULTILINE)
    found = read_jobs(write_job(tmp_path / "sub", whole, "whole.toml"), (), OWN)

    assert [job.name for job in found.jobs] == ["rules", "model"]
    assert set(found.judges) == {"local"}
    assert set(found.jobs[0].steps) <= set(STEPS)
    assert {"labels", "report", "export"} <= set(found.jobs[0].steps)
    assert "--github-summary" in found.jobs[0].arguments

    write_jsonl(tmp_path / "sub" / "nightly-samples.jsonl", [{"id": "a", "output": "4", "target": "4"}])
    environment = {"GITHUB_STEP_SUMMARY": "step.md", "MY_KEY": "k"}
    done = mixseek_here("run", "sub/whole.toml", "model", "--dry-run", cwd=tmp_path, env=environment)

    assert done.returncode == 0, done.stderr


def test_init_offers_a_job_that_begins_with_questions(tmp_path: Path) -> None:
    """As it is, offline, under two prompts; every recorded answer is about a question, and comments are valid too."""
    made = mixseek_here("init", "--answers", cwd=tmp_path)
    done = mixseek_here("run", "job.toml", cwd=tmp_path, env={"HTTPS_PROXY": "http://127.0.0.1:9"})
    again = mixseek_here("init", "--answers", "--json", "more.toml", cwd=tmp_path)
    text = (tmp_path / "job.toml").read_text(encoding="utf-8")
    whole = re.sub(r"^# (?=\[|[a-z_]+ = )(?!target)", "", text, flags=re.MULTILINE)

    assert made.returncode == 0
    assert done.returncode == 0, done.stderr
    assert "6 of 6 answers" in done.stdout
    assert "83.3%" in done.stdout
    assert "about no sample" not in done.stderr
    assert (tmp_path / "job-report.html").is_file()
    assert json.loads(again.stdout)["samples"] == "more-questions.jsonl"
    (tmp_path / "whole.toml").write_text(whole, encoding="utf-8")
    checked = mixseek_here("run", "whole.toml", "--dry-run", cwd=tmp_path, env={"MY_KEY": "k"})
    assert checked.returncode == 0, checked.stderr


def test_recorded_answers_to_no_prompt_are_said(tmp_path: Path) -> None:
    """A variant that is misspelled in the file would otherwise be six answers that are missing, and no reason."""
    assert mixseek_here("init", "--answers", cwd=tmp_path).returncode == 0
    recorded = tmp_path / "job-recorded.jsonl"
    recorded.write_text(recorded.read_text(encoding="utf-8").replace("sum/short", "sum/shrt"), encoding="utf-8")
    done = mixseek_here("run", "job.toml", cwd=tmp_path)

    assert "1 reply is about no sample here: 'sum/shrt'" in done.stderr


@pytest.mark.parametrize(("path", "said"), [("notes.md", "a .toml file"), ("no/where.toml", "cannot be written")])
def test_init_says_where_it_cannot_write(path: str, said: str, tmp_path: Path) -> None:
    done = mixseek_here("init", path, cwd=tmp_path)

    assert done.returncode == 2
    assert said in the_one_line(done)
    assert list(tmp_path.iterdir()) == []
