"""Questions about one run under a protocol with dimensions; what comes back does not grow with the judgments."""

from typing import Any

import duckdb

from mixseek.domain.counts import (
    CoverageCell,
    CoverageCounts,
    DimensionBucket,
    DimensionCell,
    Disagreement,
    EvidenceCount,
    EvidenceProblem,
    PanelSums,
    ScoredCell,
    ScoredUnits,
    UnitGroups,
    VariantSums,
)
from mixseek.domain.judgments import Status
from mixseek.storage.duckdb_session import fetch_all, read_statements
from mixseek.storage.index.statements import read_unit_groups, sample_units, unit_sums

_SQL = read_statements("mixseek.storage.index", "scored.sql")

# What a page can show as a grid, and what can be laid out in a moment to find the holes.
_GRID_CELLS = 2_000
_PRODUCT_CELLS = 500_000

# Factor of a report to the column that holds its values; the whole has none.
_INVALID_FACTORS = {
    "": (),
    "judge": ("judge",),
    "target": ("target_model",),
    "variant": ("prompt_variant",),
    "language": ("language",),
    "method": ("method",),
}


class ScoredIndex:
    """Over a connection that somebody else closes."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def has_scores(self) -> bool:
        """False for a protocol without dimensions."""
        return bool(self._all("has_scored")[0][0])

    def cells(self) -> list[ScoredCell]:
        """Every judgment, grouped by all that a report looks at."""
        return [
            ScoredCell(judge, target, variant, language, task_type, Status(status), *rest)
            for judge, target, variant, language, task_type, status, *rest in self._all("cells")
        ]

    def units(self) -> ScoredUnits:
        """What every interval rests on: samples and their questions, not judgments."""
        return ScoredUnits(
            targets=self._sums("units_of_totals", "target_model", control=False),
            task_types=self._sums("units_of_totals", "task_type", control=False),
            pairs=self._sums("units_of_totals", "judge", "target_model", control=False),
            own_outputs=self._sums("units_of_totals", "judge", "target_model", control=True),
            judge_dimensions=self._sums("units_of_marks", "judge", "dimension"),
            target_dimensions=self._sums("units_of_marks", "target_model", "dimension"),
            task_type_dimensions=self._sums("units_of_marks", "task_type", "dimension"),
            invalid={name: self._sums("units_of_invalid", *columns) for name, columns in _INVALID_FACTORS.items()},
            quotes={**self._sums("quotes", "judge", "dimension"), **self._sums("quotes", "judge")},
            unanimous=self._sums("unanimous")[()],
        )

    def _sums(self, name: str, *groups: str, **parameters: Any) -> UnitGroups:
        """Of judgments brought to samples first; quotes and panels are units already."""
        units = sample_units(_SQL[name], groups) if name.startswith("units_of") else _SQL[name]
        return read_unit_groups(fetch_all(self._connection, unit_sums(units, groups), parameters), len(groups))

    def dimension_cells(self) -> list[DimensionCell]:
        """In the protocol's order of dimensions."""
        return [DimensionCell(*row) for row in self._all("dimension_cells")]

    def dimension_buckets(self) -> list[DimensionBucket]:
        """For histograms, in the protocol's order of dimensions."""
        return [DimensionBucket(*row) for row in self._all("dimension_buckets")]

    def variant_sums(self) -> list[VariantSums]:
        """Every two prompt variants that met under one question, target and judge; the total before its dimensions."""
        return [VariantSums(*row) for row in self._all("variant_sums")]

    def evidence_counts(self) -> list[EvidenceCount]:
        """By judge, dimension and how the quote was found, or why not."""
        return [EvidenceCount(*row) for row in self._all("evidence_counts")]

    def evidence_problems(self, limit: int = 50) -> list[EvidenceProblem]:
        """The first quotes that are not in the judged response."""
        return [EvidenceProblem(*row) for row in self._all("evidence_problems", limit=limit)]

    def panel_sums(self) -> PanelSums | None:
        """None where no sample has two judges."""
        row = self._all("panel_sums")[0]
        return PanelSums(*row) if row[0] else None

    def disagreements(self, limit: int = 20) -> list[Disagreement]:
        """Where judges differ most."""
        found = []
        for *named, told in self._all("disagreements", limit=limit):
            scores = tuple((judge, float(score), verdict) for judge, score, verdict in told)
            values: list[Any] = [*named, scores]
            found.append(Disagreement(*values))
        return found

    def coverage(self, holes: int = 200) -> CoverageCounts | None:
        """None where no sample names its question."""
        questions, variants, targets, judges = self._all("coverage_sizes")[0]
        if not questions:
            return None
        expected = questions * variants * targets * judges
        grid: list[CoverageCell] = []
        if expected <= _GRID_CELLS:
            grid = self._coverage_cells("coverage_grid", holes_only=False, limit=expected)
        if expected <= _PRODUCT_CELLS:
            empty = self._coverage_cells("coverage_grid", holes_only=True, limit=holes)
        else:
            empty = self._coverage_cells("coverage_holes", limit=holes)
        return CoverageCounts(
            questions=questions,
            variants=variants,
            targets=targets,
            judges=judges,
            expected=expected,
            valid=self._all("covered")[0][0],
            holes=tuple(empty),
            grid=tuple(grid),
            unnamed=self._all("unnamed")[0][0],
        )

    def _coverage_cells(self, name: str, **parameters: Any) -> list[CoverageCell]:
        rows = self._all(name, **parameters)
        return [
            CoverageCell(question, variant, target, judge, Status(status) if status else None)
            for question, variant, target, judge, status in rows
        ]

    def _all(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return fetch_all(self._connection, _SQL[name], parameters)
