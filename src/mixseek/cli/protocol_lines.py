"""What a lint found, for programs and for people."""

from typing import Any

from mixseek.composition.protocol_files import Lint


def lint_document(lint: Lint) -> dict[str, Any]:
    """Everything, hints included."""
    return {
        "files": list(lint.files),
        "problems": len(lint.problems),
        "complaints": [
            {
                "file": complaint.where,
                "line": complaint.line,
                "what": complaint.what,
                "advice": complaint.advice,
                "is_hint": complaint.is_hint,
            }
            for complaint in lint.complaints
        ],
    }


def lint_summary(lint: Lint) -> str:
    """The last line."""
    problems, hints = len(lint.problems), len(lint.complaints) - len(lint.problems)
    said = "no problem" if problems == 0 else f"{problems} problem{'s' if problems > 1 else ''}"
    if hints:
        said += f" and {hints} hint{'s' if hints > 1 else ''}"
    return f"mixseek: {said} in {len(lint.files)} file{'s' if len(lint.files) > 1 else ''}"
