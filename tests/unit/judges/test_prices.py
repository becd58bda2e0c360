"""A price is the settings', or the table's for the address that charges, or unknown and said to be."""

import sys
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal

import genai_prices
import pytest
from genai_prices.data import providers

from mixseek.domain.ports import Usage
from mixseek.errors import ConfigurationError
from mixseek.judges.prices import PriceList, is_hosted, look_up
from mixseek.settings.models import JudgeSettings

AT = datetime(2026, 3, 1, 9, 12, tzinfo=UTC)
OPENAI = "https://api.openai.com/v1"
USAGE = Usage(input_tokens=1_000_000, output_tokens=100_000)
# Who has both an address that we can write down and a model with prices for text in and out.
ADDRESSES = {
    "openai": OPENAI,
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "deepseek": "https://api.deepseek.com/v1",
    "groq": "https://api.groq.com/openai/v1",
    "mistral": "https://api.mistral.ai/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "together": "https://api.together.xyz/v1",
    "x-ai": "https://api.x.ai/v1",
    "perplexity": "https://api.perplexity.ai",
}


@pytest.fixture(autouse=True)
def _fresh_table() -> None:
    look_up.cache_clear()


# Of every tier, with and without a cache.
USAGES = [
    Usage(input_tokens, 700, cached)
    for input_tokens in (50_000, 150_000, 250_000, 900_000)
    for cached in (None, 30_000)
]


def their_prices(provider: str, model: str) -> list[Decimal | None]:
    """Of each usage; the model is looked up once, as that takes them longer than to count."""
    usages = [
        genai_prices.Usage(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cached_input_tokens,
        )
        for usage in USAGES
    ]
    try:
        known = genai_prices.calc_price(
            usages[0], model, provider_api_url=ADDRESSES[provider], genai_request_timestamp=AT
        )
    except LookupError:
        return [None] * len(usages)
    prices = [known.model.calc_price(usage, known.provider, genai_request_timestamp=AT) for usage in usages]
    return [price.total_price for price in prices]


@pytest.mark.parametrize("provider", sorted(ADDRESSES))
def test_prices_are_the_tables_for_every_model_of_a_provider(provider: str) -> None:
    """Tiers and caches included."""
    models = next(item.models for item in providers if item.id == provider)
    wrong, priced = [], Counter[Usage]()
    for model in models:
        prices = PriceList(ADDRESSES[provider], model.id)
        for usage, theirs in zip(USAGES, their_prices(provider, model.id), strict=True):
            ours = prices.price_of(usage, AT)
            if theirs is None:
                assert ours is None
            elif ours is not None:
                priced[usage] += 1
                if ours != theirs:
                    wrong.append((model.id, usage, ours, theirs))

    assert wrong == []
    assert [usage for usage in USAGES if priced[usage] <= len(models) / 2] == []


def test_a_model_of_a_known_provider_has_a_price() -> None:
    price = PriceList(OPENAI, "gpt-4o-mini").price_of(USAGE, AT)

    assert price == Decimal("0.15") + Decimal("0.06")


def test_the_name_that_the_endpoint_gives_counts_first() -> None:
    """The alias asked for may be cheaper or dearer than what answered."""
    prices = PriceList(OPENAI, "gpt-4o")

    assert prices.price_of(USAGE, AT, "gpt-4o-mini-2024-07-18") == PriceList(OPENAI, "gpt-4o-mini").price_of(USAGE, AT)
    assert prices.price_of(USAGE, AT, "no-such-model-at-all") == prices.price_of(USAGE, AT)


@pytest.mark.parametrize(
    ("base_url", "model"),
    [
        (OPENAI, "no-such-model-at-all"),
        ("https://judges.example.org/v1", "gpt-4o-mini"),
        ("http://127.0.0.1:8000/v1", "gpt-4o-mini"),
        (None, "gpt-4o-mini"),
    ],
)
def test_what_nobody_knows_is_none(base_url: str | None, model: str) -> None:
    """A famous name behind an unknown address is no reason to guess."""
    assert PriceList(base_url, model).price_of(USAGE, AT) is None


@pytest.mark.parametrize("usage", [Usage(), Usage(input_tokens=5), Usage(output_tokens=5)])
def test_tokens_that_were_not_counted_have_no_price(usage: Usage) -> None:
    assert PriceList(OPENAI, "gpt-4o-mini").price_of(usage, AT) is None
    assert PriceList(None, "m", JudgeSettings(price_input=1, price_output=1)).price_of(usage, AT) is None


