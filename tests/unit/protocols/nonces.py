"""What the fences of examined prompts are made of."""

import itertools
import re

from mixseek.domain.ports import Nonces

NONCE = "0123456789abcdef01234567"
QUESTION_NONCE = "89abcdef0123456701234567"
NONCES = Nonces(question=QUESTION_NONCE, sample=NONCE)


def sections_of(prompt: str) -> list[tuple[str, str, str]]:
    """Label, nonce and text of each section, in order."""
    return re.findall(r"^<<<(\w+) (\w+)>>>\n(.*?)\n<<<END \1 \2>>>$", prompt, re.MULTILINE | re.DOTALL)


def shared_beginning(first: str, second: str) -> str:
    """What a cache of prefixes could hold of both."""
    alike = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return "".join(letter for letter, _ in alike)
