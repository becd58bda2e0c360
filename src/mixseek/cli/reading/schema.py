"""`mixseek schema`: what the JSON documents of all commands hold."""

from typing import Annotated

from typer import Argument

from mixseek.cli.parsing.options import JsonOption
from mixseek.cli.terminal.console import ExitCode, print_answer, print_json
from mixseek.domain.documents import DocumentName, with_schema


def schema(
    name: Annotated[
        str | None, Argument(metavar="[NAME]", help="A name of the list, or what a document says under `schema`.")
    ] = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Print the JSON Schema of a document, or list the names of all.

    Every answer of --json says which document it is: `"schema": "mixseek.report/1"`. Keys are added and never renamed,
    so a schema is open for keys that it does not know. Draft 2020-12.

    \\b
    Examples:
      mixseek schema
      mixseek schema report
      mixseek schema mixseek.stats/1 > stats.schema.json
    """
    from mixseek.schemas.catalogue import json_schema, list_schemas, named_document, schema_sections

    if name is not None:
        print_json(json_schema(named_document(name)))
        return ExitCode.OK
    document = with_schema(DocumentName.SCHEMAS, {"schemas": list_schemas()})
    return print_answer(document, schema_sections, as_json=as_json)
