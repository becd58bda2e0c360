"""How declarations become JSON Schema: pydantic does it, but for what a dataclass promises."""

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema


class PromisedFields(GenerateJsonSchema):
    """Every field of a dataclass is in its document, also where it has a default."""

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        return field["type"] == "dataclass-field" or super().field_is_required(field, total)
