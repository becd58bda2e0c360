"""Bad input: one clear line with the place and the remedy, the right exit code, no traceback."""

import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.flows.running import COMMAND, environment, mixseek_here, read_jsonl, sums, the_one_line, write_jsonl

GOOD = '{"id": "a", "question": "1+1?", "response": "The answer is 2.", "ground_truth": "2"}\n'


def judge(data: Path | str, cwd: Path, *more: str | Path) -> subprocess.CompletedProcess[str]:
    return mixseek_here("judge", data, "--workspace", "ws", "--run", "r", "--json", *more, cwd=cwd)


def write_bytes(data: bytes) -> Callable[[Path], Path]:
    def write(directory: Path) -> Path:
        path = directory / "data.jsonl"
        path.write_bytes(data)
        return path

    return write


BAD_DATASETS: dict[str, tuple[Callable[[Path], Path], tuple[str, ...]]] = {
    "missing file": (lambda directory: directory / "absent.jsonl", ("absent.jsonl",)),
    "empty directory": (lambda directory: directory, ("no .jsonl", "check the path")),
    "binary file": (write_bytes(bytes(range(256)) * 40), ("data.jsonl",)),
    "invalid UTF-8": (write_bytes(GOOD.encode() + b'{"id": "b", "response": "\xff\xfe"}\n'), ("line 2", "UTF-8")),
    "a line that is a list": (write_bytes(GOOD.encode() + b"[1, 2]\n"), ("line 2",)),
    "a line that is not JSON": (write_bytes(GOOD.encode() + b'{"id": \n'), ("line 2",)),
    "row without response": (write_bytes(GOOD.encode() + b'{"id": "b", "answer": "x"}\n'), ("line 2", "response")),
    "duplicate ids": (write_bytes(GOOD.encode() * 2), ("lines 1 and 2", "'a'")),
    "empty file": (write_bytes(b""), ("data.jsonl",)),
    "an integer of 5,000 digits": (
        write_bytes(GOOD.encode() + b'{"id": "b", "response": "x", "n": ' + b"9" * 5_000 + b"}\n"),
        ("line 2", "digits"),
    ),
    "100,000 brackets": (
        write_bytes(GOOD.encode() + b'{"id": "b", "response": "x", "n": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"),
        ("line 2", "nested"),
    ),
    "an array with 5,000 digits": (
        lambda directory: write_bytes(b'[{"id": "b", "response": "x", "n": ' + b"9" * 5_000 + b"}]")(directory).rename(
            directory / "data.json"
        ),
        ("data.json", "item 1"),
    ),
    "only blank lines": (write_bytes(b"\n\n  \n"), ("data.jsonl",)),
}


@pytest.mark.parametrize("name", BAD_DATASETS)
def test_a_dataset_that_cannot_be_judged_is_one_line_that_names_the_place(name: str, tmp_path: Path) -> None:
    """Exit 2: trying again changes nothing."""
    make, words = BAD_DATASETS[name]

    done = judge(make(tmp_path), tmp_path)

    line = the_one_line(done)
    assert done.returncode == 2
    assert done.stdout == ""
    assert all(word.lower() in line.lower() for word in words), line


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--protocol", "semantci"), ("semantci", "semantic")),
        (("--judge", "rulse"), ("rulse", "rules")),
        (("--judge", "replay:absent.jsonl"), ("absent.jsonl",)),
        (("--language", "fr"), ("fr", "en", "ja", "zh")),
        (("--judge", "rules", "--judge", "rules"), ("rules",)),
        (("--map", "response=absent_column"), ("absent_column",)),
        (("--map", "answer=response"), ("answer",)),
        (("--run", "../escape"), ("../escape",)),
        (("--fail-under", "95"), ("--fail-under", "95%")),
        (("--limit", "0"), ("--limit",)),
        (("--workers", "many"), ("--workers",)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) and value[0].startswith("--") else "",
)
def test_a_slip_on_the_command_line_is_one_line(
    options: tuple[str, ...], words: tuple[str, ...], tmp_path: Path
) -> None:
    """With what was typed and what could have been meant."""
    data = write_jsonl(tmp_path / "data.jsonl", sums(3))

    done = judge(data, tmp_path, *options)

    line = the_one_line(done)
    assert done.returncode == 2
    assert all(word in line for word in words), line


@pytest.mark.parametrize("workspace", ["file/ws", "/proc/ws", "/dev/null"])
def test_a_workspace_that_cannot_be_made_is_one_line(workspace: str, tmp_path: Path) -> None:
    """Read-only, or a file in the way: it is the caller's to mend."""
    data = write_jsonl(tmp_path / "data.jsonl", sums(3))
    (tmp_path / "file").write_text("in the way", encoding="utf-8")

    done = mixseek_here("judge", data, "--workspace", workspace, "--run", "r", cwd=tmp_path)

    line = the_one_line(done)
    assert done.returncode == 2
    assert workspace in line


