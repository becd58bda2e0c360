"""Tables of `inputs` and `outputs`, which any tool may write."""

from collections.abc import Iterator

from mixseek.datasets.importers.log_format import LogFormat, Notices, in_row, opening
from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.answers import Answer, answered, read_answer
from mixseek.datasets.importers.samples.columns import below, common_fields
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import question_text, target_texts
from mixseek.datasets.importers.samples.values import as_text

_SIGNATURES = (in_row("outputs", "inputs"), in_row("outputs.", "inputs."))


def read_inputs(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Each may be a text, an object, the text of one, or columns such as `inputs.question`."""
    for number, row in sniffed.rows(notices):
        inputs = read_cell(row["inputs"]) if "inputs" in row else below(row, "inputs.")
        answer = read_cell(row.get("outputs")) if "outputs" in row else below(row, "outputs.") or None
        fields = common_fields(row, number, ("inputs", "outputs"))
        if not fields["targets"]:
            fields["targets"] = target_texts(below(row, "reference.") or below(row, "expectations.") or None)
        error = as_text(row.get("error")) or None
        yield LoggedSample(
            question=question_text(inputs),
            **answered(Answer(None) if error is not None else read_answer(answer)),
            error=error,
            **fields,
        )


FORMAT = LogFormat("inputs_outputs", "table of inputs and outputs", _SIGNATURES, opening(read_inputs))
