"""JSON for programs: one document, keys in a stable order, text readable as it is."""

import json
import sys
from typing import Any

from mixseek.cli.streams import print_result


def print_json(document: Any) -> None:
    """One line for programs, which may read line by line; indented for a person who looks at it on a terminal."""
    indent = 2 if sys.stdout.isatty() else None
    # NaN has no place in JSON: refused here rather than read elsewhere.
    print_result(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent))