def test_a_table_with_half_a_price_is_no_price() -> None:
    """Embedding models have no output price; a reply that used one would otherwise look free."""
    assert PriceList(OPENAI, "text-embedding-3-small").price_of(USAGE, AT) is None


def test_without_the_package_prices_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)

    assert PriceList(OPENAI, "gpt-4o-mini").price_of(USAGE, AT) is None


def test_the_settings_win_over_the_table() -> None:
    prices = PriceList(OPENAI, "gpt-4o-mini", JudgeSettings(price_input=0.15, price_output=2))

    assert prices.price_of(USAGE, AT) == Decimal("0.15") + Decimal("0.2")
    assert prices.price_of(Usage(), AT) is None


def test_tokens_of_a_cache_have_rates_of_their_own() -> None:
    """They are a part of what was sent; where the settings give no rate for them they cost what the others cost."""
    usage = Usage(1_000_000, 100_000, 600_000, 300_000)
    plain = JudgeSettings(price_input=3, price_output=15)
    both = JudgeSettings(price_input=3, price_output=15, price_cached_input=0.3, price_cache_write=3.75)

    assert PriceList(None, "m", both).price_of(usage, AT) == Decimal("0.3") + Decimal("0.18") + Decimal(
        "1.125"
    ) + Decimal("1.5")
    assert PriceList(None, "m", plain).price_of(usage, AT) == Decimal("4.5")
    only_read = JudgeSettings(price_input=3, price_output=15, price_cached_input=0)
    assert PriceList(None, "m", only_read).price_of(usage, AT) == Decimal("1.2") + Decimal("1.5")
    # More than was sent is a slip of the endpoint's, and no discount.
    assert PriceList(None, "m", both).price_of(Usage(100, 0, 90, 20), AT) == Decimal("0.0003")
    with pytest.raises(ConfigurationError, match="price_cached_input and price_cache_write stand beside price_input"):
        PriceList(None, "m", JudgeSettings(price_cached_input=1))


def test_what_is_written_to_a_cache_has_the_price_of_the_table() -> None:
    """Anthropic takes a quarter more for it."""
    prices = PriceList(ADDRESSES["anthropic"], "claude-3-5-sonnet-20241022")
    plain, written = (prices.price_of(usage, AT) for usage in (Usage(1_000, 0), Usage(1_000, 0, 0, 1_000)))

    assert plain is not None
    assert written == plain * Decimal("1.25")


def test_nothing_in_the_settings_leaves_it_to_the_table() -> None:
    assert PriceList(OPENAI, "gpt-4o-mini", JudgeSettings()).price_of(USAGE, AT) == Decimal("0.21")


@pytest.mark.parametrize("settings", [JudgeSettings(price_input=1.0), JudgeSettings(price_output=1.0)])
def test_half_an_override_is_refused(settings: JudgeSettings) -> None:
    with pytest.raises(ConfigurationError, match="belong together"):
        PriceList(None, "m", settings)


def test_tokens_from_the_endpoints_cache_are_part_of_the_input() -> None:
    prices = PriceList(OPENAI, "gpt-4o")

    assert prices.price_of(Usage(1_000_000, 0), AT) == Decimal("2.5")
    assert prices.price_of(Usage(1_000_000, 0, 400_000), AT) == Decimal("2.0")
    # More cached than there were: a count that cannot be trusted earns no discount.
    assert prices.price_of(Usage(1_000_000, 0, 2_000_000), AT) == Decimal("2.5")


def test_a_model_is_looked_up_once_for_each_half_hour() -> None:
    prices = PriceList(OPENAI, "gpt-4o")
    for minute in (0, 29, 30, 59):
        prices.price_of(USAGE, AT.replace(minute=minute))

    assert look_up.cache_info().misses == 2


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        (OPENAI, True),
        ("http://8.8.8.8/v1", True),
        ("http://localhost:8000/v1", False),
        ("http://127.0.0.1:1/v1", False),
        ("http://[::1]:1/v1", False),
        ("http://10.1.2.3/v1", False),
        ("http://gpu-box:8000/v1", False),
        ("http://gpu.local/v1", False),
        ("nonsense", False),
    ],
)
def test_the_table_is_loaded_only_for_addresses_that_may_charge(base_url: str, expected: bool) -> None:
    assert is_hosted(base_url) is expected
    if not expected:
        assert PriceList(base_url, "gpt-4o-mini").price_of(USAGE, AT) is None
        assert look_up.cache_info().misses == 0
