"""Who may ask: each way around the link is refused, and what judged texts say stays text."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.unit.web.viewing import Client, judge_rows, look

from mixseek.errors import ConfigurationError
from mixseek.web.security import decide_access
from mixseek.web.server import ROUTES

PAGES = [
    path.format(run="tea", answers="spring", execution="none", name="run.js")
    for method, path, _ in ROUTES
    if method == "GET"
]
KEPT = [path.format(run="tea", answers="spring") for method, path, _ in ROUTES if method == "POST"]
SCRIPT = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e{{7*7}}"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("view")
    judge_rows(root)
    return root / "ws"


def test_nothing_is_told_without_the_secret(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        for path in [*PAGES, *KEPT]:
            for wrong in ({}, {"Cookie": f"mixseek-{client.server.port}=guess"}, {"Authorization": "Bearer guess"}):
                answer = await client.ask(path, is_known=False, headers=wrong)
                assert (answer.status, "tea" in answer.text) == (403, False)
        assert (await client.ask("/?key=guess", is_known=False)).status == 403

    look(workspace, scenario)


def test_the_link_gives_a_cookie_that_no_script_and_no_other_site_gets(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        first = await client.ask(
            f"/?key={client.server.access.secret}", is_known=False, headers={"Sec-Fetch-Site": "cross-site"}
        )
        cookie = first.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert client.server.access.secret not in cookie
        assert 'content="0;url=/"' in first.text
        again = await client.ask("/", is_known=False, headers={"Cookie": cookie.split(";")[0]})
        assert (again.status, "tea" in again.text) == (200, True)

    look(workspace, scenario)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_page_of_somebody_else_gets_nothing(workspace: Path, headers: dict[str, str]) -> None:
    async def scenario(client: Client) -> None:
        for path in PAGES:
            answer = await client.ask(path, headers=headers)
            assert (answer.status, "tea" in answer.text) == (403, False)

    look(workspace, scenario)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "10.0.0.7:{port}", ""]
)
def test_a_name_that_somebody_pointed_here_is_not_ours(workspace: Path, host: str) -> None:
    async def scenario(client: Client) -> None:
        answer = await client.ask("/", headers={"Host": host.format(port=client.server.port)})
        assert answer.status in (400, 421)
        assert (await client.ask("/", headers={"Host": f"localhost:{client.server.port}"})).status == 200

    look(workspace, scenario)


@pytest.mark.parametrize(
    "path",
    [
        "/runs/..%2f..%2fsecret", "/api/runs/..%2fsecret/judgments", "/runs/%2e%2e", "/runs/.%2e%2fws",
        "/runs/..%5csecret", "/assets/..%2fmessages.toml", "/assets/..%2f..%2fcli%2fapp.py", "/assets/report.html.j2",
        "/competitions/..%2fsecret", "/compare?a=../secret&b=tea", "/api/runs/%00/judgments", "/../secret/x",
    ],
)  # fmt: skip
def test_no_address_leads_out_of_the_workspace(workspace: Path, path: str) -> None:
    secret = workspace.parent / "secret"
    secret.mkdir(exist_ok=True)
    (secret / "manifest.json").write_text('{"run": "stolen"}', encoding="utf-8")

    async def scenario(client: Client) -> None:
        answer = await client.ask(path)
        assert answer.status in (400, 404)
        assert "stolen" not in answer.text

    look(workspace, scenario)


class Markup(HTMLParser):
    """Tags with their attributes, and what stands in scripts that would run."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.is_code = False
        self.code = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # Long words may be broken, which says nothing of what is in them.
        self.tags += [tag] if tag != "wbr" else []
        names = dict(attrs)
        self.handlers += [name for name in names if name.startswith("on") or name == "style"]
        self.is_code = tag == "script" and names.get("type") != "application/json"

    def handle_endtag(self, tag: str) -> None:
        self.is_code = False

    def handle_data(self, data: str) -> None:
        self.code += data if self.is_code else ""


