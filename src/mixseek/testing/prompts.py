"""What the mock is asked: a prompt with its turns, its fenced texts and its ids."""

import hashlib
import re
from collections.abc import Collection, Mapping
from typing import Any

from mixseek.domain.steps import Step, StepRole, StepStatus
from mixseek.lazy_dataclass import dataclass


def digest_of(*parts: str) -> bytes:
    blob = b"".join(b"%d:" % len(data) + data for part in parts for data in [part.encode("utf-8", "surrogatepass")])
    return hashlib.blake2b(blob, digest_size=16).digest()


# The time of asking stands in prompts and says nothing about the sample.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d:\d\d|Z)")
# A section and its nonce; whatever looks like a fence inside of it is passed over with it.
_SECTION = re.compile(r"^<<<(\w+) ([0-9A-Za-z]{16,})>>>$.*?^<<<END \1 \2>>>$", re.MULTILINE | re.DOTALL)
# The same, and all sections with what stands between them, in a prompt whose nonces were taken out.
_BARE_SECTION = re.compile(r"^<<<(\w+) >>>$.*?^<<<END \1 >>>$", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"^<<<\w+ >>>$.*^<<<END \w+ >>>$", re.MULTILINE | re.DOTALL)


# A step of a transcript; the headings of its parts and of what was left out.
_STEP = re.compile(r"\n<<<STEP (\d+) >>> ([^\n]*)")
_PART = re.compile(r"^<<<(?:ARGUMENTS|RESULT|CUT|STEPS|PICTURE)\b[^\n]*>>>.*$", re.MULTILINE)


def _read_step(heading: str) -> Step:
    """A step without its texts, from its heading: `tool search · error`."""
    role, _, tool = heading.partition(" · ")[0].partition(" ")
    return Step(
        StepRole(role) if role in set(StepRole) else StepRole.ASSISTANT,
        tool=tool or None,
        status=StepStatus.ERROR if " · error" in heading else StepStatus.OK,
    )


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question to a decision endpoint, whatever the interface: its options, of a scale from the lowest on."""

    name: str
    options: tuple[str, ...]
    is_scale: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request without its wire format: who is asked, and what is said by whom."""

    model: str
    # (role, text), system first; nonces are already taken out.
    turns: tuple[tuple[str, str], ...]
    # The JSON schema of the reply, where one is asked for; empty where there is none, None where no one asks.
    schema: Mapping[str, Any] | None = None
    # How many alternatives of each token were asked for; None where nobody asked for any.
    top_logprobs: int | None = None
    # What a decision endpoint is asked about the turns.
    questions: tuple[AskedQuestion, ...] = ()

    @property
    def system(self) -> str:
        return next((text for role, text in self.turns if role == "system"), "")

    @property
    def task(self) -> str:
        return next((text for role, text in self.turns if role == "user"), "")

    @property
    def around(self) -> str:
        """What the experimenter says: the task without what is fenced, wherever in it names and ids stand."""
        return _BARE_SECTION.sub("", self.task)

    @property
    def subject(self) -> str:
        """What is judged: all that is fenced. A re-ask adds words around it and is still about the same thing."""
        fenced = _FENCED.search(self.task.partition("<<<OBJECTIONS ")[0])
        return fenced[0] if fenced else _MOMENT.sub("", self.task)

    @property
    def response(self) -> str:
        """The judged text, whatever the protocol calls it."""
        return next((text for name in ("MODEL_RESPONSE", "RESPONSE", "SUBMISSION") if (text := self.section(name))), "")

    @property
    def steps(self) -> tuple[tuple[int, Step, str], ...]:
        """The steps that are shown: number, who acted and how it ended, and all of its texts."""
        parts = _STEP.split(f"\n{self.section('STEPS')}")[1:]
        return tuple(
            (int(number), _read_step(heading), _PART.sub("", text))
            for number, heading, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        )

    def section(self, name: str) -> str:
        """The fenced text of that name; blank when the prompt has none."""
        _, fence, rest = self.task.partition(f"<<<{name} >>>\n")
        return f"\n{rest}".partition(f"\n<<<END {name} >>>")[0][1:] if fence else ""

    def digest(self, seed: int) -> bytes:
        """The same for the same request, whatever order requests come in."""
        return digest_of(str(seed), self.model, *(_MOMENT.sub("", part) for turn in self.turns for part in turn))


def make_prompt(model: str, turns: list[tuple[str, str]], schema: Mapping[str, Any] | None = None) -> Prompt:
    """Takes nonces out of every turn: they say nothing about the sample and differ between workspaces."""
    asked = "\n".join(text for role, text in turns if role == "user")
    nonces = {match[2] for match in _SECTION.finditer(asked)}
    return Prompt(model, tuple((role, _without(text, nonces)) for role, text in turns), schema)


def _without(text: str, nonces: Collection[str]) -> str:
    """The text without any of them; no pattern is made of what is another in every prompt."""
    for nonce in nonces:
        text = text.replace(nonce, "")
    return text