def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    """A limit on file size stands in for a full disk. With room again, the same command ends as if nothing had been."""
    data = write_jsonl(tmp_path / "data.jsonl", sums(300))

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))

    command = [COMMAND, "judge", str(data), "--workspace", "ws", "--run", "r", "--workers", "1", "--quiet"]
    full = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=no_room,
        timeout=60,
    )
    line = the_one_line(full)
    assert full.returncode == 3
    assert "journal" in line

    again = judge(data, tmp_path)
    undisturbed = mixseek_here("judge", data, "--workspace", "other", "--run", "r", "--json", cwd=tmp_path)

    assert again.returncode == undisturbed.returncode == 0, again.stderr
    mixseek_here("export", "r", "--workspace", "ws", "--to", "a.jsonl", cwd=tmp_path)
    mixseek_here("export", "r", "--workspace", "other", "--to", "b.jsonl", cwd=tmp_path)
    assert read_jsonl(tmp_path / "a.jsonl") == read_jsonl(tmp_path / "b.jsonl")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("report", "nosuch"), ("nosuch",)),
        (("show", "nosuch", "a"), ("nosuch",)),
        (("show", "r", "no-such-id"), ("no-such-id",)),
        (("export", "nosuch", "--to", "x.jsonl"), ("nosuch",)),
        (("export", "r", "--to", "x.xlsx"), ("x.xlsx", ".jsonl", ".csv", ".parquet")),
        (("export", "r", "--to", "absent-directory/x.jsonl"), ("absent-directory",)),
        (("report", "r", "--to", "absent-directory/x.html"), ("absent-directory",)),
        (("protocol", "show", "nosuch"), ("nosuch", "semantic")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_does_not_exist_is_named(arguments: tuple[str, ...], words: tuple[str, ...], tmp_path: Path) -> None:
    """Reading commands too: one line, exit 2."""
    judge(write_jsonl(tmp_path / "data.jsonl", sums(3)), tmp_path)
    place = () if arguments[0] == "protocol" else ("--workspace", "ws")

    done = mixseek_here(*arguments, *place, cwd=tmp_path)

    line = the_one_line(done)
    assert done.returncode == 2
    assert all(word in line for word in words), line


@pytest.mark.parametrize("command", ["report", "show", "export"])
def test_an_empty_workspace_says_how_to_begin(command: str, tmp_path: Path) -> None:
    """No run yet is not a crash."""
    arguments = {"report": (), "show": ("x",), "export": ("--to", "x.jsonl")}[command]

    done = mixseek_here(command, *arguments, "--workspace", "ws", cwd=tmp_path)

    assert done.returncode == 2
    assert "mixseek judge" in the_one_line(done)


def test_a_setting_that_does_not_exist_is_named(tmp_path: Path) -> None:
    """mixseek.toml is closed."""
    (tmp_path / "mixseek.toml").write_text('workspce = "x"\n', encoding="utf-8")

    done = mixseek_here("runs", cwd=tmp_path)

    assert done.returncode == 2
    assert "did you mean 'workspace'?" in the_one_line(done)


def test_a_configuration_that_would_eat_the_machine_is_one_line(tmp_path: Path) -> None:
    """A dotted key of 50,000 parts took 9.8 GB: in mixseek.toml, in a protocol and in a race."""
    bomb = "a" + ".a" * 50_000 + " = 1\n"
    (tmp_path / "data.jsonl").write_text(GOOD, encoding="utf-8")
    (tmp_path / "bomb.toml").write_text(bomb, encoding="utf-8")
    as_protocol = judge("data.jsonl", tmp_path, "--protocol", "bomb.toml")
    as_race = mixseek_here("compete", "bomb.toml", "--workspace", "ws", cwd=tmp_path)
    (tmp_path / "mixseek.toml").write_text(bomb, encoding="utf-8")
    as_settings = judge("data.jsonl", tmp_path)

    for done in (as_protocol, as_race, as_settings):
        assert done.returncode == 2
        assert "a key of more than 32 parts" in the_one_line(done)


def test_a_template_of_ones_own_that_would_eat_the_machine_is_one_line(tmp_path: Path) -> None:
    """Found when the protocol is loaded or tried, before anything is judged."""
    mixseek_here("protocol", "new", "own.toml", cwd=tmp_path)
    (tmp_path / "data.jsonl").write_text(GOOD, encoding="utf-8")
    declared = (tmp_path / "own.toml").read_text(encoding="utf-8")
    head, table, rest = declared.partition("[parameters")
    for source in ("{{ 'x' * 3000000000 }}", "{{ " + "(" * 3_000 + "1" + ")" * 3_000 + " }}"):
        (tmp_path / "bomb.md.j2").write_text(source, encoding="utf-8")
        (tmp_path / "own.toml").write_text(f'{head}[templates]\nuser = "bomb.md.j2"\n\n{table}{rest}', encoding="utf-8")
        done = mixseek_here("protocol", "lint", "own.toml", cwd=tmp_path)

        assert done.returncode in {1, 2}
        assert "bomb.md.j2" in done.stdout + done.stderr
        assert "this is a bug" not in done.stderr
