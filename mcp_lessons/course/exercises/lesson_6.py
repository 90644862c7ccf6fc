"""The exercises of lesson 6: a loop that ends, approval with a reason, servers closed also in failure."""

from collections.abc import Callable
from inspect import iscoroutinefunction
from itertools import pairwise
from typing import Any

from ...agent import run_agent
from ...errors import McpError, ModelError, ServerExited
from ...traffic import Traffic
from ..exercise import Exercise, Wrong
from ..judging import mounted_toolbox, sent, server_command, shown
from ..scripted import Scripted, calls, says

_ALERTS = ("weather__alerts", '{"region": "moors"}')


def _judge_ask_within(ask_within: Callable[..., Any]) -> str | None:
    with mounted_toolbox(weather="weather") as toolbox:
        rounds = [  # the script, the turns allowed, what must come back, what is special
            ([calls(_ALERTS), says("Dry.")], 2, "Dry.", "The model answers in its second message"),
            (
                [calls(_ALERTS, _ALERTS), says("Dry.")],
                2,
                "Dry.",
                "The model makes two calls in one message, which is one turn",
            ),
            ([calls(_ALERTS)] * 9, 3, None, "The model calls for ever, and 3 turns are allowed"),
            ([calls(_ALERTS)] * 9, 1, None, "The model calls for ever, and 1 turn is allowed"),
        ]
        for script, max_turns, expected, special in rounds:
            fault = _one_round(ask_within, toolbox, script, max_turns, expected)
            if fault:
                return f"{special}: {fault}"
    return None


def _one_round(ask_within: Any, toolbox: Any, script: list, max_turns: int, expected: str | None) -> str:
    with Scripted(script) as scripted:
        try:
            got = ask_within("Is it dry?", toolbox, scripted.llm, scripted.model, max_turns)
        except Exception as problem:
            got = problem
        held = [len(request["messages"]) for request in scripted.requests]
    asked = len(held)
    if asked > max_turns:
        return f"you asked it more than {_times(max_turns)}."
    if isinstance(got, Exception) and (expected is not None or asked < max_turns):
        raise got  # `check` says in which line
    if asked < min(len(script), max_turns):
        return (
            f"you asked it {_times(asked)}, and returned {_value(got)}. It may be asked {_times(max_turns)}."
        )
    for turn, (before, now) in enumerate(pairwise(held), 2):
        if now <= before:
            return f"request {turn} held no more messages than the one before. Send all of them, and the new ones."
    if isinstance(got, Exception):
        return f"return None; your function raised {type(got).__name__}."
    if got != expected:
        return f"return {expected!r}; you returned {_value(got)}."
    return ""


def _value(got: Any) -> str:
    """A text or None as it is; of anything else the type, which is the same on every machine."""
    return shown(got) if isinstance(got, str | None) else f"something of type {type(got).__name__}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _judge_ask_once(ask_once: Callable[..., Any]) -> str | None:
    weather, maps = server_command("weather"), server_command("maps")
    broken = server_command("faulty", "die_on_start")
    cases = [  # what is special, the servers, the script, what must come back
        (
            "A run that goes well",
            {"weather": weather, "maps": maps},
            [calls(("maps__places", "{}")), says("Six.")],
            "Six.",
        ),
        ("A run in which the endpoint fails", {"weather": weather}, [], ModelError),
        ("A server that does not start", {"weather": weather, "broken": broken}, [], ServerExited),
    ]
    for special, servers, script, expected in cases:
        fault = _one_question(ask_once, servers, script, expected)
        if fault:
            return f"{special}: {fault}"
    return None


def _one_question(ask_once: Any, servers: dict, script: list, expected: Any) -> str:
    traffic = Traffic()
    with Scripted(script) as scripted:
        try:
            got = ask_once("Which places are there?", dict(servers), scripted.llm, scripted.model, traffic)
        except Exception as problem:
            if not isinstance(problem, McpError) and not isinstance(expected, type):
                raise  # `check` says in which line
            got = problem.with_traceback(None)  # a traceback would keep a toolbox alive
        asked = len(scripted.requests)
    fault = _wrong_ends(traffic, servers)
    if not fault and script and not asked:
        fault = "the model that you were given, llm, was never asked."
    if not fault and script and not sent(traffic, method="tools/call"):
        fault = "the model called maps__places, and the server was not asked. Had you closed it before?"
    return fault or _wrong_outcome(got, expected)


