"""What docs/probabilities.md shows is run here, to the letter, and what it lists is all there is."""

from pathlib import Path

from tests.flows.loopback import loopback
from tests.flows.pages import blocks, check_page, read_page

from mixseek.domain.confidence import SUM_TOLERANCE, ConfidenceSource
from mixseek.domain.decisions import FEWEST_LEVELS, MOST_LEVELS
from mixseek.domain.judgments import Flag
from mixseek.judges.endpoint.address import FEWEST_TOP_LOGPROBS, PROVIDERS
from mixseek.testing.mock_server import MockOptions

PAGE = read_page("docs/probabilities.md")


def test_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    """The loopback judge stands where the page has a server."""
    with loopback(MockOptions(latency_seconds=0.0)) as endpoint:
        compared = check_page(PAGE, tmp_path, {"http://localhost:8000/v1": endpoint.base_url})

    assert compared == len(blocks(PAGE, "text")) == 1


def test_what_it_lists_is_all_there_is() -> None:
    """Sources, flags, and the numbers that stand elsewhere in the code."""
    named = [source for source in ConfidenceSource if f"`{source}`" not in PAGE]
    flags = [flag for flag in Flag if flag not in PAGE and flag is not Flag.INCOMPLETE_COVERAGE]

    assert (named, flags) == ([], [])
    assert f"may miss 1 by {SUM_TOLERANCE}" in PAGE
    assert f"({FEWEST_LEVELS} to {MOST_LEVELS})" in PAGE
    assert f"and {FEWEST_TOP_LOGPROBS} elsewhere" in PAGE
    generous = {name for name, provider in PROVIDERS.items() if provider.top_logprobs == 20}
    assert generous == {"openai", "azure", "deepseek", "vllm", "llamacpp", "ollama"}
