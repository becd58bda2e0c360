"""The tags between which models reason before they answer.

They decide what rules read, so they stand here, where the digest of the rules sees them. The index asks for the same
patterns of millions of texts in SQL: they are written in what Python and RE2 read alike.
"""

# Some families of models put a name of their own in front (<seed:think>) or say more in the tag.
REASONING_NAMES = ("think", "thinking", "thought", "reasoning", "scratchpad")
_BLOCKS = rf"(?:[a-z][\w.-]{{0,20}}:)?(?:{'|'.join(REASONING_NAMES)})"
REASONING_OPENS = rf"<({_BLOCKS})(?:\s[^<>\n]{{0,80}})?>"
REASONING_CLOSES = rf"</({_BLOCKS})\s?>"
