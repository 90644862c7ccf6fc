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

COVERED = ("errors", "jsonrpc", "traffic", "stdio", "eras", "client", "toolbox", "agent", "oracle")

TAUGHT: dict[int, list[tuple[str, str]]] = {
    1: [],
    2: [
        ("jsonrpc", "request"),
        ("jsonrpc", "notification"),
        ("jsonrpc", "encode"),
        ("jsonrpc", "decode"),
        ("jsonrpc", "kind_of"),
    ],
    3: [],
    4: [],
    5: [],
    6: [],
}

SHOWN: dict[int, list[tuple[str, str, str]]] = {
    0: [
        ("errors", "*", "a tree of exceptions is read, not built"),
        ("traffic", "*", "a list with a lock and a file format; nothing about the protocol"),
    ],
    2: [
        ("jsonrpc", "result", "the same shape as a request, written by servers"),
        ("jsonrpc", "error", "the same shape as a request, written by servers"),
        ("jsonrpc", "Message", "a name for dict[str, Any]"),
    ],
}
