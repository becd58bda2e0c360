"""Pictures of steps go to endpoints that take them, each behind its line; elsewhere the line says it is left out."""

import asyncio
import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.cases import each
from tests.unit.judges.loopback import ask, judge_at, says, serving
from tests.unit.judges.wire_documents import TEXT, completion, message
from tests.unit.protocols.nonces import NONCES

from mixseek.domain.ports import Call
from mixseek.domain.samples import Sample
from mixseek.domain.steps import Step, StepRole
from mixseek.judges.endpoint.pictures import read_picture
from mixseek.protocols.registry import load_protocol

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
JPEG = b"\xff\xd8\xff\xe0" + bytes(20)
WEBP = b"RIFF" + bytes(4) + b"WEBP" + bytes(8)
LINE = f"<<<PICTURE 1.1 {NONCES.sample}>>>"
LEFT_OUT = f"{LINE} [picture left out]"


def data_url(content: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def sample(*images: str) -> Sample:
    steps = (Step(StepRole.USER, "What is on it?", images=images), Step(StepRole.ASSISTANT, "A lamp."))
    return Sample(id="1", question="What is on it?", response="A lamp.", steps=steps)


def sent(asked: Sample, protocol: str = "trajectory", **settings: Any) -> dict[str, Any]:
    """The body of the request."""
    is_anthropic = settings.get("wire") == "anthropic"
    reply = message([{"type": "text", "text": TEXT}]) if is_anthropic else completion({"content": TEXT})

    async def run() -> Any:
        async with serving(says(reply)) as endpoint:
            messages = load_protocol(protocol, "en").messages(asked, NONCES)
            judge = judge_at(endpoint.url if is_anthropic else f"{endpoint.url}/v1", **settings)
            await ask(judge, Call("k", messages, {}))
            return orjson.loads(endpoint.bodies[0])

    body: dict[str, Any] = asyncio.run(run())
    return body


def content_of(body: dict[str, Any]) -> Any:
    return body["messages"][-1]["content"]


def test_a_judge_that_takes_no_pictures_is_told_that_they_are_left_out() -> None:
    content = content_of(sent(sample(data_url(PNG))))

    assert isinstance(content, str)
    assert content.count(LEFT_OUT) == 1
    assert base64.b64encode(PNG).decode() not in content


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_a_picture_stands_behind_its_line(wire: str, tmp_path: Path) -> None:
    (tmp_path / "lamp.jpg").write_bytes(JPEG)
    content = content_of(sent(sample(data_url(PNG), str(tmp_path / "lamp.jpg")), wire=wire, images=True))
    encoded = [base64.b64encode(picture).decode() for picture in (PNG, JPEG)]
    expected: list[dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": f"data:image/{kind};base64,{data}"}}
        if wire == "openai"
        else {"type": "image", "source": {"type": "base64", "media_type": f"image/{kind}", "data": data}}
        for kind, data in zip(("png", "jpeg"), encoded, strict=True)
    ]

    assert [part["type"] for part in content] == ["text", expected[0]["type"], "text", expected[1]["type"], "text"]
    assert [content[1], content[3]] == expected
    assert content[0]["text"].endswith(f"\nWhat is on it?\n{LINE}")
    assert content[2]["text"] == LINE.replace("1.1", "1.2")
    assert content[4]["text"].startswith(f"<<<STEP 2 {NONCES.sample}>>>")
    assert "left out" not in str(content)


def test_what_cannot_be_read_stays_left_out_and_the_rest_is_sent() -> None:
    content = content_of(sent(sample("/nowhere/lamp.png", data_url(PNG)), images=True))

    assert [part["type"] for part in content] == ["text", "image_url", "text"]
    assert f"{LEFT_OUT}\n{LINE.replace('1.1', '1.2')}" in content[0]["text"]
    assert isinstance(content_of(sent(sample("/nowhere/lamp.png"), images=True)), str)


def test_both_of_a_pair_have_their_own_pictures() -> None:
    one = sample(data_url(PNG))
    pair = replace(one, response_b="A chair.", steps_b=(replace(one.steps[0], images=(data_url(JPEG),)), one.steps[1]))
    content = content_of(sent(pair, "pairwise", images=True))

    kinds = [part["image_url"]["url"].partition(";")[0] for part in content if part["type"] == "image_url"]
    assert kinds == ["data:image/png", "data:image/jpeg"]
    assert "<<<END RESPONSE_A" in content[2]["text"]


def test_a_text_that_looks_like_a_pictures_line_is_none() -> None:
    steps = (replace(sample().steps[0], text="<<<PICTURE 1.1>>> [picture left out]"), sample().steps[1])

    assert isinstance(content_of(sent(replace(sample(), steps=steps), images=True)), str)


@each(
    ("source", "kind"),
    [
        (data_url(PNG), "image/png"),
        (data_url(JPEG, "image/png"), "image/jpeg"),
        (data_url(WEBP), "image/webp"),
        (data_url(b"GIF89a" + bytes(9)), "image/gif"),
        (data_url(b"root:x:0:0"), None),
        ("data:image/png,abc", None),
        ("data:image/png;base64,!!!", None),
        ("https://example.org/lamp.png", None),
        ("\0", None),
        ("", None),
        (str(Path(__file__)), None),
    ],
)
def test_only_pictures_are_read(source: str, kind: str | None) -> None:
    """A path comes with the judged data: whatever its first bytes do not show to be a picture is never sent."""
    picture = read_picture(source)

    assert (None if picture is None else picture.kind) == kind


def test_only_a_judge_that_takes_pictures_is_another_judge() -> None:
    settings: tuple[dict[str, Any], ...] = ({}, {"images": False}, {"images": True})
    plain, off, on = (judge_at("http://127.0.0.1:1/v1", **more) for more in settings)

    assert plain.fingerprint == off.fingerprint != on.fingerprint
    assert "images" not in plain.description
    assert on.description["images"] is True
