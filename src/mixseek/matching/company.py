"""What stands around an answer without being part of it: greetings, headings, sources, signatures, run-on questions.

A reader passes over these lines, whatever numbers and names they hold: they are blanked. Of a heading "# Answer" is
remembered that it announces what follows.
"""

import re

from mixseek.matching.phrases import Lexicon, Phrases, table
from mixseek.matching.stance.before import UNFRAMED
from mixseek.matching.stance.behind import last_judgement
from mixseek.matching.stance.ill_words import MATTER, NAME, is_elsewhere, is_ill_remark, shared_words
from mixseek.matching.stance.sentences import Setting
from mixseek.matching.stance.words import POLAR, Stance, split_words
from mixseek.matching.visible import Visible

_SAYS = Phrases("company")
_WORDS = table("company_words")
# A sentence of nothing but these words greets, thanks or announces.
_GREETING_WORDS = frozenset(_WORDS["greeting"].split())
# "Yes." is an answer; "Yes, I can help with that." is not.
_ANSWER_WORDS = frozenset(_WORDS["also_answers"].split())
_ASKING_WORDS = frozenset(_WORDS["asking"].split())
_SERVICE_WORDS = frozenset(_WORDS["service"].split())
_GREETING_STARTS = _GREETING_WORDS | _ASKING_WORDS
_WORD = re.compile(r"[a-z]+")
_PLAIN_SENTENCE = re.compile(r"[a-z\s,'*_#~-]+")
# One set of signs first: a search skips to the next of them.
_GREETING_END = re.compile(r"[.!:\n。](?:(?<=[\n。])|(?=\s|[^\x00-\x7f]|$))")
_LONGEST_GREETING = 120
_LONGEST_HEADING = 60
_MOST_SENTENCES = 4
# The lines of a signature and a few remarks; a list of sources counts once.
_MOST_LINES = 8
_LONGEST_LINE = 300
_SIGNATURE_LINES = 7
_REACH = 2_000
# Up to the end of the last sentence but one; without spaces between sentences, two more signs end one.
_BEFORE_LAST = re.compile(r".*(?:[.!?)*}] |。)", re.DOTALL)
_BEFORE_LAST_UNSPACED = re.compile(r".*(?:[.!?)*}] |[。!?])", re.DOTALL)
_BLOCKQUOTE = re.compile(r"^[ \t]*>+[ \t]?", re.MULTILINE)
_NOT_QUOTED = re.compile(r"^[ \t]*[^>\s]", re.MULTILINE)
_BOUND = re.compile(r"(?![12]\d{3}$)[-+$€£¥]?[\d.,]{1,20}\s{0,2}[%\w]{0,12}\.?")
# Where this is asked, "it is correct" may be the answer.
_ASKS_POLARITY = re.compile(r"\b(?:correct|right|true|false|valid|plausible|yes)\b|正し|正解|正确|对吗", re.IGNORECASE)
# Not the names of fields, which say that they hold the answer.
_WRAPPER = re.compile(
    r"\s*<(response|reply|assistant|message|content|completion|text|body|html|markdown|div|p|article|section)>",
    re.IGNORECASE,
)
# A base model that has answered goes on with a question of its own.
_RUN_ON = re.compile(
    r"\n[ \t]*(?:#{1,6}[ \t]*|\*\*)?"
    r"(?:(?:q(?:uestion)?|problem|exercise|問題|質問|问题|题目)\s*\d*|human|user|input|instruction)\s*(?:\*\*)?:"
)


def without_company(visible: Visible, question: str) -> Visible:
    """The visible text with its company blanked, and where its answer begins and a run-on question does."""
    text, lowered = visible.text, visible.lowered
    unwrapped = _unwrapped(text)
    if unwrapped is not text:
        text, lowered = unwrapped, unwrapped.lower()
    begin = len(text) - len(text.lstrip())
    # What a text begins with is no run-on, and without a colon behind a line break there is none.
    run_on = _RUN_ON.search(lowered, begin) if lowered.rfind(":") > lowered.find("\n", begin) >= 0 else None
    cut = len(text) if run_on is None else run_on.start()
    lead = _answer_start(lowered, cut)
    is_headed = bool(lead) and _SAYS.announces.search(lowered, 0, lead) is not None
    end = _answer_end(text, lowered, lead, question) if cut == len(text) else len(text)
    opening, aside = text[:lead].strip(), text[end:].strip()
    if lead or end < len(text):
        before, behind = " " * lead, " " * (len(text) - end)
        text, lowered = before + text[lead:end] + behind, before + lowered[lead:end] + behind
    return visible._replace(
        text=text, lowered=lowered, cut=cut, lead=lead, is_headed=is_headed, opening=opening, aside=aside
    )


