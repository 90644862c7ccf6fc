"""The tool lists of real servers, as their replies held them, on the way to a chat-completions endpoint.

tests/tool_lists/NAME.json is what one server said of itself and every result of its tools/list.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from kit import tiny

from mcp_lessons import Toolbox
from mcp_lessons._mounted import LONGEST_DESCRIPTION

LISTS = {path.stem: path for path in (Path(__file__).resolve().parent / "tool_lists").glob("*.json")}
TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}

SERVER = """
said = json.load(open(sys.argv[1], encoding="utf-8"))
def other(message):
    if message.get("method") == "tools/list":
        page = int(message.get("params", {}).get("cursor", 0))
        reply(message, said["replies"][page])
HELLO.update(protocolVersion=said["protocol_version"])
serve(lambda m: reply(m, text(json.dumps(m["params"]["name"]))), other)
"""


def check_what_endpoints_demand(toolbox: Toolbox) -> list[dict[str, Any]]:
    """The functions that are offered, each of which every endpoint takes."""
    entries = toolbox.schemas()
    functions = [entry["function"] for entry in entries]
    names = [function["name"] for function in functions]
    assert len(set(names)) == len(names) == len(toolbox.tools)
    for entry, function in zip(entries, functions, strict=True):
        assert (entry.keys(), entry["type"]) == ({"type", "function"}, "function")
        assert function.keys() == {"name", "description", "parameters"}
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function["name"])
        assert isinstance(function["description"], str)
        assert len(function["description"]) <= LONGEST_DESCRIPTION
        check_parameters(function["parameters"])
    json.dumps(entries, allow_nan=False).encode()
    return functions


def check_parameters(parameters: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(parameters)
    assert parameters["type"] == "object" and isinstance(parameters["properties"], dict)
    assert not parameters.keys() & {"anyOf", "oneOf", "allOf", "not", "enum"}
    assert set(parameters.get("required", ())) <= parameters["properties"].keys()
    for schema in schemas_in(parameters):
        assert not [key for key in schema if key.startswith(("$", "x-", "definitions"))]
        kinds = schema.get("type", [])
        assert set([kinds] if isinstance(kinds, str) else kinds) <= TYPES
        assert kinds not in ("null", ["null"]) or schema == {"type": "null"}
        assert schema.get("enum") != [] and None not in [schema[key] for key in schema if key != "default"]
        assert kinds != "array" or "items" in schema


def schemas_in(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    inner = [*schema.get("properties", {}).values()]
    inner += [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
    inner += [choice for key in ("anyOf", "oneOf", "allOf") for choice in schema.get(key, ())]
    for each in inner:
        yield from schemas_in(each)


def test_there_are_lists() -> None:
    assert {"git", "sqlite", "word", "grafana", "fastmcp"} <= LISTS.keys()


@pytest.mark.filterwarnings("ignore::mcp_lessons.errors.McpWarning")  # "called" is not what they promise
@pytest.mark.parametrize("name", LISTS)
def test_the_tools_of_a_real_server_are_offered_as_endpoints_demand_and_reach_it(name: str) -> None:
    said = json.loads(LISTS[name].read_text(encoding="utf-8"))
    advertised = {tool["name"]: tool for reply in said["replies"] for tool in reply["tools"]}
    with Toolbox() as toolbox:
        toolbox.mount(name, [*tiny(SERVER), str(LISTS[name])])
        functions = check_what_endpoints_demand(toolbox)
        calls = [(function["name"], {}) for function in functions]
        called = [json.loads(result.text) for result in toolbox.call_all(calls)]
    assert called == list(advertised)
    for function, tool in zip(functions, advertised.values(), strict=True):
        asked = tool["inputSchema"]
        told = function["parameters"]
        assert function["description"] == tool.get("description", "")[:LONGEST_DESCRIPTION]
        assert list(told["properties"]) == list(asked.get("properties", {}))
        assert told.get("required", []) == asked.get("required", [])
        assert len(json.dumps(told)) <= len(json.dumps(asked)) + len('"properties": {}, "items": {}, ')
