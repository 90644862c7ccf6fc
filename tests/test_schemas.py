"""What servers advertise, made into what a chat-completions endpoint accepts: names and schemas."""

import copy
import json
import re
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from mcp_lessons._names import clean, full_name, public_names
from mcp_lessons._schemas import repair

ACCEPTED = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def repaired(schema: Any) -> dict[str, Any]:
    """The repaired schema, after checks that hold for every schema whatever."""
    before = copy.deepcopy(schema) if _is_shallow(schema) else None
    result, notes = repair(schema)
    assert result["type"] == "object"
    assert isinstance(result["properties"], dict)
    Draft202012Validator.check_schema(result)
    text = json.dumps(result, allow_nan=False, ensure_ascii=False)
    text.encode("utf-8")
    assert len(text) < 1_000_000
    assert all(isinstance(note, str) and len(note) < 500 for note in notes)
    assert before is None or before == schema or before != before
    return result


def _is_shallow(schema: Any) -> bool:
    try:
        return len(json.dumps(schema, default=str)) < 100_000 and copy.deepcopy(schema) is not None
    except (RecursionError, ValueError):
        return False


# Schemas


def test_a_schema_that_an_endpoint_takes_stays_as_it_is() -> None:
    schema = {
        "type": "object",
        "properties": {
            "place": {"type": "string", "enum": ["Tessaby"], "description": "Where", "default": "Tessaby"},
            "days": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1},
            "unit": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "more": {"type": "object", "additionalProperties": False, "properties": {}},
        },
        "required": ["place"],
        "additionalProperties": False,
    }
    assert repair(schema) == (schema, [])


@pytest.mark.parametrize(
    "schema", [{}, {"type": "object"}, {"properties": None}, {"type": "object", "properties": []}]
)
def test_properties_are_added_where_they_are_missing(schema: dict) -> None:
    assert repaired(schema) == {"type": "object", "properties": {}}


@pytest.mark.parametrize("schema", [True, False, None, [], [{}], "object", 3, 1.5])
def test_what_is_no_object_is_a_tool_without_parameters_and_a_note(schema: Any) -> None:
    assert repaired(schema) == {"type": "object", "properties": {}}
    assert "no JSON object" in repair(schema)[1][0]


@pytest.mark.parametrize("kind", ["string", ["object", "null"], "thing", 7, None, []])
def test_the_root_is_an_object_whatever_it_says(kind: Any) -> None:
    assert repaired({"type": kind, "properties": {"a": {"type": "string"}}}) == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
    }


def test_references_are_replaced_by_what_they_name() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"Place": {"type": "string", "enum": ["Skerry"]}, "a/b c": {"$ref": "#/$defs/Place"}},
        "definitions": {"Day": {"type": "integer"}},
        "properties": {
            "from": {"$ref": "#/$defs/Place", "description": "Where it starts"},
            "to": {"$ref": "#/$defs/a~1b%20c"},
            "days": {"type": "array", "items": {"$ref": "#/definitions/Day"}},
        },
    }
    place = {"type": "string", "enum": ["Skerry"]}
    assert repaired(schema)["properties"] == {
        "from": place | {"description": "Where it starts"},
        "to": place,
        "days": {"type": "array", "items": {"type": "integer"}},
    }
    assert repair(schema)[1] == []
    assert "$" not in json.dumps(repaired(schema))


def test_a_property_may_be_called_like_a_keyword() -> None:
    names = ("$ref", "$defs", "definitions", "properties", "required", "type", "enum")
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    assert repaired(schema) == schema


