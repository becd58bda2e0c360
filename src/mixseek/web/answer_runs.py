"""Answers side by side, question by question: the page of an answer run and the endpoints that it asks."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aiohttp import web

from mixseek.analysis.workspace.run_list import list_runs
from mixseek.datasets.answer_runs import OPEN, PREFIX, STATES
from mixseek.domain.samples import RESPONSE_ERROR
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.reports.answers import (
    WORDS,
    account_sections,
    answer_facts,
    answers_document,
    counted_states,
    cut_off_warning,
)
from mixseek.runs.answers.paged import (
    NOT_ASKED,
    PLACE_STATES,
    AnswerPages,
    AnswersQuery,
    FoundAnswers,
    PagedAnswer,
    PagedQuestion,
)
from mixseek.storage.journal.lock import is_being_written
from mixseek.storage.journal.manifest import read_manifest
from mixseek.text.messages import message
from mixseek.web.answers import answer_json, answer_page, answer_pending, answers_of, viewer_of
from mixseek.web.parameters import ParameterError, read_number
from mixseek.web.slow_work import Pending
from mixseek.web.viewer import Viewer

# Of a place that has no answer yet: asked and not answered, or never asked.
NO_REPLY_YET, NOT_ASKED_WORD = (
    message("answers.no_reply_yet", "no reply yet"),
    message("answers.not_asked", "not asked"),
)
# The colour of each state, beside its word.
TONES = {
    "finished": "good",
    "cut_off": "undecided",
    "withheld": "invalid",
    "empty": "missing",
    "failed": "bad",
    OPEN: "mixed",
    NOT_ASKED: "plain",
}
# What narrows the questions of an answer run, and everything that an address of it may say.
ANSWER_LISTING = ("state", "target", "variant", "q", "columns", "offset", "limit")
ONE_ANSWER = ("number", "column", "repeat")
# Questions on a page, and the most that a program may ask for at once.
_PAGE_QUESTIONS, _MOST_QUESTIONS = 20, 100
# Columns that are shown where nobody chooses, and the most that anybody may.
SHOWN_COLUMNS, MOST_COLUMNS = 4, 12
# Of texts, so many characters; the rest comes when somebody asks for it.
_TEXT_CHARACTERS, _REASONING_CHARACTERS, _QUESTION_CHARACTERS = 4_000, 2_000, 4_000
_OF_CALL = ("finish_reason", "latency_seconds", "cost_usd", "served_model", "attempts", "seed", "repeat")


@dataclass(frozen=True, slots=True)
class AnswersRequest:
    """What a page of questions asks for; as in its address."""

    query: AnswersQuery
    shown: tuple[int, ...]
    offset: int
    limit: int


def read_answers_request(asked: Mapping[str, str], pages: AnswerPages) -> AnswersRequest:
    """Reads the parameters of an address; raises ParameterError for what has no meaning."""
    state = asked.get("state", "")
    if state and state not in PLACE_STATES:
        raise ParameterError(f"state={state}: there is {', '.join(PLACE_STATES)}")
    columns = list(range(len(pages.columns)))
    for name in ("target", "variant"):
        if wanted := asked.get(name):
            known = dict.fromkeys(getattr(column, name) for column in pages.columns)
            if wanted not in known:
                raise ParameterError(f"{name}={wanted}: there is {', '.join(known)}")
            columns = [column for column in columns if getattr(pages.columns[column], name) == wanted]
    query = AnswersQuery(tuple(columns), state, " ".join(asked.get("q", "").split()))
    return AnswersRequest(
        query,
        read_columns(asked, len(pages.columns)) or choose_columns(pages, query),
        read_number(asked, "offset", 0, 10**12),
        read_number(asked, "limit", _PAGE_QUESTIONS, _MOST_QUESTIONS, least=1),
    )


def read_columns(asked: Mapping[str, str], count: int) -> tuple[int, ...]:
    """Columns by their numbers, from 1, in the order of the run's targets and variants; none where none is named."""
    columns = read_numbers(asked, "columns", count)
    if len(columns) > MOST_COLUMNS:
        raise ParameterError(f"columns={asked['columns']}: {MOST_COLUMNS} at most")
    return columns


def read_numbers(asked: Mapping[str, str], name: str, count: int) -> tuple[int, ...]:
    """Places of columns, from nought."""
    text = asked.get(name, "")
    numbers = [read_number({name: part}, name, 0, count, least=1) for part in text.split(",") if text]
    if len(set(numbers)) < len(numbers):
        raise ParameterError(f"{name}={text}: name each column once")
    return tuple(number - 1 for number in numbers)


