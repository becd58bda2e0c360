"""What becomes of replies that real judges gave elsewhere: valid as they are, valid after a repair, invalid and why.

The data lies beside the project (`../shared/data`), is not part of it, and is skipped when it is not there.
Run: make replies
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import reply_quotes
from bench.accuracy import DATA
from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Reply, ValidJudgment
from mixseek.domain.ports import JudgingProtocol
from mixseek.domain.samples import Sample
from mixseek.protocols.registry import load_protocol
from mixseek.protocols.replies.repairs import Repair, ReplyMode
from mixseek.protocols.replies.reply_bundles import BundleEntry, split_bundle
from mixseek.protocols.replies.reply_fields import FieldReader
from mixseek.protocols.replies.reply_reader import read_reply

Row = Mapping[str, Any]
PROMPTDRIFT = "judge_outputs_promptdrift.jsonl"
ENDPOINT_ERRORS = "judge_outputs_amel.jsonl"


@dataclass(frozen=True, slots=True)
class Reading:
    """One reply, or one entry of a bundle. Valid without findings."""

    findings: tuple[Finding, ...] = ()
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """Which protocol a file's replies are read by; `is_prose`: they are no JSON, and none may become a score."""

    file: str
    protocol: str
    read: Callable[[Row], Iterator[Reading]]
    is_prose: bool = False


@dataclass
class Counts:
    """A line of the table."""

    rows: int = 0
    replies: int = 0
    as_is: int = 0
    repaired: int = 0
    repairs: Counter[str] = field(default_factory=Counter)
    flags: Counter[Flag] = field(default_factory=Counter)

    @property
    def valid(self) -> int:
        return self.as_is + self.repaired

    def add(self, reading: Reading) -> None:
        """An invalid reply counts once, under its first flag."""
        self.replies += 1
        if reading.findings:
            self.flags[reading.findings[0].flag] += 1
        elif reading.repairs:
            self.repaired += 1
            self.repairs.update(reading.repairs)
        else:
            self.as_is += 1


def parsed(protocol: JudgingProtocol, text: str, sample: Sample) -> Reading:
    """What the protocol says of one text."""
    match protocol.parse(Reply(text, "recorded"), sample):
        case ValidJudgment(repairs=repairs):
            return Reading(repairs=repairs)
        case InvalidJudgment(findings=findings, repairs=repairs):
            return Reading(findings, repairs)


def semantic_rows(row: Row) -> Iterator[Reading]:
    """The judged response is cut to its end in the data; verdicts are checked all the same, extractions only warn."""
    number = str(row["id"]).rsplit(":", 1)[-1]
    sample = Sample(number, row["response_tail"] or "", ground_truth=row["ground_truth"])
    yield parsed(SEMANTIC, row["raw_output"], sample)


def semantic_bundles(row: Row) -> Iterator[Reading]:
    for entry in entries_of(row):
        yield entry_reading(SEMANTIC, entry)


def per_file_bundles(row: Row) -> Iterator[Reading]:
    for entry in entries_of(row):
        yield entry_reading(PER_FILE, entry)


def entries_of(row: Row) -> Sequence[BundleEntry]:
    return split_bundle(row["raw_output"]) or ()


def entry_reading(protocol: JudgingProtocol, entry: BundleEntry) -> Reading:
    """What is wrong with the entry as an entry stands before what the protocol says of it."""
    name = entry.identities[0] if entry.identities else ""
    reading = parsed(protocol, entry.text, Sample(name, "", output_id=name))
    return reading if entry.problem is None else Reading((entry.problem, *reading.findings), reading.repairs)


def prose_rows(row: Row) -> Iterator[Reading]:
    """Verdicts in prose, read by a protocol that asks for JSON."""
    yield parsed(SEMANTIC, row["raw_output"], Sample(str(row["id"]), "", ground_truth=""))


def checked(keys: Sequence[str], check: Callable[[FieldReader], object]) -> Callable[[Row], Iterator[Reading]]:
    """A single object with few fields, too small for a declaration."""

    def read(row: Row) -> Iterator[Reading]:
        reading = read_reply(row["raw_output"], ReplyMode.REPAIR, keys)
        if reading.value is None:
            yield Reading(reading.findings, reading.repairs)
            return
        fields = FieldReader(reading.value)
        check(fields)
        extra = (Repair.EXTRA_KEYS_IGNORED,) if fields.unknown_keys(keys) else ()
        yield Reading(tuple(fields.findings), (*reading.repairs, *extra))

    return read


def _graded(fields: FieldReader) -> None:
    fields.integer("grade", 1, 5)
    fields.text("reason")


def _scored(fields: FieldReader) -> None:
    fields.number("score", 0, 1)
    fields.text("reasoning")


def _rated(fields: FieldReader) -> None:
    fields.integer("score", 1, 10)


def _ranked(fields: FieldReader) -> None:
    ranks = [
        entry.get("rank") if isinstance(entry, Mapping) else None for entry in fields.array("ordered_models") or ()
    ]
    if not fields.findings and sorted(map(str, ranks)) != ["1", "2"]:
        fields.note(Flag.INTERNAL_INCONSISTENCY, f"ranks are {ranks}, expected 1 and 2")


