"""How long a prompt takes to build: the evaluator's, and the judge's with fifty rounds of history.

Run: python -m bench.prompts
"""

import asyncio
import time
from collections.abc import Callable, Sequence

from mixseek.domain.rounds import RankedTeam, RoundState
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.models import EvaluatorPromptContext, PromptBuilderSettings, RoundPromptContext

ROUNDS = 50
SUBMISSION = "提出する文章です。The quick brown fox jumps over the lazy dog.\n" * 60
DETAILS = {name: {"score": 71.5, "comment": "根拠が薄い。" * 20} for name in ("clarity", "coverage", "relevance")}
EVALUATOR_AIM_MS = 1.0
JUDGMENT_AIM_MS = 5.0


class Board:
    """Twenty teams, without a database in between: what is measured is the builder."""

    async def ranking(self, execution_id: str) -> Sequence[RankedTeam]:
        return [RankedTeam(rank, f"team-{rank}", f"Team {rank}", 100.0 - rank, 3, 5) for rank in range(1, 21)]


def main() -> None:
    """Print the figures beside what we hold ourselves to."""
    builder = UserPromptBuilder(store=Board(), settings=PromptBuilderSettings(), fence_key=b"k" * 32, environment={})
    evaluator = EvaluatorPromptContext(user_query="問い", submission=SUBMISSION)
    history = [RoundState(number, SUBMISSION + str(number), 50.0, DETAILS) for number in range(1, ROUNDS + 1)]
    rounds = RoundPromptContext(
        user_prompt="問い",
        round_number=ROUNDS + 1,
        round_history=history,
        team_id="team-3",
        team_name="Team 3",
        execution_id="bench",
    )
    loop = asyncio.new_event_loop()
    short = _milliseconds(lambda: builder.build_evaluator_prompt(evaluator), repeats=500)
    long = _milliseconds(lambda: loop.run_until_complete(builder.build_judgment_prompt(rounds)), repeats=60)
    size = len(loop.run_until_complete(builder.build_judgment_prompt(rounds)))
    loop.close()
    print(
        f"evaluator prompt: {short:.3f} ms of CPU ({len(SUBMISSION):,} characters submitted; "
        f"aim: under {EVALUATOR_AIM_MS:g})"
    )
    print(
        f"judgment prompt: {long:.2f} ms of CPU ({ROUNDS} rounds of history, {size:,} characters in all; "
        f"aim: under {JUDGMENT_AIM_MS:g})"
    )


def _milliseconds(build: Callable[[], object], *, repeats: int) -> float:
    """The median of CPU time: the machine is shared, and what others do is not ours to count."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        build()
        times.append(time.process_time() - started)
    return sorted(times)[repeats // 2] * 1000


if __name__ == "__main__":
    main()
