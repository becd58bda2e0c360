"""What the viewer shows of a workspace: lists, judgments page by page, one sample whole, a run as it grows."""

import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mixseek.analysis.labels.units import has_label_column
from mixseek.analysis.run.model import BAD_AT_MOST, tone_of
from mixseek.analysis.workspace.run_list import RunLine, list_runs
from mixseek.competition.boards import list_competitions
from mixseek.competition.views.board import CompetitionLine
from mixseek.domain.labels import text_digest
from mixseek.domain.people import LabelledSamples
from mixseek.domain.steps import digest_of_steps
from mixseek.errors import ConfigurationError
from mixseek.index.listing import JudgmentList, ListQuery, open_list
from mixseek.index.matrix import Matrix
from mixseek.lazy_dataclass import dataclass
from mixseek.reports.pages.payload import rows_payload
from mixseek.reports.workspace.run_list import runs_document
from mixseek.runs.answers.listed import AnswerLine, list_answers
from mixseek.runs.requests.protocol_record import protocol_of_run
from mixseek.storage.journal.manifest import Manifest, read_manifest
from mixseek.storage.journal.records import decode_sample
from mixseek.storage.journal.tail import JudgmentSearch, TextSearches
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.storage.workspace_key import find_workspace_key
from mixseek.templating import fence_nonces
from mixseek.web.parameters import ListRequest

# Characters of judged text on a page of the list, and of one sample: the list shows a line of each.
_LIST_BUDGET, _SAMPLE_BUDGET = 200_000, 4_000_000
# Of a reply's details, what a person looks at.
_DETAILS = (
    *("ask", "take", "cached", "model", "finish_reason", "latency_seconds", "cost_usd", "tries", "usage"),
    *("batch", "saved_by_batch_usd", "saved_by_cache_usd"),
)


@dataclass(frozen=True, slots=True)
class ListedWorkspace:
    """Runs, competitions and answers with their state, the newest first; empty for a workspace that is not there."""

    root: Path
    runs: Sequence[RunLine]
    competitions: Sequence[CompetitionLine]
    answers: Sequence[AnswerLine]
    problems: Sequence[str]

    def document(self) -> dict[str, Any]:
        """The same for programs."""
        competitions = [line.to_document() for line in self.competitions]
        document = runs_document(self.runs)
        answers = [asdict(line) for line in self.answers]
        held = {"competitions": competitions, "answers": answers, "problems": list(self.problems)}
        return {"workspace": str(self.root), **document, **held}


def list_workspace(root: Path) -> ListedWorkspace:
    """What a workspace holds; nothing is indexed or counted for that."""
    lines, problems = list_runs(root)
    answers = list_answers(root)
    unreadable = [line.problem for line in answers if line.problem is not None]
    return ListedWorkspace(root, lines, list_competitions(root), answers, [*problems, *unreadable])


def find_exact_run(workspace: Workspace, name: str) -> RunDirectory:
    """The run of that whole name: an address means one. What cannot be a name is refused before any path is made."""
    run = workspace.run(name)
    if not run.exists():
        raise ConfigurationError(f"{workspace.root}: no run {name!r}; `mixseek runs` lists those that are there")
    return run


def find_exact_answers(workspace: Workspace, name: str) -> RunDirectory:
    """The same of answers."""
    run = workspace.answers(name)
    if not run.exists():
        raise ConfigurationError(f"{workspace.root}: no answers {name!r}; `mixseek runs` lists those that are there")
    return run


