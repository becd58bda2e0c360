"""Words of a command line that stand for others."""

from collections.abc import Sequence

_CASCADE, _CASCADE_FILE, _ENDING = "--cascade", "--cascade-file", ".toml"


def expand(command: str, words: Sequence[str]) -> list[str]:
    """The words as the options have them: `--cascade FILE.toml` names a file, `--cascade` alone is a switch."""
    if command != "judge":
        return list(words)
    expanded = list(words)
    end = expanded.index("--") if "--" in expanded else len(expanded)
    for place, word in enumerate(expanded[:end]):
        name, equals, value = word.partition("=")
        following = expanded[place + 1] if place + 1 < end else ""
        if name == _CASCADE and (equals or following.endswith(_ENDING)):
            expanded[place] = f"{_CASCADE_FILE}{equals}{value}"
    return expanded
