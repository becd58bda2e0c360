"""Pages that are made from the program itself: written, or with --check only compared."""

import difflib
from pathlib import Path


def write_or_compare(target: Path, page: str, arguments: list[str]) -> int:
    """The exit code: 0 when the file says what it should."""
    if "--check" not in arguments:
        target.write_text(page, encoding="utf-8")
        return 0
    before = target.read_text(encoding="utf-8") if target.exists() else ""
    if before == page:
        return 0
    print(f"{target.parent.name}/{target.name} is out of date; run `make docs`")
    print("\n".join(difflib.unified_diff(before.splitlines(), page.splitlines(), "before", "after", lineterm="")))
    return 1
