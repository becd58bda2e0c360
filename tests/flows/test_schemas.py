"""Every JSON document names its schema, `mixseek schema` prints it, and what commands print is what it promises."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.flows.arena import arena, race_text
from tests.flows.document_material import pair_replies, pair_rows, semantic_replies, sums, write_tables
from tests.flows.label_material import fill
from tests.flows.live import KEYS
from tests.flows.pages import blocks, read_page, section
from tests.flows.running import mixseek_here, write_jsonl
from tests.once import made_once

from mixseek.cli.app import command
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.schemas.catalogue import DECLARED, json_schema

GOLDEN = Path(__file__).parents[1] / "golden" / "documents"
# What a frozen document has in the place of a time or a size.
SETTLED = "…"
METRICS = """
[evaluator]
language = "en"
[[evaluator.metrics]]
type = "Coverage"
weight = 0.6
[[evaluator.metrics]]
type = "Relevance"
weight = 0.4
"""
Change = Callable[[dict[str, Any]], dict[str, Any]]


def changed(schema: Any, change: Change) -> Any:
    """The schema with every part changed, from the innermost outwards."""
    match schema:
        case dict():
            return change({key: changed(part, change) for key, part in schema.items()})
        case list():
            return [changed(part, change) for part in schema]
    return schema


def closed(part: dict[str, Any]) -> dict[str, Any]:
    """A key that nobody declared is a mistake here; programs may meet it, from a later version."""
    return {**part, "additionalProperties": False} if isinstance(part.get("properties"), dict) else part


def frozen(part: dict[str, Any]) -> dict[str, Any]:
    """Keys that were added since then are missing in it; what is another each time was replaced by a mark."""
    part = {key: value for key, value in closed(part).items() if key != "required"}
    properties = part.get("properties")
    if isinstance(properties, dict):
        marked = {name: {"anyOf": [schema, {"const": SETTLED}]} for name, schema in properties.items()}
        part["properties"] = {**marked, **({"schema": properties["schema"]} if "schema" in properties else {})}
    return part


def complaints(document: Any, schema: Mapping[str, Any]) -> list[str]:
    found = Draft202012Validator(schema).iter_errors(document)
    return [f"{'.'.join(map(str, error.absolute_path))}: {deepest(error)}" for error in found]


def deepest(error: Any) -> str:
    """Where none of several shapes fits, what comes nearest to one of them."""
    parts = sorted(error.context, key=lambda part: len(part.absolute_path), reverse=True)
    return deepest(parts[0]) if parts else f"{'.'.join(map(str, error.absolute_path))}: {error.message[:300]}"


def named(document: Mapping[str, Any]) -> DocumentName:
    names = {schema_id(name): name for name in DocumentName}
    return names[document.get("schema_version") or document["schema"]]


def frozen_documents() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(GOLDEN.glob("*.json")):
        for name, answer in json.loads(path.read_text(encoding="utf-8")).items():
            document = answer.get("document", answer) if isinstance(answer, dict) else None
            # Rows of an export are no document, and a refusal is a line.
            if document is not None and "line" not in document:
                yield f"{path.stem} {name}", document


def test_frozen_documents_are_what_their_schema_promises() -> None:
    schemas = {name: changed(json_schema(name), frozen) for name in DocumentName}
    found = [
        f"{where}: {line}"
        for where, document in frozen_documents()
        for line in complaints(document, schemas[named(document)])
    ]

    assert not found, "\n".join(found[:30])


@pytest.mark.parametrize("name", list(DocumentName))
def test_a_schema_is_valid_and_says_what_it_is_of(name: DocumentName) -> None:
    schema = json_schema(name)
    key = DECLARED[name].key

    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["properties"][key]["const"] == f"mixseek.{name.value}/1"
    assert key in schema["required"]
    assert schema["description"].endswith(".")


def test_a_key_of_a_later_version_is_no_violation_and_a_missing_one_is() -> None:
    schema = json_schema(DocumentName.EXPORT)
    document = {"schema": "mixseek.export/1", "run": "a", "file": "a.csv", "rows": 3}

    assert complaints({**document, "new": 1}, schema) == []
    assert complaints({key: value for key, value in document.items() if key != "rows"}, schema)
    assert complaints({**document, "rows": "three"}, schema)


def follow_cascade(place: Path) -> None:
    """A run that follows a cascade file, planned on labels for every text of another."""
    ok("judge", "sums.jsonl", "--judge", "rules", "--run", "planned", "-w", "routed", cwd=place)
    ok("label", "sample", "planned", "--n", "12", "--to", "all.csv", "-w", "routed", cwd=place)

    right = {row["id"] for row in sums(12) if row["response"] == f"The answer is {row['ground_truth']}."}
    fill(place / "all.csv", place / "known.csv", lambda row: "correct" if row["id"] in right else "incorrect")
    ok("label", "import", "known.csv", "--rater", "mia", "-w", "routed", cwd=place)
    ok(
        "cascade",
        "plan",
        "planned",
        "--agree",
        "60%",
        "--confidence",
        "80%",
        "--out",
        "followed.toml",
        "-w",
        "routed",
        cwd=place,
    )
    ok("judge", "sums.jsonl", "--cascade", "followed.toml", "--run", "followed", "-w", "routed", cwd=place)


def make_workspace(place: Path) -> None:
    """A panel with labels, a run of pairs, a table of ratings, and files of every kind."""
    rows = sums(12)
    write_jsonl(place / "sums.jsonl", rows)
    write_jsonl(place / "pairs.jsonl", pair_rows(3))
    write_jsonl(place / "questions.jsonl", [{"id": "tea", "question": "Is tea a drink?"}])
    write_jsonl(place / "answers.jsonl", [{"id": "tea/plain", "reply": "Yes."}])
    judges = [semantic_replies(rows, name, mistakes=0.2).write(place, "sums") for name in ("ada", "bob")]
    voter = pair_replies(pair_rows(3), "eve", follows_order=0.1).write(place, "pairs")
    ok("judge", "sums.jsonl", *(f"--judge={judge}" for judge in judges), "--run", "panel", "-w", "ws", cwd=place)
    ok("judge", "sums.jsonl", "--judge", "rules", "--run", "rules", "-w", "ws", cwd=place)
    pairs = ("--protocol", "pairwise", "--judge", voter, "--run", "pairs")
    ok("judge", "pairs.jsonl", *pairs, "-w", "ws", cwd=place)
    ok("label", "sample", "panel", "--n", "6", "--to", "sheet.csv", "-w", "ws", cwd=place)
    fill(place / "sheet.csv", place / "filled.csv", lambda row: "correct")
    write_tables(place)
    follow_cascade(place)
    labelled = "".join(f"{n},ada,1\n{n},gold,1\n" for n in range(20))
    (place / "labelled.csv").write_text("item,judge,score\n" + labelled, encoding="utf-8")
    ok("archive", "rules", "--to", "archive", "-w", "ws", cwd=place)
    (place / "job.toml").write_text('data = "sums.jsonl"\njudge = "rules"\nexport = "rows.csv"\n', encoding="utf-8")
    (place / "metrics.toml").write_text(METRICS, encoding="utf-8")
    (place / "essay.md").write_text("Tea is a drink.", encoding="utf-8")


def ok(*words: str, cwd: Path) -> None:
    done = mixseek_here(*words, cwd=cwd)
    assert done.returncode == 0, f"{words}: {done.stderr}"


# A command of the tree and a way to ask it; {judge} is an endpoint.
ASKED: list[tuple[DocumentName, str]] = [
    (DocumentName.JUDGE, "judge sums.jsonl --judge rules --run again -q"),
    (DocumentName.DRY_RUN, "judge sums.jsonl --judge {judge} --dry-run"),
    (DocumentName.ANSWERS_DRY_RUN, "answer questions.jsonl --target {judge} --dry-run"),
    (DocumentName.ANSWERS, "answer questions.jsonl --target replay:answers.jsonl -q"),
    (DocumentName.AUDIT_DRY_RUN, "audit sums.jsonl --judge {judge} --n 4 --only padding --dry-run"),
    (DocumentName.CARD, "audit sums.jsonl --judge rules --n 4 --only padding -q"),
    (DocumentName.JOBS, "run job.toml -q"),
    (DocumentName.REPORT, "report panel --baseline rules"),
    (DocumentName.REPORT, "report pairs"),
    (DocumentName.SIDE_BY_SIDE, "report panel rules"),
    (DocumentName.COMPARE, "compare panel rules"),
    (DocumentName.SHOW, "show panel sum-1"),
    (DocumentName.SHOW_ANSWERS, "show answers:latest tea"),
    (DocumentName.EXPORT, "export rules --to rules.csv"),
    (DocumentName.ARCHIVE, "archive rules"),
    (DocumentName.ARCHIVE_ANSWERS, "archive answers:latest"),
    (DocumentName.ARCHIVE_CHECK, "archive --check archive"),
    (DocumentName.STATS, "stats panel"),
    (DocumentName.STATS_BY, "stats criteria.jsonl --by criterion --people is_person"),
    (DocumentName.COMPETE_DRY_RUN, "compete race.toml --dry-run"),
    (DocumentName.COMPETE, "compete race.toml --execution e -q"),
    (DocumentName.LEADERBOARD, "leaderboard e"),
    (DocumentName.BOARD, "leaderboard pairs"),
    (DocumentName.EVALUATE, "evaluate essay.md --query tea --evaluator metrics.toml --judge {judge}"),
    (DocumentName.RUNS, "runs"),
    (DocumentName.BATCHES, "batches"),
    (DocumentName.RUNS_COST, "runs --cost"),
    (DocumentName.LABEL_SAMPLE, "label sample rules --n 3 --to other.csv"),
    (DocumentName.LABEL_IMPORT, "label import filled.csv --rater mia"),
    (DocumentName.LABEL_STATUS, "label status panel"),
    (DocumentName.PLAN, "label plan panel"),
    (DocumentName.CASCADE_PLAN, "cascade plan labelled.csv --human gold --agree 60% -q"),
    (DocumentName.CASCADE_WATCH, "cascade watch followed.toml -w routed"),
    (DocumentName.JUDGE, "judge sums.jsonl --cascade followed.toml --run followed -w routed"),
    (DocumentName.REPORT, "report followed -w routed"),
    (DocumentName.PROTOCOL, "protocol show cross"),
    (DocumentName.PROTOCOL_NEW, "protocol new my.toml"),
    (DocumentName.PROTOCOL_LINT, "protocol lint my.toml"),
    (DocumentName.JUDGES, "judges"),
    (DocumentName.JUDGES_CHECK, "judges check {judge}"),
    (DocumentName.CACHE, "cache size"),
    (DocumentName.CACHE, "cache prune --older-than 30"),
    (DocumentName.INIT, "init fresh.toml"),
    (DocumentName.DOCTOR, "doctor --offline"),
    (DocumentName.SCHEMAS, "schema"),
    (DocumentName.RUNS_MV, "runs mv again later"),
    (DocumentName.RUNS_RM, "runs rm later"),
    (DocumentName.RUNS_GC, "runs gc"),
]
# The demo is frozen, and so are votes; the others need a log of another tool, or a download.
ELSEWHERE = {DocumentName.DEMO, DocumentName.VOTES, DocumentName.IMPORT, DocumentName.MODELS_INSTALL, DocumentName.LOG}


def commands(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Those with --json."""
    if any("--json" in option.opts for option in tree.params):
        yield path
    for name, part in getattr(tree, "commands", {}).items():
        yield from commands(part, (*path, name))


