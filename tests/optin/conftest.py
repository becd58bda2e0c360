"""Tests that need an extra and a real model: marked here, left out by `make test`, run by `make test-all`."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mixseek.judges.stored_models import install, models_directory

HERE = Path(__file__).parent
CONTEXT_TOKENS = 2048


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.optin)
            # One model in memory at a time, whatever the number of test processes.
            item.add_marker(pytest.mark.xdist_group("optin"))


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A llama.cpp server that listens on loopback for this key alone."""

    address: str
    key: str


@pytest.fixture(scope="session")
def weights() -> Path:
    """SmolLM2 from the user's cache; fetched at the first run."""
    pytest.importorskip("xllamacpp")
    return install("smollm2", models_directory(os.environ))


@pytest.fixture(scope="session")
def model_server(weights: Path) -> Iterator[ModelServer]:
    xllamacpp: Any = pytest.importorskip("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    parameters.verbosity = -1
    parameters.api_keys = ["loopback-key-0123456789"]
    server = xllamacpp.Server(parameters)
    yield ModelServer(server.listening_address, "loopback-key-0123456789")
    del server
