"""The exercises of lesson 4: who reads which error, and a schema that is obeyed before anything is sent."""

from collections.abc import Callable
from typing import Any

from ..exercise import Exercise, Wrong
from ..judging import TooMany, at_most, connected_client, sent, shown


def _judge_who_reads(who_reads: Callable[[Any, str, Any], Any]) -> str | None:
    rounds = [
        ("none", "model", "hello", "a tool that worked"),
        ("is_error", "model", "the cave is closed today", "a result with isError true"),
        ("rpc_error", "developer", "the database is locked", "a JSON-RPC error"),
    ]
    for server, reader, words, what in rounds:
        with connected_client("faulty", server) as client:
            answer = who_reads(client, "echo", {"text": "hello"})
            called = _arguments(client)
        if len(called) != 1:
            return f"one call was wanted, and {len(called)} tools/call went out."
        if called[0] != {"text": "hello"}:
            return f"the arguments were {{'text': 'hello'}}, and you sent {shown(called[0])}."
        fault = _no_pair(answer)
        if fault:
            return fault
        if answer[0] != reader:
            return f"{what} is for the {reader} to read, and you gave it to the {answer[0]}."
        if words not in answer[1]:
            return f"the {reader} is to read {words!r}, and that is missing in {shown(answer[1])}."
        if (server == "is_error") != answer[1].startswith("Error: "):
            return _about_the_mark(server, shown(answer[1]))
    return None


def _no_pair(answer: Any) -> str | None:
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        return f'a pair was wanted, ("model", text) or ("developer", text); you returned {shown(answer)}.'
    if answer[0] not in ("model", "developer"):
        return f'the pair begins with "model" or with "developer"; yours begins with {shown(answer[0])}.'
    if not isinstance(answer[1], str):
        return f"the second of the pair is a text; yours is a {type(answer[1]).__name__}."
    return None


def _about_the_mark(server: str, text: str) -> str:
    if server == "is_error":
        return f"the model gets a text and no flag, so a failure begins with 'Error: '; yours is {text}."
    if server == "rpc_error":
        return (
            f"'Error: ' is for the model alone. The developer gets the words of the error; yours is {text}."
        )
    return f"the tool did not fail here, so the text does not begin with 'Error: '; yours is {text}."


def _judge_call_checked(call_checked: Callable[[Any, Any, Any], Any]) -> str | None:
    with connected_client("weather") as client:
        forecast, alerts = client.list_tools()
        rounds = [  # the tool, its arguments, the one that is wrong (None: all are good), why
            (alerts, {}, "region", "`region` is required and missing"),
            (forecast, {"day": "Sunday"}, "place", "`place` is required and missing"),
            (forecast, {"place": "Tessaby"}, None, "`day` has a default, and is not required"),
            (alerts, {"region": "desert"}, "region", "'desert' is not in the enum of `region`"),
            (forecast, {"place": "Tessaby", "day": "Monday"}, "day", "'Monday' is not in the enum of `day`"),
            (alerts, {"region": "hills", "level": 2}, None, "`level` has no enum"),
        ]
        for tool, arguments, wrong, why in rounds:
            before = len(sent(client.traffic, method="tools/call"))
            result = call_checked(client, tool, dict(arguments))
            calls = sent(client.traffic, method="tools/call")[before:]
            call = f"{tool.name}({arguments})"
            if wrong is None:
                fault = _not_sent(calls, arguments, call, why)
            else:
                fault = _not_stopped(calls, result, wrong, call, why)
            if fault:
                return fault
            if not _is_result(result):
                return f"{call} is a good call: return what client.call_tool gives you, not {shown(result)}."
    return None


def _is_result(value: Any) -> bool:
    return type(value).__name__ == "ToolResult"  # the package's class, or the notebook's own


