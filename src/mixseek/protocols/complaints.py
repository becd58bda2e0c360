"""What a lint says about a file: one place, one sentence, one thing to do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Complaint:
    """One problem in one file; `line` counts from 1, and is None where the whole file is meant.

    A hint is worth knowing and may be meant so; only problems make a lint fail. `advice` is empty where the problem
    says all there is to say.
    """

    where: str
    line: int | None
    what: str
    advice: str
    is_hint: bool = False

    def __str__(self) -> str:
        place = self.where if self.line is None else f"{self.where}:{self.line}"
        said = "; ".join(part for part in (self.what, self.advice) if part)
        return f"{place}: {'hint: ' if self.is_hint else ''}{said}"
