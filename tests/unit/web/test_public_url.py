"""The viewer behind a proxy: its links, Host, Origin and cookies follow the address that others open."""

import asyncio
import contextlib
import re
import socket
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from tests.unit.web.viewing import Client, judge_rows, look

from mixseek.errors import ConfigurationError
from mixseek.web.security import Access, PublicUrl, decide_access, read_public_url
from mixseek.web.server import ViewServer

PUBLIC = PublicUrl("https://judging.example.org", "/team/mixseek")
NAME = "judging.example.org"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("public")
    judge_rows(root)
    return root / "ws"


@pytest.mark.parametrize(
    ("text", "origin", "path"),
    [
        ("https://host", "https://host", ""),
        ("https://Host.example/", "https://host.example", ""),
        ("https://host:443/a/b/", "https://host", "/a/b"),
        ("http://host:8080//a", "http://host:8080", "/a"),
        ("http://[::1]:80/x", "http://[::1]", "/x"),
    ],
)
def test_a_public_address_is_read_as_browsers_write_it(text: str, origin: str, path: str) -> None:
    """A usual port and a slash at the end are never in an Origin."""
    assert read_public_url(text) == PublicUrl(origin, path)


@pytest.mark.parametrize(
    "text",
    [
        "host.example",
        "ftp://host",
        "https://",
        "https://ann:pw@host",
        "https://host/?a=1",
        "https://host/#a",
        "http://a:b",
    ],
)
def test_what_is_no_address_of_a_page_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--public-url .*https://judging\.example\.org/mixseek"):
        read_public_url(text)


def test_a_token_keeps_links_valid_and_one_that_could_be_guessed_is_refused() -> None:
    """Without one the secret is new at each start, as ever."""
    token = "x" * 24
    given = decide_access("127.0.0.1", allows_remote=False, is_read_only=False, token=token, public_url="https://h/p")

    assert (given.secret, given.base) == (token, "/p")
    assert decide_access("127.0.0.1", allows_remote=False, is_read_only=False, token=token).secret != token
    with pytest.raises(ConfigurationError, match="at least 20 characters"):
        decide_access("127.0.0.1", allows_remote=False, is_read_only=False, token=token[:10], public_url="https://h")


def test_host_and_origin_are_those_of_the_public_address(workspace: Path) -> None:
    """And still those of this machine, for a proxy that does not hand them on; nobody else's."""

    async def scenario(client: Client) -> None:
        own = {"Host": NAME}
        assert (await client.ask("/", headers=own)).status == 200
        assert (await client.ask("/", headers={**own, "Origin": PUBLIC.origin})).status == 200
        assert (await client.ask("/", headers={"Origin": PUBLIC.origin})).status == 200
        for origin in ("http://judging.example.org", "https://other.example.org", "null"):
            assert (await client.ask("/", headers={**own, "Origin": origin})).status == 403
        for host in ("other.example.org", f"{NAME}:{client.server.port}", f"evil.{NAME}"):
            assert (await client.ask("/", headers={"Host": host})).status == 421
        draw = "/api/runs/tea/review/draws"
        told = await client.ask(draw, "POST", headers={**own, "Origin": PUBLIC.origin}, body=b"{}")
        assert (told.status, told.json) == (400, {"error": "count: field required"})

    look(workspace, scenario, public=PUBLIC)


def test_without_a_public_address_its_name_is_somebody_elses(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        assert (await client.ask("/", headers={"Host": NAME})).status == 421

    look(workspace, scenario)


def test_every_address_in_a_page_stands_below_the_public_path(workspace: Path) -> None:
    """Whether the proxy hands its part of the path on or takes it away."""

    async def scenario(client: Client) -> None:
        base = PUBLIC.path
        link = client.server.link
        assert link.startswith(f"{PUBLIC.origin}{base}/?key=")
        for path in ("/", f"{base}/"):
            first = await client.ask(
                f"{path}?key={client.server.access.secret}", is_known=False, headers={"Host": NAME}
            )
            assert f'content="0;url={base}/"' in first.text
            cookie = first.headers["Set-Cookie"]
            assert f"Path={base}/" in cookie
            assert "Secure" in cookie
        for page in ("/", "/compare", "/runs/tea", "/runs/tea/review", "/runs/tea/sample?id=tea-1", "/runs/none"):
            for before in ("", base):
                answer = await client.wait(before + page)
                addresses = re.findall(r'(?:href|src|action|data-address)="(/[^"]*)"', answer.text)
                assert addresses
                assert [address for address in addresses if not address.startswith(f"{base}/")] == []
        assert (await client.ask(f"{base}/assets/run.js")).status == 200
        assert "no run 'none'" in (await client.wait(f"{base}/api/runs/none")).json["error"]

    look(workspace, scenario, public=PUBLIC)


def test_a_viewer_on_all_addresses_names_one_that_can_be_opened(tmp_path: Path) -> None:
    server = ViewServer(tmp_path, Access(str(IPv4Address(0)), secret="x" * 24), 8765, tmp_path)

    assert str(IPv4Address(0)) not in server.link


def test_the_link_of_a_rater_opens_the_viewer_and_names_only_them(workspace: Path) -> None:
    """It holds a key of its own: the secret stays with whoever started the viewer."""

    async def scenario(client: Client) -> None:
        made = (await client.ask("/api/runs/tea/review/link?rater=ann%20b&queue=undecided")).json
        path = made["link"].removeprefix(f"http://127.0.0.1:{client.server.port}")
        assert path.startswith("/runs/tea/review?queue=undecided&rater=ann+b&key=")
        assert client.server.access.secret not in path
        opened = await client.ask(path, is_known=False)
        assert (opened.status, "Set-Cookie" in opened.headers) == (200, True)
        assert 'url=/runs/tea/review?queue=undecided&amp;rater=ann+b"' in opened.text
        refused = await client.ask(path.replace("ann+b", "bob"), is_known=False)
        assert refused.status == 403
        assert (await client.ask("/api/runs/tea/review/link?rater=", is_known=True)).status == 400

    look(workspace, scenario)


def test_a_stream_to_somebody_who_is_gone_ends(workspace: Path) -> None:
    """The system closes a connection whose peer acknowledges nothing for so long, while it is answered as well."""

    async def scenario(client: Client) -> None:
        assert (await client.ask("/")).status == 200
        limits = [
            connection.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            for connection in client.server.connections()
            if connection.transport is not None
        ]
        assert limits == [45_000]

    look(workspace, scenario, silent_seconds=45.0)


def test_a_connection_that_never_asks_is_closed_and_one_that_is_answered_stays(workspace: Path) -> None:
    """Half a request, and none at all; whoever asks again and again is never cut off."""

    async def scenario(client: Client) -> None:
        silent = [await asyncio.open_connection("127.0.0.1", client.server.port) for _ in range(2)]
        silent[1][1].write(b"GET / HT")
        for reader, writer in silent:
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
            writer.close()
        assert (await client.ask("/")).status == 200

    look(workspace, scenario, silent_seconds=0.2)
