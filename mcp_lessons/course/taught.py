"""Which lesson teaches which definition of the package, and which only shows it.

A definition is named by its module (`client` is mcp_lessons/client.py) and one of

    "request"           a function, a constant or a whole class at the top of the module
    "class Client"      the head of a class: docstring, class attributes and `__init__`
    "Client.request"    a method, which stands in the notebook under `@add_to(Client)`
    "*"                 everything in the module that has no entry of its own (shown only)

Every public name of the modules in `COVERED` is in exactly one of the tables (a test holds this),
and the finished cells of notebook N are those of TAUGHT[N], no more and no fewer. Private helpers
need no entry: `so_far` gives them to the class from the start.
"""

COVERED = ("errors", "jsonrpc", "traffic", "stdio", "eras", "results", "client", "toolbox", "agent", "oracle")

TAUGHT: dict[int, list[tuple[str, str]]] = {
    1: [
        ("stdio", "split_lines"),
        ("stdio", "class StdioTransport"),
        ("stdio", "StdioTransport.start"),
        ("stdio", "StdioTransport.send"),
        ("stdio", "StdioTransport._read_stdout"),
        ("stdio", "StdioTransport._read_stderr"),
        ("stdio", "StdioTransport._watch"),
        ("stdio", "StdioTransport._hang_up"),
        ("stdio", "StdioTransport.close"),
    ],
    2: [
        ("jsonrpc", "request"),
        ("jsonrpc", "notification"),
        ("jsonrpc", "kind_of"),
        ("_handlers", "reply_to"),
        ("client", "Client._received"),
        ("client", "Client.begin"),
        ("client", "Client.finish"),
        ("client", "Client.request"),
        ("client", "Client.notify"),
        ("client", "Client.initialize"),
    ],
    3: [
        ("results", "Tool"),
        ("client", "Client.list_tools"),
        ("client", "Client._pages"),
        ("client", "Client._page"),
    ],
    4: [
        ("results", "block_text"),
        ("results", "ToolResult"),
        ("client", "Client.begin_call"),
        ("client", "Client.finish_call"),
        ("client", "Client.call_tool"),
    ],
    5: [
        ("_names", "clean"),
        ("_names", "full_name"),
        ("_names", "public_names"),
        ("toolbox", "class Toolbox"),
        ("toolbox", "Toolbox.mount"),
        ("toolbox", "Toolbox._changed"),
        ("toolbox", "Toolbox.schemas"),
        ("toolbox", "Toolbox.call"),
        ("toolbox", "Toolbox.call_all"),
        ("toolbox", "Toolbox._begin"),
    ],
    6: [
        ("agent", "read_arguments"),
        ("agent", "read_calls"),
        ("agent", "assistant_message"),
        ("agent", "tool_message"),
        ("agent", "why_not"),
        ("agent", "run_calls"),
        ("agent", "ask"),
        ("agent", "run_agent"),
    ],
}

SHOWN: dict[int, list[tuple[str, str, str]]] = {
    0: [
        ("errors", "*", "a tree of exceptions is read, not built"),
        ("traffic", "*", "a list with a lock and a file format; nothing about the protocol"),
        ("oracle", "*", "a stand-in for a model: how it guesses is not what this course is about"),
    ],
    1: [
        ("stdio", "*", "three numbers: how long a line may be, and how long a step of hanging up waits"),
    ],
    2: [
        (
            "jsonrpc",
            "*",
            "the JSON encoder with its options; replies, which have the shape of requests",
        ),
        ("eras", "*", "so far it changes nothing: lesson 10 needs a second era to give it work"),
        ("results", "ServerInfo", "five fields read from a reply, with care"),
        ("client", "class Client", "what a client keeps: its transport, its record, its counter of ids"),
        ("client", "*", "constants, and the plumbing between a thread that reads and those that wait"),
        ("client", "Client.start", "the transport starts with the first message"),
        ("client", "Client.cancel", "one notification; lesson 6 needs it"),
        ("client", "Client.connect", "so far another name for initialize: lesson 10 gives it a choice"),
        ("client", "Client.alive", "a question to the list of waiting requests"),
        ("client", "Client.close", "it passes the word on to the transport of lesson 1"),
    ],
    4: [
        ("results", "*", "how long a placeholder may be, and the size of base64"),
    ],
    5: [
        ("toolbox", "*", "small helpers: the list as endpoints want it, sentences for what is refused"),
        ("toolbox", "Toolbox.unmount", "mounting, undone"),
        ("toolbox", "Toolbox.add", "a row of the table, made from type hints"),
        ("toolbox", "Toolbox.close", "unmount, for each server"),
        ("toolbox", "Toolbox.from_config", "mount, for each server of a file"),
        ("toolbox", "Toolbox.tools", "the names in the table"),
    ],
    6: [
        ("agent", "*", "two small dataclasses, three limits, and the first message with its checks"),
    ],
}
