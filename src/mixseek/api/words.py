"""Messages as a Python program reads them: what the command line calls `--max-cost 2` is `max_cost=2` here.

Messages are written once, for the command line, because most people meet them there; this is the one place where they
are put into the words of the other caller.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from mixseek.errors import MixseekError

# Options that have another name as a keyword.
_RENAMED = {"to": "path", "out": "path", "rater": "judge", "takes": "repeats", "tier": "tiers", "price": "prices"}
# Those that are switched on by being there, and one that is switched off.
_SWITCHES = ("cascade", "keep_going", "retry_refused", "retry_invalid", "bundles", "allow_outside_files")
# Those whose value is a word of its own; of others only what cannot be the sentence's next word is the value.
_WORDED = {
    "protocol": "semantic|pairwise|cross|rubric|trajectory|grounded",
    "panel": "majority|unanimous|median|mean",
    "language": "en|ja|zh",
    "on": "ray",
    "gate-on": "point|lower",
    "kind": "run|competition",
    "pairs": "all",
    "takes": "first|mean",
    "judge": "rules|replay",
}
# A command line in a message is to be typed into a shell, and stays as it is.
_SHELL = r"`[^`\n]*`|\bmixseek [a-z]+(?: [\w{}'./-]{1,99}){0,6}(?: --[a-z-]{1,40}(?:[ =](?!--)[^\s,;)]{1,999})?)+"
_PLAIN_VALUE = r"[\w.:/#@-]*[A-Z\d:/#][\w.:/#@=-]*|'[^'\n]*'"
_MAPPED = re.compile(r"--map (\w+)=(\w+)((?: --map \w+=\w+)*)")
_PARAMETER = re.compile(r"--parameter ([\w.]+)=(\w+)")
_MORE_MAPPED = re.compile(r" --map (\w+)=(\w+)")
_JUDGES = re.compile(rf"(--cascade )?--judge ({_PLAIN_VALUE}|rules)((?: --judge (?:{_PLAIN_VALUE}))+)")
_MORE_JUDGES = re.compile(rf" --judge ({_PLAIN_VALUE})")
_FLAG = re.compile(
    rf"--(?P<name>[a-z](?:[a-z-]*[a-z])?)\b(?!_)(?: (?P<value>{_PLAIN_VALUE})(?<![.:])| (?P<word>[a-z]+))?"
)
_SHELL_OR_NOT = re.compile(rf"({_SHELL})")
_COMMANDS = (
    ("run the same command again", "make the same call again"),
    ("run the same command", "make the same call"),
    ("the same command", "the same call"),
    ("this command", "this call"),
)


@contextmanager
def in_python_words(judge: str = "judges") -> Iterator[None]:
    """Errors that leave the block say nothing of the command line; also a decorator of functions that are not async.

    `judge` is the keyword that stands for `--judge`.
    """
    try:
        yield
    except MixseekError as error:
        error.args = (without_flags(str(error), judge), *error.args[1:])
        raise


def without_flags(message: str, judge: str = "judges") -> str:
    """The same sentence with keywords for options, and calls for commands.

    >>> without_flags("nothing valid; run the same command again, with --max-cost 2 or --retry-invalid")
    'nothing valid; make the same call again, with max_cost=2 or retry_invalid=True'
    >>> without_flags("name its column with --map ground_truth=COLUMN (`mixseek judge --help`)")
    'name its column with mapping={"ground_truth": "COLUMN"} (`mixseek judge --help`)'
    """
    if "--" not in message and "command" not in message:
        return message
    parts = _SHELL_OR_NOT.split(message)
    return "".join(part if place % 2 else _reworded(part, judge) for place, part in enumerate(parts))


def _reworded(text: str, judge: str) -> str:
    for command, call in _COMMANDS:
        text = text.replace(command, call).replace(command.capitalize(), call.capitalize())
    text = _MAPPED.sub(_as_mapping, text)
    text = _PARAMETER.sub(_as_parameters, text)
    text = _JUDGES.sub(_as_list, text)
    return _FLAG.sub(lambda match: _as_keyword(match, judge), text)


def _as_mapping(match: re.Match[str]) -> str:
    pairs = [(match[1], match[2]), *_MORE_MAPPED.findall(match[3])]
    return "mapping={" + ", ".join(f'"{field}": "{column}"' for field, column in pairs) + "}"


def _as_parameters(match: re.Match[str]) -> str:
    *tables, name = match[1].split(".")
    opened = "".join(f'{{"{table}": ' for table in tables)
    return f'parameters={opened}{{"{name}": "{match[2]}"}}' + "}" * len(tables)


def _as_list(match: re.Match[str]) -> str:
    judges = ", ".join(f'"{judge}"' for judge in (match[2], *_MORE_JUDGES.findall(match[3])))
    return f"judges=[{judges}]" + (", cascade=True" if match[1] else "")


def _as_keyword(match: re.Match[str], judge: str) -> str:
    flag, value, word = match["name"], match["value"], match["word"]
    name = {"judge": judge, "map": "mapping", **_RENAMED}.get(flag, flag.replace("-", "_"))
    if value is not None:
        is_plain = re.fullmatch(r"[\d.]+", value) or value.startswith("'")
        return f"{name}={value}" if is_plain else f'{name}="{value}"'
    if word is not None and re.fullmatch(_WORDED.get(flag, ""), word):
        return f'{name}="{word}"'
    keyword = "cache=False" if flag == "no-cache" else f"{name}=True" if name in _SWITCHES else name
    return keyword if word is None else f"{keyword} {word}"
