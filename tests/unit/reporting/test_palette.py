"""Colours: readable in light and in dark (WCAG AA), and dark is the same however it was chosen."""

import re
from importlib import resources

import pytest

SHEET = (resources.files("mixseek.reporting") / "assets" / "tokens.css").read_text(encoding="utf-8")
TONES = ("good", "bad", "mixed", "undecided", "invalid", "missing")
PAIRS = (
    *((ink, ground) for ink in ("ink", "ink-soft", "ink-quiet", "accent") for ground in ("page", "surface", "hover")),
    *((tone, ground) for tone in TONES for ground in ("page", "surface", f"{tone}-soft")),
    ("ink-soft", "sunken"),
    ("ink", "selected"),
    ("ink-quiet", "selected"),
    *((tone, "selected") for tone in TONES),
    ("mark-ink", "mark"),
)


def palettes() -> dict[str, dict[str, str]]:
    blocks = re.findall(r"([^{}]*)\{([^{}]*--page[^{}]*)\}", SHEET)
    named = {}
    for selector, body in blocks:
        name = "dark, chosen" if '"dark"' in selector else "dark, preferred" if ":not(" in selector else "light"
        named[name] = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", body))
    return named


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_light_and_both_ways_to_dark_are_there() -> None:
    assert set(palettes()) == {"light", "dark, preferred", "dark, chosen"}


def test_dark_is_the_same_however_it_was_chosen() -> None:
    assert palettes()["dark, preferred"] == palettes()["dark, chosen"]


@pytest.mark.parametrize("name", ["light", "dark, chosen"])
def test_text_is_readable_on_every_ground_it_stands_on(name: str) -> None:
    palette = palettes()[name]

    low = {
        f"{ink} on {ground}": round(ratio, 2)
        for ink, ground in PAIRS
        if (ratio := contrast(palette[ink], palette[ground])) < 4.5
    }
    assert low == {}
