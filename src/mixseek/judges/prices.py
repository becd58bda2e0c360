"""What a reply cost, from the settings or from the price table of `genai-prices`; unknown is None, never a guess.

The table is a file of the package: nothing is fetched at run time.
"""

import ipaddress
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from mixseek.domain.ports import Usage
from mixseek.errors import ConfigurationError
from mixseek.settings.models import JudgeSettings

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice

# What providers ask for an answer out of a batch, of their price at once.
BATCH_SHARE = 0.5
_MILLION = Decimal(1_000_000)
# Some providers charge by the hour of the day, changing at half hours.
_SLOT_MINUTES = 30


class PriceList:
    """The prices of one judge: its settings', else the table's for the address that charges."""

    def __init__(self, base_url: str | None, model: str, settings: JudgeSettings | None = None) -> None:
        self._model = model
        self._given = None if settings is None else _given_rates(settings)
        # Who charges is told by the address alone: a model of the same name on one's own machine costs nothing
        # that this table knows of.
        self._base_url = base_url if base_url is not None and is_hosted(base_url) else None

    def price_of(self, usage: Usage, at: datetime, answered_by: str | None = None) -> Decimal | None:
        """US dollars; None where not known. `answered_by` is the endpoint's own name for the model, if it gave one."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        if self._given is not None:
            return self._given.price_of(usage.input_tokens, usage.output_tokens, *cache_tokens(usage))
        if self._base_url is None:
            return None
        slot = at.replace(minute=at.minute // _SLOT_MINUTES * _SLOT_MINUTES, second=0, microsecond=0)
        names = (answered_by, self._model)
        known = next((price for name in names if name and (price := look_up(name, self._base_url, slot))), None)
        if known is None:
            return None
        import genai_prices

        read, written = cache_tokens(usage)
        counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        counts |= {"cache_read_tokens": read, "cache_write_tokens": written}
        return known.calc_price(genai_prices.Usage(**counts))["total_price"]


def cache_tokens(usage: Usage) -> tuple[int, int]:
    """What was read from the endpoint's own cache and what was written to it; more than was sent is no discount."""
    read, written = usage.cached_input_tokens or 0, usage.cache_write_tokens or 0
    return (read, written) if read + written <= (usage.input_tokens or 0) else (0, 0)


class GivenRates(NamedTuple):
    """US dollars for a million tokens, as the settings have them."""

    sent: Decimal
    replied: Decimal
    cached: Decimal
    written: Decimal

    def price_of(self, sent: int, replied: int, read: int, written: int) -> Decimal:
        """Tokens of the cache are a part of what was sent, each at its own rate."""
        fresh = sent - read - written
        charged = self.sent * fresh + self.cached * read + self.written * written + self.replied * replied
        return charged / _MILLION


def _given_rates(settings: JudgeSettings) -> GivenRates | None:
    """The prices of the settings; None where neither input nor output has one."""
    caches = settings.price_cached_input, settings.price_cache_write
    if settings.price_input is None and caches != (None, None):
        raise ConfigurationError(
            "mixseek.toml: price_cached_input and price_cache_write stand beside price_input and price_output; give "
            "these as well"
        )
    if settings.price_input is None or settings.price_output is None:
        if settings.price_input == settings.price_output:
            return None
        together = "price_input and price_output belong together (US dollars per million tokens); give both"
        raise ConfigurationError(f"mixseek.toml: {together}")
    # By way of text: 0.15 is meant as written, not as the nearest binary fraction.
    sent, replied = Decimal(str(settings.price_input)), Decimal(str(settings.price_output))
    cached, written = (sent if price is None else Decimal(str(price)) for price in caches)
    return GivenRates(sent, replied, cached, written)


# Remembered: the table takes 0.2 ms to find a model.
@lru_cache(maxsize=256)
def look_up(model: str, base_url: str, at: datetime) -> "ModelPrice | None":
    """What the provider at that address charges for the model; None where the table does not say."""
    try:
        # Lazily: importing the table takes 0.3 s.
        import genai_prices
    except ImportError:
        return None
    nothing = genai_prices.Usage(input_tokens=0, output_tokens=0)
    try:
        calculation = genai_prices.calc_price(nothing, model, provider_api_url=base_url, genai_request_timestamp=at)
    except (LookupError, ValueError):
        return None
    # A table without one of the two prices says nothing about a reply, rather than that half of it is free.
    prices = calculation.model_price
    return None if prices.input_mtok is None or prices.output_mtok is None else prices


def is_hosted(base_url: str) -> bool:
    """Not on this machine or in this network: only then is it worth loading a table of providers."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith((".local", ".localhost", ".internal"))
