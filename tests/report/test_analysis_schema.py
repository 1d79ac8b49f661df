"""The schema in the package is the one the Structs give, and holds for what is really written."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from sample_analyses import binary_analysis, continuous_analysis, unscored_analysis
from small_workspaces import diagnose
from struct_schemas import described_schema, schema_text

from blade.diagnosis.analysis import SCHEMA_VERSION, Analysis
from blade.report.workspace import canonical_json

SCHEMA = described_schema(Analysis, f"BLADE analysis {SCHEMA_VERSION}")
STORED = resources.files("blade") / "schemas" / "analysis.schema.json"


def test_the_stored_schema_is_the_generated_one(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--update-golden"):
        Path(str(STORED)).write_text(schema_text(SCHEMA), encoding="utf-8")

    assert STORED.read_text(encoding="utf-8") == schema_text(SCHEMA)


def test_the_schema_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_field_of_every_struct_is_described() -> None:
    bare = [
        f"{name}.{field}"
        for name, struct in SCHEMA["$defs"].items()
        for field, schema in struct.get("properties", {}).items()
        if not schema.get("description")
    ]

    assert bare == []


@pytest.fixture
def validator() -> Any:
    """Checks a document against the stored schema."""
    return jsonschema.Draft202012Validator(json.loads(STORED.read_text(encoding="utf-8")))


def test_a_real_analysis_is_valid(tmp_path: Path, validator: Any) -> None:
    document = json.loads((diagnose(tmp_path).folder / "analysis.json").read_bytes())

    assert [error.message for error in validator.iter_errors(document)] == []


@pytest.mark.parametrize("analysis", [binary_analysis(), continuous_analysis(), unscored_analysis()])
def test_analyses_of_every_kind_are_valid(analysis: Analysis, validator: Any) -> None:
    document = json.loads(canonical_json(analysis))

    assert [error.message for error in validator.iter_errors(document)] == []


def test_an_analysis_without_a_required_field_is_not_valid(validator: Any) -> None:
    document = json.loads(canonical_json(unscored_analysis()))
    del document["coverage"]["tasks"]

    assert [error.message for error in validator.iter_errors(document)] == ["'tasks' is a required property"]
