"""Whether the sentence around a value commits to it: conditions, suppositions, denials and questions do not."""

import re

from mixseek.matching.either import EitherReader
from mixseek.matching.number_answers import NumberReader
from mixseek.matching.option_letters import OptionReader
from mixseek.matching.outcome import Decision
from mixseek.matching.reading import Reader, Reading
from mixseek.matching.unanswered import breaks_off

# How far around a value its sentence is looked at.
_BEFORE = 240
_BEHIND = 90
_SENTENCE_STARTS = ("\n", ". ", "? ", "! ", "; ", '." ')
_SENTENCE_END = re.compile(r"[.!](?=[\s\"'*)]|$)|[;。\n]")
_UNSPACED_STARTS = "。!?;"

_PLAIN_LEADS = tuple(
    f"{mark}{lead}the answer is {bracket}"
    for lead in ("so ", "", "thus, ", "hence, ", "therefore, ")
    for bracket in ("", "(")
    for mark in (". ", "\n")
)
# Room behind a value for ")." and a line break.
_FULL_STOP = 4

# One search tells most sentences apart: without such a word nothing below can match.
_HINT_BEFORE = re.compile(
    r"\b(?:if|unless|only when|whenever|as long as|in case|in the event|on condition|under the ass|should|"
    r"whether|suppos|assum|imagine|pretend|provided|had|were|would have|not|never|cannot|no|"
    r"nobody|hardly|far|by|doubt|unclear|unsure|uncertain|wrong|mistake|incorrect|false|anything|think|say|said|believe|"
    r"claim|argue|guess|expect|conclude|thought|tempt|wish|alleges|incorrectly|to (?:show|prove|verify|check))|n't\b"
)
_HINT_BEHIND = re.compile(
    r"\biff?\b|\bunless\b|\bprovid|\bassuming\b|only when|whenever|in case|in the event|"
    r"on condition|otherwise|depend|wrong|incorrect|false|reject|mistaken|ruled|\?|not\b|n't\b",
)