class ViewedRun:
    """A run as it was when it was opened; texts are read from its journal as they are asked for."""

    def __init__(self, workspace: Workspace, run: RunDirectory, searches: TextSearches, directory: Path) -> None:
        self.run, self.manifest = run, read_manifest(run.manifest)
        self._directory = directory
        directory.mkdir(parents=True)
        self.judgments: JudgmentList = open_list(workspace, run, directory / "listed.duckdb")
        with self.judgments.session():
            self.labels = self.judgments.index.judge_labels(self.manifest.judge_names)
        self.matrix = Matrix(self.judgments.session, BAD_AT_MOST)
        self._searches = searches
        self._has_label_column = has_label_column(run)
        self.people = LabelledSamples()
        self._labels_state: Any = None
        self._labels_lock = threading.Lock()

    def may_have_labels(self, store: LabelStore) -> bool:
        """Whether anybody can have said anything of a text of this run."""
        return self._has_label_column or store.path.exists()

    def take_people(self, state: object, read: Callable[[], LabelledSamples]) -> None:
        """What people say now; read where labels have come or gone since the last time."""
        with self._labels_lock:
            if state != self._labels_state:
                self.people = read()
                self.judgments.take_people(self.people)
                self._labels_state = state

    def facts(self) -> dict[str, Any]:
        """What the scripts of the page know of a run, as in a report."""
        return {
            "run": self.run.name,
            "judges": list(self.manifest.judge_names),
            "labels": self.labels,
            "dimensions": self.judgments.dimensions,
            "repeats": self.manifest.repeats,
        }

    def choices(self) -> dict[str, Any]:
        """What judgments can be filtered by, with how many of them have it; metadata as far as it is searched."""
        self._searches.go_on(self.judgments.samples)
        texts = self._searches.texts
        outcomes = [
            {"outcome": outcome.outcome, "tone": tone_of(outcome.status, outcome.score).value, "count": outcome.count}
            for outcome in self.judgments.outcomes
        ]
        values_by_name = texts.choices(self.judgments.usual, self.judgments.unusual)
        metadata = [[f"{name}={value}", count] for name, values in values_by_name.items() for value, count in values]
        choices = {**self.judgments.choices, **({"meta": metadata} if metadata else {})}
        read = {"searched": min(texts.samples, self.judgments.samples), "samples": self.judgments.samples}
        counted = {"total": self.judgments.total, "outcomes": outcomes, "choices": choices, "metadata_read": read}
        return {**counted, "sorts": self.judgments.sorts, "labels": self.labels}

    def find(self, words: str) -> JudgmentSearch:
        """The samples and judgments that hold all of these words, as far as the search has come."""
        return self._searches.find(words, (), self.judgments.samples, self.judgments.last_outcome)

    def _query(self, asked: ListRequest) -> tuple[ListQuery, dict[str, int] | None]:
        """The query, and how far its search has come; None where nothing is searched for."""
        samples, outcomes = self.judgments.samples, self.judgments.last_outcome
        if not (asked.words.split() or asked.metadata):
            return ListQuery(asked.filters, sort=asked.sort), None
        search = self._searches.find(asked.words, asked.metadata, samples, outcomes)
        done = {"searched": search.searched, "samples": samples}
        written = search.written.bits(outcomes) if search.written else None
        within = search.within.bits(samples) if search.within else None
        return ListQuery(asked.filters, search.texts.bits(samples), asked.sort, written, within), done

    def sample_positions(self, asked: ListRequest, limit: int) -> list[int] | None:
        """Positions of all samples that the filters mean; None while a search goes on."""
        query, done = self._query(asked)
        if done is not None and done["searched"] < done["samples"]:
            return None
        return self.judgments.sample_positions(query, limit)

    def outcome_positions(self, asked: ListRequest) -> list[int] | None:
        """All judgments that are meant, by their places in the index; None while a search goes on."""
        query, done = self._query(asked)
        if done is not None and done["searched"] < done["samples"]:
            return None
        return self.judgments.outcome_positions(query)

    def page(self, asked: ListRequest) -> dict[str, Any]:
        """A page of the list in the shape of a report's payload; a search says how far it has come."""
        query, done = self._query(asked)
        with self._searches.resting():
            offset = asked.offset
            if asked.named is not None and not asked.sort:
                offset = self.judgments.rank_of(query, asked.named) // asked.limit * asked.limit
            rows, matches = self.judgments.page(query, offset, asked.limit)
            payload = rows_payload(rows, _LIST_BUDGET)
        counted = {"offset": offset, "matches": matches, "total": self.judgments.total, "search": done}
        return {**self.facts(), **payload, **counted}

    def sample(self, sample_id: str) -> dict[str, Any]:
        """One sample with all that was ever said of it; every row has its replies in the order of asking."""
        rows, record, replies = self.judgments.sample(sample_id)
        if not rows:
            raise ConfigurationError(f"run {self.run.name}: no sample with the id {sample_id!r}")
        payload = rows_payload(rows, _SAMPLE_BUDGET)
        for row, shown_row in zip(rows, payload["rows"], strict=True):
            shown_row["attempts"] = [
                describe_reply(reply)
                for reply in replies
                if reply.get("judge") == row.judge and (reply.get("details") or {}).get("take", 1) == row.take
            ]
        sample = record.get("sample") or {}
        if (text := labelled_text(sample)) is not None:
            payload["samples"][0]["text"] = text
        more = {name: sample[name] for name in ("metadata", "rubric", "task_type", "output_id") if sample.get(name)}
        return {**self.facts(), **payload, "more": more}

    def prompt(self, root: Path, sample_id: str, judge: str) -> dict[str, Any]:
        """What a judge was shown, made again from the run's own protocol."""
        entry = next((listed for listed in self.manifest.judges if listed.name == judge), None)
        _, record, _ = self.judgments.sample(sample_id)
        if entry is None or not record:
            raise ConfigurationError(f"run {self.run.name}: no sample {sample_id!r} before a judge {judge!r}")
        if entry.kind in ("rules", "checks"):
            raise ConfigurationError(f"the {entry.kind} read no prompt: they look at the sample itself")
        protocol = protocol_of_run(self.run, self.manifest).for_judge(entry.model or judge)
        # A workspace may have no key yet, or none for this user, and asking here must not make one.
        sample = decode_sample(record["sample"])
        nonces = fence_nonces(find_workspace_key(root) or b"", record["key"], sample.question)
        messages = protocol.messages(sample, nonces)
        return {"judge": judge, "messages": [message.document for message in messages]}

    def close(self) -> None:
        """A run that grows is opened again and again: what was made of it before goes."""
        self.judgments.close()
        shutil.rmtree(self._directory, ignore_errors=True)


def labelled_text(sample: Mapping[str, Any]) -> str | None:
    """The name under which people label the text of a sample; None where there is no text."""
    metadata = sample.get("metadata") or {}
    if not sample or metadata.get("planned_without_output") or metadata.get("response_unknown"):
        return None
    texts = (sample.get("question") or "", sample.get("response") or "", sample.get("ground_truth"))
    return text_digest(*texts, sample.get("response_b"), digest_of_steps(sample))


def describe_reply(reply: Mapping[str, Any]) -> dict[str, Any]:
    """A reply as it came, with what its call took."""
    details = reply.get("details") or {}
    known = {name: details[name] for name in _DETAILS if details.get(name) is not None}
    return {"attempt": reply.get("attempt"), "text": reply.get("text"), **known}


def expected_judgments(manifest: Manifest) -> int | None:
    """How many there will be; None for a cascade, where each judge sees what the ones before leave open."""
    if manifest.cascade and len(manifest.judges) > 1:
        return None
    # Rules and replays are asked once, whatever is repeated.
    asked = [manifest.repeats if judge.kind not in ("rules", "checks", "replay") else 1 for judge in manifest.judges]
    return manifest.sample_count * sum(asked)