def _wrong_ends(traffic: Traffic, servers: dict) -> str:
    """Which server never joined, or never left. (A server that does not start cannot join.)"""
    happened = [event.body["cause"] for event in traffic if event.kind == "tools"]
    if not happened and not any(event.kind == "process" for event in traffic):
        return 'no server joined. Mount each in a Toolbox(traffic=traffic, era="legacy").'
    for name in servers:
        if f"{name} joins" not in happened and "broken" not in servers:
            return f"the server {name!r} was never mounted. Mount all of servers.items() in one toolbox."
    for name in servers:
        if f"{name} joins" in happened and f"{name} leaves" not in happened:
            return f"the server {name!r} was mounted, and nobody closed it."
    return ""


def _wrong_outcome(got: Any, expected: Any) -> str:
    if not isinstance(expected, type):
        return "" if got == expected else f"return the answer, {expected!r}; you returned {_value(got)}."
    if isinstance(got, expected):
        return ""
    what = f"you returned {'a text' if isinstance(got, str) else _value(got)}"
    if isinstance(got, Exception):
        what = f"a {type(got).__name__} came"
    return f"whoever calls you must hear of it. Let the {expected.__name__} through; {what}."


def _judge_at_most(at_most: Callable[[int], Any]) -> str | None:
    with mounted_toolbox(weather="weather") as toolbox:
        for limit in (2, 1):  # the second limit counts from the start again
            fault = _run_with(at_most(limit), limit, toolbox)
            if fault:
                return fault
    return None


def _run_with(approve: Any, limit: int, toolbox: Any) -> str | None:
    if not callable(approve):
        return f"return a function that takes a call; at_most({limit}) returned {shown(approve)}."
    if iscoroutinefunction(approve):
        return "the function that you return is an `async def`: calling it runs nothing. Write it with `def`."
    verdicts: list[Any] = []

    def kept(call: Any) -> Any:
        verdicts.append(approve(call))
        return verdicts[-1]

    before = len(sent(toolbox.traffic, method="tools/call"))
    script = [calls(_ALERTS, _ALERTS), calls(_ALERTS), says("Dry.")]
    with Scripted(script) as scripted:
        result = run_agent("Is it dry?", toolbox, scripted.llm, scripted.model, approve=kept)
    for number, verdict in enumerate(verdicts[:limit], 1):
        if verdict is not True:
            return f"at_most({limit}) lets call {number} pass: return True for it. You returned {shown(verdict)}."
    ran = len(sent(toolbox.traffic, method="tools/call")) - before
    if ran != limit:
        return f"the model made 3 calls, and with at_most({limit}) {ran} of them ran."
    refused = [m["content"] for m in result.messages if m["role"] == "tool"][limit:]
    for text in refused:
        if str(limit) not in text:
            return (
                f"the model reads {text!r}. Return a text with the number of calls that are allowed, {limit}."
            )
    return None