def test_script_in_every_field_of_a_sample_stays_text(tmp_path: Path) -> None:
    names = "id question response ground_truth target_model task_name rubric question_id prompt_variant output_id"
    row = dict.fromkeys(names.split(), SCRIPT)
    judge_rows(tmp_path, ({**row, "metadata": {SCRIPT: SCRIPT}},), "hostile")
    plain = dict.fromkeys(row, "x") | {"metadata": {"k": "v"}}
    judge_rows(tmp_path, (plain,), "plain")

    async def scenario(client: Client) -> None:
        for page in ("/runs/{run}", "/runs/{run}/sample?id={id}"):
            told = []
            for run, name in (
                (
                    "hostile",
                    "%3C/script%3E%3Cscript%3Ealert(1)%3C/script%3E%3Cimg%20src%3Dx%20onerror%3Dalert(2)%3E%E2%80%AE%7B%7B7*7%7D%7D",
                ),
                ("plain", "x"),
            ):
                await client.wait(f"/api/runs/{run}")
                answer = await client.wait(page.format(run=run, id=name))
                assert answer.status == 200, answer.text
                parsed = Markup()
                parsed.feed(answer.text)
                told.append((parsed.tags, parsed.handlers, parsed.code))
                assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
            assert told[0] == told[1]
            assert told[0][1:] == ([], "")
        await client.wait_for_page("/api/runs/hostile/judgments?q=alert")
        listed = await client.wait("/api/runs/hostile/judgments?q=alert")
        assert listed.json["samples"][0]["id"] == SCRIPT
        assert listed.headers["Content-Type"].startswith("application/json")

    look(tmp_path / "ws", scenario)


def test_every_answer_forbids_what_a_page_could_be_made_to_do(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        for path in [*PAGES, "/nothing"]:
            if path.endswith("/live"):
                continue
            headers = (await client.wait(path)).headers
            policy = headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'; ")
            assert "unsafe" not in policy
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Cache-Control"] == "no-store"
            assert "Access-Control-Allow-Origin" not in headers

    look(workspace, scenario)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_change_nothing(workspace: Path, method: str) -> None:
    async def scenario(client: Client) -> None:
        own = f"http://127.0.0.1:{client.server.port}"
        for path in PAGES:
            assert (await client.ask(path, method, headers={"Origin": own})).status == 405
            assert (await client.ask(path, method)).status == 403

    look(workspace, scenario)


def test_what_is_kept_needs_an_origin_of_our_own_and_the_secret(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        own = f"http://127.0.0.1:{client.server.port}"
        for path in KEPT:
            assert (await client.ask(path, "POST")).status == 403
            assert (await client.ask(path, "POST", headers={"Origin": "http://evil.example"})).status == 403
            assert (await client.ask(path, "POST", headers={"Origin": own}, is_known=False)).status == 403
            # What is asked for rightly, and says nothing that could be kept, is one sentence.
            empty = await client.ask(path, "POST", headers={"Origin": own}, body=b"{}")
            assert (empty.status, list(empty.json)) == (400, ["error"])
            assert (await client.ask(path, "PUT", headers={"Origin": own})).status == 405
        assert not (workspace / "labels").exists()

    look(workspace, scenario)


def test_a_viewer_that_only_reads_refuses_before_it_looks(workspace: Path) -> None:
    async def scenario(client: Client) -> None:
        for path in KEPT:
            refused = await client.post(path, {})
            assert (refused.status, "only reads" in refused.text) == (403, True)
        answer = await client.ask("/", "POST", headers={"Origin": f"http://127.0.0.1:{client.server.port}"})
        assert (answer.status, "only reads" in answer.text) == (403, True)
        assert (await client.ask("/")).status == 200

    look(workspace, scenario, is_read_only=True)


def test_other_machines_need_a_flag_and_a_token() -> None:
    for allows, token in ((False, "x" * 40), (True, None), (True, "short")):
        with pytest.raises(ConfigurationError):
            decide_access("0.0.0.0", allows_remote=allows, is_read_only=False, token=token)  # noqa: S104 - refused

    assert decide_access("0.0.0.0", allows_remote=True, is_read_only=False, token="t" * 20).secret == "t" * 20  # noqa: S104
    assert decide_access("127.0.0.1", allows_remote=False, is_read_only=False, token="t" * 20).secret != "t" * 20
