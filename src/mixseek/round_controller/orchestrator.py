"""Teams, and all of them in parallel: nobody waits for another, and a stop leaves everything resumable."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Method, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message, PlainProtocol
from mixseek.domain.rounds import ExecutionStatus, RankedTeam, RoundProgress, StopReason, TeamProgress
from mixseek.domain.samples import Sample
from mixseek.engine.budget import BudgetSpentError
from mixseek.engine.endings import all_of
from mixseek.engine.endpoint import EndpointDownError, HaltedError
from mixseek.engine.questions import Asker, Question
from mixseek.errors import AfterRoundError, ConfigurationError, MixseekError, PermanentJudgeError
from mixseek.evaluator.scores import usage_of
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.replies.refusals import is_refusal
from mixseek.protocols.replies.reply_json import excerpt_text, hash_of
from mixseek.protocols.replies.thought import without_thought
from mixseek.round_controller.controller import RoundController, RoundParts, TeamEnd, awaits_score, end_of, store_end
from mixseek.round_controller.team import FailedSubmission, Stage, Submission, Team, TeamEvent

# Teams that are programs: an external command, or a Python function in a process of its own.

# A long text that opens with regrets goes on to something; a short one is the refusal itself.
_LONGEST_REFUSAL = 600
_REFUSING_ENDS = frozenset({"refusal", "content_filter"})


@dataclass(frozen=True)
class FreeTextProtocol(PlainProtocol):
    """What a team of one model is asked; only what stays the same from round to round is in the hash."""

    prompt: str
    instructions: str = ""
    language: str = "any"
    name: str = "submission"
    version: str = "1"
    # Nothing to constrain: the reply is the submission.
    reply_schema: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def hash(self) -> str:
        identity = {"name": self.name, "version": self.version, "instructions": self.instructions}
        return hash_of(identity)

    def messages(self, sample: Sample, nonce: str) -> tuple[Message, ...]:
        user = Message("user", self.prompt)
        return (Message("system", self.instructions), user) if self.instructions.strip() else (user,)

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """The text without the model's thinking; nothing, half a thought and a refusal are no submission."""
        spoken = without_thought(reply.text)
        text = spoken.text.strip()
        if spoken.unclosed:
            return _invalid(Flag.UNPARSABLE_OUTPUT, "the reply ends inside its think block: it was cut off")
        if reply.details.get("finish_reason") in _REFUSING_ENDS or (len(text) <= _LONGEST_REFUSAL and is_refusal(text)):
            return _invalid(Flag.JUDGE_REFUSAL_OR_EVASION, f"the model declines: {excerpt_text(text)}")
        if not text:
            return _invalid(Flag.UNPARSABLE_OUTPUT, "the reply is empty")
        return ValidJudgment(1.0, "submitted", {"text": text}, Method.CROSS_JUDGE)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        return Undecided("rules write no submissions")


def _invalid(flag: Flag, detail: str) -> InvalidJudgment:
    return InvalidJudgment((Finding(flag, detail),))


@dataclass(frozen=True, slots=True)
class ModelTeam:
    """One model with instructions. Asked by name of execution, team and round: the board in its prompt changes."""

    team_id: str
    team_name: str
    judge: str
    execution_id: str
    asker: Asker
    instructions: str = ""
    target_model: str | None = None

    async def submit(self, prompt: str, round_number: int) -> Submission | FailedSubmission:
        """An endpoint that refuses or is gone ends this team; the others have theirs."""
        place = f"{self.team_id}/{round_number}"
        protocol = FreeTextProtocol(prompt, self.instructions)
        sample = Sample(place, response="", question=prompt)
        identity = f"{self.execution_id}/{place}"
        question = Question(protocol, sample, self.judge, identity=identity, asks_again=False)
        try:
            answered = await self.asker.ask(question)
            while isinstance(answered.outcome, InvalidJudgment) and answered.is_recalled:
                # It failed this round in an earlier process; whoever starts again gives it another try.
                question = replace(question, repeat=question.repeat + 1)
                answered = await self.asker.ask(question)
        except (EndpointDownError, PermanentJudgeError) as error:
            return FailedSubmission(str(error))
        outcome = answered.outcome
        if isinstance(outcome, ValidJudgment):
            return Submission(outcome.fields["text"], usage_of(answered.replies))
        if isinstance(outcome, InvalidJudgment):
            return FailedSubmission("; ".join(finding.detail for finding in outcome.findings))
        return FailedSubmission(outcome.reason)


