"""Options that had another name in the release before: still understood, with one line that says the new name.

To be emptied with every release.
"""

from collections.abc import Callable, Mapping, Sequence

from mixseek.cli.terminal.console import notify_plainly
from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Renamed:
    """An option under its old name; where only some of its values moved, those."""

    old: str
    new: str
    values: frozenset[str] = frozenset()

    def is_meant(self, word: str, following: str | None) -> bool:
        name, equals, value = word.partition("=")
        return name == self.old and (not self.values or (value if equals else following) in self.values)


_TO = Renamed("--out", "--to")
_GATE_ON = Renamed("--on", "--gate-on")
_RATER = Renamed("--judge", "--rater")
# By the command that has them.
RENAMED: Mapping[str, tuple[Renamed, ...]] = {
    "judge": (Renamed("--on", "--gate-on", frozenset({"point", "lower"})),),
    "report": (_TO, _GATE_ON),
    "compare": (_TO, _GATE_ON),
    "audit": (_TO,),
    "leaderboard": (Renamed("--html", "--to"), _RATER),
    "stats": (_RATER, Renamed("--repeats", "--takes")),
}
# Commands that stand elsewhere now.
COMMANDS: Mapping[str, str] = {"mixseek plan": "mixseek label plan"}


def note_old(old: str, new: str, notify: Callable[[str], None] = notify_plainly) -> None:
    """One line on stderr."""
    notify(f"{old} is now {new}; the old spelling goes with the next release")


def renew(command: str, words: Sequence[str], note: Callable[[str, str], None] = note_old) -> list[str]:
    """The words of a command line with today's names; what stands behind `--` is nobody's option."""
    renewed = list(words)
    end = renewed.index("--") if "--" in renewed else len(renewed)
    noted: set[str] = set()
    for place, word in enumerate(renewed[:end]):
        following = renewed[place + 1] if place + 1 < end else None
        for renamed in RENAMED.get(command, ()):
            if renamed.is_meant(word, following):
                _, equals, value = word.partition("=")
                renewed[place] = f"{renamed.new}{equals}{value}"
                if renamed.old not in noted:
                    note(renamed.old, renamed.new)
                noted.add(renamed.old)
    return renewed


def renew_key(command: str, key: str) -> str:
    """A key of a job file with today's name."""
    for renamed in RENAMED.get(command, ()):
        if not renamed.values and key == renamed.old.removeprefix("--").replace("-", "_"):
            new = renamed.new.removeprefix("--").replace("-", "_")
            note_old(f"the key {key} of {command}", new)
            return new
    return key
