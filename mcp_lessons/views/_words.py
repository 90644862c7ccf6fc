"""A message in a few words, for snapshots. The page does the same in `words.js`, from the same table."""

import json
import re
from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from ..traffic import Event
from ._text import shorten, table

LONG = 240

_OTHER = re.compile(r"\s*([\"\[{]|(null|true|false|-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?)\s*$)|\s*$")
_PYTHON = re.compile(r"(?i)python[\d.]*w?(\.exe)?$")


def words(event: Event, method: str = "") -> tuple[str, str]:
    """(the word, the rest) of `event`; `method` is that of the request which a reply answers."""
    body = mapping(event.body)
    if event.kind == "model":
        return _model(event, body)
    if event.kind == "process":
        return _process(body, event.raw)
    if event.kind == "tools":
        return _toolbox(body)
    if event.kind == "reply":
        return _reply(body, method)
    if event.kind in ("request", "notification"):
        return shorten(text(body.get("method")), 80), _call(
            text(body.get("method")), mapping(body.get("params"))
        )
    if event.kind == "http" and body.get("status"):
        return table("traffic")["kinds"]["http"], text(body["status"])
    return table("traffic")["kinds"].get(event.kind, event.kind), shorten(event.raw, LONG)


def counted(n: int, forms: Sequence[str]) -> str:
    """ "1 tool", "2 tools": `forms` is (one, many), each with {n}."""
    return forms[n != 1].replace("{n}", f"{n:,}")


def call(name: Any, arguments: Any) -> str:
    """The call as code: forecast(place=Fernhill, day=tomorrow)."""
    return shorten(f"{text(name)}({_listed(mapping(arguments))})", LONG)


def text(value: Any) -> str:
    """A JSON value in at most 240 characters."""
    if value is None:
        return ""
    if isinstance(value, str):
        return shorten(value, LONG)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return shorten(_json(value), LONG)
    return str(value)


def mapping(value: Any) -> dict[str, Any]:
    """`value`, or an empty dict where a server sent something else."""
    return value if isinstance(value, dict) else {}


def is_error(body: dict[str, Any]) -> bool:
    """True for a reply that says that the request failed. `"error": null` beside a result says nothing."""
    return body.get("error") is not None or ("jsonrpc" in body and "result" not in body)


def plain_command(command: Sequence[Any]) -> str:
    """A command without what differs from one machine to the next: folders, the name of the Python."""
    return " ".join(_plain_word(str(word)) for word in command)


def _plain_word(word: str) -> str:
    path = PureWindowsPath(word) if "\\" in word else PurePosixPath(word)
    if not path.is_absolute():
        return word
    return "python" if _PYTHON.fullmatch(path.name) else f"…/{path.name}"


def _call(method: str, params: dict[str, Any]) -> str:
    if method in ("tools/call", "prompts/get"):
        return call(params.get("name"), params.get("arguments"))
    if method == "initialize":
        return _joined(" · ", params.get("protocolVersion"), mapping(params.get("clientInfo")).get("name"))
    if method in ("resources/read", "resources/subscribe", "notifications/resources/updated"):
        return text(params.get("uri"))
    if method == "notifications/progress":
        return _joined(" ", _joined("/", params.get("progress"), params.get("total")), params.get("message"))
    if method == "notifications/message":
        return f"{text(params.get('level'))}: {text(params.get('data'))}"
    if method == "notifications/cancelled":
        cancels = table("traffic")["words"]["cancels"].replace("{id}", text(params.get("requestId")))
        return _joined(": ", cancels, params.get("reason"))
    if method == "elicitation/create":
        return text(params.get("message"))
    return shorten(_listed({key: value for key, value in params.items() if key != "_meta"}), LONG)


def _reply(body: dict[str, Any], method: str) -> tuple[str, str]:
    said = table("traffic")["words"]
    if is_error(body):
        error = mapping(body.get("error"))
        return said["error"], shorten(_joined(" ", error.get("code"), error.get("message")), LONG)
    result = body.get("result")
    if not isinstance(result, dict):
        return said["result"], text(result) or said["empty"]
    return said["isError" if result.get("isError") is True else "result"], shorten(
        _result(method, result), LONG
    )