def test_every_command_with_json_is_asked_below_or_known_elsewhere() -> None:
    asked = {tuple(words.split()) for _, words in ASKED}
    left = {path for path in commands(command()) if not any(words[: len(path)] == path for words in asked)}

    # The last is an old name of `label plan`.
    assert left == {("demo",), ("import",), ("models", "install"), ("plan",)}
    assert {name for name, _ in ASKED} | ELSEWHERE == set(DocumentName) == set(DECLARED)


def criteria() -> Iterator[dict[str, Any]]:
    """Two criteria of twenty items, by a person and by a judge that says how likely each level is."""
    for number in range(20):
        for criterion in ("style", "facts"):
            row = {"item": f"i{number}", "criterion": criterion, "score": 1 + number % 3}
            yield {**row, "judge": "mia", "is_person": True}
            yield {**row, "judge": "model", "is_person": False, "probs": [0.2, 0.3, 0.5]}


def ask_all(place: Path) -> None:
    """What each command prints, in order: later ones use what earlier ones made."""
    make_workspace(place)
    found = {}
    write_jsonl(place / "criteria.jsonl", criteria())
    with arena() as endpoint:
        (place / "race.toml").write_text(race_text(endpoint.spec, 2, rounds="min = 1\nmax = 1"), encoding="utf-8")
        for _, words in ASKED:
            asked = words.format(judge=endpoint.spec).split()
            names_place = asked[0] in ("init", "protocol", "judges", "schema") or "-w" in asked
            where = () if names_place else ("-w", "ws")
            found[words] = mixseek_here(*asked, *where, "--json", cwd=place, env=KEYS)
    answers = {words: done.stdout or f"no answer: {done.stderr}" for words, done in found.items()}
    (place / "answers.json").write_text(json.dumps(answers), encoding="utf-8")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Asked by one worker for all."""
    kept: dict[str, str] = json.loads((made_once(tmp_path_factory, "schemas", ask_all) / "answers.json").read_bytes())
    return kept


@pytest.mark.parametrize(("name", "words"), ASKED)
def test_an_answer_is_what_its_schema_promises(answers: dict[str, str], name: DocumentName, words: str) -> None:
    """To the last key: one that is printed and not declared fails, and so does one that is declared and missing."""
    document = json.loads(answers[words])

    assert named(document) is name
    assert complaints(document, changed(json_schema(name), closed)) == []


def test_a_line_of_the_log_names_its_schema(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "sums.jsonl", sums(3))
    done = mixseek_here("judge", "sums.jsonl", "--judge", "rules", "--log-json", "--fail-under", "100%", cwd=tmp_path)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    schema = changed(json_schema(DocumentName.LOG), closed)

    assert lines
    assert [problem for line in lines for problem in complaints(line, schema)] == []


def test_the_command_prints_a_schema_by_name_and_by_what_a_document_says(tmp_path: Path) -> None:
    by_name = mixseek_here("schema", "stats", cwd=tmp_path)
    by_id = mixseek_here("schema", "mixseek.stats/1", cwd=tmp_path)
    listed = mixseek_here("schema", cwd=tmp_path)
    unknown = mixseek_here("schema", "stast", cwd=tmp_path)

    assert json.loads(by_name.stdout) == json.loads(by_id.stdout) == json_schema(DocumentName.STATS)
    assert {line.split()[0] for line in listed.stdout.splitlines()} == {name.value for name in DocumentName}
    assert unknown.returncode == 2
    assert "'stast'" in unknown.stderr
    assert "stats" in unknown.stderr
    assert len(unknown.stderr.splitlines()) == 1


def test_the_page_runs_as_written(tmp_path: Path) -> None:
    (script,) = blocks(section(read_page("docs/files.md"), "Documents for programs"), "sh")
    for line in script.splitlines():
        words, _, target = line.partition(" > ")
        done = mixseek_here(*words.split()[1:], cwd=tmp_path)

        assert done.returncode == 0, done.stderr
        assert not target or json.loads(done.stdout)["title"] == "mixseek.stats/1"