# "if I remember well", "if I had to choose", "if you add them up": said with a condition's words, and meant.
_NO_CONDITION = (
    r"(?! needed| necessary| possible| any\b| so\b| forced| not (?:mistaken|wrong)| my memory| pressed|"
    r" (?:i|we|you|one)\b"
    r"(?!(?:'re| are| were| had(?! to)| assume| suppose| want| take| allow| ignore| include| exclude)\b))"
)
_CONDITION_WORDS = (
    r"only (?:if|when)|if and only if|iff?|unless|provided that|providing|assuming|in case|"
    r"in the event|on condition that|whenever|under the assumption"
)
# "(A) only if it rains", "18, provided that it rains"; not "(A) because if it rains …", "(A) even if it rains".
_CONDITION_BEHIND = re.compile(
    r"(?:(?!\b(?:because|since|so|which|where|who|while|even|regardless|but(?! only| it depends| that depends)|"
    r"see|know|ask\w*|wonder|decide|determine)\b)[^.!?;:\n])*?(?<!even )(?<!as )"
    rf"\b(?:{_CONDITION_WORDS}|otherwise|depend(?:s|ing) on|it depends)\b{_NO_CONDITION}"
)
_CONDITION_RIGHT_BEHIND = re.compile(rf"\W{{0,3}}(?:only )?\b(?:{_CONDITION_WORDS})\b{_NO_CONDITION}|,?(?:除非|前提是)")
_CONDITION_BEFORE = re.compile(
    r"(?<!even )(?<!as )(?<!matter )(?<!see )(?<!check )(?<!know )(?<!test )(?<!decide )(?<!verify )(?<!determine )"
    r"(?<!asked )"
    rf"\b(?:{_CONDITION_WORDS}|supposing|as long as)\b{_NO_CONDITION}"
    r"|\blet(?: u|')s say\b|^\W*(?:(?:so|now|but|and|then|first|next|let us|let's|let me|we|i|can|could)\b[\s,]*)*"
    r"(?:suppose|assume|imagine|pretend|provided|(?:had|were|should) (?:it|he|she|they|we|i|the|there))\b"
)
_STRONG_BEFORE = re.compile(
    r"\b(?:only if|only when|unless)\b|\bif\b.*\b(?:would|could|might)\b|\bhad\b.*\bwould have\b"
)
_NAMES_ANSWER = re.compile(r"\banswer\b|\bsolution\b|答|正解|[选選]")
# From there to the value: one clause, from which nothing is drawn.
_CLAUSE = r"(?:(?!\b(?:so|therefore|thus|hence|because|then|since|but)\b)[^,;:]){0,80}$"
# "whether the answer is", "not sure if the answer is"; "one might say", "my friend claims"; not "I would say".
_NOT_ASSERTED = re.compile(
    r"(?:(?<!of )(?<!matter )\bwhether|\bif (?:(?:the|my|our|this) )?(?:\w+ )?answer|\banything but"
    r"|\b(?:one|you|someone|somebody|some|some people|many|many people|people|others|students|they)\s+"
    r"(?:(?:might|may|could|would|will|often|also|have|initially|at first|be tempted to)\s+)*"
    r"(?:think|say|believe|claim|argue|guess|assume|suppose|expect|conclude|thought|said|believed|claimed|argued)"
    r"|\b(?:claims|claimed|argues|alleges|wish|tempting)|\bi (?:used to think|(?:first |initially )?thought)"
    r"|\b(?:wrongly|incorrectly|mistakenly|by no means|in no way)|\bsupposed to be"
    r"|\bsaid to be|\bto (?:show|prove|verify|check)|\banswer would have been)\b" + _CLAUSE
)
_DENIED_CLAUSE = re.compile(
    r"(?:\bnot|n't|\bcannot|\bnever|\bno(?! doubt| question)|\bnobody|\bhardly|(?<!no )(?<!without )(?<!a )\bdoubt\w*"
    r"|\bunclear|\bunsure|\buncertain|\bwrong|\bmistake\w*|\bincorrect|\bfalse)\s+(?:\w+\s+){0,2}?"
    r"(?:that|whether|if|think|say|saying|believe|conclude|claim|assume|suppose|know|mean|imply)\b" + _CLAUSE
)
_DENIED_VALUE = re.compile(
    r"(?:\bnot|n't|\bnever|\bcannot|\bhardly|\bno longer|\bfar from)\s+"
    r"(?:(?:be|have been|necessarily|actually|really|equal|to|the|an?|is|option|choice)\s+)*[\W_]*$"
)
_DENIED_BEHIND = re.compile(
    r"[\W_]*\b(?:is|was|are|would|can|could|must)(?: not|n't|not)\s+(?:be\s+)?"
    r"(?:(?:the|our|my|an?)\s+)?(?:\w+\s+)?(?:answer|option|choice|solution|correct|right)\b"
    r"|[\W_]*(?:which\s+)?\b(?:is|was|are|must be|would be)\s+(?:\w+ly\s+)?"
    r"(?:wrong|incorrect|false|rejected|mistaken|ruled out)\b"
)
_ASKS = re.compile(
    r"[\W_]*(?:(?:so|but|and|or|then|now|wait|hmm)\b[\s,]*)?"
    r"(?:is|are|was|could|can|might|may|would|should|does|do|did|will|what if|how about|what about|why|how|"
    r"maybe|perhaps)\b"
)
_HYPOTHETICAL = re.compile(r"\b(?:would|could|might)\b|\w'd\b")
_PAST = re.compile(r"(?:\s+\w+){0,3}?\s+(?:were|was|had|did|\w+ed)\b")
_QUESTION_MARK = re.compile(r"[^.!?\n]{0,30}\\?")

