"""A two-valued question with lettered options: "(B)" and "No" say the same."""

from dataclasses import dataclass

from mixseek.matching.reading import Reader, Reading


@dataclass(frozen=True, slots=True)
class EitherReader:
    """The first reader that finds a value; both know the same ground truth."""

    first: Reader
    second: Reader

    @property
    def kind(self) -> str:
        """Named after the first: the second is another writing of the same answer."""
        return self.first.kind

    @property
    def spans_lines(self) -> bool:
        """Neither letters nor polarities run over lines."""
        return False

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """What the first reads, else what the second reads."""
        return self.first.read(piece, firm=firm) or self.second.read(piece, firm=firm)

    def is_other(self, text: str, place: int) -> bool:
        """In either writing."""
        return self.first.is_other(text, place) or self.second.is_other(text, place)

    def is_absent(self, text: str) -> bool:
        """Absent only in both writings."""
        return self.first.is_absent(text) and self.second.is_absent(text)
