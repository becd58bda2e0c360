"""Files as OpenAI and Mistral take them in and give them out; both call the paths alike.

POST, GET /v1/files · GET, DELETE /v1/files/ID · GET /v1/files/ID/content
"""

from collections.abc import Mapping
from typing import Any

from aiohttp import BodyPartReader, web

from mixseek.testing.batches.endpoints import BatchEndpoints, json_response
from mixseek.testing.batches.files import StoredFile

_PREFIX = "file-"


class FileEndpoints:
    """`provider` answers errors in its own words."""

    def __init__(self, provider: BatchEndpoints) -> None:
        self._provider = provider
        self._store = provider.store.files

    def add_routes(self, router: web.UrlDispatcher) -> None:
        path, guarded = "/{before:.*}files", self._provider.guarded
        router.add_post(path, guarded(self._upload))
        router.add_get(path, guarded(self._list))
        router.add_get(f"{path}/{{id}}", guarded(self._get))
        router.add_get(f"{path}/{{id}}/content", guarded(self._content))
        router.add_delete(f"{path}/{{id}}", guarded(self._delete))

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        if request.content_type != "multipart/form-data":
            return self._provider.refuse(400, "Expected a multipart/form-data body with 'file' and 'purpose'.")
        content, name, purpose = b"", None, ""
        async for part in await request.multipart():
            if not isinstance(part, BodyPartReader):
                continue
            if part.name == "file":
                content, name = bytes(await part.read()), part.filename or "file"
            elif part.name == "purpose":
                purpose = await part.text()
        if name is None or not purpose:
            return self._provider.refuse(400, f"Missing required parameter: '{'purpose' if name else 'file'}'.")
        refusal = self._provider.refusal_of_upload(content)
        if refusal is not None:
            return self._provider.refuse(*refusal)
        return json_response(200, _show(await self._store.add(content, name, purpose)))

    async def _list(self, _request: web.Request) -> web.StreamResponse:
        data = [_show(stored) for stored in self._store.newest(_PREFIX)]
        return json_response(200, {"object": "list", "data": data, "has_more": False, "total": len(data)})

    async def _get(self, request: web.Request) -> web.StreamResponse:
        stored = self._store.get(request.match_info["id"])
        return self._missing(request) if stored is None else json_response(200, _show(stored))

    async def _content(self, request: web.Request) -> web.StreamResponse:
        stored = self._store.get(request.match_info["id"])
        return self._missing(request) if stored is None else await self._provider.download(request, stored)

    async def _delete(self, request: web.Request) -> web.StreamResponse:
        file_id = request.match_info["id"]
        if not self._store.remove(file_id):
            return self._missing(request)
        return json_response(200, {"id": file_id, "object": "file", "deleted": True})

    def _missing(self, request: web.Request) -> web.Response:
        return self._provider.refuse(404, f"No such File object: {request.match_info['id']}")


def _show(stored: StoredFile) -> Mapping[str, Any]:
    """A file object with the fields of both providers."""
    is_input = stored.purpose == "batch"
    return {
        "id": stored.id,
        "object": "file",
        "bytes": stored.size,
        "created_at": int(stored.created),
        "filename": stored.name,
        "purpose": stored.purpose,
        "status": "processed",
        "sample_type": "batch_request" if is_input else "batch_result",
        "source": "upload" if is_input else "mistral",
    }