def choose_columns(pages: AnswerPages, query: AnswersQuery) -> tuple[int, ...]:
    """The first ones; those in which somebody has what is asked for, before the others."""
    if not query.state:
        return query.columns[:SHOWN_COLUMNS]
    having = [column for column in query.columns if pages.has_state(column, query.state)]
    return tuple(having or query.columns)[:SHOWN_COLUMNS]


def questions_document(viewer: Viewer, pages: AnswerPages, asked: AnswersRequest) -> dict[str, Any] | Pending:
    """A page of questions; Pending while a search goes on."""
    hits: FoundAnswers | None = None
    if asked.query.words:
        searches = viewer.answer_searches(pages.run)
        search = searches.find(asked.query.words, (), pages.samples, pages.replies)
        if not search.is_done:
            return Pending(0.0, search.searched, search.samples)
        hits = pages.collect(search)
    rows = pages.matching(asked.query, hits)
    shown = rows[asked.offset : asked.offset + asked.limit]
    questions = pages.page(shown, asked.shown, asked.query, hits)
    return {
        "run": pages.run.name,
        "columns": [
            {"number": number, "target": column.target, "variant": column.variant, "repeats": column.repeats}
            for number, column in enumerate(pages.columns, 1)
        ],
        "narrowed": [column + 1 for column in asked.query.columns],
        "shown": [column + 1 for column in asked.shown],
        "offset": asked.offset,
        "matches": len(rows),
        "total": pages.questions,
        "planned": pages.manifest.dataset.get("rows"),
        "rows": [question_document(question) for question in questions],
    }


def question_document(question: PagedQuestion) -> dict[str, Any]:
    """A question as far as a page shows it, with the answers to it, column by column."""
    prompt = question.prompt
    truth = prompt.get("ground_truth")
    return {
        "number": question.number,
        "id": prompt["question_id"],
        **cut("question", prompt.get("question"), _QUESTION_CHARACTERS),
        **cut("truth", truth, _QUESTION_CHARACTERS),
        **({"task": prompt["task_name"]} if prompt.get("task_name") else {}),
        "cells": [
            [answer_document(answer, _TEXT_CHARACTERS, _REASONING_CHARACTERS) for answer in cell]
            for cell in question.cells
        ],
        **({"elsewhere": [column + 1 for column in question.elsewhere]} if question.elsewhere else {}),
    }


def cut(name: str, text: str | None, limit: int | None) -> dict[str, Any]:
    """A text under its name, and how many characters of it are left out; nothing where there is none."""
    if not text:
        return {}
    left = max(0, len(text) - (limit or len(text)))
    return {name: text[: len(text) - left], **({f"{name}_cut": left} if left else {})}


def answer_document(answer: PagedAnswer, limit: int | None = None, reasoning: int | None = None) -> dict[str, Any]:
    """An answer with the numbers of its call; what a filter or a model says in place of one stands apart."""
    document: dict[str, Any] = {"repeat": answer.take, "state": answer.state}
    if answer.row is None:
        return document
    row = answer.row
    usage = row.get("usage") or {}
    tokens = {name: usage.get(name) for name in ("input_tokens", "output_tokens", "reasoning_tokens")}
    call = {name: row.get(name) for name in _OF_CALL} | tokens
    turns = [{"role": turn["role"], **cut("content", turn["content"], limit)} for turn in row.get("messages") or ()]
    return {
        **document,
        **cut("text", row["response"], limit),
        **cut("refusal", row.get("refusal"), limit),
        **cut("reasoning", row.get("reasoning"), reasoning),
        **({"why": row[RESPONSE_ERROR]} if row.get(RESPONSE_ERROR) else {}),
        **{name: value for name, value in call.items() if value is not None},
        **({"turns": turns} if turns else {}),
    }


def one_answer_document(pages: AnswerPages, asked: Mapping[str, str]) -> dict[str, Any]:
    """An answer whole, with what its target was sent."""
    numbers = [read_named_number(asked, name) for name in ONE_ANSWER[:2]]
    number, column = numbers
    repeat = read_number(asked, "repeat", 1, 10**6, least=1)
    if column > len(pages.columns):
        raise ParameterError(f"column={column}: not a number from 1 to {len(pages.columns)}")
    known = pages.answer(number, column - 1, repeat)
    if known is None:
        raise ConfigurationError(
            f"answers {pages.run.name}: no repeat {repeat} of question number {number} in column {column}"
        )
    answer, prompt = known
    return {"answer": answer_document(answer), "prompt": sent_messages(pages, column - 1, prompt)}


