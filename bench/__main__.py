"""`make bench`: rules against a plain regex and math-verify; start-up; size; runs; prompts; live judges; viewer"""

import json
import logging
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import costs, live, prefixes, prompts, real_files, view, waiting
from bench.accuracy import DATA
from bench.lm_eval_filter import has_choices, load_filter
from bench.responses import synthetic_rows
from mixseek.matching.match import match_answer
from mixseek.protocols.replies.repairs import ReplyMode
from mixseek.protocols.replies.reply_reader import read_reply

Row = dict[str, str]
_ANSWER_IS = re.compile(r"answer is\s+(.*?)\.?\s*$", re.IGNORECASE | re.DOTALL)


def main() -> None:
    """Print every measurement with what it is compared to."""
    rows = _chain_of_thought_rows()
    _rules(rows)
    _reading()
    _startup()
    _install_size()
    for count in (20_000, 100_000):
        _end_to_end(count)
    _from_python(100_000)
    prompts.main()
    prefixes.main()
    costs.main()
    real_files.main()
    live.main([])
    view.main(["100000"])
    # Last: all other measurements are printed even where one of these has grown.
    sys.exit(waiting.main())


def _chain_of_thought_rows() -> list[Row]:
    """BBH responses when they lie beside the project, else ones made here of the same shape."""
    path = DATA / "matching_bbh_davinci.jsonl"
    if not path.is_file():
        return list(synthetic_rows(3_000))
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row for row in rows if row["mode"] == "cot"]


def _rules(rows: Sequence[Row]) -> None:
    length = sum(len(row["response"]) for row in rows) / len(rows)
    ours = _per_cpu_second(
        rows, lambda row: match_answer(row["response"], row["ground_truth"], question=row["question"])
    )
    plain = _per_cpu_second(rows, lambda row: _plain_regex(row["response"], row["ground_truth"]))
    print(
        f"rules: {ours:,.0f} responses per CPU-second ({len(rows):,} chains of thought, {length:.0f} characters each)"
    )
    print(f"  a plain last-'answer is' regex: {plain:,.0f} per CPU-second; rules cost {plain / ours:.1f} times as much")
    _beside_lm_eval([row for row in rows if has_choices(row)])
    peer = _math_verify_rate(rows[:300])
    if peer is None:
        print("  math-verify is not installed (extra `maths`): no ratio")
    else:
        print(f"  math-verify: {peer:,.0f} per CPU-second; rules are {ours / peer:.0f} times as fast")


def _beside_lm_eval(rows: Sequence[Row]) -> None:
    """Where the answer is one of the choices: its filter takes a letter, the rules weigh what is said of it."""
    flexible = load_filter()
    if flexible is None:
        print("  lm-eval is not installed: no ratio")
        return
    ours = _per_cpu_second(
        rows, lambda row: match_answer(row["response"], row["ground_truth"], question=row["question"])
    )
    theirs = _per_cpu_second(rows, flexible)
    print(
        f"  lm-eval's flexible filter on {len(rows):,} with choices: {theirs:,.0f} per CPU-second; rules at "
        f"{ours / theirs:.2f} of its rate (before 0.16 to 0.42, aim 0.5)"
    )


def _reading() -> None:
    """The usual reply: one plain object. json.loads alone would miss a key given twice, NaN, and every repair."""
    verdict = {"id": "q1", "is_correct": True, "extracted_answer": "42", "reasoning_score": 5, "error_type": "none"}
    replies = [{"reply": json.dumps({**verdict, "comment": f"Says {number}: right."})} for number in range(2_000)]
    ours = _per_cpu_second(replies, lambda row: read_reply(row["reply"], ReplyMode.REPAIR, verdict))
    floor = _per_cpu_second(replies, lambda row: json.loads(row["reply"]))
    print(f"replies read: {ours:,.0f} per CPU-second; json.loads alone: {floor:,.0f}")


def _plain_regex(response: str, gold: str) -> bool:
    found = _ANSWER_IS.search(response)
    return found is not None and found[1].strip() == gold


def _math_verify_rate(rows: Sequence[Row]) -> float | None:
    try:
        from math_verify import parse, verify
    except ImportError:
        return None
    logging.disable(logging.CRITICAL)

    def judge(row: Row) -> bool:
        gold = parse(row["ground_truth"], parsing_timeout=None)
        return bool(verify(gold, parse(row["response"], parsing_timeout=None), timeout_seconds=None))

    return _per_cpu_second(rows, judge, rounds=1)


