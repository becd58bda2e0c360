"""The tags and marks between which models reason before they answer.

They decide what rules read, so they stand here, where the digest of the rules sees them. The index asks for the same
patterns of millions of texts in SQL: they are written in what Python and RE2 read alike.
"""

import re

from mixseek.domain.response_states import ReasoningMarks

# Some families of models put a name of their own in front (<seed:think>) or say more in the tag.
REASONING_NAMES = ("think", "thinking", "thought", "reasoning", "scratchpad")
_BLOCKS = rf"(?:[a-z][\w.-]{{0,20}}:)?(?:{'|'.join(REASONING_NAMES)})"
REASONING_OPENS = rf"<({_BLOCKS})(?:\s[^<>\n]{{0,80}})?>"
REASONING_CLOSES = rf"</({_BLOCKS})\s?>"
# Marks of single families of models count as well; a channel that is not the final one is no answer.
MARKED_OPENS = r"(?:◁think▷|\[THINK\]|<\|begin_of_thought\|>|<\|channel\|>(?:analysis|commentary)\b)"
MARKED_CLOSES = r"(?:◁/think▷|\[/THINK\]|<\|end_of_thought\|>|<\|channel\|>final<\|message\|>)"
# The same channels where the tokens were lost on the way: "analysisWe need …assistantfinalThe answer is B".
BARE_FINAL = "assistantfinal"
BARE_OPENS = r"^analysis[A-Z][a-z']*\b"
# Tags in any case, the marks of single families as they write them.
_TAGGED_OPENS = rf"(?i:{REASONING_OPENS})|{MARKED_OPENS}"
_CLOSES = rf"(?i:{REASONING_CLOSES})|{MARKED_CLOSES}"
OPENS = rf"{_TAGGED_OPENS}|{BARE_OPENS}"
DONE = rf"(?s)^.*(?:{_CLOSES}|{BARE_FINAL})"
# What nobody closes goes to the end: to look for an end behind each of many openings would take the square of a text.
BLOCK = rf"(?s)(?:{_TAGGED_OPENS}).*?(?:{_CLOSES}|{BARE_FINAL}|$)"
REASONING_MARKS = ReasoningMarks(re.compile(OPENS), re.compile(DONE), re.compile(BLOCK))
