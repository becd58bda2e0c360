"""Datasets at an address: the client that Ray Data uses, before a store on loopback that speaks as much as it needs."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.flows.running import mixseek_here

pytest.importorskip("pyarrow")
ROW = '{"id": "%s", "response": "The answer is 4.", "ground_truth": "4"}\n'
OBJECTS = {
    "answers/part-1.jsonl": ROW % 1 + ROW % 2,
    "answers/part-2.jsonl": ROW % 3,
    "answers/_SUCCESS": "",
    "other.jsonl": ROW % 4,
}


class Store(BaseHTTPRequestHandler):
    """Of S3: a list of keys, and one object."""

    fetched: list[str]

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, *, with_body: bool) -> None:
        url = urlsplit(self.path)
        key = url.path.removeprefix("/bucket").lstrip("/")
        if not key:
            prefix = parse_qs(url.query).get("prefix", [""])[0]
            listed = "".join(
                f"<Contents><Key>{name}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified>"
                f"<Size>{len(text)}</Size></Contents>"
                for name, text in OBJECTS.items()
                if name.startswith(prefix)
            )
            body = f"<ListBucketResult><IsTruncated>false</IsTruncated>{listed}</ListBucketResult>"
        elif key in OBJECTS:
            body = OBJECTS[key]
            if with_body:
                self.fetched.append(key)
        else:
            self.send_error(404)
            return
        data = body.encode()
        self.send_response(206 if self.headers.get("Range") else 200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT")
        if self.headers.get("Range"):
            self.send_header("Content-Range", f"bytes 0-{len(data) - 1}/{len(data)}")
        self.end_headers()
        if with_body:
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def settings() -> Iterator[str]:
    """How the client finds the store."""
    Store.fetched = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Store) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"?scheme=http&region=here&endpoint_override=127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_folder_of_objects_is_fetched_once_and_judged(settings: str, tmp_path: Path) -> None:
    """By folder, by glob and by name; the same command again fetches nothing; what is not there is one line."""
    keys = {"AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "none", "AWS_EC2_METADATA_DISABLED": "true"}

    def judge(data: str) -> tuple[int, str, str]:
        done = mixseek_here("judge", data + settings, "--json", "--workspace", "ws", cwd=tmp_path, env=keys)
        return done.returncode, done.stdout, done.stderr

    code, out, err = judge("s3://bucket/answers")
    assert (code, '"valid":3' in out.replace(" ", "")) == (0, True), err
    assert sorted(Store.fetched) == ["answers/part-1.jsonl", "answers/part-2.jsonl"]
    code, _, err = judge("s3://bucket/answers")
    assert (code, "nothing was judged again" in err) == (0, True)
    assert judge("s3://bucket/answers/part-*.jsonl")[0] == 0
    assert len(Store.fetched) == 2
    assert judge("s3://bucket/other.jsonl")[0] == 0
    code, _, err = judge("s3://bucket/nowhere")
    assert (code, len(err.strip().splitlines())) == (2, 1)
    assert "file is there; check the path" in err
