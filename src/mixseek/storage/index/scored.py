"""Questions about one run under a protocol with dimensions; what comes back does not grow with the judgments."""

from collections.abc import Callable, Iterator, Sequence
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
    UnitSums,
    VariantSums,
)
from mixseek.domain.judgments import Status
from mixseek.storage.duckdb_session import fetch_all
from mixseek.storage.index import scored_queries as sql

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

    def __init__(self, connection: duckdb.DuckDBPyConnection, run: str) -> None:
        self._connection = connection
        self._run = run

    def has_scores(self) -> bool:
        """False for a protocol without dimensions."""
        return bool(self._all(sql.HAS_SCORED)[0][0])

    def cells(self) -> list[ScoredCell]:
        """Every judgment, grouped by all that a report looks at."""
        return [
            ScoredCell(judge, target, variant, language, task_type, Status(status), *rest)
            for judge, target, variant, language, task_type, status, *rest in self._all(sql.CELLS)
        ]

    def units(self) -> ScoredUnits:
        """What every interval rests on: samples and their questions, not judgments."""
        return ScoredUnits(
            targets=self._sums(sql.total_sums, "target_model", control=False),
            task_types=self._sums(sql.total_sums, "task_type", control=False),
            pairs=self._sums(sql.total_sums, "judge", "target_model", control=False),
            own_outputs=self._sums(sql.total_sums, "judge", "target_model", control=True),
            judge_dimensions=self._sums(sql.mark_sums, "judge", "dimension"),
            target_dimensions=self._sums(sql.mark_sums, "target_model", "dimension"),
            task_type_dimensions=self._sums(sql.mark_sums, "task_type", "dimension"),
            invalid={name: self._sums(sql.invalid_sums, *columns) for name, columns in _INVALID_FACTORS.items()},
            quotes={**self._sums(sql.quote_sums, "judge", "dimension"), **self._sums(sql.quote_sums, "judge")},
            unanimous=UnitSums(*self._all(sql.UNANIMOUS_SUMS)[0]),
        )

    def _sums(self, query: Callable[[Sequence[str]], str], *groups: str, **parameters: Any) -> UnitGroups:
        rows = self._all(query(groups), **parameters)
        return {tuple(row[: len(groups)]): UnitSums(*row[len(groups) :]) for row in rows}

    def dimension_cells(self) -> list[DimensionCell]:
        """In the protocol's order of dimensions."""
        return [DimensionCell(*row) for row in self._all(sql.DIMENSION_CELLS)]

    def dimension_buckets(self) -> list[DimensionBucket]:
        """For histograms, in the protocol's order of dimensions."""
        return [DimensionBucket(*row) for row in self._all(sql.DIMENSION_BUCKETS)]

    def variant_sums(self) -> list[VariantSums]:
        """Every two prompt variants that met under one question, target and judge; the total before its dimensions."""
        return [VariantSums(*row) for row in self._all(sql.VARIANT_SUMS)]

    def evidence_counts(self) -> list[EvidenceCount]:
        """By judge, dimension and how the quote was found, or why not."""
        return [EvidenceCount(*row) for row in self._all(sql.EVIDENCE_COUNTS)]

    def evidence_problems(self, limit: int = 50) -> list[EvidenceProblem]:
        """The first quotes that are not in the judged response."""
        return [EvidenceProblem(*row) for row in self._all(sql.EVIDENCE_PROBLEMS, limit=limit)]

    def panel_sums(self) -> PanelSums | None:
        """None where no sample has two judges."""
        row = self._all(sql.PANEL_SUMS)[0]
        return PanelSums(*row) if row[0] else None

    def disagreements(self, limit: int = 20) -> list[Disagreement]:
        """Where judges differ most."""
        return [
            Disagreement(
                sample_id,
                target,
                variant,
                question,
                spread,
                verdicts,
                tuple((judge, float(score), verdict) for judge, score, verdict in told),
            )
            for sample_id, target, variant, question, spread, verdicts, told in self._all(
                sql.DISAGREEMENTS, limit=limit
            )
        ]

    def coverage(self, holes: int = 200) -> CoverageCounts | None:
        """None where no sample names its question."""
        questions, variants, targets, judges = self._all(sql.COVERAGE_SIZES)[0]
        if not questions:
            return None
        expected = questions * variants * targets * judges
        grid: list[CoverageCell] = []
        if expected <= _GRID_CELLS:
            grid = list(self._coverage_cells(sql.COVERAGE_GRID, holes_only=False, limit=expected))
        query = sql.COVERAGE_GRID if expected <= _PRODUCT_CELLS else sql.COVERAGE_HOLES
        only = {"holes_only": True} if query == sql.COVERAGE_GRID else {}
        return CoverageCounts(
            questions=questions,
            variants=variants,
            targets=targets,
            judges=judges,
            expected=expected,
            valid=self._all(sql.COVERED)[0][0],
            holes=tuple(self._coverage_cells(query, limit=holes, **only)),
            grid=tuple(grid),
            unnamed=self._all(sql.UNNAMED)[0][0],
        )

    def _coverage_cells(self, query: str, **parameters: Any) -> Iterator[CoverageCell]:
        for question, variant, target, judge, status in self._all(query, **parameters):
            yield CoverageCell(question, variant, target, judge, Status(status) if status else None)

    def _all(self, query: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return fetch_all(self._connection, query, {"run": self._run, **parameters})
