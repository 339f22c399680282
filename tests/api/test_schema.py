"""The schema that is checked in is the one that is served, and rows are what it says."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.validation import validate_schema
from jsonschema import Draft4Validator  # type: ignore[import-untyped]

from api.collections import COLLECTIONS
from tests.api.conftest import hand_out_to
from tests.api.reading import Program
from tests.worlds.campaign import World

Schema = dict[str, Any]
CHECKED_IN = Path(settings.BASE_DIR) / "docs" / "openapi.yaml"


@pytest.fixture(scope="module")
def schema() -> Schema:
    made: Schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return made


def test_the_schema_in_the_documentation_is_up_to_date(schema: Schema) -> None:
    """After a change: `manage.py spectacular --file docs/openapi.yaml`."""
    assert CHECKED_IN.read_bytes() == OpenApiYamlRenderer().render(schema, renderer_context={})  # type: ignore[no-untyped-call]
    validate_schema(schema)  # type: ignore[no-untyped-call]


def test_the_schema_and_its_page_need_no_account(db: None) -> None:
    client = Client()
    response = client.get("/api/schema/")
    assert response.status_code == 200
    assert response.content == CHECKED_IN.read_bytes()
    assert client.get("/api/schema/?format=json").json()["openapi"].startswith("3.")
    page = client.get("/api/docs/")
    assert page.status_code == 200
    for operation in re.findall(r"operationId: (\w+)", CHECKED_IN.read_text()):
        assert f'id="{operation}"' in page.content.decode()


def test_every_row_is_what_the_schema_says(schema: Schema, olga: Program, world: World) -> None:
    hand_out_to(world, "ann")
    for collection in COLLECTIONS:
        path = "scores?campaign=river&condition=A/A" if collection.name == "scores" else collection.name
        body = schema["paths"][f"/api/v1/{collection.name}/"]["get"]["responses"]["200"]["content"]
        shape = nullable(body["application/json"]["schema"] | {"components": schema["components"]})
        Draft4Validator(shape).validate(olga.json(path))


def test_pages_have_neighbours_and_operations_tags_with_texts(schema: Schema) -> None:
    pages = [part for name, part in schema["components"]["schemas"].items() if name.endswith("Page")]
    assert len(pages) == len(COLLECTIONS)
    assert all(page["required"] == ["next", "previous", "results"] for page in pages)
    tags = {tag["name"] for tag in schema["tags"] if tag["description"]}
    operations = [operation for methods in schema["paths"].values() for operation in methods.values()]
    assert {tag for operation in operations for tag in operation["tags"]} == tags


def nullable(part: object) -> object:
    if isinstance(part, list):
        return [nullable(element) for element in part]
    if not isinstance(part, dict):
        return part
    inner = {name: nullable(value) for name, value in part.items() if name != "nullable"}
    return {"anyOf": [inner, {"type": "null"}]} if part.get("nullable") is True else inner
