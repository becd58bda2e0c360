"""What each model behind each endpoint understands: learnt from its refusals, remembered for the process."""

from dataclasses import replace

from mixseek.judges.endpoints import Target, WireFormat
from mixseek.judges.error_bodies import Refusal
from mixseek.judges.wire import Dialect, Wire

_TOKEN_PARAMETERS = ("max_tokens", "max_completion_tokens")
_SCHEMA_PARAMETERS = frozenset({"response_format", "output_config", "output_format"})


class DialectMemory:
    """Starts with the most that a wire format offers, and takes back what an endpoint refuses by name."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Dialect] = {}
        self._switched: set[tuple[str, str]] = set()

    def of(self, target: Target, wire: Wire) -> Dialect:
        """What is believed now."""
        known = self._known.get((target.base_url, target.model))
        return known or Dialect(wire.schema_modes()[0], target.limit_parameter)

    def learn(self, target: Target, wire: Wire, used: Dialect, refusal: Refusal) -> Dialect | None:
        """The dialect to try next after a 400 to a request in `used`; None when the refusal is about something else."""
        current = self.of(target, wire)
        if current != used:
            return current  # another call was refused first and has learnt already
        learnt = self._after(target, wire, used, refusal)
        if learnt is not None:
            self._known[target.base_url, target.model] = learnt
        return learnt

    def _after(self, target: Target, wire: Wire, used: Dialect, refusal: Refusal) -> Dialect | None:
        key = (target.base_url, target.model)
        has_two_names = target.wire is WireFormat.OPENAI and target.settings.max_tokens is not None
        if has_two_names and self._is_about_limit_parameter(used, refusal):
            if key in self._switched:
                return None  # refused both ways: the value is wrong, not the name
            self._switched.add(key)
            other = next(name for name in _TOKEN_PARAMETERS if name != used.limit_parameter)
            return replace(used, limit_parameter=other)
        if _SCHEMA_PARAMETERS & target.settings.body.keys():
            return None  # the user's own wish, sent as it stands whatever we would choose
        modes = wire.schema_modes()
        position = modes.index(used.schema)
        if refusal.names_schema and position + 1 < len(modes):
            return replace(used, schema=modes[position + 1])
        return None

    @staticmethod
    def _is_about_limit_parameter(used: Dialect, refusal: Refusal) -> bool:
        if refusal.is_context_overflow:
            return False
        if refusal.parameter in _TOKEN_PARAMETERS:
            return refusal.parameter == used.limit_parameter and "unsupported" in refusal.code + refusal.message.lower()
        other = next(name for name in _TOKEN_PARAMETERS if name != used.limit_parameter)
        words = refusal.message.lower()
        return used.limit_parameter in words and (other in words or "unsupported" in words or "unrecognized" in words)


PROCESS_MEMORY = DialectMemory()
