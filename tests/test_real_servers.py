"""Our client and the official SDK's against servers that strangers wrote: the same tools, the same content,
and nothing left running."""

import asyncio
import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from kit import client_of, is_gone, kinds, pid_of, wait_for

from mcp_lessons import RpcError

TESTS = Path(__file__).resolve().parent
BIN = TESTS / "node_modules" / ".bin"


def time_server():
    found = Path(sys.executable).parent / "mcp-server-time"
    assert found.exists(), "mcp-server-time is missing: pip install -e .[test]"
    return [str(found), "--local-timezone", "UTC"]


def npm_server(name, *arguments):
    assert (BIN / name).exists(), f"{name} is missing: python tests/needs.py --npm"
    return [str(BIN / name), *map(str, arguments)]


@contextmanager
def ours(command, **options):
    with client_of(command, timeout=30, **options) as client:
        client.initialize(timeout=60)
        yield client
        pid = pid_of(client)
    assert is_gone(pid)


def through_the_sdk(command, calls):
    """The names of the tools, and the content of each call, as the official SDK's client has them."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def talk():
        server = StdioServerParameters(command=command[0], args=command[1:])
        with Path(os.devnull).open("w") as nowhere:
            async with (
                stdio_client(server, errlog=nowhere) as (read, write),
                ClientSession(read, write) as session,
            ):
                await session.initialize()
                tools = await session.list_tools()
                results = [await session.call_tool(name, arguments) for name, arguments in calls]
        return [tool.name for tool in tools.tools], [
            [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
            for result in results
        ]

    return asyncio.run(talk())


def compare(command, calls, **options):
    """Our client lists the same tools and gets the same content; our results are returned."""
    names, contents = through_the_sdk(command, calls)
    with ours(command, **options) as client:
        assert [tool.name for tool in client.list_tools()] == names
        results = [client.call_tool(name, arguments) for name, arguments in calls]
    assert [result.content for result in results] == contents
    return results


def test_the_time_server_converts_a_time_as_it_does_for_the_official_client():
    calls = [
        ("convert_time", {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}),
        ("convert_time", {"source_timezone": "Nowhere/Land", "time": "12:00", "target_timezone": "UTC"}),
    ]
    converted, refused = compare(time_server(), calls)
    assert json.loads(converted.text)["time_difference"] == "+9.0h"
    assert refused.is_error and "Nowhere/Land" in refused.text


def test_the_everything_server_gives_every_kind_of_block_as_to_the_official_client():
    calls = [
        ("echo", {"message": "déjà vu ☃"}),
        ("get-sum", {"a": 2, "b": 3}),
        ("get-tiny-image", {}),
        ("get-structured-content", {"location": "Chicago"}),
        ("get-resource-links", {"count": 3}),
        ("get-annotated-message", {"messageType": "error", "includeImage": True}),
        ("no such tool", {}),
    ]
    results = compare(npm_server("mcp-server-everything"), calls)
    assert results[0].text == "Echo: déjà vu ☃" and results[1].text == "The sum of 2 and 3 is 5."
    assert "[image: image/png, " in results[2].text and results[3].structured["temperature"]
    assert results[4].text.count("[link: ") == 3 and results[-1].is_error


def test_the_everything_server_reports_progress_that_keeps_a_long_call_alive():
    with ours(npm_server("mcp-server-everything")) as client:
        arguments = {"duration": 1.5, "steps": 6}
        result = client.call_tool("trigger-long-running-operation", arguments, timeout=0.9)
        assert "completed" in result.text and not result.is_error
        heard = [event.body["method"] for event in kinds(client.traffic, "notification", "received")]
        assert heard.count("notifications/progress") >= 5


def test_the_everything_server_is_answered_when_it_asks():
    handlers = {
        "roots/list": lambda params: {"roots": [{"uri": "file:///picnic", "name": "picnic"}]},
        "sampling/createMessage": lambda params: {
            "role": "assistant", "model": "none", "content": {"type": "text", "text": "a sampled answer"},
        },
        "elicitation/create": lambda params: {"action": "decline"},
    }  # fmt: skip
    with ours(npm_server("mcp-server-everything"), handlers=handlers) as client:
        wait_for(client.traffic, lambda event: event.kind == "reply" and "file:///picnic" in event.raw)
        names = {tool.name for tool in client.list_tools()}
        assert {"trigger-sampling-request", "trigger-elicitation-request", "get-roots-list"} <= names
        sampled = client.call_tool("trigger-sampling-request", {"prompt": "Say something", "maxTokens": 10})
        assert "a sampled answer" in sampled.text
        assert "file:///picnic" in client.call_tool("get-roots-list").text
        assert "declined" in client.call_tool("trigger-elicitation-request").text.lower()


def test_the_filesystem_server_reads_writes_and_refuses_as_for_the_official_client(tmp_path):
    (tmp_path / "inside.txt").write_text("the rain in Tessaby\n")
    calls = [
        ("write_file", {"path": str(tmp_path / "new.txt"), "content": "x" * 100_000}),
        ("read_text_file", {"path": str(tmp_path / "inside.txt")}),
        ("read_text_file", {"path": "/etc/hostname"}),
        ("list_directory", {"path": str(tmp_path)}),
    ]
    results = compare(npm_server("mcp-server-filesystem", tmp_path), calls)
    assert "inside.txt" in results[3].text and results[1].text == "the rain in Tessaby\n"
    assert results[2].is_error and "denied" in results[2].text
    assert (tmp_path / "new.txt").read_text() == "x" * 100_000


def test_the_filesystem_server_takes_the_folders_we_name_when_it_asks_for_roots(tmp_path):
    (tmp_path / "root").mkdir()
    handlers = {"roots/list": lambda params: {"roots": [{"uri": (tmp_path / "root").as_uri()}]}}
    with ours(npm_server("mcp-server-filesystem", tmp_path), handlers=handlers) as client:
        wait_for(client.traffic, lambda event: event.kind == "stderr" and "root" in event.raw.lower())
        assert str(tmp_path / "root") in client.call_tool("list_allowed_directories").text


def test_the_memory_server_gives_structured_content_as_to_the_official_client(tmp_path):
    entities = [{"name": "Tessaby", "entityType": "town", "observations": ["has a lake"]}]
    calls = [
        ("create_entities", {"entities": entities}),
        ("search_nodes", {"query": "lake"}),
        ("read_graph", {}),
    ]
    command = npm_server("mcp-server-memory")
    with ours(command, env={"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}) as client:
        results = [client.call_tool(name, arguments) for name, arguments in calls]
    assert results[1].structured["entities"] == entities and "Tessaby" in results[2].text


@pytest.mark.parametrize(
    "server", [time_server, lambda: npm_server("mcp-server-everything")], ids=["python", "node"]
)
def test_a_method_that_nobody_knows_is_an_error_and_the_server_goes_on(server):
    with ours(server()) as client:
        with pytest.raises(RpcError):
            client.request("no/such/method")
        assert client.list_tools()