_UNSPACED_CONDITION = re.compile(
    r"もし|仮に|(?<!なぜ)なら(?:ば)?[,)]?(?:答え|正解|[\W_]*$)|ければ,?(?:答え|正解)|(?<!この)(?<!その)場合(?!分け)|限り,|限って|"
    r"如果|假如|假设|假設|倘若|要是|若(?!干)|只有|只要|除非|当且仅当|仅当|否则|(?<!这种)(?<!此)(?<!该)情况下"
)
_UNSPACED_STRONG = re.compile(r"場合(?:に限|のみ|だけ)|限り,|只有|除非|当且仅当|仅当")
_UNSPACED_DENIED = re.compile(
    r"不(?:认为|觉得|相信)|难道|怎么可能|不能(?:说|得出|认为|断定|确定|肯定)|(?:没有|无)(?:证据|理由)|是否(?:是|为|應|应)?[\W_]*$"
    r"|(?:有人|有些人|很多人|人们)[^,。]{0,4}(?:说|认为|觉得|以为)|可能会?(?:以为|认为|觉得|会说)"
    r"|(?:と言う人|という人|と思う人)"
)
_UNSPACED_DENIED_VALUE = re.compile(
    r"(?:不(?:会|可能|应该|應該|应|能|该)?是|并非|並非|并不是|绝不是|决不是|未必是|不一定是|不为|不等于|不要?选|不(?:应该|应|该|能)选)[\W_]*$"
)
_UNSPACED_NOT_BEHIND = re.compile(r"[^。!?\n,]{0,12}?(?:では|じゃ)(?:な[いくか]|ありません)|[^。!?\n,]{0,8}?でない")
_UNSPACED_BEHIND = re.compile(
    r"[^。!?\n,]{0,12}?(?:とは(?:限|言え|いえ|思え|考え)|かどうか|と(?:言う|いう|思う|考える|主張する)(?:人|かもしれ)"
    r"|でしょうか|だろうか|ですか|はず(?:が|は)(?:な|あり)|わけでは|は(?:答え|正解)では(?:な|あり)|だと(?:する|します|仮定)|と(?:する|仮定する)と|の場合も|吗|的结论)"
    r"|[^。!?\n]{0,10}?[,\s]*(?:除非|如果|前提是|否则|仅当|只有在|ただし.{0,12}場合に限|そうでなければ|さもなければ|\([^)\n]{0,20}場合(?:のみ|だけ|に限))"
    r"|[^。!?\n,]{0,6}?(?:\?|不是答案|不(?:正确|对)|是(?:错误|错|不对))"
)
_TOKEN = re.compile(r"[a-z]{4,}|\d+|[\u3040-\u9fff]{2}")
# So much of a condition must stand in the question for it to be the question's own.
_RESTATED_SHARE = 0.6
_FUNCTION_WORDS = frozenset({"were", "only", "then", "that", "this", "have", "they", "with", "from"})


def as_said(text: str, lowered: str, offset: int, reading: Reading, cut: int, reader: Reader) -> Reading:
    """What was read in a piece at `offset`, or an open reading where its sentence does not commit to it.

    Args:
        cut: where the response ends; a run-on question follows.
    """
    if cut - offset - reading.end < _FULL_STOP and lowered.endswith(_PLAIN_LEADS, 0, offset + reading.start):
        # Most responses end with these words and a value, and nothing in them can leave it open.
        return reading
    if reading.decision is Decision.UNDECIDED or reader.spans_lines:
        return reading
    if _commits(lowered, offset, reading, cut if offset < cut else len(text), reader):
        return reading
    if reading.decision is Decision.INCORRECT and (reader.is_absent(text) or breaks_off(text)):
        # Meant or not, the right answer was never given.
        return reading
    return Reading(Decision.UNDECIDED, reading.start, reading.end, "not_committed")


def commits_to_words(text: str, start: int, end: int) -> bool:
    """Whether words found at [start, end) of a lower-case text are said outright.

    Free text tells of conditions and claims ("If I Loved You", "which he claimed"): only those on an answer count.
    """
    begin, finish = _sentence(text, start, end, len(text))
    if _CONDITION_RIGHT_BEHIND.match(text, end, finish):
        return False
    if not _NAMES_ANSWER.search(text, begin, finish):
        return True
    return _commits(text, start, Reading(Decision.CORRECT, 0, end - start, "text"), len(text), None)


def _sentence(text: str, start: int, end: int, cut: int) -> tuple[int, int]:
    begin = max(0, start - _BEFORE)
    for mark in _SENTENCE_STARTS:
        begin = max(begin, text.rfind(mark, begin, start) + 1)
    stop = _SENTENCE_END.search(text, end, min(cut, end + _BEHIND))
    return begin, stop.start() if stop else min(cut, end + _BEHIND)


