"""A real server on loopback over a small workspace, and a client that holds its link."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import ClientSession
from tests.flows.running import mixseek_here
from tests.waiting import patiently
from yarl import URL

from mixseek.web.connections import SILENT_SECONDS
from mixseek.web.security import Access, PublicUrl
from mixseek.web.server import ViewServer, running_view

_NAMES = ("id", "question", "response", "ground_truth", "target_model")
ROWS: tuple[dict[str, Any], ...] = tuple(
    dict(zip(_NAMES, values, strict=True))
    for values in (
        ("tea-1", "2+2?", "So the answer is 4.", "4", "aster"),
        ("tea-2", "3+3?", "So the answer is 7.", "6", "cedar"),
        ("oolong", "Ｗｈｅｒｅ?", "Nobody knows.", "Paris", "cedar"),
    )
)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    text: str
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True, slots=True)
class Client:
    """Asks as a program does that has the link; headers of a call come on top."""

    server: ViewServer
    session: ClientSession

    async def ask(
        self,
        path: str,
        method: str = "GET",
        *,
        headers: dict[str, str] | None = None,
        is_known: bool = True,
        body: bytes | None = None,
    ) -> Answer:
        told = dict(headers or {})
        if is_known:
            told["Authorization"] = f"Bearer {self.server.access.secret}"
        # As it is written: a client that tidies addresses would hide what an attacker sends.
        address = URL(f"http://127.0.0.1:{self.server.port}{path}", encoded=True)
        async with self.session.request(method, address, headers=told, data=body, allow_redirects=False) as answer:
            return Answer(answer.status, await answer.text(), dict(answer.headers))

    async def post(self, path: str, body: object) -> Answer:
        """As the page does, until it is answered."""
        own = {"Origin": f"http://127.0.0.1:{self.server.port}"}
        async with patiently(path):
            while (answer := await self.ask(path, "POST", headers=own, body=json.dumps(body).encode())).status == 202:
                await asyncio.sleep(0.05)
        return answer

    async def wait(self, path: str) -> Answer:
        """Until what is being made is there."""
        async with patiently(path):
            while (answer := await self.ask(path)).status == 202:
                await asyncio.sleep(0.05)
        return answer

    async def wait_for_page(self, path: str) -> Any:
        """A page of judgments whose search has been through all of them."""
        async with patiently(path):
            while (page := (await self.wait(path)).json)["search"] and (
                page["search"]["searched"] < page["search"]["samples"]
            ):
                await asyncio.sleep(0.05)
        return page


def judge_rows(root: Path, rows: tuple[dict[str, Any], ...] = ROWS, run: str = "tea", *more: str) -> None:
    """A run of these rows by the rules, in `root/ws`."""
    data = root / f"{run}.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options = ("--judge", "rules", "--workspace", "ws", "--run", run, "-q", *more)
    done = mixseek_here("judge", data, *options, cwd=root)
    assert done.returncode in (0, 1), done.stderr


def answer_rows(root: Path, rows: tuple[dict[str, Any], ...] = ROWS, run: str = "spring", *more: str) -> None:
    """An answer run about the questions of these rows, whose responses a recorded target gives, in `root/ws`."""
    data, recorded = root / f"{run}-questions.jsonl", root / f"{run}-target.jsonl"
    asked = [{name: row[name] for name in ("id", "question", "ground_truth")} for row in rows]
    replies = [{"id": f"{row['id']}/plain", "reply": row["response"]} for row in rows]
    for path, lines in ((data, asked), (recorded, replies)):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    options = ("--target", f"replay:{recorded.name}", "--workspace", "ws", "--run", run, "-q", *more)
    done = mixseek_here("answer", data, *options, cwd=root)
    assert done.returncode in (0, 1), done.stderr


def look(
    workspace: Path,
    scenario: Callable[[Client], Awaitable[None]],
    *,
    is_read_only: bool = False,
    host: str = "127.0.0.1",
    public: PublicUrl | None = None,
    silent_seconds: float = SILENT_SECONDS,
) -> None:
    """Run the scenario against a server of its own."""

    async def run() -> None:
        access = Access(host, is_read_only, public=public)
        async with running_view(workspace, access, 0, silent_seconds) as server, ClientSession() as session:
            await scenario(Client(server, session))

    asyncio.run(run())