# More than any submission that a judge could read; a program that never stops writing must not fill our memory.
MAX_OUTPUT_BYTES = 4 << 20
_TAIL_BYTES = 4_096
# When the program has left, its children may still hold its pipes; what it wrote itself is there by then.
_LINGER_SECONDS = 1.0
# Waits until our end of a pipe closes, however we die, and then takes the whole group along; meanwhile the shell
# has become the program: same process, same group.
_KEEPER = '(read -r _ <"/dev/fd/$1"; kill -KILL 0) >/dev/null 2>&1 & shift; exec "$@"'


class Program(asyncio.SubprocessProtocol):
    """Collects what a program says. Not asyncio's streams: those wait for every child that holds a pipe."""

    def __init__(self) -> None:
        self.returncode = -signal.SIGKILL
        self.output = bytearray()
        self.errors = b""
        self.exited = asyncio.Event()
        self._open = {1, 2}
        self._changed = asyncio.Event()

    @property
    def is_cut(self) -> bool:
        """It wrote more than anybody would read, and is killed for it."""
        return len(self.output) > MAX_OUTPUT_BYTES

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != 1:
            self.errors = (self.errors + data)[-_TAIL_BYTES:]
            return
        if not self.is_cut:
            self.output += data
        self._changed.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        self._changed.set()

    def process_exited(self) -> None:
        self.exited.set()
        self._changed.set()

    async def finish(self, transport: asyncio.SubprocessTransport) -> None:
        """When the program has left and its pipes are read, or it has written too much."""
        while not self.is_cut and not self.exited.is_set():
            self._changed.clear()
            await self._changed.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                while self._open and not self.is_cut:
                    self._changed.clear()
                    await self._changed.wait()
        if (returncode := transport.get_returncode()) is not None:
            self.returncode = returncode


async def run_program(command: Sequence[str], stdin: bytes, directory: Path) -> Program:
    """Its end, with what it wrote. Cancelling kills it and whatever it started; so does our own death."""
    reading, held = os.pipe()
    try:
        loop = asyncio.get_running_loop()
        starting = loop.create_task(
            loop.subprocess_exec(
                Program,
                *("/bin/sh", "-c", _KEEPER, "mixseek-team", str(reading), *command),
                cwd=directory,
                # A group of its own: Ctrl-C is for us, and a kill must reach its children.
                start_new_session=True,
                pass_fds=(reading,),
            )
        )
        try:
            transport, program = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # A start that is cancelled itself kills the shell alone, and waits for its children without an end.
            transport, program = await starting
            await kill_program(transport, program)
            raise
        finally:
            os.close(reading)
        try:
            # Written as the program reads; one that reads nothing is no reason to hang.
            pipe = transport.get_pipe_transport(0)
            if isinstance(pipe, asyncio.WriteTransport):
                pipe.write(stdin)
                pipe.close()
            await program.finish(transport)
        finally:
            await kill_program(transport, program)
    finally:
        os.close(held)
    return program


async def kill_program(transport: asyncio.SubprocessTransport, program: Program) -> None:
    """It and all its children; whoever is gone already is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(transport.get_pid(), signal.SIGKILL)
    # Its death may take a moment to arrive, and no zombie may be left.
    await asyncio.shield(program.exited.wait())
    transport.close()


_SHOWN_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class CommandTeam:
    """The prompt on stdin, the submission on stdout; anything but exit code 0 is a failure."""

    team_id: str
    team_name: str
    command: tuple[str, ...]
    directory: Path
    target_model: str | None = None

    async def submit(self, prompt: str, round_number: int) -> Submission | FailedSubmission:
        command = resolve_program(self.command, self.directory)
        # Half a surrogate pair, which no pipe can carry, becomes a question mark.
        return await run_team(self.command[0], command, prompt.encode("utf-8", "replace"), self.directory)


@dataclass(frozen=True, slots=True)
class CallableTeam:
    """`function(prompt, round_number) -> text`, in a process of its own: only a process can be stopped."""

    team_id: str
    team_name: str
    path: str
    directory: Path
    target_model: str | None = None

    async def submit(self, prompt: str, round_number: int) -> Submission | FailedSubmission:
        stdin = json.dumps({"prompt": prompt, "round_number": round_number}).encode()
        # -P: a file beside the race that is called like a module of Python's must not take its place.
        child = (sys.executable, "-P", "-m", "mixseek.round_controller.callable_child")
        return await run_team(self.path, (*child, self.path, str(self.directory.resolve())), stdin, self.directory)


async def run_team(name: str, command: Sequence[str], stdin: bytes, directory: Path) -> Submission | FailedSubmission:
    """What the program wrote, without the last line's end; or what went wrong, with the end of its complaint."""
    try:
        program = await run_program(command, stdin, directory)
    except OSError as error:
        return FailedSubmission(f"{name} cannot be started ({error.strerror})")
    if program.is_cut:
        return FailedSubmission(f"{name} wrote more than {MAX_OUTPUT_BYTES >> 20} MB")
    if program.returncode != 0:
        how = f"exit code {program.returncode}" if program.returncode > 0 else f"signal {-program.returncode}"
        complaint = " ".join(program.errors.decode("utf-8", "replace").split())
        tail = complaint if len(complaint) <= _SHOWN_CHARACTERS else "…" + complaint[1 - _SHOWN_CHARACTERS :]
        return FailedSubmission(f"{name} ended with {how}" + (f": {tail}" if tail else ""))
    try:
        text = program.output.decode("utf-8")
    except UnicodeDecodeError as error:
        return FailedSubmission(f"{name} wrote what is not UTF-8 (byte {error.start})")
    text = text.removesuffix("\n").removesuffix("\r")
    if not text.strip():
        return FailedSubmission(f"{name} wrote nothing to stdout")
    return Submission(text)


