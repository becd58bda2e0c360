"""What a reply cost, from the settings or from the price table of `genai-prices`; unknown is None, never a guess.

The table is a file of the package: nothing is fetched at run time.
"""

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mixseek.domain.calls import Usage
from mixseek.errors import ConfigurationError
from mixseek.settings.models import JudgeSettings

if TYPE_CHECKING:
    from genai_prices.types import TieredPrices

_MILLION = Decimal(1_000_000)
_THOUSAND = Decimal(1_000)
# Some providers charge by the hour of the day, changing at half hours.
_SLOT_MINUTES = 30


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars per million tokens, for requests with more than `above_input_tokens` of input."""

    input_usd: Decimal
    output_usd: Decimal
    # None: charged like any other input.
    cached_input_usd: Decimal | None = None
    per_request_usd: Decimal = Decimal(0)
    above_input_tokens: int = -1

    def price(self, usage: Usage) -> Decimal | None:
        """None where the endpoint did not count; tokens it served from its own cache are part of the input."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = usage.cached_input_tokens or 0
        if self.cached_input_usd is None or cached > usage.input_tokens:
            cached = 0
        tokens = (
            self.input_usd * (usage.input_tokens - cached)
            + (self.cached_input_usd or 0) * cached
            + self.output_usd * usage.output_tokens
        )
        return tokens / _MILLION + self.per_request_usd


Card = tuple[Rates, ...]  # the dearer ones, for long inputs, first; empty where the price is not known
LookUp = Callable[[str, str, datetime], Card]


class PriceList:
    """The prices of one judge. Looked up once a model: the table itself takes 0.2 ms for each question."""

    def __init__(
        self, base_url: str | None, model: str, override: Rates | None = None, look_up: LookUp | None = None
    ) -> None:
        self._base_url = base_url
        self._model = model
        self._override = override
        self._look_up = look_up or look_up_rates
        self._cards: dict[tuple[str, datetime], Card] = {}
        # Who charges is told by the address alone: a model of the same name on one's own machine costs nothing
        # that this table knows of.
        self._is_hosted = base_url is not None and is_hosted(base_url)

    def price_of(self, usage: Usage, at: datetime, answered_by: str | None = None) -> Decimal | None:
        """US dollars. `answered_by` is the endpoint's own name for the model, where it gave one."""
        if self._override is not None:
            return self._override.price(usage)
        if not self._is_hosted:
            return None
        card = self._card(answered_by, at) if answered_by else ()
        for rates in card or self._card(self._model, at):
            if (usage.input_tokens or 0) > rates.above_input_tokens:
                return rates.price(usage)
        return None

    def _card(self, model: str, at: datetime) -> Card:
        slot = at.replace(minute=at.minute // _SLOT_MINUTES * _SLOT_MINUTES, second=0, microsecond=0)
        card = self._cards.get((model, slot))
        if card is None:
            card = self._look_up(model, self._base_url or "", at)
            self._cards[model, slot] = card
        return card


def override_rates(settings: JudgeSettings) -> Rates | None:
    """`price_input` and `price_output` of the settings; None where neither is given."""
    if settings.price_input is None and settings.price_output is None:
        return None
    if settings.price_input is None or settings.price_output is None:
        raise ConfigurationError(
            "mixseek.toml: price_input and price_output belong together (US dollars per million tokens); give both"
        )
    # By way of text: 0.15 is meant as written, not as the nearest binary fraction.
    return Rates(Decimal(str(settings.price_input)), Decimal(str(settings.price_output)))


def look_up_rates(model: str, base_url: str, at: datetime) -> Card:
    """What the provider at that address charges for the model; empty where the table does not say."""
    try:
        # Lazily: importing the table takes 0.3 s.
        import genai_prices
    except ImportError:
        return ()
    try:
        found = genai_prices.calc_price(
            genai_prices.Usage(input_tokens=0, output_tokens=0),
            model,
            provider_api_url=base_url,
            genai_request_timestamp=at,
        ).model_price
    except (LookupError, ValueError):
        return ()
    # A table without one of the two prices says nothing about a reply, rather than that half of it is free.
    if found.input_mtok is None or found.output_mtok is None:
        return ()
    kinds = (found.input_mtok, found.output_mtok, found.cache_read_mtok)
    tiered = [kind for kind in kinds if kind is not None and not isinstance(kind, Decimal)]
    starts = {tier.start for kind in tiered for tier in kind.tiers}
    per_request = price_at(found.requests_kcount, -1) or Decimal(0)
    return tuple(
        Rates(
            price_at(found.input_mtok, start) or Decimal(0),
            price_at(found.output_mtok, start) or Decimal(0),
            price_at(found.cache_read_mtok, start),
            per_request / _THOUSAND,
            start,
        )
        for start in sorted({-1, *starts}, reverse=True)
    )


def price_at(price: "Decimal | TieredPrices | None", above_input_tokens: int) -> Decimal | None:
    """One price of the table, plain or tiered by the length of the whole input."""
    if price is None or isinstance(price, Decimal):
        return price
    reached = [tier.price for tier in price.tiers if tier.start <= above_input_tokens]
    return reached[-1] if reached else price.base


def is_hosted(base_url: str) -> bool:
    """Not on this machine or in this network: only then is it worth loading a table of providers."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith((".local", ".localhost", ".internal"))