def _not_stopped(calls: list[Any], result: Any, wrong: str, call: str, why: str) -> str | None:
    if calls:
        return f"{why}, and you sent the call all the same: {call}."
    if not getattr(result, "is_error", False):
        return f"{why}: return ToolResult.from_text(…, is_error=True); you returned {shown(result)}."
    if wrong not in result.text:
        return f"{why}, and your text does not name `{wrong}`: {shown(result.text)}."
    return None


def _not_sent(calls: list[Any], arguments: Any, call: str, why: str) -> str | None:
    if not calls:
        return f"{call} is a good call, and you did not send it: {why}."
    if calls[-1]["params"]["arguments"] != arguments:
        changed = calls[-1]["params"]["arguments"]
        return f"you sent {changed} for {arguments}. Send them as they are: the server knows its defaults."
    return None


def _judge_call_with_repair(call_with_repair: Callable[..., Any]) -> str | None:
    read: list[str] = []

    def model(better: dict[str, Any]) -> Callable[[str], dict[str, Any]]:
        return lambda text: read.append(text) or better  # type: ignore[func-returns-value]

    with connected_client("weather") as client:
        call_with_repair(client, "forecast", {"place": "Skerry"}, model({"place": "Brindlow"}))
        if read:
            return "the first call went well, and you asked for other arguments all the same."
        before = len(_arguments(client))
        result = call_with_repair(client, "forecast", {"place": "Tesaby"}, model({"place": "Tessaby"}))
        fault = _wrong_repair(read, _arguments(client)[before:], result)
        if fault:
            return fault
        before = len(_arguments(client))
        at_most(client, 5)
        try:
            hopeless = call_with_repair(client, "forecast", {"place": "x"}, model({"place": "y"}))
        except TooMany:
            return "the second call failed too, and you went on. One repair is allowed, so two calls."
        calls = len(_arguments(client)) - before
    if calls != 2:
        return f"one repair was allowed, so two calls; {calls} went out."
    if not getattr(hopeless, "is_error", False):
        return f"the second call failed too: return its result. You returned {shown(hopeless)}."
    return None


def _arguments(client: Any) -> list[Any]:
    return [message["params"]["arguments"] for message in sent(client.traffic, method="tools/call")]


def _wrong_repair(read: list[Any], called: list[Any], result: Any) -> str | None:
    if not read:
        return "the call failed, and `repair` never got to read why. Give it the text of the result."
    if not isinstance(read[0], str) or "Alder Quay" not in read[0]:
        return f"`repair` is to read the text of the result, and got {shown(read[0])}."
    if len(called) == 1:
        return "`repair` gave you other arguments, and you did not call with them."
    if called[-1] != {"place": "Tessaby"}:
        return f"the second call goes out with what `repair` returned; you sent {called[-1]}."
    if not _is_result(result):
        return f"return the last ToolResult; you returned {shown(result)}."
    if result.is_error:
        return "the second call went well; return its result, and not that of the first."
    return None


