"""From `package.module:Name` to the object: where the user's own code comes in."""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

from mixseek.errors import ConfigurationError


def is_import_path(text: str) -> bool:
    """Whether it has the shape of one; whether there is anything is not looked at."""
    module, colon, name = text.partition(":")
    return bool(colon) and name.isidentifier() and all(part.isidentifier() for part in module.split("."))


def load_object(path: str, where: str) -> object:
    """The object of that name; raises ConfigurationError with one line, whatever the module does when it is loaded."""
    if not is_import_path(path):
        raise ConfigurationError(f"{where}: {path!r} is not an import path; write package.module:Name")
    module_name, _, name = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    # A module of the user's runs when it is loaded, and may fail in any way there is.
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split())
        raise ConfigurationError(f"{where}: cannot import {module_name} ({type(error).__name__}: {said})") from error
    found = getattr(module, name, None)
    if found is None:
        raise ConfigurationError(f"{where}: module {module_name} has no {name}")
    return found


@contextlib.contextmanager
def importable_from(directory: Path) -> Iterator[None]:
    """Modules beside a file can be named in it; last on the path, so that they hide nothing."""
    place = str(directory.resolve())
    sys.path.append(place)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(place)
