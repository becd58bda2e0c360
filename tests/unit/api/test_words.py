"""What Python programs are told speaks of keywords and calls, not of options and commands."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cases import each

import mixseek
from mixseek.api.words import without_flags
from mixseek.errors import MixseekError

SOURCES = Path(mixseek.__path__[0])
# Only commands print what is written here.
OF_THE_COMMAND_LINE = ("cli", "web", "reporting", "settings", "api", "pytest_plugin.py")
OPTION = re.compile(r"--[a-z][a-z-]*\b(?!_)")


@each(
    ("message", "words"),
    [
        (
            "and --patience is 60 s (refused); run the same command again to resume",
            "and patience is 60 s (refused); make the same call again to resume",
        ),
        ("to wait, add --patience 600", "to wait, add patience=600"),
        ("name one with --judge, e.g. --judge rules", 'name one with judges, e.g. judges="rules"'),
        (
            "ask a model: --cascade --judge rules --judge PROVIDER:MODEL",
            'ask a model: judges=["rules", "PROVIDER:MODEL"], cascade=True',
        ),
        ("--map target_a=COLUMN --map target_b=COLUMN", 'mapping={"target_a": "COLUMN", "target_b": "COLUMN"}'),
        ("with --parameter evidence.policy=present", 'with parameters={"evidence": {"policy": "present"}}'),
        ("gate --fail-under not met", "gate fail_under not met"),
        ("--no-cache pays anew", "cache=False pays anew"),
        ("--on ray needs an extra", 'on="ray" needs an extra'),
        ("--max-cost: nobody knows; use --max-calls", "max_cost: nobody knows; use max_calls"),
        ("--retry-refused asks again", "retry_refused=True asks again"),
        ("`mixseek export X --to FILE` lists them", "`mixseek export X --to FILE` lists them"),
        ("run mixseek label sample RUN --n 100 --to sheet.csv", "run mixseek label sample RUN --n 100 --to sheet.csv"),
        ("which lm-eval writes with --log_samples", "which lm-eval writes with --log_samples"),
        ("a -- b, and a --- rule", "a -- b, and a --- rule"),
    ],
)
def test_options_become_keywords_and_commands_calls(message: str, words: str) -> None:
    assert without_flags(message) == words


def texts_in(source: str) -> Iterator[str]:
    """Every text of a module that is no docstring; what is filled in stands as a word."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    skipped = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    skipped |= {
        id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in ast.walk(node) if part is not node
    }
    for node in nodes:
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "A1" for part in node.values)


def test_no_message_of_the_sources_speaks_of_options_once_it_is_reworded() -> None:
    """Also the next one that somebody writes."""
    left = []
    for file in SOURCES.rglob("*.py"):
        if file.relative_to(SOURCES).parts[0] in OF_THE_COMMAND_LINE:
            continue
        source = file.read_text(encoding="utf-8")
        # Words that a text cannot have where its file has not, unless it were put together from parts of a word.
        for text in texts_in(source) if "--" in source or "same command" in source else ():
            words = re.sub(r"`[^`]*`|mixseek [a-z]+ .*", "", without_flags(text))
            if " " in text and not text.startswith("--only-") and (OPTION.search(words) or "same command" in words):
                left.append(text)

    assert left == []


ROW = {"id": "1", "question": "q", "response": "4", "ground_truth": "4"}


@each(
    ("call", "words"),
    [
        (lambda: mixseek.judge([{"id": "1", "response": "4"}]), 'mapping={"ground_truth": "COLUMN"}'),
        (lambda: mixseek.judge([ROW], judges=["rules", "rules"]), 'judges="rules" is given twice'),
        (lambda: mixseek.judge([ROW], judges=[]), 'judges="rules"'),
        (lambda: mixseek.judge([ROW], pairs="all"), 'use protocol="pairwise"'),
        (lambda: mixseek.forecast([{"text": "4"}]), 'mapping={"response": "COLUMN"}'),
        (lambda: mixseek.judge([ROW, ROW]), 'mapping={"id": "COLUMN"}'),
        (lambda: mixseek.statistics([ROW]), "score"),
        (lambda: mixseek.audit("rules", [ROW], only="nothing"), "only"),
        (lambda: mixseek.open_run("none", "nowhere"), "workspace"),
    ],
)
def test_what_is_raised_says_nothing_of_the_command_line(call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(MixseekError) as caught:
        call()

    assert words in str(caught.value)
    assert "--" not in str(caught.value)


def test_reasons_and_notices_are_in_the_same_words() -> None:
    run = mixseek.judge([ROW, {**ROW, "id": "2", "response": "5"}], judges="rules", fail_under=0.9)
    missing = mixseek.judge([ROW], judges=lambda sample: 1 / 0)

    assert run.reasons == ("gate fail_under not met: mean score 50.00%, under the limit of 90.00%",)
    assert missing.reasons[-1] == "1 reply is missing; make the same call again to ask for them"
