"""Whether a reply is no judgment: a refusal, an error page, or prose about something else."""

import re
from pathlib import Path

from mixseek.settings.text_files import parse_toml

# A refusal opens the reply; further on, the words are as likely to be about the judged response.
OPENING_LENGTH = 400
_PHRASES = parse_toml((Path(__file__).parent / "reply_phrases.toml").read_text(encoding="utf-8"))
_REFUSALS = tuple(
    re.compile(re.sub(r"<([A-Z_]+)>", lambda part: _PHRASES["parts"][part[1]], pattern), re.IGNORECASE | re.DOTALL)
    for pattern in _PHRASES["refusals"]["patterns"]
)
_GIVES_SCORE = re.compile(_PHRASES["refusals"]["gives_score"], re.IGNORECASE)
_QUOTED = re.compile(_PHRASES["refusals"]["quoted"])
_JUDGES = re.compile("|".join(_PHRASES["judging"]["anywhere"]), re.IGNORECASE | re.MULTILINE)
_MARKS_AT_EDGE = re.compile("|".join(_PHRASES["judging"]["at_the_edge"]), re.IGNORECASE)
_BEGUN = re.compile("|".join(_PHRASES["judging"]["begun"]), re.IGNORECASE)
# How a text ends that was not cut off, quotes and brackets aside.
_SENTENCE_END = re.compile(r"[.!?。！？…][\s\"'”’」』）)*_`]{0,20}\Z")
# Of prose, its first and last words: where a mark stands that is nothing but a word.
_EDGE = 100
_MOST_READ = 8_000
_LETTER = re.compile(r"[^\W\d_]")
ENDPOINT_ERROR = re.compile(rf"\A\W{{0,200}}(?:{'|'.join(_PHRASES['endpoint_errors']['patterns'])})", re.IGNORECASE)


def is_refusal(text: str) -> bool:
    """The judge declines, in English, Japanese or Chinese."""
    opening = _QUOTED.sub("", text.strip().strip('"“”「」')[:OPENING_LENGTH])
    return _GIVES_SCORE.search(opening) is None and any(pattern.search(opening) for pattern in _REFUSALS)


# How the objection to a reply begins that is about something else.
UNRELATED = "not about the judged text, and without a mark for it"


def is_unrelated(text: str) -> bool:
    """Plain prose that neither names what was to be judged nor gives it any mark, in whatever words or figures.

    Only prose: what looks like data is a broken reply, and what gives a verdict in words has another fault.
    """
    # A longer text says in its beginning or in its end what it is about.
    parts = (text,) if len(text) <= 2 * _MOST_READ else (text[:_MOST_READ], text[-_MOST_READ:])
    if text[0] in "{[<`|｛" or not any(map(_LETTER.search, parts)) or any(map(_JUDGES.search, parts)):
        return False
    edges = (text[:_EDGE], text[-_EDGE:])
    if _SENTENCE_END.search(text[-_EDGE:]) is None and any(map(_BEGUN.search, edges)):
        return False
    return not any(map(_MARKS_AT_EDGE.search, edges))