def test_a_schema_that_refers_to_itself_ends_where_it_would_begin_again() -> None:
    node = {"type": "object", "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}
    result = repaired({"$defs": {"node": node}, "properties": {"head": {"$ref": "#/$defs/node"}}})
    assert result["properties"]["head"]["properties"] == {"value": {"type": "integer"}, "next": {}}
    _, notes = repair({"properties": {"me": {"$ref": "#"}}})
    assert "refers to itself" in notes[0]


@pytest.mark.parametrize(
    "ref",
    [
        "https://example.com/schema",
        "file:///etc/passwd",
        "other.json",
        "#/$defs/nobody",
        "#no",
        "#/",
        "",
        "#/a/0",
    ],
)
def test_a_reference_that_names_nothing_here_is_not_fetched_and_noted(ref: str) -> None:
    schema = {"properties": {"x": {"$ref": ref, "description": "an x"}}}
    assert repaired(schema)["properties"] == {"x": {"description": "an x"}}
    assert "names nothing" in repair(schema)[1][0]


def test_references_in_a_circle_end() -> None:
    circle = {f"n{n}": {"$ref": f"#/$defs/n{(n + 1) % 5}"} for n in range(5)}
    assert repaired({"$defs": circle, "properties": {"x": {"$ref": "#/$defs/n0"}}})["properties"] == {"x": {}}


def test_a_schema_that_grows_without_end_keeps_its_first_levels() -> None:
    bomb = {
        f"n{n}": {"properties": {c: {"$ref": f"#/$defs/n{n + 1}"} for c in "abcdefgh"}} for n in range(30)
    }
    began = time.monotonic()
    result = repaired({"$defs": bomb, "properties": {"x": {"$ref": "#/$defs/n0"}, "y": {"type": "string"}}})
    assert time.monotonic() - began < 2
    assert result["properties"]["y"] == {"type": "string"}


def test_ten_thousand_levels_are_cut_with_a_note() -> None:
    schema: dict = {"type": "string"}
    for _ in range(10_000):
        schema = {"type": "object", "properties": {"x": schema}}
    repaired(schema)
    assert "levels deep" in repair(schema)[1][0]
    value: Any = 1
    for _ in range(10_000):
        value = [value]
    assert repaired({"properties": {"x": {"default": value, "enum": [value]}}})


def test_a_huge_schema_is_a_tool_without_parameters() -> None:
    for schema in (
        {"properties": {f"p{n}": {"type": "string"} for n in range(100_000)}},
        {"properties": {"x": {"enum": list(range(1_000_000))}}},
        {"properties": {"x": {"description": "x" * 3_000_000}}},
    ):
        assert repaired(schema) == {"type": "object", "properties": {}}
        assert "too large" in repair(schema)[1][0]


def test_malformed_keywords_are_left_out_with_a_note_and_the_rest_stays() -> None:
    odd = {
        "type": "text",
        "enum": [],
        "required": "a",
        "minimum": "0",
        "maximum": float("nan"),
        "minLength": -1,
        "items": 3,
        "anyOf": {},
        "oneOf": [],
        "properties": [],
        "format": {},
        "description": None,
        "maxItems": 1.5,
        "exclusiveMinimum": True,
        "additionalProperties": "no",
    }
    schema = {"properties": {"x": odd | {"title": "X"}}, "required": ["x", "x"]}
    assert repaired(schema) == {"type": "object", "properties": {"x": {"title": "X"}}, "required": ["x"]}
    assert len(repair(schema)[1]) == len(odd)


@pytest.mark.parametrize(
    "array",
    [{"type": "array", "items": odd} for odd in ([], None, "text", 5)] + [{"type": ["array", "null"]}],
)
def test_an_array_always_says_what_is_in_it(array: dict[str, Any]) -> None:
    assert repaired({"properties": {"x": array}})["properties"]["x"] == {"type": array["type"], "items": {}}


def test_a_pattern_and_a_size_that_some_endpoints_refuse_are_not_sent() -> None:
    text = {"type": "string", "pattern": "^(a$", "minLength": 3_000, "maxLength": 10}
    assert repaired({"properties": {"x": text}})["properties"]["x"] == {"type": "string", "maxLength": 10}


def test_a_reference_may_lead_through_a_list() -> None:
    either = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    schema = {"properties": {"a": either, "b": {"$ref": "#/properties/a/anyOf/0"}}}
    assert repair(schema)[1] == [] and repaired(schema)["properties"]["b"] == {"type": "string"}
    schema["properties"]["b"] = {"$ref": "#/properties/a/anyOf/7"}
    assert "names nothing" in repair(schema)[1][0]


def test_choices_at_the_root_keep_every_meaning_of_a_name() -> None:
    circle = {"properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]}
    square = {"properties": {"kind": {"const": "square"}, "r": {"type": "number"}}, "required": ["kind"]}
    schema = repaired({"oneOf": [circle, square]})
    assert schema["properties"]["kind"] == {"anyOf": [{"const": "circle"}, {"const": "square"}]}
    assert schema["properties"]["r"] == {"type": "number"} and "required" not in schema


def test_parts_that_all_hold_add_up_their_properties_and_what_they_require() -> None:
    one = {"properties": {"a": {"type": "string"}}, "required": ["a"]}
    two = {"anyOf": [{"properties": {"b": {"type": "string"}}, "required": ["b"]}]}
    schema = repaired({"allOf": [one, two], "properties": {"c": {}}, "required": ["c"]})
    assert list(schema["properties"]) == ["a", "b", "c"] and schema["required"] == ["c", "a"]


@pytest.mark.parametrize("levels", [3, 9, 33])
def test_values_stay_what_they_are_however_deep_their_schema_stands(levels: int) -> None:
    schema: dict[str, Any] = {"enum": ["a"], "default": {"x": [1]}, "examples": [[1]]}
    for _ in range(levels):
        schema = {"properties": {"x": schema}, "description": "x" * 3_000}
    assert "null" not in json.dumps(repaired(schema))


def test_keywords_that_do_not_help_a_model_are_left_out_without_a_word() -> None:
    odd = {"$comment": "x", "if": {}, "x-order": 1, "uniqueItems": True, "dependencies": {"a": ["b"]}}
    schema = {
        "$schema": "https://json-schema.org/draft-07/schema#",
        "properties": {"x": odd | {"title": "X"}},
    }
    assert repaired(schema)["properties"] == {"x": {"title": "X"}}
    assert repair(schema)[1] == []


def test_choices_at_the_root_become_one_list_of_properties() -> None:
    schema = {
        "anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "integer"}}}, True]
    }
    assert repaired(schema) == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
    }


def test_an_array_says_what_it_holds_and_a_list_of_items_becomes_a_choice() -> None:
    schema = {
        "properties": {"a": {"type": "array"}, "b": {"type": "array", "items": [{"type": "string"}, True]}}
    }
    assert repaired(schema)["properties"] == {
        "a": {"type": "array", "items": {}},
        "b": {"type": "array", "items": {"anyOf": [{"type": "string"}, {}]}},
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)
KEYWORDS = st.sampled_from(
    [
        "type",
        "properties",
        "$ref",
        "$defs",
        "items",
        "anyOf",
        "allOf",
        "not",
        "enum",
        "const",
        "required",
        "minimum",
        "maxLength",
        "description",
        "default",
        "if",
        "additionalProperties",
        "dependentRequired",
        "prefixItems",
        "$id",
        "definitions",
        "dependencies",
        "contains",
        "multipleOf",
        "uniqueItems",
        "examples",
        "propertyNames",
        "x-odd",
    ]
)
VALUES = st.sampled_from(
    ["object", "string", ["string", "null"], "#", "#/$defs/a", "#/properties/a", "https://x.example/s"]
)
SCHEMAS = st.recursive(
    VALUES | JSON,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS | st.sampled_from("ab"), inner, max_size=5)
    ),
    max_leaves=30,
)


