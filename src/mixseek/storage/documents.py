"""JSON files that people open as well: indented, and in UTF-8 whatever a text holds."""

import json
import re
from typing import Any

from mixseek.storage.journal.records import make_plain

_ESCAPE = re.compile(r"\\(?:([bfnrt])(?=[A-Za-z])|.)")
_SPELT = {"b": "\\u0008", "f": "\\u000c", "n": "\\u000a", "r": "\\u000d", "t": "\\u0009"}


def encode_document(document: Any) -> bytes:
    """Indented for people. A text that UTF-8 cannot hold is escaped, which every JSON reader understands."""
    plain = make_plain(document)
    try:
        return spell_out(json.dumps(plain, ensure_ascii=False, indent=2)).encode() + b"\n"
    except UnicodeEncodeError:
        return spell_out(json.dumps(plain, indent=2)).encode() + b"\n"


def spell_out(text: str) -> str:
    r"""`\u000a` where `\n` stands before a letter: `\nabla` would be read again as LaTeX."""
    return _ESCAPE.sub(lambda match: _SPELT[match[1]] if match[1] else match[0], text)
