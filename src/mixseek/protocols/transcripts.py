"""Steps as a judge reads them: numbered text, of which a window is left where the trace is longer than its budget.

Every heading is a line that holds the nonce of the fence around it, which stands in no text of the sample: whoever
wrote a step's text, its arguments or a tool's result can neither begin another step nor end the transcript.

    <<<STEP 3 NONCE>>> tool get_weather · error
    <<<ARGUMENTS 3 NONCE>>>
    {"city": "Oslo"}
    <<<RESULT 3 NONCE>>>
    timed out
    <<<STEPS 4–47 NONCE>>> left out: 44 steps, 41,200 characters: search ×30, assistant ×14

What is shown depends on the steps and the budget alone, so that whoever reads a reply knows what its judge saw.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import groupby
from typing import NamedTuple

from mixseek.domain.ports import Picture
from mixseek.domain.steps import Step, StepRole, StepStatus
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.shown_texts import shown_name
from mixseek.templating import fence

# The warning of a judgment whose judge was shown a part of the steps.
SHORTENED = "transcript_shortened"
# Characters of a transcript; some 15,000 tokens of English.
DEFAULT_BUDGET = 60_000
LEAST_BUDGET = 1_000
# What a heading takes, about.
_HEADING = 80
# What a line takes that says what was left out, about.
_GAP = 200
# A text that has to be shortened keeps so much, half of it from its end; steps beyond what that allows are left out.
_LEAST_TEXT = 200
# Of steps that are left out, so many tools are named.
_MOST_KINDS = 8
_FAILURES = (StepStatus.ERROR, StepStatus.CUT_OFF)
# Where the transcript is part of the response: what its headings mean.
_NOTES = {
    "en": "The response has a transcript before it. A line such as this one, with the token, begins each of its parts; "
    "FINAL ANSWER begins the response itself.",
    "ja": "応答の前に、その経過（トランスクリプト）がある。各部分は、この行のようにトークンを含む行で始まり、"
    "FINAL ANSWER から応答そのものが始まる。",
    "zh": "回答之前有其过程记录。每个部分都以像本行这样带有令牌的一行开始；FINAL ANSWER 之后才是回答本身。",
}


class LeftOut(NamedTuple):
    """Steps in a row that the transcript does not show; `kinds` are tools and roles with their numbers of steps."""

    first: int
    last: int
    characters: int
    kinds: tuple[tuple[str, int], ...]

    @property
    def steps(self) -> int:
        return self.last - self.first + 1

    def __str__(self) -> str:
        counted = "1 step" if self.steps == 1 else f"{self.steps:,} steps"
        kinds = [f"{shown_name(name)} ×{number:,}" for name, number in self.kinds[:_MOST_KINDS]]
        rest = sum(number for _, number in self.kinds[_MOST_KINDS:])
        kinds += [f"others ×{rest:,}"] if rest else []
        return f"{counted}, {self.characters:,} characters: {', '.join(kinds)}"

    @property
    def numbers(self) -> str:
        return f"{self.first}" if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True, slots=True)
class Window:
    """Which steps are shown, from which text how much; all of it where the budget is not reached."""

    steps: tuple[Step, ...]
    left_out: tuple[LeftOut, ...] = ()
    # By step: the length that each of its texts is shortened to.
    shortened: Mapping[int, int] = field(default_factory=dict)

    def is_shown(self, number: int) -> bool:
        return not any(part.first <= number <= part.last for part in self.left_out)

    @property
    def shown(self) -> tuple[int, ...]:
        """The numbers of the steps that are not left out."""
        return tuple(number for number in range(1, len(self.steps) + 1) if self.is_shown(number))

    @property
    def steps_left_out(self) -> int:
        return sum(part.steps for part in self.left_out)

    @property
    def characters_left_out(self) -> int:
        """How much of the texts is missing: steps that are not shown, and the middle of texts that are."""
        cut = sum(
            max(0, len(text) - length)
            for number, length in self.shortened.items()
            for text in _texts_of(self.steps[number - 1])
        )
        return cut + sum(part.characters for part in self.left_out)

    @property
    def is_whole(self) -> bool:
        return not self.left_out and not self.shortened

    def describe(self) -> dict[str, object]:
        """What the judge did not see, for the fields of its judgment."""
        return {
            "steps": self.steps_left_out,
            "characters": self.characters_left_out,
            "ranges": [[part.first, part.last] for part in self.left_out],
            "shortened": sorted(self.shortened),
            "summary": "; ".join(self._say_what_is_left_out()),
        }

    def _say_what_is_left_out(self) -> Iterator[str]:
        yield from (f"steps {part.numbers}: {part}" for part in self.left_out)
        if self.shortened:
            steps = ", ".join(map(str, sorted(self.shortened)))
            yield f"the middle of long texts in step{'s' if len(self.shortened) > 1 else ''} {steps}"


def make_window(
    steps: Sequence[Step], budget: int = DEFAULT_BUDGET, named: Iterable[int] = (), tools: Collection[str] = ()
) -> Window:
    """The first step, the last, those that failed or are named, and whatever else the budget allows from both ends.

    `named` are numbers; steps that call one of `tools` are named too.
    """
    steps = tuple(steps)
    sizes = [_size(step) for step in steps]
    if sum(sizes) <= budget:
        return Window(steps)
    wanted = _wanted(steps, set(named), tools)
    # Each of them may stand alone between steps that are left out.
    budget -= min(budget // 2, _GAP * len(wanted))
    shortened: dict[int, int] = {}
    if sum(sizes[number - 1] for number in wanted) > budget:
        # Even what must be there is too much: its longest texts are shortened alike, and nothing else has room.
        wanted = list(_affordable(wanted, steps, sizes, budget))
        texts = [text for number in wanted for text in _texts_of(steps[number - 1])]
        length = _common_length(texts, budget - _HEADING * len(wanted))
        shortened = {
            number: length for number in wanted if any(len(text) > length for text in _texts_of(steps[number - 1]))
        }
        shown = set(wanted)
    else:
        shown = _fill(set(wanted), sizes, budget)
    return Window(steps, tuple(_left_out(steps, shown)), shortened)


def render_steps(window: Window, nonce: str, answer: str | None = None) -> str:
    """The transcript, without a fence. A last step that says the final answer is not shown twice."""
    gaps = {part.first: part for part in window.left_out}
    lines: list[str] = []
    number, last = 1, len(window.steps)
    while number <= last:
        gap = gaps.get(number)
        if gap is None:
            is_answer = number == last and says_answer(window.steps[-1], answer)
            lines += _render_step(number, window.steps[number - 1], nonce, window.shortened.get(number), is_answer)
            number += 1
        else:
            lines.append(f"<<<STEPS {gap.numbers} {nonce}>>> left out: {gap}")
            number = gap.last + 1
    return "\n".join(lines)


def fence_response(response: str, window: Window, label: str, nonce: str, language: str) -> str:
    """A fence around the transcript and, after it, the final answer; around the response where there are no steps."""
    if not window.steps:
        return fence(response, label, nonce)
    note = f"<<<TRANSCRIPT {nonce}>>> {_NOTES.get(language, _NOTES['en'])}"
    shown = render_steps(window, nonce, response)
    text = f"{note}\n{shown}\n<<<FINAL ANSWER {nonce}>>>\n{response}"
    return fence(text, label, nonce, has_headings=True)


def pictures_of(window: Window, nonce: str) -> tuple[Picture, ...]:
    """The pictures of the steps that are shown, by the lines that the transcript has for them."""
    shown = [(number, window.steps[number - 1]) for number in window.shown]
    return tuple(picture for number, step in shown for picture in _pictures(number, step, nonce))


def _pictures(number: int, step: Step, nonce: str) -> Iterator[Picture]:
    for place, source in enumerate(step.images, start=1):
        yield Picture(f"<<<PICTURE {number}.{place} {nonce}>>> [picture left out]", source)


def says_answer(step: Step, answer: str | None) -> bool:
    """Whether all that the step holds is the final answer."""
    is_plain = step.role is StepRole.ASSISTANT and step.result is None and step.arguments is None and not step.images
    return is_plain and bool(answer) and (step.text or "").strip() == (answer or "").strip()


def step_texts(steps: Iterable[Step]) -> Iterator[str]:
    """Everything that the steps bring into a prompt: none of it may hold a nonce."""
    for step in steps:
        yield from (text for text in (step.text, step.tool, step.arguments_text, step.result) if text)


def _texts_of(step: Step) -> tuple[str, ...]:
    return tuple(text for text in (step.text, step.arguments_text, step.result) if text)


def _size(step: Step) -> int:
    return step.characters + _HEADING * (1 + len(_texts_of(step)))


def _wanted(steps: Sequence[Step], named: Collection[int], tools: Collection[str]) -> list[int]:
    """What must be shown, the most important first: both ends, what is named, failures, and their repetitions."""
    numbers = range(1, len(steps) + 1)
    called = [number for number in numbers if number in named or (steps[number - 1].tool or "") in tools]
    failed = [number for number in numbers if steps[number - 1].status in _FAILURES]
    # Of many failures the first and the last tell most: where it began, and how it ended.
    ends_first = [number for pair in zip(failed, reversed(failed), strict=True) for number in pair]
    return list(dict.fromkeys((1, len(steps), *called, *ends_first, *_repetitions(steps))))


def _repetitions(steps: Sequence[Step]) -> Iterator[int]:
    """The next call of the same name after each failure."""
    failed: set[tuple[StepRole, str | None]] = set()
    for number, step in enumerate(steps, start=1):
        called = (step.role, step.tool)
        if called in failed:
            failed.remove(called)
            yield number
        if step.status in _FAILURES:
            failed.add(called)


def _affordable(wanted: Iterable[int], steps: Sequence[Step], sizes: Sequence[int], budget: int) -> Iterator[int]:
    """Steps, as many as there is room for when their texts are shortened as far as they may be; both ends anyway."""
    for place, number in enumerate(wanted):
        shortest = _HEADING + (_LEAST_TEXT + 2 * _HEADING) * len(_texts_of(steps[number - 1]))
        budget -= min(sizes[number - 1], shortest)
        if budget < 0 and place > 1:
            return
        yield number


def _common_length(texts: Sequence[str], budget: int) -> int:
    """The even number of characters to which the longest texts are shortened, so that all keep to the budget."""
    # A text has a heading, and, where it is cut, a line that says so.
    room = budget - 2 * _HEADING * len(texts)
    lengths = sorted(map(len, texts))
    for place, length in enumerate(lengths):
        share = room // (len(lengths) - place)
        if length > share:
            return max(_LEAST_TEXT, share // 2 * 2)
        room -= length
    return max(_LEAST_TEXT, lengths[-1] + lengths[-1] % 2) if lengths else _LEAST_TEXT


def _fill(shown: set[int], sizes: Sequence[int], budget: int) -> set[int]:
    """Steps from the beginning and from the end, in turns, as long as the next one has room."""
    room = budget - sum(sizes[number - 1] for number in shown)
    ends = [iter(range(1, len(sizes) + 1)), iter(range(len(sizes), 0, -1))]
    while ends:
        for end in tuple(ends):
            number = next((number for number in end if number not in shown), None)
            if number is None or sizes[number - 1] > room:
                ends.remove(end)
                continue
            shown.add(number)
            room -= sizes[number - 1]
    return shown


def _left_out(steps: Sequence[Step], shown: Collection[int]) -> Iterator[LeftOut]:
    for is_shown, group in groupby(range(1, len(steps) + 1), key=lambda number: number in shown):
        numbers = list(group)
        if is_shown:
            continue
        absent = [steps[number - 1] for number in numbers]
        kinds = Counter(step.tool or step.role.value for step in absent)
        yield LeftOut(numbers[0], numbers[-1], sum(step.characters for step in absent), tuple(kinds.most_common()))


def _render_step(number: int, step: Step, nonce: str, length: int | None, is_answer: bool) -> Iterator[str]:
    words = [step.role.value if step.tool is None else f"{step.role.value} {shown_name(step.tool)}"]
    words += [] if step.status in (None, StepStatus.OK) else [step.status.value.replace("_", " ")]
    words += [] if step.parent is None else [f"of step {step.parent}"]
    words += ["the final answer, below"] if is_answer else []
    yield f"<<<STEP {number} {nonce}>>> {' · '.join(words)}"
    if is_answer:
        return
    if step.text:
        yield _shortened(step.text, number, nonce, length)
    if step.arguments_text:
        yield f"<<<ARGUMENTS {number} {nonce}>>>"
        yield _shortened(step.arguments_text, number, nonce, length)
    if step.result is not None:
        yield f"<<<RESULT {number} {nonce}>>>"
        yield _shortened(step.result, number, nonce, length)
    yield from (picture.line for picture in _pictures(number, step, nonce))


def _shortened(text: str, number: int, nonce: str, length: int | None) -> str:
    if length is None or len(text) <= length:
        return text
    half = length // 2
    cut = len(text) - 2 * half
    return f"{text[:half]}\n<<<CUT {number} {nonce}>>> {cut:,} characters of this text are left out\n{text[-half:]}"
