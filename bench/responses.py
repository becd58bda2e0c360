"""Chain-of-thought responses of the size and shape of BIG-Bench Hard's, made here."""

import random
from collections.abc import Iterator

_NAMES = ("Ada", "Bo", "Cleo", "Dov", "Eli", "Fay", "Gus")
_THINGS = ("red ball", "blue ball", "green ball", "pink ball", "white ball", "black ball", "brown ball")


def synthetic_rows(count: int, *, seed: int = 7) -> Iterator[dict[str, str]]:
    """`count` rows of question, response and ground truth; about one in five is wrong."""
    rng = random.Random(seed)
    for index in range(count):
        maker = (_shuffle, _arithmetic, _truth)[index % 3]
        yield {"id": f"row-{index}", **maker(rng)}


def _shuffle(rng: random.Random) -> dict[str, str]:
    held = dict(zip(_NAMES, rng.sample(_THINGS, len(_NAMES)), strict=True))
    options = rng.sample(_THINGS, len(_THINGS))
    listing = "\n".join(f"({chr(65 + place)}) {thing}" for place, thing in enumerate(options))
    lines = []
    for step in range(1, 8):
        one, other = rng.sample(_NAMES, 2)
        held[one], held[other] = held[other], held[one]
        state = ", ".join(f"{name}: {thing.split()[0]}" for name, thing in held.items())
        lines.append(f"({step}) {one} and {other} swap balls: {state}.")
    who = rng.choice(_NAMES)
    right = options.index(held[who])
    given = right if rng.random() < 0.8 else (right + 1) % len(options)
    lines.append(f"At the end of the game, {who} has the {options[given]}. So the answer is ({chr(65 + given)}).")
    question = f"Seven friends swap balls. At the end of the game, {who} has the\nOptions:\n{listing}"
    return {"question": question, "response": "\n".join(lines), "ground_truth": f"({chr(65 + right)})"}


def _arithmetic(rng: random.Random) -> dict[str, str]:
    terms = [rng.randint(2, 99) for _ in range(12)]
    total, lines = 0, ["Let's add the numbers one after the other."]
    for term in terms:
        lines.append(f"We add {term} to {total}, so now we have {total} + {term} = {total + term}.")
        total += term
    given = total if rng.random() < 0.8 else total + 10
    lines.append(f"So the answer is {given}.")
    return {
        "question": f"What is {' + '.join(map(str, terms))}?",
        "response": "\n".join(lines),
        "ground_truth": str(total),
    }


def _truth(rng: random.Random) -> dict[str, str]:
    honest = rng.random() < 0.5
    lines = [f"(1) {_NAMES[0]} {_habit(honest)}."]
    for place in range(1, len(_NAMES)):
        lies = rng.random() < 0.5
        speaker, subject = _NAMES[place], _NAMES[place - 1]
        claim = f"{speaker} says {subject} {_habit(not lies)}"
        known, honest = honest, honest != lies
        lines.append(f"({place + 1}) {claim}. Since {subject} {_habit(known)}, {speaker} {_habit(honest)}.")
    given = honest if rng.random() < 0.8 else not honest
    lines.append(f"Does {_NAMES[-1]} tell the truth? So the answer is {'Yes' if given else 'No'}.")
    question = f"A chain of friends speaks about each other. Does {_NAMES[-1]} tell the truth?"
    return {"question": question, "response": "\n".join(lines), "ground_truth": "Yes" if honest else "No"}


def _habit(honest: bool) -> str:
    return "tells the truth" if honest else "lies"