def _commits(text: str, offset: int, reading: Reading, cut: int, reader: Reader | None) -> bool:
    start, end = offset + reading.start, offset + reading.end
    begin, finish = _sentence(text, start, end, cut)
    # A polarity takes its negation in: "cannot say that the answer is yes" is one reading.
    kind, value = reader.kind if reader else "text", start
    if reading.rule.startswith("boolean"):
        kind, value = "boolean", end
    if _HINT_BEFORE.search(text, begin, value) and not _commits_before(text[begin:value], kind, reader):
        return False
    if _HINT_BEHIND.search(text, end, finish) and not _commits_behind(text, begin, start, end, finish, kind, reader):
        return False
    if text.isascii():
        return True
    for mark in _UNSPACED_STARTS:
        begin = max(begin, text.rfind(mark, begin, start) + 1)
    behind = start if kind == "boolean" and _NAMES_ANSWER.search(text, begin, start) else end
    return _commits_unspaced(text[begin:start], text[behind:finish], kind, reader)


def _commits_before(before: str, kind: str, reader: Reader | None) -> bool:
    names_answer = _NAMES_ANSWER.search(before) is not None
    condition = _CONDITION_BEFORE.search(before)
    if condition and (names_answer or kind != "number" or _STRONG_BEFORE.search(before)):
        clause = before[condition.end() :].partition(",")[0]
        if not _is_restated(clause, reader):
            return False
    if kind == "boolean":
        return not names_answer or not (_NOT_ASSERTED.search(before) or _DENIED_CLAUSE.search(before))
    return not (_NOT_ASSERTED.search(before) or _DENIED_CLAUSE.search(before) or _DENIED_VALUE.search(before))


def _commits_behind(text: str, begin: int, start: int, end: int, finish: int, kind: str, reader: Reader | None) -> bool:
    if _DENIED_BEHIND.match(text, end, finish):
        return False
    if _QUESTION_MARK.match(text, end, finish) and _ASKS.match(text, begin, start):
        return False
    condition = _CONDITION_BEHIND.match(text, end, finish)
    if condition is None:
        return True
    if kind == "number" and condition[0].endswith((" if", ",if")) and not condition[0].endswith("only if"):
        around = text[begin:start] + text[end : condition.end()]
        # "She makes a profit of 18 if she sells them all" says what the number is of; "18 if they are sold" does not.
        if (
            any(map(str.isalpha, text[begin:start]))
            and not _NAMES_ANSWER.search(around)
            and not (_HYPOTHETICAL.search(around) and _PAST.match(text, condition.end(), finish))
        ):
            return True
    return _is_restated(text[condition.end() : finish], reader)


def _commits_unspaced(before: str, behind: str, kind: str, reader: Reader | None) -> bool:
    condition = _UNSPACED_CONDITION.search(before)
    if condition and (kind != "number" or _NAMES_ANSWER.search(before) or _UNSPACED_STRONG.search(before)):
        clause = (
            before[: condition.start()].rpartition(",")[2] if condition[0][0] in "な場限" else before[condition.end() :]
        )
        if not _is_restated(clause.partition(",")[0], reader):
            return False
    if _UNSPACED_DENIED.search(before) or _UNSPACED_BEHIND.match(behind):
        return False
    return kind == "boolean" or not (_UNSPACED_DENIED_VALUE.search(before) or _UNSPACED_NOT_BEHIND.match(behind))


def _is_restated(clause: str, reader: Reader | None) -> bool:
    """Whether a condition is the question's own: "if all the algae die" of "What if all the algae died?"."""
    words = [word for word in _TOKEN.findall(clause) if word not in _FUNCTION_WORDS]
    asked = _question(reader).lower()
    return bool(words) and sum(word[:5] in asked for word in words) >= _RESTATED_SHARE * len(words)


def _question(reader: Reader | None) -> str:
    if isinstance(reader, EitherReader):
        reader = reader.first
    return reader.question if isinstance(reader, OptionReader | NumberReader) else ""
