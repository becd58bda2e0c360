"""Colours: readable in light and in dark (WCAG AA), and dark is the same however it was chosen."""

import re
from importlib import resources

import pytest

SHEET = (resources.files("mixseek.reports") / "assets" / "tokens.css").read_text(encoding="utf-8")
TONES = ("good", "bad", "mixed", "undecided", "invalid", "missing")
PAIRS = (
    *((ink, ground) for ink in ("ink", "ink-soft", "ink-quiet", "accent") for ground in ("page", "surface", "hover")),
    *((tone, ground) for tone in TONES for ground in ("page", "surface", f"{tone}-soft")),
    ("ink-soft", "sunken"),
    ("ink", "selected"),
    ("ink-quiet", "selected"),
    *((tone, "selected") for tone in TONES),
    ("mark-ink", "mark"),
    *(("ink", f"dimension-{number}-soft") for number in range(1, 9)),
    *((f"dimension-{number}-ink", f"dimension-{number}-soft") for number in range(1, 9)),
    *((f"dimension-{number}-ink", "surface") for number in range(1, 9)),
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


@pytest.mark.parametrize("name", ["light", "dark, chosen"])
def test_dimensions_are_told_apart_without_red_and_green(name: str) -> None:
    """Every two of the first four, as somebody without red-sensitive cones sees them (Viénot, Brettel, Mollon 1999)."""
    palette = palettes()[name]
    seen = [protanope(palette[f"dimension-{number}"]) for number in range(1, 5)]

    close = [
        (one + 1, other + 1)
        for one in range(4)
        for other in range(one + 1, 4)
        if sum((a - b) ** 2 for a, b in zip(seen[one], seen[other], strict=True)) ** 0.5 < 0.25
    ]
    assert close == []


def protanope(colour: str) -> tuple[float, float, float]:
    """sRGB as it reaches a protanope."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue))
    mixed = 0.11238 * red + 0.88762 * green
    shown = [max(0.0, c) for c in (mixed, mixed, 0.00401 * red - 0.00401 * green + blue)]
    first, second, third = (12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in shown)
    return first, second, third
