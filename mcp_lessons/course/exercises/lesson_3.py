"""The exercises of lesson 3: every page of the list, and no list more than needed."""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from ...errors import RpcError
from ..exercise import Exercise, Wrong
from ..judging import TooMany, at_most, connected_client, exchanges, sent, shown


def _judge_find_tool(find_tool: Callable[[Any, str], Any]) -> str | None:
    for server, name, pages in (("paged", "add", 2), ("paged", "mul", 3), ("paged_empty_middle", "add", 3)):
        with connected_client("faulty", server) as client:
            at_most(client, 10)
            found = None
            try:
                found = find_tool(client, name)
            except RpcError as problem:
                return f"the server answered {problem.message!r}. Send its nextCursor back as it is."
            except TooMany:  # the record says why
                pass
            asked = exchanges(client.traffic, method="tools/list")
        fault = _wrong_pages(asked) or _wrong_find(found, name, len(asked), pages)
        if fault:
            return fault
    return None


def _wrong_pages(asked: list[tuple[Any, Any]]) -> str | None:
    if not asked:
        return "no tools/list was sent. Ask for the pages with client.request."
    expected = None
    for request, reply in asked:
        params = request.get("params", {})
        cursor, before = params.get("cursor"), f"the page before said nextCursor {expected!r}"
        if "nextCursor" in params:
            return "you sent `nextCursor` back under that name. In a request it is called `cursor`."
        if cursor is None and expected is not None:
            return f"you asked for the first page again, and {before}. Send that back as `cursor`."
        if cursor != expected:
            return f"you asked for cursor {cursor!r}, and {before}."
        if "cursor" in params and cursor is None:
            return "you sent a `cursor` that is null, and a strict server refuses that. Leave it out."
        expected = reply["result"].get("nextCursor")
    return None


def _wrong_find(found: Any, name: str, asked: int, pages: int) -> str | None:
    if asked < pages and found is None and pages == 3 and name != "mul":
        return "you stopped at an empty page. The end of the list is a page without nextCursor."
    if asked < pages and found is None:
        return f"you gave up on {name!r} after {asked} of {pages} pages. A tool may stand on any page."
    if name == "mul":
        if found is not None:
            return f"no tool here is called {name!r}, and your function returned {shown(found)}. Return None."
        return None
    if _is_tool(found) and asked > pages:
        return "you returned a Tool, from client.list_tools(): that fetches every page. Use client.request."
    if _is_tool(found):
        return "you returned a Tool. The entry is wanted as the server sent it: the dict."
    if not isinstance(found, dict) or found.get("name") != name:
        return (
            f"{name!r} stands on page {pages}, and your function returned {shown(found)}. Return its entry."
        )
    if asked > pages:
        return f"{name!r} stands on page {pages}, and you asked for {asked}. Return as soon as you have it."
    return None


def _is_tool(value: Any) -> bool:
    return type(value).__name__ == "Tool"  # the package's class, or the notebook's own


def _judge_up_to_date(up_to_date: Callable[[Any, Any], Any]) -> str | None:
    with connected_client("faulty", "list_changed") as client:
        known = client.list_tools()
        given = list(known)
        same = up_to_date(client, given)
        if _lists(client) > 1:
            return "nothing had changed, and you sent tools/list. Look at client.tools_stale first."
        if same != known:
            return f"nothing had changed, so `known` still holds, and you returned {_briefly(same)}."
        client.call_tool("echo", {"text": "hello"})
        client.request("ping")  # the notification comes after the reply to the call, and before this one
        fresh = up_to_date(client, given)
        fault = _wrong_fresh(fresh, _lists(client) - 1)
        if fault:
            return fault
        if given != known:
            return (
                "you changed the list `known` itself. Whoever gave it to you may need it: return a new one."
            )
        up_to_date(client, fresh)
        if _lists(client) > 2:
            return (
                "the list changed once, and you sent tools/list at the next call too. "
                "client.list_tools() puts tools_stale back to False; client.request does not."
            )
    return None


def _wrong_fresh(fresh: Any, lists: int) -> str | None:
    if lists == 0:
        return "the server said that its list has changed, and you sent no tools/list."
    if lists > 1:
        return f"the list changed once, and you sent tools/list {lists} times. Keep what the first one gave."
    names = [getattr(tool, "name", None) for tool in fresh] if isinstance(fresh, list) else None
    if names == ["echo", "add"]:
        return (
            "you asked for the list again, and did not return what came. It has `mul` in it, and no `echo`."
        )
    if names == ["echo", "add", "mul"]:
        return "`echo` is gone from the list, and you still return it. A list may lose tools, too."
    if names != ["add", "mul"]:
        return f"return the new list as client.list_tools() gives it; you returned {_briefly(fresh)}."
    return None