SEMANTIC = load_protocol("semantic")
PER_FILE = load_protocol(str(Path(__file__).with_name("per_file_scores.toml")))
SHAPES = (
    Shape("judge_outputs_bbh_gemini3.jsonl", "semantic", semantic_rows),
    Shape("judge_outputs_bbh_gemini3_batch.jsonl", "semantic, bundled", semantic_bundles),
    Shape(PROMPTDRIFT, "per_file_scores, bundled", per_file_bundles),
    Shape("judge_outputs_elyza_cmdr.jsonl", "grade 1-5, reason", checked(("grade", "reason"), _graded)),
    Shape("judge_outputs_judgebench.jsonl", "score 0-1, reasoning", checked(("score", "reasoning"), _scored)),
    Shape("judge_outputs_wildbench.jsonl", "score 1-10", checked(("strengths", "weaknesses", "score"), _rated)),
    Shape("judge_outputs_alpacaeval.jsonl", "two ranks", checked(("ordered_models", "concise_explanation"), _ranked)),
    Shape(ENDPOINT_ERRORS, "prose read as semantic", prose_rows, is_prose=True),
    Shape("judge_outputs_ja_mtbench.jsonl", "prose read as semantic", prose_rows, is_prose=True),
    Shape("judge_outputs_llmbar.jsonl", "prose read as semantic", prose_rows, is_prose=True),
    Shape("judge_outputs_nq301.jsonl", "prose read as semantic", prose_rows, is_prose=True),
    Shape("judge_outputs_prometheus_rubric.jsonl", "prose read as semantic", prose_rows, is_prose=True),
    Shape("judge_outputs_shaberi.jsonl", "prose read as semantic", prose_rows, is_prose=True),
    Shape("judge_outputs_vicuna_gpt4.jsonl", "prose read as semantic", prose_rows, is_prose=True),
)


def rows_of(file: str) -> Iterator[Row]:
    """Rows of a file beside the project."""
    with (DATA / file).open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def measure(shape: Shape) -> Counts:
    """Every reply of a file. Nothing is caught: a crash of the reader is a crash of the table."""
    counts = Counts()
    for row in rows_of(shape.file):
        counts.rows += 1
        for reading in shape.read(row):
            counts.add(reading)
    return counts


def is_about_total(reading: Reading) -> bool:
    """The entry's total is not the sum of its scores, or stands nowhere or elsewhere."""
    return any("total" in finding.detail for finding in reading.findings)


def totals() -> Iterator[tuple[Row, int, int]]:
    """(bundle, entries whose total the source found wrong, entries whose total we refuse)."""
    for row in rows_of(PROMPTDRIFT):
        ours = sum(map(is_about_total, per_file_bundles(row)))
        yield row, row["parsed_by_source"]["rows_whose_total_is_not_the_sum"], ours


def endpoint_errors() -> tuple[int, int]:
    """(error texts stored as replies, how many of them are named as such)."""
    errors = [row for row in rows_of(ENDPOINT_ERRORS) if str(row.get("note") or "").startswith("API error")]
    named = sum("endpoint's error" in next(prose_rows(row)).findings[0].detail for row in errors)
    return len(errors), named


def main() -> int:
    """Print the tables; 1 when a prose verdict became a score, an error was not named, or a wrong total was missed."""
    if not DATA.is_dir():
        print("no ../shared/data beside the project: nothing to measure", file=sys.stderr)
        return 0
    wrong = [*_print_table(), *_print_totals(), *_print_errors()]
    _print_authors_view()
    reply_quotes.print_stages(rows_of(PROMPTDRIFT))
    for problem in wrong:
        print(problem, file=sys.stderr)
    return 1 if wrong else 0


def _print_table() -> list[str]:
    flags = list(Flag)
    print("| file | read as | rows | replies | valid as is | after repair | " + " | ".join(flags) + " |")
    print("|---|---|" + "---:|" * (len(flags) + 4))
    wrong = []
    repairs: Counter[str] = Counter()
    for shape in SHAPES:
        counts = measure(shape)
        repairs.update(counts.repairs)
        name = shape.file.removeprefix("judge_outputs_").removesuffix(".jsonl")
        cells = [counts.as_is, counts.repaired, *(counts.flags[flag] for flag in flags)]
        shares = " | ".join(f"{cell:,} ({cell / max(counts.replies, 1):.1%})" if cell else "–" for cell in cells)
        print(f"| {name} | {shape.protocol} | {counts.rows:,} | {counts.replies:,} | {shares} |")
        if shape.is_prose and counts.valid:
            wrong.append(f"{name}: {counts.valid} verdicts in prose were read as JSON")
    print("\nno crash: every reply came back as valid or invalid")
    print("repairs: " + ", ".join(f"{name} {count}" for name, count in repairs.most_common()))
    return wrong


def _print_totals() -> list[str]:
    found = list(totals())
    theirs, ours = sum(wanted for _, wanted, _ in found), sum(refused for _, _, refused in found)
    alike = sum(wanted == refused for _, wanted, refused in found)
    print(f"\ntotals that do not add up: {ours} found, {theirs} known; the same in {alike} of {len(found)} bundles")
    return [
        f"{row['id']}: {refused} wrong totals found, {wanted} known"
        for row, wanted, refused in found
        if wanted != refused
    ]


def _print_errors() -> list[str]:
    known, named = endpoint_errors()
    print(f"endpoints' errors stored as replies: {named} of {known} named as such, none valid")
    return [] if known == named else [f"{known - named} endpoint errors are not named as such"]


def _print_authors_view() -> None:
    """Theirs is about whole bundles, and they flagged what they refuse in the bundle itself."""
    table: Counter[tuple[str, bool]] = Counter()
    for row in rows_of(PROMPTDRIFT):
        table[row["gold"], not any(reading.findings for reading in per_file_bundles(row))] += 1
    agree = table["valid", True] + table["invalid", False]
    print(
        f"the authors' own validity of bundles: {agree} of {table.total()} alike; they accept and we refuse "
        f"{table['valid', False]}; they refuse and we accept {table['invalid', True]}"
    )


if __name__ == "__main__":
    sys.exit(main())
