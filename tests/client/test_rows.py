"""The client's rows are those of docs/openapi.yaml."""

import yaml

import make_rows


def test_rows_are_made_of_the_schema_that_is_checked_in() -> None:
    schema = yaml.safe_load(make_rows.SCHEMA.read_text("utf-8"))
    assert make_rows.ROWS.read_text("utf-8") == make_rows.rows_text(schema), "run `make client`"
