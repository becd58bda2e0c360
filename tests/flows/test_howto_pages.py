"""How-to pages and the reference of settings: what they show is run, what they list is there."""

import re
from pathlib import Path

from scripts.write_api_reference import TARGET as API_REFERENCE
from scripts.write_api_reference import write_page
from scripts.write_settings_reference import TARGET, fill
from tests.flows.loopback import loopback
from tests.flows.pages import ROOT, check_page, read_page

from mixseek.judges.endpoint.address import PROVIDERS
from mixseek.prompt_builder.models import PromptBuilderSettings
from mixseek.settings.models import JudgeDefaults, JudgeSettings, PromptTable, Settings
from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.mock_server import MockOptions

SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))


def test_the_way_to_a_server_runs_as_written(tmp_path: Path) -> None:
    """The loopback judge stands where the page says that vLLM does."""
    with loopback(MockOptions(latency_seconds=0.0)) as endpoint:
        compared = check_page(
            read_page("docs/howto/endpoints.md"), tmp_path, {"http://localhost:8000/v1": endpoint.base_url}
        )

        assert compared == 1
        # One to check it; one for the answer that the rules do not decide.
        assert endpoint.requests == 2


def test_the_way_into_a_batch_runs_as_written(tmp_path: Path) -> None:
    """The loopback provider stands where the page has one; each request is asked once, in a batch."""
    with loopback(MockOptions(latency_seconds=0.0, batches=BatchOptions())) as endpoint:
        compared = check_page(
            read_page("docs/howto/cost.md"), tmp_path, {"http://localhost:8000/v1": endpoint.base_url}
        )

        assert compared == 1
        assert endpoint.server.ledger.summary()["requests_in_batches"] == {"openai-batch": 2}


def test_the_settings_that_are_shown_are_read_as_the_page_says(tmp_path: Path) -> None:
    assert check_page(read_page("docs/settings.md"), tmp_path) == 4


def test_the_reference_of_settings_is_what_the_models_say() -> None:
    """A key or a description changed? Run `make docs`."""
    page = TARGET.read_text(encoding="utf-8")

    assert fill(page) == page


def test_the_page_on_pytest_runs_as_written(tmp_path: Path) -> None:
    assert check_page(read_page("docs/pytest.md"), tmp_path) == 2


def test_every_setting_of_the_pytest_plugin_is_explained() -> None:
    source = (ROOT / "src/mixseek/pytest_plugin.py").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(mixseek_\w+)` \|", read_page("docs/pytest.md"), re.MULTILINE)

    assert sorted(listed) == sorted(re.findall(r'addini\("(\w+)"', source))


def test_the_reference_of_the_python_api_is_what_the_docstrings_say() -> None:
    """A docstring or a signature changed? Run `make docs`."""
    assert API_REFERENCE.read_text(encoding="utf-8") == write_page()


def test_every_key_and_provider_is_in_the_reference() -> None:
    page = read_page("docs/settings.md")
    keys = [*JudgeSettings.model_fields, *JudgeDefaults.model_fields, *PROVIDERS, "workspace"]

    assert [key for key in keys if f"| `{key}`" not in page] == []
    assert [
        field
        for model in (JudgeSettings, JudgeDefaults)
        for field in model.model_fields.values()
        if not field.description
    ] == []
    assert set(Settings.model_fields) == {"workspace", "judge", "judges", "jobs", "prompt_builder"}
    assert PromptTable.model_fields.keys() == PromptBuilderSettings.model_fields.keys()
    assert [table for table in ("[jobs.NAME]", "[prompt_builder]") if table not in page] == []


def test_the_messages_that_are_explained_are_messages_of_ours() -> None:
    page = read_page("docs/howto/troubleshooting.md")
    messages = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)

    assert len(messages) >= 12
    assert [message for message in messages if message not in SOURCES] == []
