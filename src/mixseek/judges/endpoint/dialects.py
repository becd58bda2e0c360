"""What each model behind each endpoint understands: learnt from its refusals, remembered for the process."""

from mixseek.judges.endpoint.address import Target
from mixseek.judges.endpoint.answers import Dialect
from mixseek.judges.endpoint.anthropic_messages import AnthropicMessages
from mixseek.judges.endpoint.decisions import OpenAIDecisions, SystemOne
from mixseek.judges.endpoint.gemini_content import GeminiContent
from mixseek.judges.endpoint.openai_chat import OpenAIChat
from mixseek.judges.endpoint.refusals import Refusal
from mixseek.settings.models import WireFormat

# What requests go out and answers come in as.
Wire = OpenAIChat | AnthropicMessages | GeminiContent | OpenAIDecisions | SystemOne
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_SCHEMA_PARAMETERS = frozenset({"response_format", "output_config", "output_format"})


# What a dialect is known by: two interfaces of one host have one each.
_Key = tuple[str, str, WireFormat]


def _key_of(target: Target) -> _Key:
    return target.base_url, target.model, target.wire


class DialectMemory:
    """Starts with the most that a wire format offers, and takes back what an endpoint refuses by name."""

    def __init__(self) -> None:
        self._known: dict[_Key, Dialect] = {}
        self._switched: set[_Key] = set()
        self._lowered: set[_Key] = set()

    def of(self, target: Target, wire: Wire) -> Dialect:
        """What is believed now."""
        known = self._known.get(_key_of(target))
        return known or Dialect(wire.schema_modes[0], target.limit_parameter, target.marks_prefix)

    def learn(self, target: Target, wire: Wire, used: Dialect, refusal: Refusal) -> Dialect | None:
        """The dialect to try next after a 400 to a request in `used`; None when the refusal is about something else."""
        current = self.of(target, wire)
        if current != used:
            return current  # another call was refused first and has learnt already
        key = _key_of(target)
        if used.marks_prefix and refusal.is_about("prompt_cache"):
            self._known[key] = used._replace(marks_prefix=False)
            return self._known[key]
        if refusal.names_logprobs and (most := min(target.top_logprobs, used.most_logprobs)):
            return self._learn_logprobs(key, used, refusal, most)
        has_two_names = target.wire is WireFormat.OPENAI and target.settings.max_tokens is not None
        if has_two_names and _is_about_limit_parameter(used.limit_parameter, refusal):
            if key in self._switched:
                return None  # refused both ways: the value is wrong, not the name
            self._switched.add(key)
            learnt = used._replace(limit_parameter=_OTHER_NAME[used.limit_parameter])
        else:
            later = wire.schema_modes[wire.schema_modes.index(used.schema) + 1 :]
            # What the user's own body says is sent as it stands, whatever we would choose.
            is_ours = not _SCHEMA_PARAMETERS & target.settings.body.keys()
            if not (is_ours and later and refusal.names_schema):
                return None
            learnt = used._replace(schema=later[0])
        self._known[key] = learnt
        return learnt

    def forget_logprobs(self, target: Target, wire: Wire) -> None:
        """An answer came without any."""
        self._known[_key_of(target)] = self.of(target, wire)._replace(most_logprobs=0)

    def _learn_logprobs(self, key: _Key, used: Dialect, refusal: Refusal, most: int) -> Dialect:
        """The number that the refusal allows, once; none after that, and where it names none."""
        allowed = refusal.allowed_logprobs
        is_lower = allowed is not None and 0 < allowed < most and key not in self._lowered
        self._lowered.add(key)
        self._known[key] = used._replace(most_logprobs=allowed if is_lower and allowed else 0)
        return self._known[key]


def _is_about_limit_parameter(name: str, refusal: Refusal) -> bool:
    words = refusal.message.lower()
    if refusal.is_about("context_overflow"):
        return False
    if refusal.parameter in _OTHER_NAME:
        return refusal.parameter == name and "unsupported" in refusal.code + words
    return name in words and any(reason in words for reason in (_OTHER_NAME[name], "unsupported", "unrecognized"))


PROCESS_MEMORY = DialectMemory()