def _unwrapped(text: str) -> str:
    """The text without the marks of a quotation that every line carries, and without one element around all of it."""
    first = text.lstrip()[:1]
    if first == "<" and (wrapper := _WRAPPER.match(text)) is not None:
        stripped, close = text.rstrip(), f"</{wrapper[1]}>"
        if stripped.lower().endswith(close.lower()):
            end = len(stripped) - len(close)
            text = " " * wrapper.end() + text[wrapper.end() : end] + " " * (len(text) - end)
    elif first == '"' and (stripped := text.strip())[-1] == '"' and stripped.count('"') == 2:
        text = text.replace('"', " ")
    # "> 5" alone may be a bound, and "> ]" are brackets.
    elif first == ">" and not _NOT_QUOTED.search(text) and any(map(str.isalnum, text)) and not _is_bound(text):
        text = _BLOCKQUOTE.sub(lambda match: " " * len(match[0]), text)
    return text


def _is_bound(text: str) -> bool:
    return _BOUND.fullmatch(text.strip(" \n\t>")) is not None


def _answer_start(lowered: str, end: int) -> int:
    """Where the response begins behind its greeting, its heading and the name of who speaks; 0 where it has none."""
    begin = place = len(lowered) - len(lowered.lstrip())
    for _ in range(_MOST_SENTENCES):
        finish = _opening_end(lowered, place, end)
        if finish is None or not lowered[finish:end].strip(_NO_CONTENT):
            break
        place = finish
        while lowered[place].isspace():
            place += 1
    return 0 if place == begin else place


def _rule_or_excuse(lowered: str, near: str, place: int, end: int) -> int | None:
    if near.startswith(_RULE_SIGNS) and (rule := _SAYS.rule_line.match(lowered, place, end)) is not None:
        return rule.end()
    if any(map(near.__contains__, _EXCUSES)) and (excuse := _SAYS.excuse.match(lowered, place, end)) is not None:
        return excuse.end()
    return None


_RULE_SIGNS = ("-", "*", "_", "=", "~", "#")
# Each excuse holds one of these.
_EXCUSES = ("sorry", "apolog", "excuse", "pardon", "forgive", "thank", "bear with", "appreciate")
_NO_CONTENT = " \n\t\r*_#:-=`\"'."


def _opening_end(lowered: str, place: int, end: int) -> int | None:
    line_end = lowered.find("\n", place, min(end, place + _LONGEST_LINE))
    if 0 <= line_end < place + _LONGEST_HEADING:
        heading = _SAYS.heading.match(lowered, place, min(end, place + _LONGEST_HEADING))
        if heading is not None:
            return heading.end()
    line = lowered[place:line_end] if line_end >= 0 else ""
    if ":" in line or "=" in line or "|" in line:  # a look, before the pattern is tried
        spoken = _SAYS.spoken_by.match(lowered, place, line_end)
        if spoken is not None:
            return spoken.end()
    if lowered.startswith(("my ", "the ", "a"), place) and (restart := _SAYS.restart.match(lowered, place, end)):
        return restart.end()
    near = lowered[place : place + _LONGEST_GREETING]
    if (aside := _rule_or_excuse(lowered, near, place, end)) is not None:
        return aside
    if near.isascii():
        first = _WORD.search(near)
        if first is None or first[0] not in _GREETING_STARTS:
            return None  # a look, before the sentence is read
    stop = _GREETING_END.search(lowered, place, min(end, place + _LONGEST_GREETING))
    if stop is None or (stop[0] == ":" and lowered[stop.end() : stop.end() + 1] not in {"\n", "\r"}):
        return None
    sentence = lowered[place : stop.start()]
    if _PLAIN_SENTENCE.fullmatch(sentence):
        words = set(_WORD.findall(sentence))
        if "asked" in words:
            words -= _ASKING_WORDS
        if (
            words
            and words <= _GREETING_WORDS
            and (words.isdisjoint(_ANSWER_WORDS) or not words.isdisjoint(_SERVICE_WORDS))
        ):
            return stop.end()
    elif (not sentence.isascii() and _SAYS.unspaced_excuse.match(lowered, place, stop.end())) or (
        not sentence.isascii() and _SAYS.unspaced_greeting.fullmatch(lowered, place, stop.end())
    ):
        return stop.end()
    return None


def _answer_end(text: str, lowered: str, start: int, question: str) -> int:
    """Where the response ends before its closing lines; the end of the text where it has none."""
    kept = len(lowered.rstrip())
    whole = kept
    for _ in range(_MOST_LINES):
        place = _closing_start(text, lowered, start, kept, question)
        rest = start if place is None else len(lowered[:place].rstrip())
        if rest <= start:
            break
        kept = rest
    return len(lowered) if kept == whole else kept


