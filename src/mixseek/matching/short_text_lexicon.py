"""General word tables of the short-text comparer: English function words, numbers, months, names, units, nations."""

from typing import Final


def word_set(text: str) -> frozenset[str]:
    """The words of a text, for tables that a person can read and extend."""
    return frozenset(text.split())


ARTICLES: Final = frozenset({"a", "an", "the"})

# Words that carry no answer of their own: a gold is never proved or disproved by one of these.
FUNCTION_WORDS: Final = word_set(
    """a about above across after again all along also although am among an and any are around as at be because been
    before being below between both but by can could did do does doing down during each either else ever every for from
    further had has have having he her here hers him his how i if in into is it its itself just like many may me might
    more most much must my near no nor not of off on once only onto or other our out over own per s same shall she
    should since so some such t than that the their them then there these they this those through thus till to too
    toward towards under until up upon us very via was we were what when where whether which while who whom whose why
    will with within without would yes yet you your"""
)

# What may stand in a gold that is nothing but a date ("around May 1891", "circa 1200").
DATE_PREPOSITIONS: Final = word_set("approximately circa c ca")

MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}

_UNITS_TO_NINETEEN: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS_TO_NINETEEN: Final = (
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
)  # fmt: skip
_ORDINAL_TENS: Final = (
    "twentieth", "thirtieth", "fortieth", "fiftieth", "sixtieth", "seventieth", "eightieth", "ninetieth",
)  # fmt: skip

CARDINALS: Final = {word: value for value, word in enumerate(_UNITS_TO_NINETEEN)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
ORDINALS: Final = {word: value for value, word in enumerate(_ORDINALS_TO_NINETEEN) if value} | {
    word: 10 * value for value, word in enumerate(_ORDINAL_TENS, start=2)
}
SCALES: Final = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 10**12}

_ROMAN_ONES: Final = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
# Up to thirty: kings, popes, wars and Olympic Games; beyond it "xl" is a size and "mix" a word.
ROMAN_NUMERALS: Final = {
    "x" * tens + ones: 10 * tens + value for tens in range(3) for value, ones in enumerate(_ROMAN_ONES)
} | {"xxx": 30}
del ROMAN_NUMERALS[""]

# Spellings of units, folded to one; plural forms are written out because folding happens before any stemming.
UNIT_SPELLINGS: Final = {
    spelling: canonical
    for canonical, spellings in {
        "km": "km kms kilometre kilometres kilometer kilometers",
        "m": "metre metres meter meters",
        "cm": "cm centimetre centimetres centimeter centimeters",
        "mm": "mm millimetre millimetres millimeter millimeters",
        "mi": "mile miles mi",
        "ft": "ft foot feet",
        "in.": "inch inches",
        "yd": "yd yds yard yards",
        "kg": "kg kgs kilogram kilograms kilogramme kilogrammes kilo kilos",
        "g": "gram grams gramme grammes",
        "lb": "lb lbs pound pounds",
        "oz": "oz ounce ounces",
        "l": "litre litres liter liters",
        "ml": "ml millilitre millilitres milliliter milliliters",
        "mph": "mph",
        "percent": "percent percentage pct",
        "dollar": "dollar dollars usd",
        "euro": "euro euros eur",
        "yr": "year years yr yrs",
        "month": "month months",
        "week": "week weeks",
        "day": "day days",
        "hour": "hour hours hr hrs",
        "minute": "minute minutes min mins",
        "sec": "seconds secs",
        "degree": "degree degrees",
    }.items()
    for spelling in spellings.split()
}
UNIT_WORDS: Final = frozenset(UNIT_SPELLINGS.values()) | frozenset(
    {"times", "people", "time", "old", "age", "total", "ad", "bc", "ce", "bce", "season", "celsius", "fahrenheit"}
)

# Whole phrases that name one thing; the value replaces the words in the word list.
PHRASES: Final = {
    ("united", "states", "of", "usa"): "usa",
    ("united", "states"): "usa",
    ("united", "kingdom"): "uk",
    ("great", "uk"): "uk",
    ("united", "nations"): "un",
    ("european", "union"): "eu",
    ("soviet", "union"): "ussr",
    ("new", "york", "city"): "nyc",
    ("los", "angeles"): "la",
    ("ww", "#1"): "ww1",
    ("ww", "#2"): "ww2",
    ("first", "world", "war"): "ww1",
    ("second", "world", "war"): "ww2",
    ("world", "war", "i"): "ww1",
    ("world", "war", "one"): "ww1",
    ("world", "war", "two"): "ww2",
    ("world", "war", "#1"): "ww1",
    ("world", "war", "#2"): "ww2",
}
WORD_SYNONYMS: Final = {
    "america": "usa",
    "britain": "uk",
    "wwi": "ww1",
    "wwii": "ww2",
    "colour": "color",
    "centre": "center",
    "theatre": "theater",
    "grey": "gray",
    "saint": "st",
    "mount": "mt",
    "doctor": "dr",
    "mister": "mr",
    "tv": "television",
}

# A response of nothing but these announces an answer and gives none.
FILLER_WORDS: Final = word_set(
    """let lets us me begin start think solve break down this that problem question step steps by thought thoughts
    process solution answer answers final correct response result explanation reasoning analysis conclusion sure
    certainly okay ok here is are my your to of in for with so therefore thus and i will would can well hello hi
    yes please it"""
)
