"""Whether a reply is no judgment: a refusal, an error page, or prose about something else."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mixseek.settings.text_files import parse_toml

# A refusal opens the reply; further on, the words are as likely to be about the judged response.
OPENING_LENGTH = 400
# How a text ends that was not cut off, quotes and brackets aside.
_SENTENCE_END = re.compile(r"[.!?。！？…][\s\"'”’」』）)*_`]{0,20}\Z")
# Of prose, its first and last words: where a mark stands that is nothing but a word.
_EDGE = 100
_MOST_READ = 8_000
_LETTER = re.compile(r"[^\W\d_]")


class ReplyPhrases(NamedTuple):
    """What `reply_phrases.toml` says, compiled."""

    refusals: tuple[re.Pattern[str], ...]
    gives_score: re.Pattern[str]
    quoted: re.Pattern[str]
    judges: re.Pattern[str]
    marks_at_edge: re.Pattern[str]
    begun: re.Pattern[str]
    endpoint_error: re.Pattern[str]


@cache
def reply_phrases() -> ReplyPhrases:
    """Compiled when the first reply is no object: hardly any run meets one, and a report never does."""
    phrases = parse_toml((Path(__file__).parent / "reply_phrases.toml").read_text(encoding="utf-8"))
    refusals, judging, errors = phrases["refusals"], phrases["judging"], phrases["endpoint_errors"]["patterns"]
    return ReplyPhrases(
        refusals=tuple(
            re.compile(
                re.sub(r"<([A-Z_]+)>", lambda part: phrases["parts"][part[1]], pattern), re.IGNORECASE | re.DOTALL
            )
            for pattern in refusals["patterns"]
        ),
        gives_score=re.compile(refusals["gives_score"], re.IGNORECASE),
        quoted=re.compile(refusals["quoted"]),
        judges=re.compile("|".join(judging["anywhere"]), re.IGNORECASE | re.MULTILINE),
        marks_at_edge=re.compile("|".join(judging["at_the_edge"]), re.IGNORECASE),
        begun=re.compile("|".join(judging["begun"]), re.IGNORECASE),
        endpoint_error=re.compile(rf"\A\W{{0,200}}(?:{'|'.join(errors)})", re.IGNORECASE),
    )


def is_endpoint_error(text: str) -> bool:
    """A gateway's words in the place of a reply."""
    return reply_phrases().endpoint_error.match(text.strip()[:OPENING_LENGTH]) is not None


def is_refusal(text: str) -> bool:
    """The judge declines, in English, Japanese or Chinese."""
    phrases = reply_phrases()
    opening = phrases.quoted.sub("", text.strip().strip('"“”「」')[:OPENING_LENGTH])
    return phrases.gives_score.search(opening) is None and any(pattern.search(opening) for pattern in phrases.refusals)


# How the objection to a reply begins that is about something else.
UNRELATED = "not about the judged text, and without a mark for it"


def is_unrelated(text: str) -> bool:
    """Plain prose that neither names what was to be judged nor gives it any mark, in whatever words or figures.

    Only prose: what looks like data is a broken reply, and what gives a verdict in words has another fault.
    """
    phrases = reply_phrases()
    # A longer text says in its beginning or in its end what it is about.
    parts = (text,) if len(text) <= 2 * _MOST_READ else (text[:_MOST_READ], text[-_MOST_READ:])
    if text[0] in "{[<`|｛" or not any(map(_LETTER.search, parts)) or any(map(phrases.judges.search, parts)):
        return False
    edges = (text[:_EDGE], text[-_EDGE:])
    if _SENTENCE_END.search(text[-_EDGE:]) is None and any(map(phrases.begun.search, edges)):
        return False
    return not any(map(phrases.marks_at_edge.search, edges))
