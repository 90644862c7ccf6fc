"""The exercises of lesson 5: the way back to a server, a tool of your own, what tools cost."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from ...errors import RpcError
from ..exercise import Exercise, Wrong
from ..judging import connected_client, mounted_toolbox, sent, shown

_CASES = (  # what the model wrote, the server it is meant for, what that server must be asked for
    ("weather__forecast", "weather", "forecast", {"place": "Skerry"}),
    ("my__a__places", "my__a", "places", {}),
    ("my__a__b", "my", "a__b", {}),
)


def _judge_call_tool_named(call_tool_named: Callable[[str, dict, dict], Any]) -> str | None:
    with ExitStack() as stack:
        clients = {
            "my": stack.enter_context(connected_client("faulty", "tool_names")),
            "weather": stack.enter_context(connected_client("weather")),
            "my__a": stack.enter_context(connected_client("maps")),
        }
        for name, server, tool, arguments in _CASES:
            before = {at: len(_called(client)) for at, client in clients.items()}
            try:
                result = call_tool_named(name, arguments, dict(clients))
            except KeyError as problem:
                return (
                    f"{name!r} is the tool {tool!r} of the server {server!r}. "
                    f"You looked for the key {problem}, which is not there."
                )
            except RpcError:  # a tool that the server does not have: the record says which
                result = None
            calls = {at: _called(client)[before[at] :] for at, client in clients.items()}
            fault = _wrong_call(name, server, tool, arguments, calls)
            if fault:
                return fault
            if not hasattr(result, "is_error"):
                return f"return what call_tool returns. For {name!r} your function returned {shown(result)}."
    return None


def _wrong_call(name: str, server: str, tool: str, arguments: dict, calls: dict[str, list]) -> str:
    """What is wrong with the calls that were made, by server."""
    if elsewhere := [at for at, made in calls.items() if made and at != server]:
        return f"{name!r} is a tool of the server {server!r}, and you called {elsewhere[0]!r}."
    tools = [called for called, _ in calls[server]]
    if not tools:
        return f"for {name!r} no server was called. Use call_tool of the right client in `clients`."
    if tools != [tool]:
        return f"for {name!r} the server must be called once, with {tool!r}. You sent {tools}."
    if calls[server] != [(tool, arguments)]:
        return f"for {name!r} the server got the arguments {calls[server][0][1]}. Pass on {arguments}."
    return ""


def _called(client: Any) -> list[tuple[str, dict]]:
    requests = [message["params"] for message in sent(client.traffic, method="tools/call")]
    return [(params["name"], params["arguments"]) for params in requests]


def _judge_dearest(dearest: Callable[[list, int], Any]) -> str | None:
    with mounted_toolbox(maps="maps", weather="weather") as toolbox:
        tools = toolbox.schemas()
    twins = [{"type": "function", "function": {"name": name}} for name in ("b", "a")]
    cases = (
        (tools, 1, ["maps__route"]),
        (tools, 3, ["maps__route", "weather__forecast", "weather__alerts"]),
        (twins, 2, ["b", "a"]),
        (tools[:1], 5, [tools[0]["function"]["name"]]),
    )
    for given, most, expected in cases:
        before = list(given)
        got = dearest(given, most)
        if not isinstance(got, list) or not all(isinstance(name, str) for name in got):
            return f"return a list of names, each a text. Your function returned {_shape(got)}."
        if given is twins and sorted(got) == sorted(expected) and got != expected:
            return "two tools cost the same, and the second came out first. Between equals keep their order."
        if given != before:
            return "your function changed the list that it was given. The loop sends that list: sort a copy."
        if got == expected[::-1] and len(got) > 1:
            return "the cheapest tool came first. The dearest comes first."
        if got != expected:
            return f"the {most} dearest of {len(given)} tools: expected {expected}, and you returned {got}."
    return None


def _shape(got: Any) -> str:
    if not isinstance(got, list):
        return "None" if got is None else f"one {type(got).__name__}"
    return f"a list with a {next(type(item).__name__ for item in got if not isinstance(item, str))} in it"


def _judge_fahrenheit(fahrenheit: Callable[[float], Any]) -> str | None:
    with mounted_toolbox(weather="weather") as toolbox:
        toolbox.add(fahrenheit)
        told = toolbox.schemas()[-1]["function"]
        fault = _wrong_description(told)
        if fault:
            return fault
        for celsius, expected in ((100, 212.0), (-40, -40.0), (36.6, 97.88)):
            result = toolbox.call("fahrenheit", {"celsius": celsius})
            if result.is_error:
                return f"the call with celsius={celsius} failed: {result.text}"
            if _number(result.text) == float("inf"):
                return f"return a number, {expected} for {celsius} °C; the model would read {result.text!r}."
            if abs(_number(result.text) - expected) > 0.01:
                return f"{celsius} °C are {expected} °F, and the model would read {result.text!r}."
    return None


def _wrong_description(told: dict[str, Any]) -> str | None:
    schema, words = told["parameters"], told.get("description", "").lower()
    if told["name"] != "fahrenheit":
        return f"the model is offered {told['name']!r}. Call the function fahrenheit."
    if list(schema["properties"]) != ["celsius"]:
        return f"the parameters are {list(schema['properties'])}. There is one, celsius."
    if schema["properties"]["celsius"].get("type") != "number":
        kind = schema["properties"]["celsius"].get("type")
        return f"the schema says that celsius is of type {kind!r}. The hint float makes it a number."
    if schema.get("required") != ["celsius"]:
        return "the schema does not require celsius. A parameter with a default value can be left out."
    if "celsius" not in words or "fahrenheit" not in words:
        return "the docstring is the model's description. Name both units in it: Celsius and Fahrenheit."
    return None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("inf")


EXERCISES = [
    Exercise(
        id="5.1",
        stub='''
            def call_tool_named(name, arguments, clients):
                """Call the tool that the model calls `name`, and return its result."""
                server, tool = name.split("__", 1)
                return clients[server].call_tool(tool, arguments)
            ''',
        judge=_judge_call_tool_named,
        done="each call finds its server and its tool, whatever they are called.",
        hints=(
            "You cannot turn a name back. But you can make all names, and see which of them it is.",
            "Go over clients.items(), and for each client over client.list_tools(). "
            'Make f"{server}__{tool.name}" and write down what it stands for.',
            "table[full] = (client, tool.name), for all of them. Then client, tool = table[name].",
        ),
        solution='''
            def call_tool_named(name, arguments, clients):
                """Call the tool that the model calls `name`, and return its result."""
                table = {}
                for server, client in clients.items():
                    for tool in client.list_tools():
                        table[f"{server}__{tool.name}"] = (client, tool.name)
                client, tool = table[name]
                return client.call_tool(tool, arguments)
            ''',
        wrong=(
            Wrong(
                """
                def call_tool_named(name, arguments, clients):
                    server, tool = name.rsplit("__", 1)
                    return clients[server].call_tool(tool, arguments)
                """,
                "'my__a__b' is a tool of the server 'my', and you called 'my__a'.",
            ),
            Wrong(
                """
                def call_tool_named(name, arguments, clients):
                    for server, client in clients.items():
                        if name.startswith(server):
                            return client.call_tool(name.removeprefix(server + "__"), arguments)
                """,
                "'my__a__places' is a tool of the server 'my__a', and you called 'my'.",
            ),
            Wrong(
                """
                def call_tool_named(name, arguments, clients):
                    for server in sorted(clients, key=len, reverse=True):
                        if name.startswith(server + "__"):
                            return clients[server].call_tool(name.removeprefix(server + "__"), arguments)
                """,
                "'my__a__b' is a tool of the server 'my', and you called 'my__a'.",
            ),
            Wrong(
                """
                def call_tool_named(name, arguments, clients):
                    table = {tool.name: client for client in clients.values() for tool in client.list_tools()}
                    return table[name].call_tool(name, arguments)
                """,
                "'weather__forecast' is the tool 'forecast' of the server 'weather'. "
                "You looked for the key 'weather__forecast', which is not there.",
            ),
            Wrong(
                """
                def call_tool_named(name, arguments, clients):
                    for server, client in clients.items():
                        for tool in client.list_tools():
                            if f"{server}__{tool.name}" == name:
                                return client.call_tool(name, arguments)
                """,
                "for 'weather__forecast' the server must be called once, with 'forecast'. "
                "You sent ['weather__forecast'].",
            ),
            Wrong(
                """
                def call_tool_named(name, arguments, clients):
                    for server, client in clients.items():
                        for tool in client.list_tools():
                            if f"{server}__{tool.name}" == name:
                                client.call_tool(tool.name, arguments)
                """,
                "return what call_tool returns. For 'weather__forecast' your function returned None.",
            ),
            Wrong(
                """
                def call_tool_named(name, arguments, clients):
                    for server, client in clients.items():
                        for tool in client.list_tools():
                            if f"{server}__{tool.name}" == name:
                                return client.call_tool(tool.name, arguments).text
                """,
                "return what call_tool returns. For 'weather__forecast' your function returned "
                "'Skerry on Friday: a stiff wind, 13 °C, 30 % chance of rain.'.",
            ),
            Wrong(
                """
                def call_tool_named(name, arguments, clients):
                    for server, client in clients.items():
                        for tool in client.list_tools():
                            if f"{server}__{tool.name}" == name:
                                return client.call_tool(tool.name)
                """,
                "for 'weather__forecast' the server got the arguments {}. Pass on {'place': 'Skerry'}.",
            ),
            Wrong(
                """
                def call_tool_named(name, arguments, clients):
                    return toolbox.call(name, arguments)
                """,
                "for 'weather__forecast' no server was called. Use call_tool of the right client in `clients`.",
            ),
            Wrong(
                """
                def call_tool_named(name, arguments, clients):
                    table = {}
                    for server, client in clients.items():
                        for tool in client.list_tools():
                            table[f"{server}__{tool.name}"] = lambda: client.call_tool(tool.name, arguments)
                    return table[name]()
                """,
                "'weather__forecast' is a tool of the server 'weather', and you called 'my__a'.",
            ),
            Wrong(
                """
                def call_tool_named(name, arguments, clients):
                    table = {}
                    for server, client in clients.items():
                        for tool in client.list_tools():
                            table[f"{server}__{tool.name}"] = client
                    return table[name].call_tool(name.split("__")[-1], arguments)
                """,
                "for 'my__a__b' the server must be called once, with 'a__b'. You sent ['b'].",
            ),
        ),
    ),
    Exercise(
        id="5.2",
        stub="def fahrenheit(celsius): ...",
        judge=_judge_fahrenheit,
        done="the model has one tool more, and no server was needed.",
        hints=(
            "Look at umbrella above: a type hint for the parameter, a docstring, a return value.",
            "The hint float makes `number` in the schema; int would make `integer`, and 36.6 is none.",
            'def fahrenheit(celsius: float) -> float: """Convert a temperature from degrees Celsius to '
            'degrees Fahrenheit."""',
        ),
        solution='''
            def fahrenheit(celsius: float) -> float:
                """Convert a temperature from degrees Celsius to degrees Fahrenheit."""
                return celsius * 9 / 5 + 32
            ''',
        wrong=(
            Wrong(
                '''
                def fahrenheit(celsius: int) -> float:
                    """Convert a temperature from degrees Celsius to degrees Fahrenheit."""
                    return celsius * 9 / 5 + 32
                ''',
                "the schema says that celsius is of type 'integer'. The hint float makes it a number.",
            ),
            Wrong(
                '''
                def fahrenheit(celsius: float) -> float:
                    """Convert a temperature."""
                    return celsius * 9 / 5 + 32
                ''',
                "the docstring is the model's description. Name both units in it: Celsius and Fahrenheit.",
            ),
            Wrong(
                '''
                def fahrenheit(celsius: float = 0.0) -> float:
                    """Convert a temperature from degrees Celsius to degrees Fahrenheit."""
                    return celsius * 9 / 5 + 32
                ''',
                "the schema does not require celsius. A parameter with a default value can be left out.",
            ),
            Wrong(
                '''
                def fahrenheit(celsius: float) -> str:
                    """Convert a temperature from degrees Celsius to degrees Fahrenheit."""
                    return f"{celsius * 9 / 5 + 32} °F"
                ''',
                "return a number, 212.0 for 100 °C; the model would read '212.0 °F'.",
            ),
            Wrong(
                '''
                def fahrenheit(celsius: float) -> float:
                    """Convert a temperature from degrees Celsius to degrees Fahrenheit."""
                    return celsius + 32
                ''',
                "100 °C are 212.0 °F, and the model would read '132'.",
            ),
            Wrong(
                '''
                def fahrenheit(celsius: float):
                    """Convert a temperature from degrees Celsius to degrees Fahrenheit."""
                    celsius * 9 / 5 + 32
                ''',
                "return a number, 212.0 for 100 °C; the model would read '(the tool gave no output)'.",
            ),
            Wrong(
                '''
                def fahrenheit(celsius):
                    """Convert a temperature from degrees Celsius to degrees Fahrenheit."""
                    return celsius * 9 / 5 + 32
                ''',
                "it raised TypeError: fahrenheit, parameter 'celsius': say its type, as in `celsius: str`",
            ),
            Wrong(
                """
                def fahrenheit(celsius: float) -> float:
                    # Convert a temperature from degrees Celsius to degrees Fahrenheit.
                    return celsius * 9 / 5 + 32
                """,
                "the docstring is the model's description. Name both units in it: Celsius and Fahrenheit.",
            ),
        ),
    ),
    Exercise(
        id="5.3",
        stub='''
            def dearest(tools, most):
                """The names of the `most` tools that cost most tokens, the dearest first."""
                ...
            ''',
        judge=_judge_dearest,
        done="you know where the tokens go.",
        hints=(
            'The name of an entry is entry["function"]["name"], and tokens([entry]) is what it costs.',
            "sorted(tools, key=...) puts the smallest first. It keeps the order of equals.",
            "reverse=True puts the largest first, and still keeps the order of equals. Then take [:most].",
        ),
        solution='''
            def dearest(tools, most):
                """The names of the `most` tools that cost most tokens, the dearest first."""
                by_cost = sorted(tools, key=lambda entry: tokens([entry]), reverse=True)
                return [entry["function"]["name"] for entry in by_cost[:most]]
            ''',
        wrong=(
            Wrong(
                """
                def dearest(tools, most):
                    by_cost = sorted(tools, key=lambda entry: tokens([entry]))
                    return [entry["function"]["name"] for entry in by_cost[-most:]]
                """,
                "the cheapest tool came first. The dearest comes first.",
            ),
            Wrong(
                """
                def dearest(tools, most):
                    by_cost = sorted(tools, key=lambda entry: tokens([entry]))[::-1]
                    return [entry["function"]["name"] for entry in by_cost[:most]]
                """,
                "two tools cost the same, and the second came out first. Between equals keep their order.",
            ),
            Wrong(
                """
                def dearest(tools, most):
                    return sorted(tools, key=lambda entry: tokens([entry]), reverse=True)[:most]
                """,
                "return a list of names, each a text. Your function returned a list with a dict in it.",
            ),
            Wrong(
                """
                def dearest(tools, most):
                    tools.sort(key=lambda entry: tokens([entry]), reverse=True)
                    return [entry["function"]["name"] for entry in tools[:most]]
                """,
                "your function changed the list that it was given. The loop sends that list: sort a copy.",
            ),
            Wrong(
                """
                def dearest(tools, most):
                    by_cost = sorted(tools, key=lambda entry: tokens([entry]), reverse=True)
                    return [entry["function"]["name"] for entry in by_cost]
                """,
                "the 1 dearest of 4 tools: expected ['maps__route'], and you returned "
                "['maps__route', 'weather__forecast', 'weather__alerts', 'maps__places'].",
            ),
            Wrong(
                """
                def dearest(tools, most):
                    by_cost = sorted(tools, key=tokens, reverse=True)
                    return [entry["function"]["name"] for entry in by_cost[:most]]
                """,
                "the 3 dearest of 4 tools: expected ['maps__route', 'weather__forecast', 'weather__alerts'], "
                "and you returned ['maps__route', 'maps__places', 'weather__forecast'].",
            ),
        ),
    ),
]
