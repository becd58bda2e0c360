"""Judgments of other judges: MT-Bench (FastChat) and AlpacaEval.

Where two responses were compared, the sample is the second one, as in AlpacaEval; the first is in its metadata, and
the score says how far the second is preferred: 1 wins, 0 loses, 0.5 ties.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mixseek.errors import DatasetError
from mixseek.storage.dataset.logs.reading import Sniffed
from mixseek.storage.dataset.logs.record import (
    Log,
    LogFormat,
    LoggedSample,
    LoggedScore,
    Notices,
    as_rows,
    as_text,
    digest_name,
    opening,
)

# MT-Bench: question and response stand in the judge's prompt only.

_SCALE = (1, 10)
_QUESTION = re.compile(r"\[(?:User )?Question\]\n(.*?)(?=\n\n?\[The Start of|\n\n?<\|The Start of|\Z)", re.DOTALL)
_ANSWERS = re.compile(r"\[The Start of Assistant(?: [AB])?'s Answer\]\n(.*?)\n?\[The End of Assistant", re.DOTALL)
_REFERENCE = re.compile(r"\[The Start of Reference Answer\]\n(.*?)\n?\[The End of Reference Answer\]", re.DOTALL)
_CONVERSATIONS = re.compile(
    r"<\|The Start of Assistant (?:[AB])'s Conversation with User\|>\n(.*?)\n?<\|The End of Assistant", re.DOTALL
)
_TURN = re.compile(r"^### (User|Assistant(?: [AB])?):\n", re.MULTILINE)


def is_fastchat(sniffed: Sniffed) -> bool:
    is_single = sniffed.has("question_id", "model", "judge", "user_prompt", "judgment", "score")
    is_pair = sniffed.has("question_id", "model_1", "model_2", "g1_winner", "g2_winner")
    is_answer = sniffed.has("question_id", "answer_id", "model_id", "choices")
    return sniffed.is_rows() and (is_single or is_pair or is_answer)


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
    reference = _REFERENCE.search(prompt)
    asked = _QUESTION.search(prompt)
    answers = _ANSWERS.findall(prompt)
    question = asked[1] if asked is not None else ""
    if not answers:
        parted = [part_conversation(conversation) for conversation in _CONVERSATIONS.findall(prompt)]
        answers = [answer for _, answer in parted]
        question = parted[0][0] if parted else question
    return question.strip("\n"), [answer.strip("\n") for answer in answers], reference[1] if reference else None


def part_conversation(text: str) -> tuple[str, str]:
    """What was said before the last turn, and the last turn."""
    parts = _TURN.split(text.strip("\n"))
    turns = list(zip(parts[1::2], (part.strip("\n") for part in parts[2::2]), strict=True))
    before = "\n\n".join(f"{'user' if who == 'User' else 'assistant'}: {said}" for who, said in turns[:-1])
    return before, turns[-1][1] if turns else ""


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


# AlpacaEval.


def is_alpaca_eval(sniffed: Sniffed) -> bool:
    is_annotated = sniffed.has("instruction", "output_1", "output_2", "preference")
    is_output = sniffed.has("instruction", "output", "generator", "dataset")
    return sniffed.is_rows() and (is_annotated or is_output)


def read_alpaca_eval(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Model outputs have no annotation yet; instructions have no id that all files share, so their digest is it."""
    # Outputs of several models to one instruction are no repeats of one of them.
    column = "generator_2" if sniffed.has("output_2") else "generator"
    is_one = len({as_text(row.get(column)) for _, row in sniffed.rows([])}) == 1
    for number, row in sniffed.rows(notices):
        if "instruction" not in row:
            raise DatasetError(f"{sniffed.path}: item {number}: an AlpacaEval row without `instruction`")
        question = as_text(row["instruction"]) or ""
        told = {name: row[name] for name in ("dataset", "id") if row.get(name) is not None}
        if "output_2" not in row:
            yield LoggedSample(
                question_id=digest_name(question),
                question=question,
                response=as_text(row.get("output")),
                target_model=as_text(row.get("generator")),
                variant=None if is_one else as_text(row.get("generator")),
                metadata=told,
            )
            continue
        yield LoggedSample(
            question_id=digest_name(question),
            question=question,
            response=as_text(row["output_2"]),
            target_model=as_text(row.get("generator_2")),
            variant=None if is_one else as_text(row.get("generator_2")),
            scores={as_text(row.get("annotator")) or "annotator": preference_score(row)},
            metadata={**told, "opponent": row.get("generator_1"), "opponent_response": row.get("output_1")},
        )


def preference_score(row: Mapping[str, Any]) -> LoggedScore:
    """1 is the first, 2 the second, between them a degree, 1.5 a tie and 0 a tie in older files."""
    value, reason = row.get("preference"), as_text(row.get("raw_completion"))
    if not isinstance(value, int | float) or not (value == 0 or 1 <= value <= 2):
        return LoggedScore(value, reason=reason, problem="the annotator gave no preference that could be read")
    score = 0.5 if value == 0 else float(value) - 1
    return LoggedScore(value, score, None if score == 0.5 else score > 0.5, reason)


FORMATS = (
    LogFormat("fastchat", "MT-Bench judgments", is_fastchat, open_fastchat),
    LogFormat("alpacaeval", "AlpacaEval annotations", is_alpaca_eval, opening(read_alpaca_eval)),
)
