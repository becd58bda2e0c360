"""Keys where others may have put them: masked in all that is written down."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote as quote_url

from mixseek.judges.keys.secret import MASK, MIN_SECRET_LENGTH, Secret

# How endpoints echo a key that they masked themselves: its ends still belong to nobody else. Begins where a word does,
# or every letter of a long one would begin another look at all of it.
_MASKED_ECHO = re.compile(r"(?<![\w-])[\w-]*+\*{3,}+[\w*-]*+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+|\s{2,}")
_WORD_AT_END = re.compile(r"(?<![\w*-])[\w*-]++\Z")
# More than anybody reads of a message, so that what is masked in it makes room for no half of a key.
_LOOKED_AT = 4


class Redaction:
    """Masks known secrets in what others wrote, in every spelling in which an endpoint might echo them."""

    __slots__ = ("_escaped", "_texts")

    def __init__(self, secrets: Iterable[Secret]) -> None:
        spellings: set[str] = set()
        values: set[str] = set()
        for secret in secrets:
            value = secret.reveal()
            if len(value) >= MIN_SECRET_LENGTH:
                values.add(value)
                spellings |= {value, quote_url(value, safe=""), json.dumps(value)[1:-1], value.replace("/", "\\/")}
        # The longest first, so that no spelling is cut in two by a shorter one.
        self._texts = sorted(spellings, key=len, reverse=True)
        longest_first = sorted(values, key=len, reverse=True)
        self._escaped = re.compile("|".join(map(_any_escape, longest_first))) if values else None

    def __repr__(self) -> str:
        return f"Redaction({len(self._texts)} spellings)"

    def reply(self, text: str) -> str:
        """Masks a reply: only what is a secret, once decoded, is touched; everything else stays as it was."""
        for spelling in self._texts:
            text = text.replace(spelling, MASK)
        # JSON in JSON: what reads the reply would decode the key that stands escaped in it.
        if self._escaped is not None and ("\\u" in text or "\\x" in text or "%" in text):
            text = self._escaped.sub(MASK, text)
        return text

    def document(self, value: Any) -> Any:
        """The same, of all texts of a decoded document, names too."""
        if isinstance(value, str):
            return self.reply(value)
        if value is None:
            return None
        if isinstance(value, Mapping):
            return {self.document(name): self.document(part) for name, part in value.items()}
        return [self.document(part) for part in value] if isinstance(value, list | tuple) else value

    def line(self, text: str, limit: int = 300) -> str:
        """One printable line without secrets, and without keys that an endpoint masked in its own way.

        Known secrets are looked for in all of it, which takes no time, and the rest in what may be shown: a body of
        megabytes is read by nobody.
        """
        text = self.reply(text)
        most = _LOOKED_AT * limit
        is_cut = len(text) > most
        line = _CONTROLS.sub(" ", _MASKED_ECHO.sub(MASK, text[:most])).strip()
        if is_cut and len(line) < limit:
            # It was cut inside this word, which may be the beginning of a key whose end was masked.
            line = _WORD_AT_END.sub("", line) + "…"
        line = line.encode("utf-8", "replace").decode()
        return line if len(line) <= limit else line[: limit - 1] + "…"


def _any_escape(value: str) -> str:
    """Each character as it is, or escaped as in JSON or an address, once or inside a text that is escaped itself."""
    spelt = ((re.escape(letter), f"{ord(letter):02x}") for letter in value)
    return "".join(rf"(?:\\{{0,8}}{plain}|\\{{1,8}}(?i:u00{code}|x{code})|(?i:%{code}))" for plain, code in spelt)
