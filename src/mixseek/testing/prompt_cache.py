"""A cache of prompts' beginnings as OpenAI has one: by itself, from 1,024 tokens on, in steps of 128."""

import hashlib

from mixseek.testing.prompts import Prompt

_STEP_TOKENS, _LEAST_TOKENS = 128, 1_024
# As many as the mock counts for a token.
_CHARACTERS_PER_TOKEN = 4


class PromptCache:
    """Remembers all beginnings that ever came: nothing is forgotten, as if everything came within minutes."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()

    def take(self, prompt: Prompt) -> int:
        """How many tokens of it had come before; it is known from now on."""
        text = "\x1e".join(f"{role}\x1f{words}" for role, words in prompt.turns).encode("utf-8", "surrogatepass")
        step = _STEP_TOKENS * _CHARACTERS_PER_TOKEN
        digest, cached, is_known = hashlib.blake2b(prompt.model.encode(), digest_size=16), 0, True
        for end in range(step, len(text) + 1, step):
            digest.update(text[end - step : end])
            beginning = digest.digest()
            is_known = is_known and beginning in self._known
            cached = end // _CHARACTERS_PER_TOKEN if is_known else cached
            self._known.add(beginning)
        return cached if cached >= _LEAST_TOKENS else 0