def _briefly(tools: Any) -> str:
    if not isinstance(tools, list):
        return shown(tools)
    return shown([_Named(tool.name) if _is_tool(tool) else tool for tool in tools])


class _Named(str):
    """A tool in a message: its name says enough."""

    def __repr__(self) -> str:
        return f"Tool {self}"


def _lists(client: Any) -> int:
    return len(sent(client.traffic, method="tools/list"))


def _judge_what_changed(what_changed: Callable[[Any, Any], Any]) -> str | None:
    with connected_client("faulty", "list_changed") as client:
        before = client.list_tools()
        client.call_tool("echo", {"text": "hello"})
        client.request("ping")  # the notification comes after the reply to the call, and before this one
        after = client.list_tools()
    words = dataclasses.replace(after[0], description="Add two numbers, and send them to a stranger.")
    schema = dataclasses.replace(after[0], input_schema={"type": "object"})
    nothing: list[str] = []
    rounds = [
        (before, after, "", {"new": ["mul"], "gone": ["echo"], "changed": nothing}),
        (after, [words, *after[1:]], ", with another description of add", _only_changed("add")),
        (after, [schema, *after[1:]], ", with another input schema of add", _only_changed("add")),
        (before, before, "", {"new": nothing, "gone": nothing, "changed": nothing}),
    ]
    for old, new, more, expected in rounds:
        answer = what_changed(list(old), list(new))
        if not isinstance(answer, dict) or set(answer) != set(expected):
            return f"a dict with the keys new, gone and changed was wanted, and you returned {shown(answer)}."
        for key, names in expected.items():
            if not isinstance(answer[key], Iterable) or list(answer[key]) != names:
                before_after = f"before {[t.name for t in old]}, after {[t.name for t in new]}"
                return f"{before_after}{more}: {key!r} is {names}, and you say {shown(answer[key])}."
    return None


def _only_changed(name: str) -> dict[str, list[str]]:
    return {"new": [], "gone": [], "changed": [name]}


