"""JSON for programs: one document, keys in a stable order, text readable as it is."""

import json
from typing import Any

from mixseek.cli.streams import print_result


def print_json(document: Any) -> None:
    """NaN has no place in JSON, so it is refused here rather than read elsewhere."""
    print_result(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2))