def _closing_start(text: str, lowered: str, start: int, end: int, question: str) -> int | None:
    """Where the last line, its last sentence or a list of sources begins, if that is no part of the answer."""
    line = max(start, lowered.rfind("\n", start, end) + 1, end - _LONGEST_LINE)
    line = end - len(lowered[line:end].lstrip())
    if (closing := _closing(lowered, line, end)) is not None:
        return line if _is_unasked(closing, question) else None
    if (block := _block_start(lowered, max(start, end - _REACH), line, end)) is not None:
        return block
    if line > start and _is_remark(text[line:end], question):
        return line
    if lowered[line:end].isascii():
        before = _BEFORE_LAST.match(lowered, line, end - 1)
    else:
        before = _BEFORE_LAST_UNSPACED.match(lowered, line, end - 1)
    if before is None or (closing := _closing(lowered, before.end(), end)) is None:
        return None
    return before.end() if _is_unasked(closing, question) else None


def _closing(lowered: str, start: int, end: int) -> re.Match[str] | None:
    """The line or sentence at [start, end), if it is a closing one; by its first words most are seen to be none."""
    words = _FIRST_WORDS.match(lowered, start, end)
    if words is not None and words[1] not in _CLOSING_WORDS and words[2] not in _SIGNING_WORDS:
        return None
    return _SAYS.closing.fullmatch(lowered, start, end)


def _is_remark(line: str, question: str) -> bool:
    """Whether a line of its own speaks of answering, gives no answer itself and takes none back."""
    if (
        len(line) > _LONGEST_REMARK
        or '"' in line
        or line[-1:] not in _STOPS
        or MATTER.search(line)
        or NAME.search(line)
    ):
        return False
    lowered = line.lower()
    words = split_words(lowered)
    is_offer = _OFFER.match(lowered) is not None
    if len(words) < _FEWEST_WORDS or not (is_offer or any(word in _REMARK for word in words)):
        return False
    if _GIVES.search(lowered) or shared_words(lowered, question):
        return False
    if is_offer or is_elsewhere(words):
        return True
    if _MAY_GIVE.search(lowered) or (not _POLAR.isdisjoint(words) and not _CONDITION.search(lowered)):
        return False
    if is_ill_remark(line, "", "text", is_own=True):
        return False
    text = f"\n{line}"
    return last_judgement(text, text.lower(), 0, len(text), Setting("text"), UNFRAMED) in {None, Stance.ASSERTED}


_STOPS = ".!)~"
_POLAR = POLAR - {"no", "not"}
_REMARK = Lexicon(_WORDS["remark"])
_LONGEST_REMARK = 200
_FEWEST_WORDS = 3
_CONDITION = re.compile(r"\b(?:if|let me know|feel free|please)\b")
_OFFER = re.compile(
    r"\W{0,4}(?:please |kindly |do |feel free to |just )*(?:correct|tell|let|ask|write|message|contact|ping)"
    r" (?:me|us|again)\b"
)
# What gives the answer itself, and what may do so unless it is known to be something else.
_GIVES = re.compile(r"\b(?:answers?|solutions?|results?|conclusions?)\b[^.]{0,40}\b(?:is|are|was|be)\b")
_MAY_GIVE = re.compile(
    r"\b(?:options?|choices?)\b[^.]{0,40}\b(?:is|are|was|be)\b|^\W{0,4}(?:yes|no|not)\b[,.!;:]"
    r"|^\W{0,4}(?:so|thus|hence|therefore|because|since|it|they|he|she|we|in)\b"
)
# Signs of ASCII but no dash, which may lead a signature, then two words.
_FIRST_WORDS = re.compile(r"(?=[!-,.-~])[!-/:-@\[-`{-~ ]*([a-z]++)(?!\w)(?:\s+([a-z]++))?")
_CLOSING_WORDS = frozenset(_WORDS["closing"].split())
_SIGNING_WORDS = frozenset(_WORDS["signing"].split())


def _block_start(lowered: str, reach: int, line: int, end: int) -> int | None:
    """Where a list of sources or a signature begins that ends with the last line; that stands below another line."""
    if lowered.find("\n", reach, end) < 0:
        return None
    if _SAYS.block_item.match(lowered, line, end) is None:
        if _SAYS.block_line.match(lowered, line, end) is None:
            return None
        # Only a list of sources is longer than these few lines, and it ends with an item.
        below = end
        for _ in range(_SIGNATURE_LINES):
            below = lowered.rfind("\n", reach, below)
            if below < 0:
                break
    else:
        below = -1
    block = _SAYS.block.match(lowered, 0, end) if reach == 0 else None
    block = block or _SAYS.block_below.search(lowered, max(reach, below), end)
    return None if block is None else block.start()


def _is_unasked(closing: re.Match[str], question: str) -> bool:
    """Whether the question does not ask for what the line is about: a confidence level may be the answer."""
    if closing["assured"] is not None:
        return _ASKS_POLARITY.search(question) is None
    label = closing["label"]
    return label is None or label not in question.lower()
