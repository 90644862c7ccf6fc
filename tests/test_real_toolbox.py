"""The toolbox, the Oracle's strict endpoint and the command line with servers that strangers wrote."""

import subprocess
import sys

import pytest
from test_real_servers import npm_server, time_server
from test_tool_lists import check_what_endpoints_demand

from mcp_lessons import Oracle, Toolbox, Traffic, run_agent


def commands(tmp_path):
    return {
        "time": time_server(),
        "everything": npm_server("mcp-server-everything"),
        "files": npm_server("mcp-server-filesystem", tmp_path),
        "memory": npm_server("mcp-server-memory"),
    }


@pytest.mark.filterwarnings("ignore::mcp_lessons.errors.McpWarning")  # a tool of everything demands a task
def test_four_real_servers_in_one_toolbox_are_offered_called_and_closed(tmp_path):
    from openai import OpenAI

    (tmp_path / "note.txt").write_text("bread and lemons", encoding="utf-8")
    env = {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}
    traffic = Traffic()
    with Toolbox(traffic=traffic) as toolbox:
        for name, command in commands(tmp_path).items():
            toolbox.mount(name, command, env=env)
        assert {name.split("__")[0] for name in toolbox.tools} == {"time", "everything", "files", "memory"}
        assert "everything__simulate-research-query" not in toolbox.tools
        check_what_endpoints_demand(toolbox)
        with Oracle() as oracle, OpenAI(base_url=oracle.base_url, api_key="offline") as llm:
            asked = (
                "What time is it in Asia/Tokyo?"  # the endpoint refuses names and schemas that are not right
            )
            result = run_agent(asked, toolbox, llm=llm, model=oracle.model)
        assert "+09:00" in result.answer
        assert toolbox.call("everything__echo", {"message": "hi"}).text == "Echo: hi"
        read = toolbox.call("files__read_text_file", {"path": str(tmp_path / "note.txt")})
        assert "bread and lemons" in read.text and not read.is_error
        assert not toolbox.call("memory__read_graph").is_error
    ends = [event.server for event in traffic if event.kind == "process" and event.body["event"] == "exited"]
    assert sorted(ends) == ["everything", "files", "memory", "time"]


@pytest.mark.parametrize(
    ("name", "call", "said"),
    [
        ("time", ["get_current_time", '{"timezone": "Asia/Tokyo"}'], "+09:00"),
        ("everything", ["echo", '{"message": "hi"}'], "Echo: hi"),
        ("files", ["list_allowed_directories", "{}"], "Allowed directories"),
    ],
)
def test_trace_prints_what_a_real_server_says(tmp_path, name, call, said):
    command = [sys.executable, "-m", "mcp_lessons", "trace", "--full", "--call", *call, "--"]
    done = subprocess.run(
        [*command, *commands(tmp_path)[name]],
        capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '"method":"initialize"' in done.stdout and "tools/list" in done.stdout and said in done.stdout
    assert "exited" in done.stdout