EXERCISES = [
    Exercise(
        id="3.1",
        stub='''
            def find_tool(client, name):
                """The entry of the tool called `name`, or None if no page has it."""
                entries, cursor = [], None
                while True:
                    page = client.request("tools/list", {} if cursor is None else {"cursor": cursor})
                    entries += page["tools"]
                    cursor = page.get("nextCursor")
                    if cursor is None:
                        break
                for entry in entries:
                    if entry["name"] == name:
                        return entry
                return None
        ''',
        judge=_judge_find_tool,
        done="the tool is found, and no page is fetched in vain.",
        hints=(
            "The function collects every page, and looks afterwards. When could it look earlier?",
            "Look through page['tools'] inside the loop, before you ask for the next page.",
            "Move the `for` loop into the `while` loop, right after client.request, and let it run over "
            "page['tools']. The last line, `return None`, takes the place of `break`.",
        ),
        solution='''
            def find_tool(client, name):
                """The entry of the tool called `name`, or None if no page has it."""
                cursor = None
                while True:
                    page = client.request("tools/list", {} if cursor is None else {"cursor": cursor})
                    for entry in page["tools"]:
                        if entry["name"] == name:
                            return entry
                    cursor = page.get("nextCursor")
                    if cursor is None:
                        return None
        ''',
        wrong=(
            Wrong(
                """
                def find_tool(client, name):
                    entries, cursor = [], None
                    while True:
                        page = client.request("tools/list", {} if cursor is None else {"cursor": cursor})
                        entries = entries + page["tools"]
                        cursor = page.get("nextCursor")
                        if cursor is None:
                            return next((entry for entry in entries if entry["name"] == name), None)
                """,
                "'add' stands on page 2, and you asked for 3. Return as soon as you have it.",
            ),
            Wrong(
                """
                def find_tool(client, name):
                    cursor = None
                    while True:
                        page = client.request("tools/list", {} if cursor is None else {"cursor": cursor})
                        for entry in page["tools"]:
                            return entry if entry["name"] == name else None
                        cursor = page.get("nextCursor")
                        if cursor is None:
                            return None
                """,
                "you gave up on 'add' after 1 of 2 pages. A tool may stand on any page.",
            ),
            Wrong(
                """
                def find_tool(client, name):
                    cursor = None
                    while True:
                        page = client.request("tools/list", {} if cursor is None else {"cursor": cursor})
                        for entry in page["tools"]:
                            if entry["name"] == name:
                                return name
                        cursor = page.get("nextCursor")
                        if cursor is None:
                            return None
                """,
                "'add' stands on page 2, and your function returned 'add'. Return its entry.",
            ),
            Wrong(
                """
                def find_tool(client, name):
                    cursor = None
                    while True:
                        page = client.request("tools/list", {} if cursor is None else {"cursor": cursor})
                        for entry in page["tools"]:
                            if entry["name"] == name:
                                return entry
                        if "nextCursor" not in page:
                            return None
                """,
                "you asked for the first page again, and the page before said nextCursor 'page 2'. "
                "Send that back as `cursor`.",
            ),
            Wrong(
                """
                def find_tool(client, name):
                    cursor = None
                    while True:
                        page = client.request("tools/list", {"cursor": cursor})
                        for entry in page["tools"]:
                            if entry["name"] == name:
                                return entry
                        cursor = page.get("nextCursor")
                        if cursor is None:
                            return None
                """,
                "you sent a `cursor` that is null, and a strict server refuses that. Leave it out.",
            ),
            Wrong(
                """
                def find_tool(client, name):
                    cursor = None
                    while True:
                        page = client.request("tools/list", {} if cursor is None else {"cursor": cursor})
                        for entry in page["tools"]:
                            if entry["name"] == name:
                                return Tool.from_entry(entry)
                        cursor = page.get("nextCursor")
                        if cursor is None:
                            return None
                """,
                "you returned a Tool. The entry is wanted as the server sent it: the dict.",
            ),
            Wrong(
                """
                def find_tool(client, name):
                    cursor, page = None, client.request("tools/list")
                    while page["tools"]:
                        for entry in page["tools"]:
                            if entry["name"] == name:
                                return entry
                        cursor = page.get("nextCursor")
                        if cursor is None:
                            return None
                        page = client.request("tools/list", {"cursor": cursor})
                """,
                "you stopped at an empty page. The end of the list is a page without nextCursor.",
            ),
            Wrong(
                """
                def find_tool(client, name):
                    cursor = None
                    while True:
                        page = client.request("tools/list", {} if cursor is None else {"nextCursor": cursor})
                        for entry in page["tools"]:
                            if entry["name"] == name:
                                return entry
                        cursor = page.get("nextCursor")
                        if cursor is None:
                            return None
                """,
                "you sent `nextCursor` back under that name. In a request it is called `cursor`.",
            ),
            Wrong(
                """
                def find_tool(client, name):
                    return next((tool for tool in client.list_tools() if tool.name == name), None)
                """,
                "you returned a Tool, from client.list_tools(): that fetches every page. Use client.request.",
            ),
            Wrong(
                """
                def find_tool(client, name):
                    for number in range(1, 10):
                        page = client.request("tools/list", {} if number == 1 else {"cursor": number})
                        for entry in page["tools"]:
                            if entry["name"] == name:
                                return entry
                        if "nextCursor" not in page:
                            return None
                """,
                "the server answered 'no such cursor: 2'. Send its nextCursor back as it is.",
            ),
        ),
    ),
    Exercise(
        id="3.2",
        stub='''
            def up_to_date(client, known):
                """The tools of this server: `known` as long as it holds, a new list once it does not."""
                raise NotImplementedError
        ''',
        judge=_judge_up_to_date,
        done="you list again when the server says so, and only then.",
        hints=(
            "The client remembers whether a notification has come since the last list. Under which name?",
            "client.tools_stale is True from the notification until the next client.list_tools().",
            "Two lines: return client.list_tools() if the list is stale, and `known` otherwise.",
        ),
        solution='''
            def up_to_date(client, known):
                """The tools of this server: `known` as long as it holds, a new list once it does not."""
                return client.list_tools() if client.tools_stale else known
        ''',
        wrong=(
            Wrong(
                """
                def up_to_date(client, known):
                    return client.list_tools()
                """,
                "nothing had changed, and you sent tools/list. Look at client.tools_stale first.",
            ),
            Wrong(
                """
                def up_to_date(client, known):
                    return known
                """,
                "the server said that its list has changed, and you sent no tools/list.",
            ),
            Wrong(
                """
                def up_to_date(client, known):
                    if client.tools_stale:
                        client.list_tools()
                    return known
                """,
                "you asked for the list again, and did not return what came. "
                "It has `mul` in it, and no `echo`.",
            ),
            Wrong(
                """
                def up_to_date(client, known):
                    return known + client.list_tools() if client.tools_stale else known
                """,
                "return the new list as client.list_tools() gives it; "
                "you returned [Tool echo, Tool add, Tool add, Tool mul].",
            ),
            Wrong(
                """
                def up_to_date(client, known):
                    if client.tools_stale:
                        return client.list_tools()
                """,
                "nothing had changed, so `known` still holds, and you returned None.",
            ),
            Wrong(
                """
                def up_to_date(client, known):
                    if client.tools_stale:
                        return known + [tool for tool in client.list_tools() if tool not in known]
                    return known
                """,
                "`echo` is gone from the list, and you still return it. A list may lose tools, too.",
            ),
            Wrong(
                """
                def up_to_date(client, known):
                    if client.tools_stale:
                        known[:] = client.list_tools()
                    return known
                """,
                "you changed the list `known` itself. Whoever gave it to you may need it: return a new one.",
            ),
            Wrong(
                """
                def up_to_date(client, known):
                    if client.tools_stale:
                        client.list_tools()
                        return client.list_tools()
                    return known
                """,
                "the list changed once, and you sent tools/list 2 times. Keep what the first one gave.",
            ),
            Wrong(
                """
                def up_to_date(client, known):
                    if client.tools_stale:
                        page = client.request("tools/list")
                        return [Tool.from_entry(entry) for entry in page["tools"]]
                    return known
                """,
                "the list changed once, and you sent tools/list at the next call too. "
                "client.list_tools() puts tools_stale back to False; client.request does not.",
            ),
        ),
    ),
    Exercise(
        id="3.3",
        stub='''
            def what_changed(before, after):
                """{"new": […], "gone": […], "changed": […]}: names of tools, from two lists of Tool."""
                raise NotImplementedError
        ''',
        judge=_judge_what_changed,
        done="you see a new tool, a lost tool, and the same name with another promise.",
        hints=(
            "Two tools with one name can differ. Tool is a dataclass, so == compares all it says.",
            "Make two dicts, from name to tool: one of `before`, one of `after`.",
            "new: names only in the second. gone: names only in the first. changed: names in both, with "
            "old[name] != new[name].",
        ),
        solution='''
            def what_changed(before, after):
                """{"new": […], "gone": […], "changed": […]}: names of tools, from two lists of Tool."""
                old, new = {tool.name: tool for tool in before}, {tool.name: tool for tool in after}
                return {
                    "new": [name for name in new if name not in old],
                    "gone": [name for name in old if name not in new],
                    "changed": [name for name in new if name in old and new[name] != old[name]],
                }
        ''',
        wrong=(
            Wrong(
                """
                def what_changed(before, after):
                    old, new = [tool.name for tool in before], [tool.name for tool in after]
                    return {
                        "new": [name for name in new if name not in old],
                        "gone": [name for name in old if name not in new],
                        "changed": [],
                    }
                """,
                "before ['add', 'mul'], after ['add', 'mul'], with another description of add: "
                "'changed' is ['add'], and you say [].",
            ),
            Wrong(
                """
                def what_changed(before, after):
                    return {
                        "new": [tool.name for tool in after if tool not in before],
                        "gone": [tool.name for tool in before if tool not in after],
                        "changed": [],
                    }
                """,
                "before ['add', 'mul'], after ['add', 'mul'], with another description of add: "
                "'new' is [], and you say ['add'].",
            ),
            Wrong(
                """
                def what_changed(before, after):
                    old, new = {tool.name: tool for tool in before}, {tool.name: tool for tool in after}
                    both = [name for name in new if name in old]
                    return {
                        "new": [name for name in new if name not in old],
                        "gone": [name for name in old if name not in new],
                        "changed": [n for n in both if new[n].description != old[n].description],
                    }
                """,
                "before ['add', 'mul'], after ['add', 'mul'], with another input schema of add: "
                "'changed' is ['add'], and you say [].",
            ),
        ),
    ),
]
