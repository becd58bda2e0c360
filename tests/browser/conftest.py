"""One browser and one workspace for all of these tests; each opens its own windows."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser.driving import Chromium, refuse_without_browser, running_chromium
from tests.browser.every_page import make_every_page
from tests.browser.material import make_workspace
from tests.once import made_once

from mixseek.web.server import ViewServer


@pytest.fixture(scope="package")
def chromium() -> Iterator[Chromium]:
    refuse_without_browser()
    with running_chromium() as started:
        yield started


@pytest.fixture(scope="package")
def workspace(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Depends on the browser: without one, nothing need be judged."""
    place = tmp_path_factory.mktemp("browser") / "own"
    shutil.copytree(made_once(tmp_path_factory, "browser-workspace", make_workspace), place)
    return place / "ws"


@pytest.fixture(scope="package")
def viewer(chromium: Chromium, workspace: Path) -> ViewServer:
    return chromium.serve(workspace)


@pytest.fixture(scope="package")
def demo_place(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo in `ws`, with every file that can be sent around."""
    place = tmp_path_factory.mktemp("every-page") / "own"
    shutil.copytree(made_once(tmp_path_factory, "browser-every-page", make_every_page), place)
    return place


@pytest.fixture(scope="package")
def demo_viewer(chromium: Chromium, demo_place: Path) -> ViewServer:
    return chromium.serve(demo_place / "ws")
