"""What a provider says of a batch: an object without responses, which is told instead of taken for a row."""

from mixseek.datasets.importers.log_format import Log, LogFormat, in_row
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.errors import DatasetError

# What OpenAI says of a batch, and what Anthropic does.
_SIGNATURES = (in_row("input_file_id", "object"), in_row("type"))


def is_batch_object(sniffed: Sniffed) -> bool:
    is_openai = sniffed.first.get("object") == "batch" and sniffed.has("input_file_id")
    return is_openai or sniffed.first.get("type") == "message_batch"


def open_batch_object(sniffed: Sniffed) -> Log:
    raise DatasetError(f"{sniffed.path}: the description of a batch, which holds no responses; give its output file")


FORMAT = LogFormat("batch", "batch", _SIGNATURES, open_batch_object, is_batch_object)