def resolve_program(command: Sequence[str], directory: Path) -> list[str]:
    """The command with its program as a path: relative to the race's directory, or found on PATH."""
    program, *arguments = command
    if "/" in program:
        return [str(directory.resolve() / program), *arguments]
    return [shutil.which(program) or program, *arguments]


def check_command(command: Sequence[str], directory: Path, where: str) -> None:
    """Raises ConfigurationError for a program that is not there, or cannot be run."""
    program = resolve_program(command, directory)[0]
    if shutil.which(program) is None:
        state = "is not executable" if Path(program).is_file() else "is not there"
        raise ConfigurationError(
            f"{where}: command {command[0]!r} {state}; give a program on PATH, or a path beside the race file"
        )


# A signal is looked for this often.
_GLANCE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class CompetitionResult:
    """How a competition stands; `reason` is a sentence where it stopped by itself before its end."""

    execution_id: str
    status: ExecutionStatus
    ranking: tuple[RankedTeam, ...]
    ends: tuple[TeamEnd, ...]
    progress: Mapping[str, TeamProgress]
    reason: str | None = None

    @property
    def _evaluated(self) -> list[RoundProgress]:
        return [
            progress for team in self.progress.values() for progress in team.rounds if progress.evaluated_at is not None
        ]

    @property
    def awaiting_score(self) -> int:
        """Rounds whose evaluation was tried and gave no score; the same command tries again."""
        return sum(map(awaits_score, self._evaluated))

    @property
    def without_score(self) -> int:
        """Rounds that were evaluated as far as they can be, and have no score."""
        return sum(progress.score is None and not awaits_score(progress) for progress in self._evaluated)

    @property
    def evaluations(self) -> Counter[str]:
        """Metrics of all evaluated rounds: `scored`, `invalid` (a reply that cannot be used) or `missing`."""
        counts = Counter(scored=0, invalid=0, missing=0)
        for progress in self._evaluated:
            counts["scored"] += len(progress.details.get("metrics") or ())
            counts.update(
                "invalid" if metric.get("invalid") else "missing" for metric in progress.details.get("missing") or ()
            )
        return counts

    @property
    def best_score(self) -> float | None:
        return self.ranking[0].best_score if self.ranking else None

    @property
    def self_scored(self) -> int:
        """Rounds whose score is the team's own model's; it ranks nobody."""
        return sum(progress.score is not None and progress.is_self_judged for progress in self._evaluated)

    @property
    def commonest_reason(self) -> str | None:
        """Why rounds have no score, or teams no rounds, in the words that were used most often."""
        missing = [metric for progress in self._evaluated for metric in progress.details.get("missing") or ()]
        reasons = Counter(str(metric["reason"]) for metric in missing)
        reasons = reasons or Counter(end.message or end.stop_reason.value for end in self.accidents)
        return reasons.most_common(1)[0][0] if reasons else None

    @property
    def accidents(self) -> tuple[TeamEnd, ...]:
        """Teams that were not ended by a decision."""
        return tuple(end for end in self.ends if not end.is_decided)

    @property
    def is_open(self) -> bool:
        """Whether the same command would try anything again."""
        return self.awaiting_score > 0 or not all(end.is_final for end in self.ends)


