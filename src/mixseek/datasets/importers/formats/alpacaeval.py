"""Annotations of AlpacaEval, and the outputs that are to be annotated."""

from collections.abc import Iterator, Mapping
from typing import Any

from mixseek.datasets.importers.log_format import LogFormat, Notices, in_row, opening
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.grades import LoggedScore
from mixseek.datasets.importers.samples.question_names import digest_name
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.values import as_text
from mixseek.errors import DatasetError

# An annotation, and an output that has none yet.
_SIGNATURES = (
    in_row("output_1", "output_2", "instruction", "preference"),
    in_row("generator", "instruction", "output", "dataset"),
)


def read_alpaca_eval(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Model outputs have no annotation yet; instructions have no id that all files share, so their digest is it."""
    # Outputs of several models to one instruction are no repeats of one of them.
    column = "generator_2" if sniffed.has("output_2") else "generator"
    is_one = len({as_text(row.get(column)) for _, row in sniffed.rows([])}) == 1
    for number, row in sniffed.rows(notices):
        if "instruction" not in row:
            raise DatasetError(f"{sniffed.path}: item {number}: an AlpacaEval row without `instruction`")
        question = as_text(row["instruction"]) or ""
        metadata = {name: row[name] for name in ("dataset", "id") if row.get(name) is not None}
        if "output_2" not in row:
            yield LoggedSample(
                question_id=digest_name(question),
                question=question,
                response=as_text(row.get("output")),
                target_model=as_text(row.get("generator")),
                variant=None if is_one else as_text(row.get("generator")),
                metadata=metadata,
            )
            continue
        yield LoggedSample(
            question_id=digest_name(question),
            question=question,
            response=as_text(row["output_2"]),
            target_model=as_text(row.get("generator_2")),
            variant=None if is_one else as_text(row.get("generator_2")),
            scores={as_text(row.get("annotator")) or "annotator": preference_score(row)},
            metadata={**metadata, "opponent": row.get("generator_1"), "opponent_response": row.get("output_1")},
        )


def preference_score(row: Mapping[str, Any]) -> LoggedScore:
    """1 is the first, 2 the second, between them a degree, 1.5 a tie and 0 a tie in older files."""
    value, reason = row.get("preference"), as_text(row.get("raw_completion"))
    if not isinstance(value, int | float) or not (value == 0 or 1 <= value <= 2):
        return LoggedScore(value, reason=reason, problem="the annotator gave no preference that could be read")
    score = 0.5 if value == 0 else float(value) - 1
    return LoggedScore(value, score, None if score == 0.5 else score > 0.5, reason)


FORMAT = LogFormat("alpacaeval", "AlpacaEval annotations", _SIGNATURES, opening(read_alpaca_eval))