def _per_cpu_second(rows: Sequence[Row], judge: Callable[[Row], object], *, rounds: int = 3) -> float:
    """The best of a few rounds: the machine is shared, and noise only ever adds."""
    best = 0.0
    for _ in range(rounds):
        started = time.process_time()
        for row in rows:
            judge(row)
        best = max(best, len(rows) / (time.process_time() - started))
    return best


def _startup() -> None:
    command = [str(Path(sys.executable).with_name("mixseek")), "--help"]
    ours = min(_cpu_seconds(command) for _ in range(5))
    floor = min(_cpu_seconds([sys.executable, "-c", "pass"]) for _ in range(5))
    print(f"mixseek --help: {ours:.2f} s CPU; a bare interpreter takes {floor:.2f} s")


def _cpu_seconds(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _install_size() -> None:
    """A core install in a throw-away environment, without the tools pip itself brings."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "site"
        root = Path(__file__).resolve().parents[1]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]
        subprocess.run([*command, str(target), "--constraint", str(root / "constraints.txt"), str(root)], check=True)
        size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file()) / 1e6
    print(f"core install: {size:.0f} MB (aim: under 120 MB)")


def _write_rows(folder: Path, count: int) -> Path:
    data = folder / "rows.jsonl"
    with data.open("w", encoding="utf-8") as sink:
        sink.writelines(json.dumps(row) + "\n" for row in synthetic_rows(count))
    return data


def _end_to_end(count: int) -> None:
    """`mixseek judge --judge rules` and `mixseek report` as a user runs them."""
    mixseek = str(Path(sys.executable).with_name("mixseek"))
    with tempfile.TemporaryDirectory() as folder:
        data, workspace = _write_rows(Path(folder), count), str(Path(folder) / "ws")
        started = time.perf_counter()
        judge = [mixseek, "judge", str(data), "--protocol", "semantic", "--judge", "rules", "--workspace", workspace]
        peak = _peak_megabytes([*judge, "--run", "bench", "--json"])
        judged = time.perf_counter() - started
        report_peak = _peak_megabytes([mixseek, "report", "bench", "--workspace", workspace])
        reported = time.perf_counter() - started - judged
    print(
        f"judge {count:,} rows: {judged:.1f} s, {count / judged:,.0f} rows/s, peak {peak:.0f} MB in one process; "
        f"report {reported:.1f} s, peak {report_peak:.0f} MB"
    )


_JUDGE_DICTS = """
import resource, sys, time
from bench.responses import synthetic_rows

def spent():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)

rows = list(synthetic_rows(int(sys.argv[1])))
cpu, clock = spent(), time.perf_counter()
import mixseek
run = mixseek.judge(rows, judges="rules", progress=False)
assert run.ok and run.summary.header.samples == len(rows)
print(spent() - cpu, time.perf_counter() - clock)
"""


def _from_python(count: int) -> None:
    """Dicts in memory against the command on a file of the same rows; CPU of judging processes included."""
    mixseek = str(Path(sys.executable).with_name("mixseek"))
    with tempfile.TemporaryDirectory() as folder:
        data, workspace = _write_rows(Path(folder), count), str(Path(folder) / "ws")
        started = time.perf_counter()
        typed = _cpu_seconds([mixseek, "judge", str(data), "--judge", "rules", "--workspace", workspace, "--quiet"])
        waited = time.perf_counter() - started
    command = [sys.executable, "-c", _JUDGE_DICTS, str(count)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    ours, seconds = map(float, told)
    print(
        f"{count:,} dicts through mixseek.judge: {ours:.1f} s CPU, {seconds:.1f} s; mixseek judge on a file of them: "
        f"{typed:.1f} s CPU, {waited:.1f} s: {ours / typed:.2f} times as much (aim: at most 1.3)"
    )


def _peak_megabytes(command: Sequence[str]) -> float:
    """Peak resident memory of the largest process, read by a small parent of its own."""
    script = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, "
        "stderr=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    output = subprocess.run([sys.executable, "-c", script, *command], check=True, capture_output=True, text=True)
    return int(output.stdout) / 1024


if __name__ == "__main__":
    main()
