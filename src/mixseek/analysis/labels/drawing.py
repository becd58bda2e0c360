"""A draw of a run's texts as it is kept: which texts, from which strata, and after which earlier draws."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256

from mixseek.analysis.labels.units import DrawnStratum, LabelUnits
from mixseek.domain.labels import Draw, DrawnRow, Stratum
from mixseek.storage.journal.manifest import Manifest


def new_seed() -> int:
    """A seed that nobody knew before."""
    return secrets.randbelow(2**31)


def taken_texts(earlier: Sequence[Draw]) -> list[str]:
    """Texts that earlier draws have taken, each once."""
    return list(dict.fromkeys(row.text for draw in earlier for row in draw.rows))


def record_draw(
    units: LabelUnits,
    manifest: Manifest,
    columns: tuple[str, ...],
    seed: int,
    strata: Sequence[DrawnStratum],
    earlier: Sequence[Draw],
) -> Draw:
    """What the lot fell on, with all that says how likely that was."""
    texts, population = units.population()
    count = sum(len(stratum.drawn) for stratum in strata)
    name = "d" + sha256(repr((manifest.run, seed, columns, count, len(earlier))).encode()).hexdigest()[:8]
    return Draw(
        draw=name,
        run=manifest.run,
        protocol=manifest.protocol.name,
        protocol_hash=manifest.protocol.hash,
        seed=seed,
        columns=columns,
        texts=texts - len(taken_texts(earlier)),
        population=population,
        strata=tuple(Stratum(stratum.values, stratum.texts, len(stratum.drawn)) for stratum in strata),
        rows=name_rows(name, strata),
        at=datetime.now(UTC).isoformat(),
        earlier=tuple(draw.draw for draw in earlier),
    )


def name_rows(draw: str, strata: Sequence[DrawnStratum]) -> tuple[DrawnRow, ...]:
    """Rows in an order that says nothing about strata."""
    placed = sorted((place, text, number) for number, stratum in enumerate(strata) for place, text in stratum.drawn)
    return tuple(
        DrawnRow(f"{draw}-{number:0{len(str(len(placed)))}}", text.id, text.text, stratum)
        for number, (_, text, stratum) in enumerate(placed, 1)
    )
