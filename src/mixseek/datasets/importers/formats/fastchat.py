"""Judgments of MT-Bench (FastChat), whose question and response stand in the judge's prompt only.

Where two responses were compared, the sample is the second one, as in AlpacaEval; the first is in its metadata, and
the score says how far the second is preferred: 1 wins, 0 loses, 0.5 ties.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mixseek.datasets.importers.log_format import Log, LogFormat, Notices, in_row
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.grades import LoggedScore
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.values import as_rows, as_text
from mixseek.errors import DatasetError

_SCALE = (1, 10)
_QUESTION = re.compile(r"\[(?:User )?Question\]\n(.*?)(?=\n\n?\[The Start of|\n\n?<\|The Start of|\Z)", re.DOTALL)
# How each begins, and how it ends.
_ANSWERS = re.compile(r"\[The Start of Assistant(?: [AB])?'s Answer\]\n"), "[The End of Assistant"
_REFERENCE = re.compile(r"\[The Start of Reference Answer\]\n"), "[The End of Reference Answer]"
_CONVERSATIONS = (
    re.compile(r"<\|The Start of Assistant (?:[AB])'s Conversation with User\|>\n"),
    "<|The End of Assistant",
)
_TURN = re.compile(r"^### (User|Assistant(?: [AB])?):[ \t]*(?:\n|\Z)", re.MULTILINE)
_TURN_ORDERS = (["user", "assistant"], ["user", "assistant"] * 2)


# A rating, a comparison, an answer that is to be judged.
_SIGNATURES = (
    in_row("user_prompt", "judgment", "question_id", "model", "judge", "score"),
    in_row("g1_winner", "g2_winner", "question_id", "model_1", "model_2"),
    in_row("answer_id", "question_id", "model_id", "choices"),
)


def open_fastchat(sniffed: Sniffed) -> Log:
    if sniffed.has("answer_id"):
        return Log(partial(read_answers, sniffed))
    return Log(partial(read_fastchat, sniffed, read_single if sniffed.has("score") else read_pair))


def read_fastchat(sniffed: Sniffed, read: Any, notices: Notices) -> Iterator[LoggedSample]:
    unread = 0
    for number, row in sniffed.rows(notices):
        if "question_id" not in row or "judge" not in row:
            raise DatasetError(f"{sniffed.path}: line {number}: an MT-Bench judgment without `question_id` or `judge`")
        sample = read(row)
        unread += sample.response is None
        yield sample
    if unread:
        notices.append(f"{unread:,} prompts are not in MT-Bench's own words, so no response could be taken out of them")


def question_name(row: Mapping[str, Any]) -> str:
    """The second turn is a question of its own."""
    turn = row.get("turn", 1)
    return str(row["question_id"]) if turn == 1 else f"{row['question_id']}.turn{turn}"


def scorer_name(row: Mapping[str, Any]) -> str:
    """`judge` is [model, name of the prompt]."""
    judge = row["judge"]
    return str(judge[0]) if isinstance(judge, list) and judge else as_text(judge) or "judge"


def read_single(row: Mapping[str, Any]) -> LoggedSample:
    question, answers, reference = read_prompt(as_text(row.get("user_prompt")) or "")
    value, (low, high) = row.get("score"), _SCALE
    reason = as_text(row.get("judgment"))
    if not isinstance(value, int | float) or not low <= value <= high:
        score = LoggedScore(value, reason=reason, problem=f"the judge's rating could not be read (recorded as {value})")
    else:
        score = LoggedScore(value, (value - low) / (high - low), None, reason)
    return LoggedSample(
        question_id=question_name(row),
        question=question,
        response=answers[0] if answers else None,
        error=None
        if answers
        else "the judge's prompt is not in MT-Bench's words, so its answer could not be taken out",
        target_model=as_text(row.get("model")),
        variant=as_text(row.get("model")),
        scores={scorer_name(row): score},
        metadata=told_of(row, reference),
    )


def read_pair(row: Mapping[str, Any]) -> LoggedSample:
    """Both orders were judged; a winner that changes with the order is a tie, as MT-Bench counts it."""
    question, answers, reference = read_prompt(as_text(row.get("g1_user_prompt")) or "")
    winners = (str(row.get("g1_winner")), str(row.get("g2_winner")))
    reason = "\n\n".join(filter(None, (as_text(row.get("g1_judgment")), as_text(row.get("g2_judgment")))))
    if not set(winners) <= {"model_1", "model_2", "tie"}:
        score = LoggedScore(list(winners), reason=reason, problem="a verdict of the judge could not be read")
    else:
        points = {("model_2", "model_2"): 1.0, ("model_1", "model_1"): 0.0}.get(winners, 0.5)
        score = LoggedScore(list(winners), points, {1.0: True, 0.0: False}.get(points), reason)
    known = len(answers) == 2
    first, second = (as_text(row.get(name)) for name in ("model_1", "model_2"))
    opponent = {"opponent": first, "opponent_response": answers[0] if known else None}
    return LoggedSample(
        question_id=question_name(row),
        question=question,
        response=answers[1] if known else None,
        error=None if known else "the judge's prompt is not in MT-Bench's words, so its answers could not be taken out",
        target_model=second,
        variant=f"{second} vs {first}",
        scores={scorer_name(row): score},
        metadata={**told_of(row, reference), **opponent},
    )


def told_of(row: Mapping[str, Any], reference: str | None) -> dict[str, Any]:
    return {
        "judge": row.get("judge"),
        "turn": row.get("turn"),
        **({"reference_answer": reference} if reference else {}),
    }


def read_prompt(prompt: str) -> tuple[str, list[str], str | None]:
    """Question, answers and reference answer; of a conversation, what came before the last answer is the question."""
    reference = next(iter(between(prompt, *_REFERENCE)), None)
    match = _QUESTION.search(prompt)
    answers = between(prompt, *_ANSWERS)
    question = match[1] if match is not None else ""
    if not answers:
        parted = [part_conversation(conversation) for conversation in between(prompt, *_CONVERSATIONS)]
        answers = [answer for _, answer in parted if answer is not None]
        question = parted[0][0] if parted else question
    return question.strip("\n"), [answer.strip("\n") for answer in answers], reference


def between(text: str, beginning: re.Pattern[str], ending: str) -> list[str]:
    """What stands between the marks, one after the other; beginnings without an end are not looked at again."""
    parts: list[str] = []
    place = 0
    while (begun := beginning.search(text, place)) and (end := text.find(ending, begun.end())) >= 0:
        parts.append(text[begun.end() : end].removesuffix("\n"))
        place = end + len(ending)
    return parts


def part_conversation(text: str) -> tuple[str, str | None]:
    """What was said before the last answer, and that answer, which may be empty.

    None where turns do not alternate as MT-Bench writes them: an answer that plays the user, too, cannot be told apart.
    """
    parts = _TURN.split(text.strip("\n"))
    turns = list(zip(parts[1::2], (part.strip("\n") for part in parts[2::2]), strict=True))
    speakers = ["user" if who == "User" else "assistant" for who, _ in turns]
    before = "\n\n".join(f"{who}: {text}" for who, (_, text) in zip(speakers[:-1], turns[:-1], strict=True))
    return before, turns[-1][1] if speakers in _TURN_ORDERS else None


def read_answers(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """MT-Bench's model_answer files: each turn of each choice; the questions stand in another file."""
    for _, row in sniffed.rows(notices):
        for index, choice in enumerate(as_rows(row.get("choices")), 1):
            turns = choice.get("turns")
            for turn, text in enumerate(turns if isinstance(turns, list) else [], 1):
                yield LoggedSample(
                    question_id=question_name({"question_id": row.get("question_id"), "turn": turn}),
                    response=as_text(text),
                    target_model=as_text(row.get("model_id")),
                    repeat=index,
                )


FORMAT = LogFormat("fastchat", "MT-Bench judgments", _SIGNATURES, open_fastchat)
