"""What stands after `mixseek serve-mock` about batches, and what its documents promise."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each

from mixseek.cli.asking.judges import serve_mock
from mixseek.errors import ConfigurationError
from mixseek.setup.judges import read_batch_options
from mixseek.testing import mock_server
from mixseek.testing.batches.faults import BatchFault
from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.mock_server import MockOptions

ROOT = Path(__file__).parents[3]


def read(*faults: str, takes_batches: bool = True, **options: Any) -> BatchOptions | None:
    return read_batch_options(takes_batches=takes_batches, faults=faults, **options)


def test_faults_are_read_by_name_and_all_means_all() -> None:
    """Nothing goes wrong unless somebody asks for it."""
    assert read() == BatchOptions()
    assert read("torn-line", "gone") == BatchOptions(faults=(BatchFault.TORN_LINE, BatchFault.GONE))
    assert read("all") == BatchOptions(faults=tuple(BatchFault))
    with pytest.raises(ConfigurationError, match=r"--batch-fault 'torn-lines'.*torn-line"):
        read("torn-lines")


@each("options", [{"seconds": 1.0}, {"queue_tokens": 5}, {"request_limit": 5}, {"files_at_once": 5}])
def test_words_about_batches_need_batches(options: dict[str, Any]) -> None:
    """Whoever asks for them without saying --batches is told so."""
    assert read(takes_batches=False) is None
    assert read(takes_batches=False, fault_rate=0.5) is None
    with pytest.raises(ConfigurationError, match="need --batches"):
        read(takes_batches=False, **options)


def test_what_the_command_is_told_reaches_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each word of the command is one of the options, and none is lost on the way."""
    served: list[MockOptions] = []
    monkeypatch.setattr(mock_server, "serve", lambda _host, _port, options: served.append(options))
    limits: dict[str, Any] = {"batch_limit": 5, "batch_queue_tokens": 6, "batch_files_at_once": 7}
    serve_mock(batches=True, batch_seconds=3.0, batch_faults=["gone"], batch_fault_rate=0.4, **limits)
    serve_mock()

    expected = BatchOptions(3.0, (BatchFault.GONE,), 0.4, request_limit=5, queue_tokens=6, files_at_once=7)
    assert [options.batches for options in served] == [expected, None]


def test_every_fault_is_in_the_documents() -> None:
    """The help of the command and the page about trying name them all, and no other."""
    page = (ROOT / "docs/howto/troubleshooting.md").read_text("utf-8")
    command = (ROOT / "docs/cli.md").read_text("utf-8")
    described = re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)
    wrapped = command.partition("--batch-fault NAME")[2].partition("`all`:")[2].partition(".")[0]
    # Lines of the help end at hyphens, too.
    listed = re.sub(r"-\s+", "-", wrapped).replace(",", " ").split()

    assert sorted(described) == sorted(BatchFault)
    assert sorted(listed) == sorted(BatchFault)
