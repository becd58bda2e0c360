"""All the ways in which endpoints say: not now."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.judges.endpoint.retry_after import retry_after_seconds

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@each(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "1"}, 1.0),
        ({"x-ratelimit-reset-requests": "1m30.5s"}, 90.5),
        ({"x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-reset-tokens": "2h"}, 7200.0),
        ({"x-ratelimit-reset-requests": "60s", "x-ratelimit-reset-tokens": "2s"}, 2.0),
        (
            {
                "x-ratelimit-reset-requests": "60s",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-tokens": "2s",
                "x-ratelimit-remaining-tokens": "900",
            },
            60.0,
        ),
        ({"x-ratelimit-reset": "1767268810"}, 10.0),
        ({"x-ratelimit-reset": "1767268810500"}, 10.5),
        ({"ratelimit-reset": "9"}, 9.0),
        ({"anthropic-ratelimit-requests-reset": "2026-01-01T12:00:04Z"}, 4.0),
        ({"anthropic-ratelimit-requests-reset": "2026-01-01T12:00:04"}, 4.0),
        ({"x-ratelimit-reset": "whenever"}, None),
    ],
)
def test_the_wait_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, NOW) == pytest.approx(seconds)


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset"]), st.text(max_size=40)))
def test_whatever_stands_there_gives_no_error_and_no_negative_wait(headers: dict[str, str]) -> None:
    seconds = retry_after_seconds(headers, NOW)

    assert seconds is None or 0.0 <= seconds < float("inf")
