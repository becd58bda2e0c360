"""Templates as Python's bytecode, kept where Python keeps its own: to compile them takes longer than to fill them.

In the `__pycache__` of this package, or wherever `PYTHONPYCACHEPREFIX` says, and nowhere else. Whoever can write there
can change the code of this package anyway; a home or a workspace may be shared, and what lies in it is never executed.
Where nothing may be written, templates are compiled at each start, as modules are.
"""

import contextlib
import hashlib
import marshal
import os
import sys
import tempfile
from collections.abc import Iterable
from importlib.util import cache_from_source
from pathlib import Path
from types import ModuleType

import jinja2
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket


class CompiledTemplates(BytecodeCache):
    """Valid for one source, one Python, one Jinja2 and one state of the modules whose functions templates use.

    A function of a constant (`{{ "row" | plural }}`) is called while its template is compiled: its answer is part of
    the bytecode.
    """

    def __init__(self, templates: Path, modules: Iterable[ModuleType]) -> None:
        self._folder = Path(cache_from_source(str(templates / "template.py"))).parent
        self._state = _state_of(modules)

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The file's name."""
        return f"{name}.{sys.implementation.cache_tag}.bytecode"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Nothing where there is no file, or one of another state, or half of one."""
        with contextlib.suppress(OSError, EOFError, ValueError, TypeError):
            content = (self._folder / bucket.key).read_bytes()
            header = self._header(bucket)
            if content.startswith(header):
                bucket.code = marshal.loads(content[len(header) :])  # noqa: S302 as trusted as our own .pyc beside it

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Whole or not at all, and without a word where it may not be kept."""
        if sys.dont_write_bytecode:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, prefix=bucket.key, delete=False) as sink:
                try:
                    sink.write(self._header(bucket) + marshal.dumps(bucket.code))
                    sink.close()
                    Path(sink.name).chmod(0o644)
                    Path(sink.name).replace(self._folder / bucket.key)
                except OSError:
                    Path(sink.name).unlink(missing_ok=True)
                    raise

    def _header(self, bucket: Bucket) -> bytes:
        return hashlib.sha256(f"{self._state}|{bucket.checksum}".encode()).digest()


def _state_of(modules: Iterable[ModuleType]) -> str:
    """Sizes and times of the source files, by which Python, too, tells whether bytecode is still good."""
    files = sorted(module.__file__ for module in modules if module.__file__)
    stamps = [(file, stat.st_size, stat.st_mtime_ns) for file in files for stat in [_stat(file)] if stat]
    return repr((jinja2.__version__, sys.version, stamps))


def _stat(file: str) -> os.stat_result | None:
    try:
        return Path(file).stat()
    except OSError:
        # Inside a zip file.
        return None
