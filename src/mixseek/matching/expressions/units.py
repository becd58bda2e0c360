"""Words after a number: which are units, and which units measure the same thing."""

import re
from fractions import Fraction
from typing import Final

# unit -> (what it measures, how many of the first unit of that line)
_LINES: Final = {
    "length": "m 1|meter 1|metre 1|cm 1/100|centimeter 1/100|centimetre 1/100|mm 1/1000|millimeter 1/1000|km 1000|"
    "kilometer 1000|kilometre 1000|dm 1/10|inch 127/5000|inche 127/5000|in 127/5000|ft 381/1250|foot 381/1250|"
    "feet 381/1250|yard 1143/1250|yd 1143/1250|mile 201168/125|mi 201168/125",
    "mass": "kg 1|kilogram 1|g 1/1000|gram 1/1000|mg 1/1000000|milligram 1/1000000|lb 45359237/100000000|"
    "pound 45359237/100000000",
    "time": "s 1|sec 1|second 1|min 60|minute 60|h 3600|hr 3600|hour 3600|day 86400|week 604800",
    "months": "month 1|year 12|yr 12",
    "volume": "l 1|liter 1|litre 1|ml 1/1000|milliliter 1/1000|millilitre 1/1000",
    "money": "dollar 1|usd 1|buck 1|cent 1/100",
    "angle": "degree 1|deg 1",
    "count": "unit 1|piece 1|item 1|people 1|person 1|student 1|way 1|time 1|point 1|solution 1|mph 1|kmh 1|kph 1",
    "other": "rad 1|radian 1|mol 1|hz 1|newton 1|joule 1|watt 1|volt 1|ohm 1|kw 1|kwh 1|mw 1|pa 1|kpa 1|ev 1|kj 1|"
    "gallon 1|acre 1|hectare 1|square 1|sq 1|cubic 1|cu 1|cc 1|rupee 1|euro 1|yen 1",
}
UNITS: Final = {
    entry.split()[0]: (dimension, Fraction(entry.split()[1]))
    for dimension, line in _LINES.items()
    for entry in line.split("|")
}
# A lone letter after a number is more often a variable than a unit, so these need \text{…} around them.
UNIT_WORDS: Final = frozenset(name for name in UNITS if len(name) > 1 and name != "in")
_POWERS: Final = {"²": "^2", "³": "^3"}
_NOT_LETTERS: Final = re.compile(r"[^a-z0-9^/]+")


def is_unit_word(word: str) -> bool:
    """True for a unit of two letters or more, singular or plural."""
    lowered = word.lower()
    return lowered in UNIT_WORDS or (lowered.endswith("s") and lowered[:-1] in UNIT_WORDS)


def canonical_unit(unit: str) -> str:
    """Lower case, singular, no spaces or dots: what two spellings of one unit have in common."""
    text = unit.lower()
    for mark, power in _POWERS.items():
        text = text.replace(mark, power)
    text = text.replace("{", "").replace("}", "")
    words = [_singular(word) for word in _NOT_LETTERS.split(text) if word]
    return " ".join(words)


def scale_of(unit: str) -> tuple[str, Fraction] | None:
    """What a canonical unit measures and its size; None for words that are no unit we convert."""
    return UNITS.get(unit)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith("ss") else word
