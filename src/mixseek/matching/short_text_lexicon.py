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

# What may stand before the heart of a gold without changing it ("in Paris", "around 1200", "located in Ohio").
LEADING_PREPOSITIONS: Final = word_set(
    """in on at by to from of for during since until till into with about around approximately circa c ca near after
    before between within inside through over as because located based usually generally mainly mostly roughly"""
)

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

TITLES: Final = word_set(
    """mr mrs ms miss mx dr prof professor sir dame lord lady king queen prince princess duke duchess earl count baron
    baroness emperor empress tsar czar pope saint st father sister brother reverend rev bishop archbishop cardinal rabbi
    president vice prime minister chancellor governor mayor senator sen congressman congresswoman representative
    secretary justice judge chief general gen colonel col captain capt major lieutenant lt sergeant sgt admiral marshal
    commander coach chef singer actor actress author artist rapper musician jr sr junior senior esq obe mbe cbe phd md
    hon honorable honourable"""
)

_NICKNAME_GROUPS: Final = (
    "alexander alex alec sandy",
    "andrew andy drew",
    "anthony antony tony",
    "albert al bert",
    "arthur art",
    "benjamin ben benny",
    "charles charlie chuck chas",
    "christopher chris kit",
    "daniel dan danny",
    "david dave davy",
    "donald don donny",
    "edward ed eddie ted teddy ned",
    "elizabeth liz beth betty eliza lizzie",
    "francis frank",
    "frederick fred freddie",
    "geoffrey jeffrey jeff geoff",
    "george georgie",
    "gerald gerry jerry",
    "gregory greg",
    "harold harry hal",
    "henry hank harry",
    "jacob jake",
    "james jim jimmy jamie",
    "jennifer jen jenny",
    "john jon jack johnny jonathan",
    "joseph joe joey",
    "katherine catherine kathryn kate katie kathy cathy kit",
    "kenneth ken kenny",
    "lawrence laurence larry",
    "leonard len lenny leo",
    "louis lewis lou louie",
    "margaret maggie peggy meg",
    "matthew matt",
    "michael mike mickey mick",
    "nathaniel nathan nate",
    "nicholas nick nicky nicolas",
    "patrick pat paddy",
    "peter pete",
    "philip phillip phil",
    "raymond ray",
    "richard rick dick ricky rich richie",
    "robert rob bob bobby robbie bert",
    "ronald ron ronnie",
    "samuel sam sammy",
    "stephen steven steve",
    "susan sue susie",
    "theodore theo ted teddy",
    "thomas tom tommy",
    "timothy tim",
    "victoria vicky",
    "vincent vince vinny",
    "walter walt wally",
    "william bill will billy willy liam",
)
NICKNAMES: Final[dict[str, frozenset[str]]] = {}
for _group in _NICKNAME_GROUPS:
    for _name in _group.split():
        NICKNAMES[_name] = NICKNAMES.get(_name, frozenset()) | frozenset(_group.split())

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

_NATIONS: Final = """\
afghan afghanistan|african africa|albanian albania|algerian algeria|american usa|argentine argentina|
argentinian argentina|armenian armenia|asian asia|australian australia|austrian austria|bangladeshi bangladesh|
belgian belgium|bolivian bolivia|brazilian brazil|british uk|bulgarian bulgaria|cambodian cambodia|
canadian canada|chilean chile|chinese china|colombian colombia|croatian croatia|cuban cuba|czech czechia|
danish denmark|dutch netherlands|egyptian egypt|english england|estonian estonia|ethiopian ethiopia|
european europe|finnish finland|french france|german germany|ghanaian ghana|greek greece|hungarian hungary|
icelandic iceland|indian india|indonesian indonesia|iranian iran|iraqi iraq|irish ireland|israeli israel|
italian italy|jamaican jamaica|japanese japan|jordanian jordan|kenyan kenya|korean korea|latvian latvia|
lebanese lebanon|libyan libya|lithuanian lithuania|malaysian malaysia|mexican mexico|mongolian mongolia|
moroccan morocco|nepalese nepal|nigerian nigeria|norwegian norway|pakistani pakistan|peruvian peru|
philippine philippines|filipino philippines|polish poland|portuguese portugal|romanian romania|russian russia|
scottish scotland|scots scotland|serbian serbia|singaporean singapore|slovak slovakia|slovenian slovenia|
soviet ussr|spanish spain|sudanese sudan|swedish sweden|swiss switzerland|syrian syria|thai thailand|
tunisian tunisia|turkish turkey|ugandan uganda|ukrainian ukraine|venezuelan venezuela|vietnamese vietnam|
welsh wales|yemeni yemen"""
DEMONYMS: Final = dict(entry.split() for entry in _NATIONS.replace("\n", "").split("|"))

_STATES: Final = """\
alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois
indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri
montana nebraska nevada jersey mexico carolina dakota ohio oklahoma oregon pennsylvania tennessee texas utah
vermont virginia wisconsin wyoming ontario quebec alberta manitoba columbia scotia wales queensland tasmania
bavaria"""
# Countries, continents, states and provinces: what a town may lie in.
REGIONS: Final = frozenset(DEMONYMS.values()) | word_set(_STATES)

# A response of nothing but these announces an answer and gives none.
FILLER_WORDS: Final = word_set(
    """let lets us me begin start think solve break down this that problem question step steps by thought thoughts
    process solution answer answers final correct response result explanation reasoning analysis conclusion sure
    certainly okay ok here is are my your to of in for with so therefore thus and i will would can well hello hi
    yes please it"""
)