EXERCISES = [
    Exercise(
        id="6.1",
        stub='''
            def ask_within(question, toolbox, llm, model, max_turns):
                """The model's answer, or None when it has not answered after `max_turns` requests."""
                messages = [{"role": "user", "content": question}]
                while True:
                    reply = llm.chat.completions.create(model=model, messages=messages, tools=toolbox.schemas())
                    message = reply.choices[0].message
                    messages.append(message)
                    if not message.tool_calls:
                        return message.content
                    for call in message.tool_calls:
                        result = toolbox.call(call.function.name, json.loads(call.function.arguments))
                        messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
        ''',
        judge=_judge_ask_within,
        done="whatever the model wants, the loop ends.",
        hints=(
            "What goes round for ever here? Python has another loop, which goes round a number of times.",
            "One turn is one request to the model, however many calls are in its reply.",
            "for _ in range(max_turns): instead of while True:, and return None after it.",
        ),
        solution='''
            def ask_within(question, toolbox, llm, model, max_turns):
                """The model's answer, or None when it has not answered after `max_turns` requests."""
                messages = [{"role": "user", "content": question}]
                for _ in range(max_turns):
                    reply = llm.chat.completions.create(model=model, messages=messages, tools=toolbox.schemas())
                    message = reply.choices[0].message
                    messages.append(message)
                    if not message.tool_calls:
                        return message.content
                    for call in message.tool_calls:
                        result = toolbox.call(call.function.name, json.loads(call.function.arguments))
                        messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
                return None
        ''',
        wrong=(
            Wrong(
                """
                def ask_within(question, toolbox, llm, model, max_turns):
                    messages = [{"role": "user", "content": question}]
                    turn = 0
                    while turn <= max_turns:
                        turn += 1
                        reply = llm.chat.completions.create(model=model, messages=messages, tools=toolbox.schemas())
                        message = reply.choices[0].message
                        messages.append(message)
                        if not message.tool_calls:
                            return message.content
                        for call in message.tool_calls:
                            result = toolbox.call(call.function.name, json.loads(call.function.arguments))
                            messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
                """,
                "The model calls for ever, and 3 turns are allowed: you asked it more than 3 times.",
            ),
            Wrong(
                """
                def ask_within(question, toolbox, llm, model, max_turns):
                    messages = [{"role": "user", "content": question}]
                    turns = 0
                    while turns < max_turns:
                        reply = llm.chat.completions.create(model=model, messages=messages, tools=toolbox.schemas())
                        message = reply.choices[0].message
                        messages.append(message)
                        if not message.tool_calls:
                            return message.content
                        for call in message.tool_calls:
                            turns += 1
                            result = toolbox.call(call.function.name, json.loads(call.function.arguments))
                            messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
                """,
                "The model makes two calls in one message, which is one turn: you asked it once, and returned None. "
                "It may be asked 2 times.",
            ),
            Wrong(
                """
                def ask_within(question, toolbox, llm, model, max_turns):
                    messages = [{"role": "user", "content": question}]
                    reply = llm.chat.completions.create(model=model, messages=messages, tools=toolbox.schemas())
                    message = reply.choices[0].message
                    for call in message.tool_calls:
                        result = toolbox.call(call.function.name, json.loads(call.function.arguments))
                        return result.text
                """,
                "The model answers in its second message: you asked it once, and returned 'No alerts: moors.'. "
                "It may be asked 2 times.",
            ),
            Wrong(
                """
                def ask_within(question, toolbox, llm, model, max_turns):
                    result = run_agent(question, toolbox, llm, model, max_turns=max_turns)
                    return result.answer
                """,
                "The model calls for ever, and 3 turns are allowed: return None; you returned ''.",
            ),
            Wrong(
                """
                def ask_within(question, toolbox, llm, model, max_turns):
                    messages = [{"role": "user", "content": question}]
                    for _ in range(max_turns):
                        reply = llm.chat.completions.create(model=model, messages=messages, tools=toolbox.schemas())
                        message = reply.choices[0].message
                        messages.append(message)
                        if not message.tool_calls:
                            return message.content
                        for call in message.tool_calls:
                            result = toolbox.call(call.function.name, json.loads(call.function.arguments))
                            messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
                        return None
                """,
                "The model answers in its second message: you asked it once, and returned None. "
                "It may be asked 2 times.",
            ),
            Wrong(
                """
                def ask_within(question, toolbox, llm, model, max_turns):
                    messages = [{"role": "user", "content": question}]
                    for _ in range(max_turns):
                        reply = llm.chat.completions.create(model=model, messages=messages, tools=toolbox.schemas())
                        message = reply.choices[0].message
                        messages.append(message)
                        if not message.tool_calls:
                            return message
                        for call in message.tool_calls:
                            result = toolbox.call(call.function.name, json.loads(call.function.arguments))
                            messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
                """,
                "The model answers in its second message: return 'Dry.'; "
                "you returned something of type ChatCompletionMessage.",
            ),
            Wrong(
                """
                def ask_within(question, toolbox, llm, model, max_turns):
                    messages = [{"role": "user", "content": question}]
                    for _ in range(max_turns):
                        reply = llm.chat.completions.create(model=model, messages=messages, tools=toolbox.schemas())
                        message = reply.choices[0].message
                        messages.append(message)
                        if not message.tool_calls:
                            return message.content
                        for call in message.tool_calls:
                            result = toolbox.call(call.function.name, json.loads(call.function.arguments))
                            messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
                    raise TimeoutError("too many turns")
                """,
                "The model calls for ever, and 3 turns are allowed: return None; your function raised TimeoutError.",
            ),
            Wrong(
                """
                def ask_within(question, toolbox, llm, model, max_turns):
                    for _ in range(max_turns):
                        messages = [{"role": "user", "content": question}]
                        reply = llm.chat.completions.create(model=model, messages=messages, tools=toolbox.schemas())
                        message = reply.choices[0].message
                        messages.append(message)
                        if not message.tool_calls:
                            return message.content
                        for call in message.tool_calls:
                            result = toolbox.call(call.function.name, json.loads(call.function.arguments))
                            messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
                """,
                "The model answers in its second message: request 2 held no more messages than "
                "the one before. Send all of them, and the new ones.",
            ),
            Wrong(
                """
                def ask_within(question, toolbox, llm, model, max_turns):
                    messages = [{"role": "user", "content": question}]
                    for _ in range(1, max_turns):
                        reply = llm.chat.completions.create(model=model, messages=messages, tools=toolbox.schemas())
                        message = reply.choices[0].message
                        messages.append(message)
                        if not message.tool_calls:
                            return message.content
                        for call in message.tool_calls:
                            result = toolbox.call(call.function.name, json.loads(call.function.arguments))
                            messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
                """,
                "The model answers in its second message: you asked it once, and returned None. "
                "It may be asked 2 times.",
            ),
            Wrong(
                """
                def ask_within(question, toolbox, llm, model, max_turns):
                    messages = [{"role": "user", "content": question}]
                    for _ in range(max_turns):
                        reply = llm.chat.completions.create(model=model, messages=messages, tools=toolbox.schemas())
                        message = reply.choices[0].message
                        messages.append(message)
                        if not message.tool_calls:
                            answer = message.content
                        for call in message.tool_calls:
                            result = toolbox.call(call.function.name, json.loads(call.function.arguments))
                            messages.append({"role": "tool", "tool_call_id": call.id, "content": result.text})
                """,
                "it raised TypeError: 'NoneType' object is not iterable (line 9 of your cell)",
            ),
        ),
    ),
    Exercise(
        id="6.2",
        stub='''
            def ask_once(question, servers, llm, model, traffic):
                """The answer to one question. `servers` is {name: command}. Everything is recorded in
                `traffic`, and no server is left open, whatever happens."""
                raise NotImplementedError
        ''',
        judge=_judge_ask_once,
        done="every server that joined has left, also when the run failed.",
        hints=(
            "Which statement of Python runs its last part whether or not something was raised? "
            "A toolbox can be used with it.",
            "Mounting can fail too: the second server may not start when the first one already runs. "
            "So mount inside.",
            'with Toolbox(traffic=traffic, era="legacy") as toolbox: mount each of servers.items(), then '
            "return run_agent(…).answer. Catch nothing.",
        ),
        solution='''
            def ask_once(question, servers, llm, model, traffic):
                """The answer to one question. `servers` is {name: command}. Everything is recorded in
                `traffic`, and no server is left open, whatever happens."""
                with Toolbox(traffic=traffic, era="legacy") as toolbox:
                    for name, command in servers.items():
                        toolbox.mount(name, command)
                    return run_agent(question, toolbox, llm, model).answer
        ''',
        wrong=(
            Wrong(
                """
                def ask_once(question, servers, llm, model, traffic):
                    toolbox = Toolbox(traffic=traffic, era="legacy")
                    for name, command in servers.items():
                        toolbox.mount(name, command)
                    return run_agent(question, toolbox, llm, model).answer
                """,
                "A run that goes well: the server 'weather' was mounted, and nobody closed it.",
            ),
            Wrong(
                """
                def ask_once(question, servers, llm, model, traffic):
                    toolbox = Toolbox(traffic=traffic, era="legacy")
                    for name, command in servers.items():
                        toolbox.mount(name, command)
                    answer = run_agent(question, toolbox, llm, model).answer
                    toolbox.close()
                    return answer
                """,
                "A run in which the endpoint fails: the server 'weather' was mounted, and nobody closed it.",
            ),
            Wrong(
                """
                def ask_once(question, servers, llm, model, traffic):
                    toolbox = Toolbox(traffic=traffic, era="legacy")
                    for name, command in servers.items():
                        toolbox.mount(name, command)
                    with toolbox:
                        return run_agent(question, toolbox, llm, model).answer
                """,
                "A server that does not start: the server 'weather' was mounted, and nobody closed it.",
            ),
            Wrong(
                """
                def ask_once(question, servers, llm, model, traffic):
                    with Toolbox(traffic=traffic, era="legacy") as toolbox:
                        for name, command in servers.items():
                            toolbox.mount(name, command)
                        try:
                            return run_agent(question, toolbox, llm, model).answer
                        except Exception:
                            return "something went wrong"
                """,
                "A run in which the endpoint fails: whoever calls you must hear of it. "
                "Let the ModelError through; you returned a text.",
            ),
            Wrong(
                """
                def ask_once(question, servers, llm, model, traffic):
                    with Toolbox(traffic=traffic, era="legacy") as toolbox:
                        for name, command in servers.items():
                            try:
                                toolbox.mount(name, command)
                            except Exception:
                                continue
                        return run_agent(question, toolbox, llm, model).answer
                """,
                "A server that does not start: whoever calls you must hear of it. "
                "Let the ServerExited through; a ModelError came.",
            ),
            Wrong(
                """
                def ask_once(question, servers, llm, model, traffic):
                    for name, command in servers.items():
                        with Toolbox(traffic=traffic, era="legacy") as toolbox:
                            toolbox.mount(name, command)
                            return run_agent(question, toolbox, llm, model).answer
                """,
                "A run that goes well: the server 'maps' was never mounted. "
                "Mount all of servers.items() in one toolbox.",
            ),
            Wrong(
                """
                def ask_once(question, servers, llm, model, traffic):
                    with Toolbox(traffic=traffic, era="legacy") as toolbox:
                        for name, command in servers.items():
                            toolbox.mount(name, command)
                    return run_agent(question, toolbox, llm, model).answer
                """,
                "A run that goes well: the model called maps__places, and the server was not asked. "
                "Had you closed it before?",
            ),
            Wrong(
                """
                def ask_once(question, servers, llm, model, traffic):
                    with Toolbox(traffic=traffic, era="legacy") as toolbox:
                        for name, command in servers.items():
                            toolbox.mount(name, command)
                        return run_agent(question, toolbox, *choose_llm()).answer
                """,
                "A run that goes well: the model that you were given, llm, was never asked.",
            ),
            Wrong(
                """
                def ask_once(question, servers, llm, model, traffic):
                    with Toolbox(traffic=traffic, era="legacy") as toolbox:
                        for name, command in servers.items():
                            toolbox.mount(name, command)
                        return run_agent(question, toolbox, llm, model)
                """,
                "A run that goes well: return the answer, 'Six.'; you returned something of type AgentResult.",
            ),
            Wrong(
                """
                def ask_once(question, servers, llm, model, traffic):
                    with Toolbox(era="legacy") as toolbox:
                        for name, command in servers.items():
                            toolbox.mount(name, command)
                        return run_agent(question, toolbox, llm, model).answer
                """,
                "A run that goes well: no server joined. "
                'Mount each in a Toolbox(traffic=traffic, era="legacy").',
            ),
            Wrong(
                """
                def ask_once(question, servers, llm, model, traffic):
                    with Toolbox(traffic=traffic, era="legacy") as toolbox:
                        for name, command in servers.items():
                            toolbox.mount(name, command)
                        try:
                            return run_agent(question, toolbox, llm, model).answer
                        except Exception as problem:
                            raise RuntimeError("it failed") from problem
                """,
                "A run in which the endpoint fails: whoever calls you must hear of it. "
                "Let the ModelError through; a RuntimeError came.",
            ),
        ),
    ),
    Exercise(
        id="6.3",
        stub='''
            def at_most(limit):
                """A function for approve=: it lets the first `limit` calls of a run pass, and answers each
                further one with a text that says how many are allowed."""
                raise NotImplementedError
        ''',
        judge=_judge_at_most,
        done="the budget holds, and the model has read why.",
        hints=(
            "at_most is called once. The function that it returns is called once for each call of the model. "
            "So the counter must live outside of the second and inside of the first.",
            "Let a list inside at_most remember the calls: asked = []. Define approve(call) below it, append "
            "the call to the list, look how long it is, and end at_most with return approve.",
            'return len(asked) <= limit or f"only {limit} calls are allowed": True lets it pass, and a text '
            "is the reason that the model reads.",
        ),
        solution='''
            def at_most(limit):
                """A function for approve=: it lets the first `limit` calls of a run pass, and answers each
                further one with a text that says how many are allowed."""
                asked = []

                def approve(call):
                    asked.append(call)
                    return len(asked) <= limit or f"only {limit} calls are allowed: answer with what you have"

                return approve
        ''',
        wrong=(
            Wrong(
                """
                def at_most(limit):
                    return lambda call: True
                """,
                "the model made 3 calls, and with at_most(2) 3 of them ran.",
            ),
            Wrong(
                """
                def at_most(limit):
                    asked = []

                    def approve(call):
                        asked.append(call)
                        return len(asked) <= limit

                    return approve
                """,
                "the model reads 'Error: not run: the user refused it'. "
                "Return a text with the number of calls that are allowed, 2.",
            ),
            Wrong(
                """
                asked = []


                def at_most(limit):
                    def approve(call):
                        asked.append(call)
                        return len(asked) <= limit or f"only {limit} calls are allowed"

                    return approve
                """,
                "at_most(1) lets call 1 pass: return True for it. You returned 'only 1 calls are allowed'.",
            ),
            Wrong(
                """
                def at_most(limit):
                    return limit > 0 or f"only {limit} calls are allowed"
                """,
                "return a function that takes a call; at_most(2) returned True.",
            ),
            Wrong(
                """
                def at_most(limit):
                    asked = []

                    def approve(call):
                        asked.append(call)
                        if len(asked) > limit:
                            return f"only {limit} calls are allowed"

                    return approve
                """,
                "at_most(2) lets call 1 pass: return True for it. You returned None.",
            ),
            Wrong(
                """
                def at_most(limit):
                    asked = []

                    def approve(call):
                        asked.append(call)
                        return len(asked) < limit or f"only {limit} calls are allowed"

                    return approve
                """,
                "at_most(2) lets call 2 pass: return True for it. You returned 'only 2 calls are allowed'.",
            ),
            Wrong(
                """
                def at_most(limit):
                    left = limit

                    def approve(call):
                        nonlocal left
                        left -= 1
                        return left >= 0 or f"{left} calls are left"

                    return approve
                """,
                "the model reads 'Error: not run: -1 calls are left'. "
                "Return a text with the number of calls that are allowed, 2.",
            ),
            Wrong(
                """
                def at_most(limit):
                    asked = []

                    async def approve(call):
                        asked.append(call)
                        return len(asked) <= limit or f"only {limit} calls are allowed"

                    return approve
                """,
                "the function that you return is an `async def`: calling it runs nothing. Write it with `def`.",
            ),
            Wrong(
                """
                def at_most(limit):
                    def approve(call):
                        asked = 0
                        asked += 1
                        return asked <= limit or f"only {limit} calls are allowed"

                    return approve
                """,
                "the model made 3 calls, and with at_most(2) 3 of them ran.",
            ),
        ),
    ),
]
