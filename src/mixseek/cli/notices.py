"""Sentences for a person on stderr, or the same as JSON lines for a program that collects logs."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

from mixseek.cli.streams import print_notice

Notify = Callable[[str], None]


def make_notifier(*, as_json: bool) -> Notify:
    """One line for each sentence."""
    return notify_json if as_json else notify_plainly


def notify_plainly(text: str) -> None:
    """Named, because several programs may write to one terminal."""
    print_notice(f"mixseek: {text}")


def notify_json(text: str) -> None:
    """When, who, what."""
    time = datetime.now(UTC).isoformat(timespec="milliseconds")
    print_notice(json.dumps({"time": time, "logger": "mixseek", "message": text}, ensure_ascii=False))
