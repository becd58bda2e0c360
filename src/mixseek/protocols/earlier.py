"""Prompts of our own as earlier versions had them: what was begun with one of them goes on with it, under its own hash.

`prompts/earlier/VERSION/` holds the templates that VERSION was the last to ask with, under the names that
they have now; one that it lacks is in a later VERSION, or still the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from mixseek.protocols.declaration import PromptSource, ProtocolDeclaration, read_template

_PROMPTS = Path(__file__).parent / "prompts"
_EARLIER = _PROMPTS / "earlier"
_BUILT_IN = Path(__file__).parent / "declarations"


def earlier_versions(declaration: ProtocolDeclaration) -> Iterator[ProtocolDeclaration]:
    """The declaration with our prompts as they were, the latest first; nothing where all of its prompts are its own.

    A built-in also bore that version; a user's declaration, which takes the default prompts, has a version of its own.
    """
    is_built_in = (_BUILT_IN / f"{declaration.name}.toml").is_file() and declaration.where == f"{declaration.name}.toml"
    versions = sorted((path.name for path in _EARLIER.iterdir()), key=int)
    later = declaration.templates
    for place in reversed(range(len(versions))):
        templates = {role: _as_it_was(source, versions[place:]) for role, source in declaration.templates.items()}
        if templates != later:
            later, version = templates, versions[place] if is_built_in else declaration.version
            yield replace(declaration, templates=templates, version=version)


def _as_it_was(source: PromptSource, versions: Sequence[str]) -> PromptSource:
    """A template of our own, told by its name and its text, as the first of the versions had it; others as they are."""
    before = next((path for version in versions if (path := _EARLIER / version / source.where).is_file()), None)
    # A file of the user's may bear the name of one of ours.
    is_ours = before is not None and read_template(_PROMPTS / source.where).text == source.text
    return read_template(before) if before is not None and is_ours else source
