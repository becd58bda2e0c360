"""Material for the tests of the competitions' store; also run as a process of its own that reads or writes."""

import asyncio
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from tests.flows.dying import VARIABLE, arm, dying

from mixseek.competition.store import AggregationStore
from mixseek.domain.rounds import DecidedBy, ImprovementJudgment, RoundDecision, RoundKey

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
EXECUTION = "race"
ON = RoundDecision(continues=True, stop_reason=None, decided_by=DecidedBy.JUDGE)


async def begin(store: AggregationStore) -> None:
    await store.begin_execution(EXECUTION, "the task", {"rounds": {"max": 5}}, NOON)


async def submit(store: AggregationStore, team: str, number: int, text: str = "", name: str = "") -> None:
    await store.save_submission(
        RoundKey(EXECUTION, team, number),
        name or team.upper(),
        text or f"{team} {number}",
        {"input_tokens": number},
        NOON,
    )


async def play(store: AggregationStore, team: str, number: int, score: float) -> None:
    """One whole round."""
    await submit(store, team, number)
    await store.save_evaluation(RoundKey(EXECUTION, team, number), score, {"clarity": score}, NOON)
    await store.save_decision(RoundKey(EXECUTION, team, number), ImprovementJudgment(True, "more", 0.5), ON, NOON)


async def write_until_killed(store: AggregationStore) -> None:
    """Says each round after it was stored."""
    await begin(store)
    number = 0
    while True:
        number += 1
        await play(store, "a", number, 50.0)
        print(number, flush=True)


async def watch(store: AggregationStore, expected: int) -> None:
    """Reads until everything is there; a row that was seen once must never be gone again."""
    seen = 0
    deadline = time.monotonic() + 600
    print("watching", flush=True)
    while time.monotonic() < deadline:
        teams = await store.progress(EXECUTION)
        now = sum(len(team.rounds) for team in teams.values())
        if now < seen:
            sys.exit(f"{seen} rounds were there, now {now}")
        seen = now
        if seen == expected and all(entry.decision for team in teams.values() for entry in team.rounds):
            print(f"saw {seen}", flush=True)
            return
    sys.exit(f"only {seen} of {expected} rounds came")


def main(role: str, workspace: str, *rest: str) -> None:
    if role == "write":
        arm(dying(int(rest[0]), "competitions.duckdb")[VARIABLE])
        asyncio.run(write_until_killed(AggregationStore(Path(workspace))))
    else:
        asyncio.run(watch(AggregationStore(Path(workspace), read_only=True), int(rest[0])))


if __name__ == "__main__":
    main(*sys.argv[1:])