EXERCISES = [
    Exercise(
        id="4.1",
        stub='''
            def who_reads(client, name, arguments):
                """("model", text) for what the model should read, ("developer", text) for the rest."""
                result = client.call_tool(name, arguments)
                return "model", result.text
        ''',
        judge=_judge_who_reads,
        done="what the model can mend goes to the model, the rest to whoever runs the program.",
        hints=(
            "There are three ways back: a result, a result with is_error, and an exception. "
            "Which of them does the given code handle?",
            "A JSON-RPC error is raised as RpcError: catch it around client.call_tool. For a failed tool, "
            "look at result.is_error.",
            'try: result = client.call_tool(…), except RpcError as problem: return "developer", '
            'str(problem). Then put "Error: " before result.text if result.is_error.',
        ),
        solution='''
            def who_reads(client, name, arguments):
                """("model", text) for what the model should read, ("developer", text) for the rest."""
                try:
                    result = client.call_tool(name, arguments)
                except RpcError as problem:
                    return "developer", str(problem)
                return "model", f"Error: {result.text}" if result.is_error else result.text
        ''',
        wrong=(
            Wrong(
                """
                def who_reads(client, name, arguments):
                    try:
                        result = client.call_tool(name, arguments)
                    except RpcError as problem:
                        return "developer", str(problem)
                    return "developer" if result.is_error else "model", result.text
                """,
                "a result with isError true is for the model to read, and you gave it to the developer.",
            ),
            Wrong(
                """
                def who_reads(client, name, arguments):
                    try:
                        result = client.call_tool(name, arguments)
                    except RpcError as problem:
                        return "model", f"Error: {problem}"
                    return "model", f"Error: {result.text}" if result.is_error else result.text
                """,
                "a JSON-RPC error is for the developer to read, and you gave it to the model.",
            ),
            Wrong(
                """
                def who_reads(client, name, arguments):
                    try:
                        result = client.call_tool(name, arguments)
                    except RpcError as problem:
                        return "developer", str(problem)
                    return "model", result.text
                """,
                "the model gets a text and no flag, so a failure begins with 'Error: '; "
                "yours is \"cannot echo 'hello': the cave is closed today\".",
            ),
            Wrong(
                """
                def who_reads(client, name, arguments):
                    try:
                        result = client.call_tool(name, arguments)
                    except RpcError:
                        return "developer", "the call failed"
                    return "model", f"Error: {result.text}" if result.is_error else result.text
                """,
                "the developer is to read 'the database is locked', and that is missing in 'the call failed'.",
            ),
            Wrong(
                """
                def who_reads(client, name, arguments):
                    result = client.call_tool(name, arguments)
                    return "model", f"Error: {result.text}"
                """,
                "the tool did not fail here, so the text does not begin with 'Error: '; yours is 'Error: hello'.",
            ),
            Wrong(
                """
                def who_reads(client, name, arguments):
                    try:
                        result = client.call_tool(name, arguments)
                    except RpcError as problem:
                        return "developer", problem
                    return "model", f"Error: {result.text}" if result.is_error else result.text
                """,
                "the second of the pair is a text; yours is a RpcError.",
            ),
            Wrong(
                """
                def who_reads(client, name, arguments):
                    try:
                        result = client.call_tool(name, arguments)
                    except Exception as problem:
                        return "developer", f"Error: {problem}"
                    return "model", f"Error: {result.text}" if result.is_error else result.text
                """,
                "'Error: ' is for the model alone. The developer gets the words of the error; "
                "yours is 'Error: the database is locked [-32603] (data: {\"retry_after\": 5})'.",
            ),
            Wrong(
                """
                def who_reads(client, name, arguments):
                    if client.call_tool(name, arguments).is_error:
                        return "model", "Error: " + client.call_tool(name, arguments).text
                    return "model", client.call_tool(name, arguments).text
                """,
                "one call was wanted, and 2 tools/call went out.",
            ),
        ),
    ),
    Exercise(
        id="4.2",
        stub='''
            def call_checked(client, tool, arguments):
                """Call `tool`, unless its schema forbids the arguments: then send nothing, and return a
                ToolResult that says which argument is wrong. Looks at `required` and at `enum`."""
                raise NotImplementedError
        ''',
        judge=_judge_call_checked,
        done="the schema is executed, and a bad call costs nothing: it never leaves.",
        hints=(
            "The schema is the dict tool.input_schema. Which key names the arguments that must be there?",
            'First loop over schema.get("required", []) and look for names that are not in `arguments`. Then '
            'loop over the arguments: the rule of each is schema["properties"][name].',
            'A rule without "enum" allows every value. For a bad argument: return '
            'ToolResult.from_text(f"{name}: …", is_error=True). At the end: client.call_tool.',
        ),
        solution='''
            def call_checked(client, tool, arguments):
                """Call `tool`, unless its schema forbids the arguments: then send nothing, and return a
                ToolResult that says which argument is wrong. Looks at `required` and at `enum`."""
                schema = tool.input_schema
                for name in schema.get("required", []):
                    if name not in arguments:
                        return ToolResult.from_text(f"{name}: required, and missing", is_error=True)
                for name, value in arguments.items():
                    rule = schema["properties"].get(name, {})
                    if "enum" in rule and value not in rule["enum"]:
                        text = f"{name}: {value!r} is not one of {rule['enum']}"
                        return ToolResult.from_text(text, is_error=True)
                return client.call_tool(tool.name, arguments)
        ''',
        wrong=(
            Wrong(
                """
                def call_checked(client, tool, arguments):
                    return client.call_tool(tool.name, arguments)
                """,
                "`region` is required and missing, and you sent the call all the same: alerts({}).",
            ),
            Wrong(
                """
                def call_checked(client, tool, arguments):
                    for name in tool.input_schema["required"]:
                        if name not in arguments:
                            return ToolResult.from_text(f"{name} is missing", is_error=True)
                    return client.call_tool(tool.name, arguments)
                """,
                "'desert' is not in the enum of `region`, and you sent the call all the same: "
                "alerts({'region': 'desert'}).",
            ),
            Wrong(
                """
                def call_checked(client, tool, arguments):
                    for name in tool.input_schema["properties"]:
                        if name not in arguments:
                            return ToolResult.from_text(f"{name} is missing", is_error=True)
                    for name, value in arguments.items():
                        rule = tool.input_schema["properties"][name]
                        if value not in rule.get("enum", [value]):
                            return ToolResult.from_text(f"{name} is wrong", is_error=True)
                    return client.call_tool(tool.name, arguments)
                """,
                "forecast({'place': 'Tessaby'}) is a good call, and you did not send it: "
                "`day` has a default, and is not required.",
            ),
            Wrong(
                """
                def call_checked(client, tool, arguments):
                    schema = tool.input_schema
                    bad = [n for n in schema["required"] if n not in arguments]
                    bad += [
                        n for n, v in arguments.items() if v not in schema["properties"][n].get("enum", [v])
                    ]
                    if bad:
                        return ToolResult.from_text("bad arguments", is_error=True)
                    return client.call_tool(tool.name, arguments)
                """,
                "`region` is required and missing, and your text does not name `region`: 'bad arguments'.",
            ),
            Wrong(
                """
                def call_checked(client, tool, arguments):
                    for name in tool.input_schema["required"]:
                        if name not in arguments:
                            return f"{name} is missing"
                    return client.call_tool(tool.name, arguments)
                """,
                "`region` is required and missing: return ToolResult.from_text(…, is_error=True); "
                "you returned 'region is missing'.",
            ),
            Wrong(
                """
                def call_checked(client, tool, arguments):
                    schema = tool.input_schema
                    for name in schema["required"]:
                        if name not in arguments:
                            return ToolResult.from_text(f"{name} is missing", is_error=True)
                    for name, rule in schema["properties"].items():
                        if name not in arguments and "default" in rule:
                            arguments[name] = rule["default"]
                        if "enum" in rule and arguments[name] not in rule["enum"]:
                            return ToolResult.from_text(f"{name} is wrong", is_error=True)
                    return client.call_tool(tool.name, arguments)
                """,
                "you sent {'place': 'Tessaby', 'day': 'Friday'} for {'place': 'Tessaby'}. "
                "Send them as they are: the server knows its defaults.",
            ),
            Wrong(
                """
                def call_checked(client, tool, arguments):
                    for name in tool.input_schema["required"]:
                        if name not in arguments:
                            return ToolResult.from_text(f"{name} is missing", is_error=True)
                    for name, value in arguments.items():
                        if value not in tool.input_schema["properties"][name]["enum"]:
                            return ToolResult.from_text(f"{name} is wrong", is_error=True)
                    return client.call_tool(tool.name, arguments)
                """,
                "it raised KeyError: 'enum' (line 6 of your cell)",
            ),
            Wrong(
                """
                def call_checked(client, tool, arguments):
                    for name in tool.input_schema["required"]:
                        if name not in arguments:
                            return ToolResult.from_text(f"{name} is missing", is_error=True)
                    for name, rule in tool.input_schema["properties"].items():
                        if name in arguments and arguments[name] not in rule.get("enum", [arguments[name]]):
                            return ToolResult.from_text(f"{name} is wrong", is_error=True)
                        return client.call_tool(tool.name, arguments)
                """,
                "'Monday' is not in the enum of `day`, and you sent the call all the same: "
                "forecast({'place': 'Tessaby', 'day': 'Monday'}).",
            ),
        ),
    ),
    Exercise(
        id="4.3",
        stub='''
            def call_with_repair(client, name, arguments, repair):
                """Call a tool. If it fails, let `repair` read why, and call once more with the arguments
                that it returns. `repair(text)` plays the model. Returns the last ToolResult."""
                raise NotImplementedError
        ''',
        judge=_judge_call_with_repair,
        done="an error that says what is wrong has been read, and put right.",
        hints=(
            "How do you see that a tool has failed? It is no exception.",
            "repair gets result.text, and gives back new arguments.",
            "if result.is_error: result = client.call_tool(name, repair(result.text))",
        ),
        solution='''
            def call_with_repair(client, name, arguments, repair):
                """Call a tool. If it fails, let `repair` read why, and call once more with the arguments
                that it returns. `repair(text)` plays the model. Returns the last ToolResult."""
                result = client.call_tool(name, arguments)
                if result.is_error:
                    result = client.call_tool(name, repair(result.text))
                return result
        ''',
        wrong=(
            Wrong(
                """
                def call_with_repair(client, name, arguments, repair):
                    try:
                        return client.call_tool(name, arguments)
                    except RpcError as problem:
                        return client.call_tool(name, repair(str(problem)))
                """,
                "the call failed, and `repair` never got to read why. Give it the text of the result.",
            ),
            Wrong(
                """
                def call_with_repair(client, name, arguments, repair):
                    result = client.call_tool(name, arguments)
                    for _ in range(3):
                        if result.is_error:
                            result = client.call_tool(name, repair(result.text))
                    return result
                """,
                "one repair was allowed, so two calls; 4 went out.",
            ),
            Wrong(
                """
                def call_with_repair(client, name, arguments, repair):
                    result = client.call_tool(name, arguments)
                    while result.is_error:
                        result = client.call_tool(name, repair(result.text))
                    return result
                """,
                "the second call failed too, and you went on. One repair is allowed, so two calls.",
            ),
            Wrong(
                """
                def call_with_repair(client, name, arguments, repair):
                    result = client.call_tool(name, arguments)
                    if result.is_error:
                        repair(result.text)
                        result = client.call_tool(name, arguments)
                    return result
                """,
                "the second call goes out with what `repair` returned; you sent {'place': 'Tesaby'}.",
            ),
            Wrong(
                """
                def call_with_repair(client, name, arguments, repair):
                    result = client.call_tool(name, arguments)
                    return repair(result.text) if result.is_error else result
                """,
                "`repair` gave you other arguments, and you did not call with them.",
            ),
            Wrong(
                """
                def call_with_repair(client, name, arguments, repair):
                    result = client.call_tool(name, arguments)
                    if result.is_error:
                        return client.call_tool(name, repair(result.text)).text
                    return result
                """,
                "return the last ToolResult; you returned "
                "'Tessaby on Friday: a sea breeze, 17 °C, 10 % chance of rain.'.",
            ),
            Wrong(
                """
                def call_with_repair(client, name, arguments, repair):
                    return client.call_tool(name, repair(client.call_tool(name, arguments).text))
                """,
                "the first call went well, and you asked for other arguments all the same.",
            ),
        ),
    ),
]
