"""Columns, and fields of structs, that a table has more than once under one name.

Arrow and Parquet hold such tables; whoever asks one for a column by its name gets an error, or one
of the two.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from rayeval.errors import DataError, Problem


def named_twice(schema: pa.Schema) -> list[str]:
    """What is to be said of each such name; of fields with the path to them."""
    columns = [f"column {name!r} is there twice; keep one" for name in _again(schema.names)]
    return columns + fields_twice(schema)


def fields_twice(schema: pa.Schema) -> list[str]:
    """As `named_twice`, of fields of structs alone."""
    found = [at for field in schema for at in _within(field.name, field.type)]
    return [f"field `{at}` is there twice; keep one" for at in dict.fromkeys(found)]


def refuse_twice(path: str, schema: pa.Schema) -> None:
    """Raises DataError for a table of the user's with such names."""
    found = [Problem(path, None, None, "field_twice", said) for said in named_twice(schema)]
    if found:
        raise DataError(found, foreign=True)


def _within(at: str, kind: pa.DataType) -> Iterator[str]:
    """The paths of fields that are there twice in what is nested below `at`."""
    if pa.types.is_struct(kind):
        fields = [kind.field(number) for number in range(kind.num_fields)]
        yield from (f"{at}.{name}" for name in _again([field.name for field in fields]))
        for field in fields:
            yield from _within(f"{at}.{field.name}", field.type)
    elif hasattr(kind, "value_type") and pa.types.is_nested(kind):
        yield from _within(f"{at}[]", kind.value_type)


def _again(names: list[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]
