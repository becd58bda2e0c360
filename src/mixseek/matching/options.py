"""The options a question lists, by letter or by number."""

import re
from dataclasses import dataclass

# "(A) text", "A) text", "A. text", "A: text" at the start of a line; two or more in a row from A (or 1) are a list.
_LETTERED = re.compile(r"(?:^|\n)[ \t]*[-*]?[ \t]*(?:\(([A-Za-z])\)|\[([A-Z])\]|([A-Z])[.):、．])[ \t]*([^\n]*)")
_INLINE = re.compile(r"\(([A-Z])\)\s*([^()\n]+?)(?=[\s,;]*\([A-Z]\)|\s*$|\n)")
_NUMBERED = re.compile(r"(?:^|\n)[ \t]*(?:\(?(\d{1,2})[.)、]|\[(\d{1,2})\])[ \t]*([^\n]+)")

_ALPHABET = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_FIRST_LABELS = ("\nA.", "\nA)", "\nA:", "\n[A]", "\nA、", "\n(a)", "\n- A", "\n* A", "\n A")


@dataclass(frozen=True, slots=True)
class Options:
    """Labels in order with their texts; labels are upper-case letters or digits."""

    labels: tuple[str, ...]
    texts: tuple[str, ...]

    def text_of(self, label: str) -> str | None:
        """The option's text, or None for a label that is not offered."""
        return self.texts[self.labels.index(label)] if label in self.labels else None


NO_OPTIONS = Options((), ())


def lettered_options(question: str) -> Options:
    """The last run of lettered options in the question: examples come before, the real list last."""
    if "(A)" not in question and not any(map(f"\n{question}".__contains__, _FIRST_LABELS)):
        return NO_OPTIONS
    found = [
        ((round_ or square or bare).upper(), text.strip()) for round_, square, bare, text in _LETTERED.findall(question)
    ]
    options = _last_run(found, "A")
    if len(options.labels) < 2:
        options = _last_run([(m[1], m[2].strip(" ,;.")) for m in _INLINE.finditer(question)], "A")
    return options if len(options.labels) >= 2 else NO_OPTIONS


def numbered_options(question: str) -> Options:
    """The last run of options numbered from 1."""
    found = [(m[1] or m[2], m[3].strip()) for m in _NUMBERED.finditer(question)]
    options = _last_run(found, "1")
    return options if len(options.labels) >= 2 else NO_OPTIONS


def _last_run(found: list[tuple[str, str]], first: str) -> Options:
    labels = tuple(label for label, _ in found)
    if labels == _ALPHABET[: len(labels)]:
        # The usual case: one list, and nothing else that looks like one.
        return Options(labels, tuple(text for _, text in found))
    run: list[tuple[str, str]] = []
    best: list[tuple[str, str]] = []
    for label, text in found:
        if label == first:
            run = [(label, text)]
        elif run and label == _successor(run[-1][0]):
            run.append((label, text))
        else:
            run = []
        if len(run) >= 2:
            best = run
    return Options(tuple(label for label, _ in best), tuple(text for _, text in best))


def _successor(label: str) -> str:
    return str(int(label) + 1) if label.isdigit() else chr(ord(label) + 1)
