"""Which workspace a command works in."""

from pathlib import Path


def workspace_path(given: Path | None) -> Path:
    """The option, or else what the settings say; settings are not even read when the option is there."""
    if given is not None:
        return given
    from mixseek.settings.load import load_settings

    return load_settings().workspace