def _result(method: str, result: dict[str, Any]) -> str:
    said = table("traffic")["words"]
    for kind in ("tools", "resources", "prompts"):
        if isinstance(result.get(kind), list):
            return _list(result[kind], kind, result.get("nextCursor"))
    if isinstance(result.get("content"), list):
        blocks = " ".join(_block(block) for block in result["content"])
        return blocks or text(result.get("structuredContent")) or said["empty"]
    if isinstance(result.get("contents"), list):
        return " ".join(text(mapping(one).get("text", mapping(one).get("uri"))) for one in result["contents"])
    if method == "initialize":
        server = mapping(result.get("serverInfo"))
        return _joined(
            " · ", _joined(" ", server.get("name"), server.get("version")), result.get("protocolVersion")
        )
    if isinstance(result.get("supportedVersions"), list):
        return ", ".join(text(version) for version in result["supportedVersions"])
    return text(result) if result else said["empty"]


def _list(items: list[Any], kind: str, cursor: Any) -> str:
    said = table("traffic")["words"]
    names = ", ".join(text(mapping(item).get("name")) for item in items)
    if kind == "tools":
        line = counted(len(items), said["tools"]).replace("{names}", names) if items else said["toolsNone"]
    else:
        line = ": ".join(part for part in (counted(len(items), said[kind]), names) if part)
    return line if cursor is None else f"{line} · {said['more']}"


def _block(block: Any) -> str:
    fields = mapping(block)
    if isinstance(fields.get("text"), str):
        return fields["text"]
    return table("traffic")["words"]["block"].replace("{type}", text(fields.get("type")))


def _process(body: dict[str, Any], raw: str) -> tuple[str, str]:
    said = table("traffic")["words"]
    event = text(body.get("event"))
    word = said.get(event, event) or table("traffic")["kinds"]["process"]
    if event == "spawned":
        command = body.get("command")
        return word, shorten(plain_command(command), LONG) if isinstance(command, list) else ""
    if event == "exited":
        status = body.get("status")
        negative = isinstance(status, int) and status < 0
        form = said["bySignal" if negative else "status"]
        return word, form.replace("{n}", text(-status if negative else status))
    return word, text(body.get("signal"))


def _toolbox(body: dict[str, Any]) -> tuple[str, str]:
    said = table("traffic")["words"]
    schemas, warnings = body.get("schemas"), body.get("warnings")
    parts = [
        text(body.get("cause")),
        counted(len(schemas), said["toolCount"]) if isinstance(schemas, list) else "",
        counted(len(warnings), said["warnings"]) if isinstance(warnings, list) and warnings else "",
    ]
    return table("traffic")["kinds"]["tools"], shorten(_joined(" · ", *parts), LONG)


def _model(event: Event, body: dict[str, Any]) -> tuple[str, str]:
    said = table("traffic")["words"]
    if "error" in body:
        return said["error"], text(body["error"])
    if event.direction == "sent":
        messages, tools = (
            body.get(name) if isinstance(body.get(name), list) else [] for name in ("messages", "tools")
        )
        return said[
            "ask"
        ], f"{counted(len(messages), said['messages'])}, {counted(len(tools), said['toolCount'])}"
    if not event.direction:
        return said["stops"].replace("{reason}", text(body.get("stop_reason"))), text(body.get("answer"))
    message = mapping(body.get("message"))
    calls = message.get("tool_calls") if isinstance(message.get("tool_calls"), list) else []
    functions = [mapping(mapping(one).get("function")) for one in calls]
    if not functions:
        return said["answer"], text(message.get("content"))
    asked = ", ".join(call(one.get("name"), _parsed(one.get("arguments"))) for one in functions)
    return said["calls"].replace(" {calls}", ""), shorten(asked, LONG)


def _parsed(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return {"?": arguments}


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{key}={_argument(value)}" for key, value in values.items())


def _argument(value: Any) -> str:
    """Text stands without quotes, unless it could be taken for another JSON value or for nothing."""
    if value is None:
        return "null"
    if isinstance(value, str) and _OTHER.match(value):
        return shorten(_json(value), LONG)
    return text(value)


def _joined(between: str, *parts: Any) -> str:
    return between.join(text(part) for part in parts if part is not None and part != "")


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, RecursionError):
        return "…"