class Orchestrator:
    """Runs one execution, from its beginning or from wherever an earlier process had come."""

    def __init__(
        self,
        parts: RoundParts,
        teams: Sequence[Team],
        configuration: Mapping[str, Any],
        *,
        parallel_teams: int = 8,
        halt: Callable[[], None] = lambda: None,
    ) -> None:
        self._parts = parts
        self._teams = tuple(teams)
        self._configuration = configuration
        self._places = asyncio.Semaphore(parallel_teams)
        self._halt = halt
        # Why it stops by itself; the first reason counts.
        self._reason: StopReason | None = None
        self._message: str | None = None
        self._failure: MixseekError | None = None

    async def compete(self) -> CompetitionResult:
        """Raises what makes going on pointless (a disk, a configuration); everything stored before stays."""
        parts = self._parts
        await parts.store.begin_execution(parts.execution_id, parts.task, self._configuration, parts.clock())
        before = await parts.store.progress(parts.execution_id)
        watching = asyncio.create_task(self._watch(), name="watch")
        try:
            ends = await self._play_all(before)
        except BaseException:
            with suppress(MixseekError):
                await parts.store.finish_execution(parts.execution_id, ExecutionStatus.INTERRUPTED, parts.clock())
            raise
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        return await self._conclude(ends)

    async def _play_all(self, before: Mapping[str, TeamProgress]) -> list[TeamEnd]:
        ends = await all_of([self._play(team, before.get(team.team_id)) for team in self._teams])
        if self._failure is not None:
            raise self._failure
        return ends

    async def _play(self, team: Team, before: TeamProgress | None) -> TeamEnd:
        self._parts.watcher(TeamEvent(team.team_id, team.team_name, 0, Stage.WAITING))
        try:
            async with self._places:
                self._check_stop()
                return await RoundController(self._parts, team, before).play()
        except HaltedError:
            reason = self._reason or StopReason.INTERRUPTED
        except BudgetSpentError as error:
            reason = self._stop_all(StopReason.BUDGET, str(error))
        except EndpointDownError as error:
            reason = self._stop_all(StopReason.INTERRUPTED, str(error))
        except (PermanentJudgeError, AfterRoundError) as error:
            # A judge that refuses everybody, or a caller who cannot be told: what is in flight elsewhere still comes
            # home, then it is said.
            self._failure = self._failure or error
            reason = self._stop_all(StopReason.INTERRUPTED, str(error))
        retries = self._parts.retries_invalid
        ended = None if before is None else end_of(before, retries_invalid=retries)
        if before is not None and ended is not None:
            # It was over before: a stop that finds it waiting, or while a lost score is asked for, does not undo that.
            is_undone = any(awaits_score(progress, retries_invalid=retries) for progress in before.rounds)
            return replace(ended, stop_reason=reason, is_for_good=False) if is_undone else ended
        end = TeamEnd(team.team_id, team.team_name, reason)
        await store_end(self._parts, end)
        return end

    def _check_stop(self) -> None:
        if self._reason is not None or self._parts.stop():
            raise HaltedError("stopping")

    def _stop_all(self, reason: StopReason, message: str) -> StopReason:
        if self._reason is None:
            self._reason, self._message = reason, message
            self._halt()
        return self._reason

    async def _watch(self) -> None:
        while not self._parts.stop():
            await asyncio.sleep(_GLANCE_SECONDS)
        self._halt()

    async def _conclude(self, ends: Sequence[TeamEnd]) -> CompetitionResult:
        parts = self._parts
        stopped = any(end.stop_reason in (StopReason.INTERRUPTED, StopReason.BUDGET) for end in ends)
        ranking = tuple(await parts.store.ranking(parts.execution_id))
        status = ExecutionStatus.INTERRUPTED if stopped else ExecutionStatus.FINISHED
        if not stopped and not ranking:
            status = ExecutionStatus.FAILED
        known = {execution.execution_id: execution.status for execution in await parts.store.executions()}
        # A competition that is only shown again ended when it ended.
        if not known.get(parts.execution_id) is status is ExecutionStatus.FINISHED:
            await parts.store.finish_execution(parts.execution_id, status, parts.clock())
        progress = await parts.store.progress(parts.execution_id)
        return CompetitionResult(parts.execution_id, status, ranking, tuple(ends), progress, self._message)