@settings(max_examples=300, deadline=None)
@given(SCHEMAS)
@example({"required": ["\ud800", "\ud801"]})
@example({"properties": {"x": {"minimum": 10**400, "default": 10**400, "minLength": 1e300}}})
@example({"type": ["null", "null"], "enum": [float("inf")], "const": float("nan")})
@example({"allOf": [{"properties": {"a": True, "b": False, "c": None}}, 7, None]})
def test_whatever_json_a_server_sends_the_schema_is_valid(schema: Any) -> None:
    repaired(schema)


# Names


def names_of(*keys: tuple[str, str]) -> list[str]:
    names = public_names(keys)
    assert list(names) == list(dict.fromkeys(keys))
    assert len(set(names.values())) == len(names)
    assert all(ACCEPTED.fullmatch(name) for name in names.values())
    assert public_names(reversed(keys)) == names
    return list(names.values())


def test_a_name_that_needs_no_change_keeps_its_text() -> None:
    assert names_of(("weather", "forecast"), ("", "my_function")) == ["weather__forecast", "my_function"]


def test_what_endpoints_refuse_becomes_an_underscore() -> None:
    assert clean("files.read/größe now🙂\n") == "files_read_gr__e_now__"
    assert names_of(("s", "files.read"), ("été", "x")) == ["s__files_read", "_t___x"]


def test_names_that_became_equal_are_told_apart_and_the_honest_one_stays() -> None:
    honest, dot, slash = names_of(("s", "a_b"), ("s", "a.b"), ("s", "a/b"))
    assert honest == "s__a_b"
    assert dot.startswith("s__a_b_") and slash.startswith("s__a_b_")


def test_server_names_may_hold_the_separator() -> None:
    assert len(names_of(("a", "b__c"), ("a__b", "c"), ("", "a__b__c"))) == 3


def test_servers_whose_names_become_equal_are_told_apart() -> None:
    assert names_of(("a_b", "x"), ("a.b", "x"))[0] == "a_b__x"


def test_a_long_name_is_cut_and_ends_in_a_hash_of_the_whole() -> None:
    first, second = names_of(("s", "x" * 100 + "1"), ("s", "x" * 100 + "2"))
    assert len(first) == len(second) == 64
    assert first[:55] == second[:55] == "s__" + "x" * 52


def test_names_are_the_same_on_every_run() -> None:
    assert names_of(("s", "x" * 100)) == ["s__xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_cdd68979"]


def test_a_tool_that_is_called_like_the_hash_of_another_takes_nothing_from_it() -> None:
    (hashed,) = names_of(("", "x" * 100))
    assert names_of(("", "x" * 100), ("", hashed))[1] == hashed


KEYS = st.lists(
    st.tuples(st.text(st.characters(), max_size=5), st.text(st.characters(), max_size=70)), max_size=12
)


@settings(max_examples=300, deadline=None)
@given(KEYS | st.lists(st.tuples(st.text("a_.", max_size=3), st.text("a_.", max_size=3)), max_size=12))
@example([("", ""), ("", "."), ("", "_"), ("a", ""), ("", "a__")])
def test_whatever_servers_call_their_tools_the_names_are_distinct_and_accepted(
    keys: list[tuple[str, str]],
) -> None:
    names_of(*keys)
    assert all(full_name(key).endswith(key[1]) for key in keys)