def read_named_number(asked: Mapping[str, str], name: str) -> int:
    """What must be named, by a number from 1."""
    if not asked.get(name):
        raise ParameterError(f"{name}= is missing: name an answer by number=, column= and, of several, repeat=")
    return read_number(asked, name, 1, 10**12, least=1)


def sent_messages(pages: AnswerPages, column: int, prompt: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The turns of a prompt; a target's own system prompt comes first, where the question brings none."""
    turns: Sequence[Mapping[str, Any]] = prompt["metadata"]["messages"]
    judge = next(judge for judge in pages.manifest.judges if judge.name == pages.columns[column].judge)
    system = judge.parameters.get("system")
    first = [] if system is None or any(turn["role"] == "system" for turn in turns) else [("system", system)]
    return [
        {"role": role, "content": content}
        for role, content in (*first, *((turn["role"], turn["content"]) for turn in turns))
    ]


async def answers_page(request: web.Request) -> web.Response:
    """What an answer run holds, and its texts side by side."""
    run, viewer = answers_of(request), viewer_of(request)
    pages = await viewer.answers(run)
    if isinstance(pages, Pending):
        return answer_page(request, "pending.html.j2", status=202, what=run.name)
    # The page asks the same by itself, a moment later; who follows a wrong address is told here.
    read_answers_request(request.query, pages)
    if len(read_numbers(request.query, "marked", len(pages.columns))) not in (0, 2):
        raise ParameterError(f"marked={request.query['marked']}: two columns, as in marked=1,2")
    readers = await asyncio.to_thread(find_readers, viewer.root, run.name)
    return answer_page(request, "answers.html.j2", readers=readers, **answers_context(pages))


def answers_context(pages: AnswerPages) -> dict[str, Any]:
    """What the page shows before anything of it is asked for."""
    summary, manifest = pages.summary, read_manifest(pages.run.manifest)
    counts = counted_states(summary)
    columns = pages.columns
    planned = manifest.dataset.get("rows") or 0
    shown = [state for state in STATES if counts[state]]
    states: list[tuple[str, str, str, int | None]]
    states = [(state, WORDS[state], TONES[state], counts[state]) for state in shown]
    if counts[OPEN]:
        # Both are what nobody has answered yet, and only the journal tells them apart.
        states += [(OPEN, NO_REPLY_YET, TONES[OPEN], None), (NOT_ASKED, NOT_ASKED_WORD, TONES[NOT_ASKED], None)]
    return {
        "run_name": pages.run.name,
        "facts": answer_facts(summary),
        "has_ended": manifest.has_ended,
        "is_running": is_being_written(pages.run.lock),
        "read_at": pages.read_at,
        "unreached": max(0, planned - pages.questions),
        "warning": cut_off_warning(summary),
        "sections": list(account_sections(summary)),
        "planned": summary.planned,
        "states": states,
        "targets": list(dict.fromkeys(column.target for column in columns)),
        "variants": list(dict.fromkeys(column.variant for column in columns)),
    }


def find_readers(root: Path, name: str) -> list[str]:
    """Runs that judged these answers, by what their manifests say."""
    return [line.run_id for line in list_runs(root)[0] if line.dataset == f"{PREFIX}{name}"]


async def answers(request: web.Request) -> web.Response:
    """What an answer run holds, as `mixseek answer --json` prints it."""
    pages = await viewer_of(request).answers(answers_of(request))
    return answer_pending(pages) if isinstance(pages, Pending) else answer_json(answers_document(pages.summary))


async def answer_questions(request: web.Request) -> web.Response:
    """A page of questions, each with its answers."""
    viewer = viewer_of(request)
    pages = await viewer.answers(answers_of(request))
    if isinstance(pages, Pending):
        return answer_pending(pages)
    asked = read_answers_request(request.query, pages)
    document = await asyncio.to_thread(questions_document, viewer, pages, asked)
    return answer_pending(document) if isinstance(document, Pending) else answer_json(document)


async def one_answer(request: web.Request) -> web.Response:
    """One answer, as long as it is."""
    pages = await viewer_of(request).answers(answers_of(request))
    if isinstance(pages, Pending):
        return answer_pending(pages)
    return answer_json(await asyncio.to_thread(one_answer_document, pages, request.query))
