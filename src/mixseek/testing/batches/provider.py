"""All batch interfaces at one address: which paths belong to whom."""

from aiohttp import web

from mixseek.testing.batches.anthropic import AnthropicBatches
from mixseek.testing.batches.endpoints import CallManners
from mixseek.testing.batches.gemini import GeminiBatches
from mixseek.testing.batches.mistral import MistralBatches
from mixseek.testing.batches.openai import OpenAIBatches
from mixseek.testing.batches.store import BatchStore
from mixseek.testing.batches.uploads import FileEndpoints


def add_batch_routes(router: web.UrlDispatcher, store: BatchStore, manners: CallManners) -> None:
    """Adds the paths of every provider; what several could mean goes to the one whose path is the longest."""
    openai = OpenAIBatches(store, manners)
    for endpoints in (GeminiBatches(store, manners), AnthropicBatches(store, manners), MistralBatches(store, manners)):
        endpoints.add_routes(router)
    FileEndpoints(openai).add_routes(router)
    openai.add_routes(router)
