"""Values of a log as what they should be: objects, lists of objects, texts."""

import json
import math
from collections.abc import Mapping
from typing import Any

import orjson


def as_rows(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; nothing where it is none."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def as_table(value: Any) -> Mapping[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_text(value: Any) -> str | None:
    """Text as it is, other values as JSON has them; booleans as people write them in a ground truth."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return None if isinstance(value, float) and not math.isfinite(value) else str(value)
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        return json.dumps(value, ensure_ascii=False, default=str)
