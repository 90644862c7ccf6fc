"""What a server could say to harm a reader: markup, scripts, hidden characters, sizes, depths, odd keys."""

import json

from mcp_lessons.traffic import Traffic

SPOIL = "window.spoiled=1;console.log('mcp-lessons-hostile');alert('spoiled')"
TEXTS = [
    f'<img src=x onerror="{SPOIL}">',
    f"<script>{SPOIL}</script>",
    f"</script><script>{SPOIL}</script><!--",
    f'</textarea></style></title></noscript></table><svg onload="{SPOIL}">',
    f"javascript:{SPOIL}",
    f"[link](javascript:{SPOIL}) ![pic](http://evil.example/x.png) <a href='http://evil.example'>a</a>",
    f'" onmouseover="{SPOIL}" x=\'',
    "$\\href{javascript:alert(1)}{x}$ $$\\unicode{<img src=x onerror=alert(1)>}$$",
    "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x07link\x1b]8;;\x07 \x00\x07\x08",
    "safe\u202etxt.exe\u202c \u2066isolated\u2069 zero\u200bwidth \ufeffbom soft\u00adhyphen",
    "tag\U000e0041\U000e0042 filler\u3164 \u2028line\u2029paragraph",
    "lone \ud800 surrogate \udfff",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!͖̬̰̙̗̿̋ͥͥ̂ͣ̐́́͜͞",
    "{{7*7}} ${7*7} #{7*7} %s%n `rm -rf`",
    "a" * 5000,
    "verylongword" * 400 + "\n" * 300,
]
KEYS = ["__proto__", "constructor", "toString", "hasOwnProperty", "<b>key</b>", "", "\u202ekey", "a" * 3000]


def hostile_traffic() -> Traffic:
    """A record with every text in every place that a view shows."""
    traffic = Traffic()
    for number, text in enumerate(TEXTS):
        _say_everywhere(traffic, number, text)
    _odd_shapes(traffic)
    return traffic


def _say_everywhere(traffic: Traffic, number: int, text: str) -> None:
    wire = traffic.recorder("evil" if number % 2 else f"<b>evil</b>{TEXTS[0]}")
    wire("process", text, {"event": "spawned", "command": [text, "--api-key", text], "pid": 1})
    _line(wire, "sent", id=text, method=text, params=dict.fromkeys(KEYS, text))
    _line(wire, "received", id=text, result={key: {key: text} for key in KEYS})
    _line(wire, "sent", id=number, method="tools/call", params={"name": text, "arguments": {text: text}})
    _line(wire, "received", id=number, result={"content": [{"type": "text", "text": text}], "isError": True})
    _line(wire, "sent", id=f"e{number}", method="tools/list")
    _line(wire, "received", id=f"e{number}", error={"code": text, "message": text, "data": text})
    tool = {
        "name": text,
        "description": text,
        "inputSchema": {"type": text, "properties": {text: {"type": text}}},
    }
    _line(wire, "sent", id=f"t{number}", method="tools/list")
    _line(wire, "received", id=f"t{number}", result={"tools": [tool], "nextCursor": text})
    _line(wire, "received", method="notifications/message", params={"level": text, "data": text})
    wire("received", text.replace("\n", " "))
    wire("stderr", text)
    wire("process", text, {"event": text, "status": text, "signal": text})
    wire("http", text, {"status": text, "headers": {text: text}})
    body = {
        "cause": text,
        "schemas": [{"type": "function", "function": tool}],
        "origins": {},
        "warnings": [text],
    }
    traffic.add("tools", body=body, server=text)
    model = traffic.new_connection()
    sent = {
        "turn": 1,
        "model": text,
        "messages": [{"role": text, "content": text}],
        "tools": [],
        "stream": False,
    }
    traffic.add("model", body=sent, server=text[:30], connection=model, direction="sent")
    call = {"id": text, "function": {"name": text, "arguments": text}}
    said = {"turn": 1, "message": {"content": text, "tool_calls": [call]}, "finish_reason": text}
    traffic.add("model", body=said, server=text[:30], connection=model, direction="received")
    end = {"stop_reason": text, "answer": text, "turns": 1}
    traffic.add("model", body=end, server=text[:30], connection=model)


def _odd_shapes(traffic: Traffic) -> None:
    """Messages whose parts are of the wrong type, too deep, too long or no numbers."""
    wire = traffic.recorder("odd")
    for number, part in enumerate(
        [None, 1, "text", [], [1, [2]], {}, True, float("nan"), float("inf"), 2**70]
    ):
        _line(wire, "sent", id=number, method="tools/call", params=part)
        _line(wire, "received", id=number, result=part)
        _line(wire, "sent", id=f"r{number}", method="initialize", params={"clientInfo": part})
        _line(wire, "received", id=f"r{number}", result={"content": part, "tools": part, "serverInfo": part})
        _line(wire, "received", id=number + 100, error=part)
        wire("process", "", part)
        traffic.add("tools", body=part)
        traffic.add("model", body=part, server="odd model", connection=99, direction="received")
    wire("received", '{"jsonrpc":"2.0","id":"deep","result":' + '{"a":' * 900 + "1" + "}" * 900 + "}")
    wire("received", json.dumps({"jsonrpc": "2.0", "id": "long", "result": {"text": "long " * 250_000}}))
    wire(
        "received", json.dumps({"jsonrpc": "2.0", "id": "wide", "result": {str(n): n for n in range(20_000)}})
    )
    wire("received", '{"jsonrpc":"2.0","id":"twice","id":"twice","result":{"__proto__":{"spoiled":1}}}')


def _line(wire, source: str, **message: object) -> None:
    wire(source, json.dumps({"jsonrpc": "2.0", **message}))
