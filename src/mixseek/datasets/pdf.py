"""The text of a PDF."""

import io
import logging
import struct
import zlib

from mixseek.datasets.rows import RowError

MAX_PAGES = 2_000
# What pypdf lets through on damaged files, besides its own errors.
_DAMAGE = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, OSError, RecursionError),
    *(TypeError, ValueError, struct.error, zlib.error),
)


def extract_text(name: str, data: bytes) -> str:
    """Pages in order with a blank line between them; raises RowError for a file that holds no readable text."""
    # Late: it comes with the extra `pdf`, which few need.
    from pypdf.errors import DependencyError, PyPdfError

    # Its remarks on malformed files would stand between our own lines on stderr.
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    try:
        text = read_pages(name, data)
    except DependencyError as error:
        raise RowError(f"{name!r} is an encrypted PDF; save it without encryption") from error
    except RowError:
        raise
    except (PyPdfError, *_DAMAGE) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise RowError(f"{name!r} cannot be read as a PDF ({reason}); print it anew, or save its text") from error
    if not text:
        raise RowError(f"{name!r} holds no text: a scan? save its text as .txt and name that file")
    return text


def read_pages(name: str, data: bytes) -> str:
    """Raises whatever pypdf raises."""
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    # The empty password opens files that only forbid printing.
    if reader.is_encrypted and not reader.decrypt(""):
        raise RowError(f"{name!r} is a PDF with a password; save it without one")
    pages = len(reader.pages)
    if pages > MAX_PAGES:
        raise RowError(f"{name!r} has {pages:,} pages, at most {MAX_PAGES:,} are read; cut it")
    return "\n\n".join(page.extract_text() for page in reader.pages).strip()
