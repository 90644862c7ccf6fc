"""The server that all contenders of the bench talk to: as little work as an MCP server can do."""

import json
import sys

BIG = "x" * 10_000_000
TOOLS = [{"name": name, "description": "…", "inputSchema": {"type": "object"}} for name in ("echo", "big")]
HELLO = {"capabilities": {"tools": {}}, "serverInfo": {"name": "bench", "version": "1"}}


def answer(method: str, params: dict) -> dict:
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], **HELLO}
    if method == "tools/list":
        return {"tools": TOOLS}
    text = BIG if params["name"] == "big" else params["arguments"]["text"]
    return {"content": [{"type": "text", "text": text}], "isError": False}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "server/discover":
        reply = {"error": {"code": -32601, "message": "no such method"}}
    else:
        reply = {"result": answer(message["method"], message.get("params", {}))}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}) + "\n")
    sys.stdout.flush()
