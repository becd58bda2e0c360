"""What `mixseek answer` and `[answers]` refuse before anybody is asked: one line, and nothing is left behind."""

from pathlib import Path

import pytest
from tests.flows.answer_material import answer
from tests.flows.live import KEYS
from tests.flows.running import mixseek_here, the_one_line

# Nobody is there: a command that went so far as to ask would say so.
NOBODY = "openai:m@http://127.0.0.1:9/v1"
QUESTION = '{"id": "a", "question": "one", "topic": "t"}\n'
PICTURE = '[{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "x"}}]'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "q.jsonl: there is no question in it; give it at least one row"),
        ('{"id": "a", "text": "hm"}', "q.jsonl: line 1: no question in it; columns are id, text; name its column with"),
        ('{"id": "a", "question": null}', "q.jsonl: line 1: no question in it"),
        ('{"id": "a", "question": {"x": 1}}', "q.jsonl: line 1: `question` is an object, expected text"),
        (QUESTION + '{"id": "a", "question": "two"}', "q.jsonl: lines 1 and 2 have the same id 'a' and ask different"),
        ('{"question": "one", "response_path": "x"}', "q.jsonl: line 1: `response_path` is a file to whoever judges"),
        ('{"question": "one", "rubric_path": "x"}', "q.jsonl: line 1: `rubric_path` is a file to whoever judges"),
        ("one", "q.jsonl: line 1, column 1: invalid JSON"),
        ("\x00", "q.jsonl: a binary file"),
        ('{"question": "caf\udce9"}', "q.jsonl: line 1 is not valid UTF-8"),
        ('{"messages": "hello"}', "q.jsonl: line 1: `messages` is no list of messages"),
        (
            '{"messages": [{"role": "alien", "content": "x"}]}',
            "q.jsonl: line 1: `messages`: a turn of 'alien'; turns are",
        ),
        ('{"messages": [{"role": "user", "content": null}]}', "q.jsonl: line 1: `messages`: a turn of the user has no"),
        (
            '{"messages": [{"role": "assistant", "content": null}]}',
            "q.jsonl: line 1: the conversation begins with a turn",
        ),
        (f'{{"messages": [{{"role": "user", "content": {PICTURE}}}]}}', "a part of type 'image_url'; only text can be"),
    ],
)
def test_a_file_without_questions_is_refused_by_its_line(text: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_bytes(text.encode("utf-8", "surrogateescape"))
    done = answer("q.jsonl", "--target", NOBODY, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert line in the_one_line(done)
    assert not (tmp_path / "ws/answers").exists()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["--variant", "A=typo.md"],
            "q.jsonl: line 1: typo.md (user of variant A): question 'a' has no column 'topik'; did",
        ),
        (["--variant", "A=open.md"], "open.md (user of variant A):1: not a valid Jinja2 template"),
        (["--variant", "A=escape.md"], "access to attribute '__class__' of 'str' object is unsafe"),
        (["--variant", "A=include.md"], "include, import and extends are not available"),
        (["--variant", "A=blank.md"], "variant A: blank.md is empty; write the prompt into it"),
        (["--variant", "A=nowhere.md"], "variant A: nowhere.md: cannot be read (no such file or directory)"),
        (["--variant", "A=bytes.md"], "variant A: bytes.md: not valid UTF-8"),
        (["--variant", "latest=typo.md"], "variant name 'latest' is taken"),
        (["--variant", "a/b=typo.md"], "variant name 'a/b' has a path separator in it"),
        (["--variant", "A=typo.md", "--variant", "A=open.md"], "'A' is given twice"),
        (["--target", NOBODY], f"--target {NOBODY} is given twice"),
        (["--target", "rules"], "--target rules: writes no answers"),
        (["--target", "replay"], "recorded answers are replay:FILE, with ids QUESTION/VARIANT"),
        (["--target", "nobody"], "unknown target 'nobody'; available: replay:FILE, PROVIDER:MODEL"),
        (["--target", "replay:nowhere.jsonl"], "nowhere.jsonl: recorded replies cannot be read"),
        (["--target", "openai:"], "target 'openai:': no model"),
        (["--target", NOBODY.replace("127.0.0.1", "localhost")], "would both be called 'm' in"),
        (
            ["--map", "question=qestion"],
            "row has no column `qestion`, which --map question=qestion asks for; columns are",
        ),
        (["--map", "qestion=question"], "a question has no field `qestion`"),
        (["--repeats", "0"], "--repeats"),
        (["--shards", "2"], "only means something with --on ray"),
        (["--run", "x/y"], "run name 'x/y' has a path separator in it"),
    ],
)
def test_an_option_that_cannot_be_obeyed_is_refused(words: list[str], line: str, tmp_path: Path) -> None:
    """Before anything is sent or written, with what to write instead."""
    (tmp_path / "q.jsonl").write_text(QUESTION)
    for name, text in {
        "typo.md": "{{ question }} {{ topik }}",
        "open.md": "{{ question",
        "escape.md": "{{ question.__class__ }}",
        "include.md": "{% include 'q.jsonl' %}",
        "blank.md": " \n",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "bytes.md").write_bytes(b"\xff\xfe")
    done = answer("q.jsonl", "--target", NOBODY, *words, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert line in the_one_line(done)
    assert not (tmp_path / "ws/answers").exists()


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ('target = "x"', "[answers]: questions: is missing"),
        ('question = "q.jsonl"', "[answers]: unknown key 'question'; did you mean 'questions'?"),
        ('questions = ["q.jsonl"]', "[answers]: questions: one value, not a list"),
        ('questions = "q.jsonl"\nrepeats = "many"', "[answers]: repeats: Input should be a valid integer"),
        ('questions = "q.jsonl"\nvariants = 3', "[answers]: variants: a table, such as"),
        ('questions = "q.jsonl"\nfail_under = "80%"', "[answers]: unknown key 'fail_under'; known keys here:"),
        ('questions = "q.jsonl"\ntarget = "nobody"', "job answers: unknown target 'nobody'"),
        ('questions = "q.jsonl"', "job answers: no target; name who answers with --target"),
        (
            f'questions = "q.jsonl"\ntarget = "{NOBODY}"\nvariants = {{ A = {{ usr = "x" }} }}',
            "job answers: variant A: a file, or a table with `user`, `system` or both",
        ),
        (
            f'questions = "q.jsonl"\ntarget = "{NOBODY}"\nvariants = {{ A = {{ user = " " }} }}',
            "job answers: variant A: `user` is empty",
        ),
    ],
)
def test_a_mistake_in_the_table_of_answers_is_named_and_nothing_is_judged(
    table: str, line: str, tmp_path: Path
) -> None:
    (tmp_path / "q.jsonl").write_text(QUESTION)
    (tmp_path / "job.toml").write_text(f'[answers]\n{table}\n\n[jobs.verdicts]\njudge = "rules"\n')
    done = mixseek_here("run", "job.toml", "--quiet", cwd=tmp_path, env=KEYS)

    assert done.returncode == 2
    assert line in the_one_line(done)
    assert not (tmp_path / ".mixseek/runs").exists()
