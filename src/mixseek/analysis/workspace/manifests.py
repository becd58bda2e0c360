"""What a manifest alone says of a run, for lists that open no run and count nothing."""

from pathlib import Path

from mixseek.storage.journal.manifest import Manifest


def is_panel(manifest: Manifest) -> bool:
    """Several judges, each of whom judges everything."""
    return len(manifest.judges) > 1 and not manifest.cascade


def dataset_name(manifest: Manifest) -> str:
    """The file's name without its directories: a report is sent to people who have others."""
    path = str(manifest.dataset.get("path", ""))
    return "stdin" if path == "-" else Path(path).name
