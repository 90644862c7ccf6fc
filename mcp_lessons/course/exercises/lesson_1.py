"""The exercises of lesson 1: hang up in steps; ask in spite of the noise."""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from ..exercise import Exercise, Wrong
from ..judging import spawned
from ..waiting import StillWaiting, give_up_after

HANG_UP_SECONDS = 3.0
REPLY_SECONDS = 4.0


SERVERS_TO_END = (  # words, a sentence, how long a step waits, the status of its mildest end, what to do
    (("weather",), "the weather server goes by itself", 2.0, 0, "Close stdin, and wait before you signal"),
    (
        ("faulty", "ignore_eof"),
        "this server goes when SIGTERM asks it to",
        1.0,
        -15,
        "When the first wait is over, call terminate(), and wait again before kill()",
    ),
    (("faulty", "ignore_sigterm"), "only SIGKILL ends this server", 0.5, None, "Let kill() be the last step"),
)


def _judge_hang_up(hang_up: Callable[[Any, float], Any]) -> str | None:
    with ExitStack() as stack:  # all start at once: the waits alone take half the time of a check
        started = [stack.enter_context(spawned(*server[0])) for server in SERVERS_TO_END]
        for process, (_, who, seconds, status, advice) in zip(started, SERVERS_TO_END, strict=True):
            _answer_one_ping(process)
            try:
                with give_up_after(HANG_UP_SECONDS, process):
                    hang_up(process, seconds)
            except StillWaiting:
                return (
                    f"{who}, and after {HANG_UP_SECONDS:g} seconds your function still waited. Give each wait "
                    "timeout=seconds, and return as soon as the server has ended."
                )
            except subprocess.TimeoutExpired:
                return (
                    "subprocess.TimeoutExpired came out of your function: a wait was over, and the server still "
                    "ran. Catch it, and go on with the next step."
                )
            ended = _status(process)
            if ended is None:
                return f"{who}, and after your function it still ran. {advice}."
            if status is not None and ended != status and sys.platform != "win32":
                return f"{who}, and yours ended it with status {ended}. {advice}."
    return None


def _answer_one_ping(process: Any) -> None:
    """A server that has answered has started, and does what it will do about signals."""
    process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    process.stdin.flush()
    process.stdout.readline()


def _status(process: Any) -> int | None:
    try:
        return process.wait(0.5)
    except subprocess.TimeoutExpired:
        return None


SERVERS = {  # the fault: what to call the server in a sentence
    "none": "a server that does nothing wrong",
    "banner": "a banner on stdout",
    "non_object_json": "lines of JSON that are no message",
    "stray_ids": "replies to questions that nobody asked",
}


def _judge_ask(ask_v2: Callable[[Any, Any], Any]) -> str | None:
    for fault, trouble in SERVERS.items():
        with spawned("faulty", fault) as process:
            for id in (7, 8):
                wrong = _ask_once(ask_v2, process, id, fault)
                if wrong:
                    return f"with {trouble}, {wrong}"
    return None


def _ask_once(ask_v2: Callable[[Any, Any], Any], process: Any, id: int, fault: str) -> str | None:
    try:
        with give_up_after(REPLY_SECONDS, process):
            answer = ask_v2(process, {"jsonrpc": "2.0", "id": id, "method": "ping"})
    except StillWaiting:
        return (
            f"your function did not come back within {REPLY_SECONDS:g} seconds. Is the line you write JSON, "
            f'does it end with "\\n", do you flush, and do you stop reading at the reply with the id {id}?'
        )
    except json.JSONDecodeError:
        return "JSONDecodeError came out of your function. Skip a line that is no JSON."
    except (AttributeError, KeyError, TypeError) as problem:
        if fault == "none":  # no line is to blame, so the learner needs the line of code
            raise
        return (
            f"your function raised {type(problem).__name__}: {problem}. A line may hold JSON that is no object, "
            "or an object without an id."
        )
    if process.stdin.closed:
        return "your function closed stdin, so nothing more can be asked. Leave it open."
    return _about_the_answer(answer, id, fault)


def _about_the_answer(answer: Any, id: int, fault: str) -> str | None:
    if answer is None:
        return f"your function returned None. Return the reply: the object with the id {id}."
    if isinstance(answer, str):
        return "your function returned a text. Return the object that json.loads makes of it."
    if answer == {} and fault == "none":
        return "your function returned {}. That is the result alone. Return the whole reply, with its id."
    if not isinstance(answer, dict) or "result" not in answer:
        return f"your function returned {answer!r}. The reply is an object with the id {id} and a result."
    if answer.get("id") != id:
        return f"you asked with the id {id} and returned the reply with the id {answer.get('id')!r}."
    return None


EXERCISES = [
    Exercise(
        id="1.1",
        stub='''
            def hang_up(process, seconds):
                """End the server: politely, then firmly, then by force. Each step waits `seconds`."""
                process.stdin.close()
                process.wait()
        ''',
        judge=_judge_hang_up,
        done="each server went at the mildest step that it obeys, and none is left.",
        hints=(
            "process.wait() waits without an end. Which argument gives the wait an end, and what does it raise "
            "then?",
            "Close stdin and wait. When TimeoutExpired comes, terminate() and wait. When it comes again, kill() "
            "and wait.",
            "try:\n    process.wait(timeout=seconds)\n"
            "except subprocess.TimeoutExpired:\n    process.terminate()\n"
            "Then the same once more, with kill() in the place of terminate(). Wait after kill(), too.",
        ),
        solution='''
            def hang_up(process, seconds):
                """End the server: politely, then firmly, then by force. Each step waits `seconds`."""
                process.stdin.close()
                for harder in (process.terminate, process.kill):
                    try:
                        process.wait(timeout=seconds)
                        return
                    except subprocess.TimeoutExpired:
                        harder()
                process.wait()
        ''',
        wrong=(
            Wrong(
                """
                def hang_up(process, seconds):
                    process.stdin.close()
                    process.kill()
                    process.wait()
                """,
                "the weather server goes by itself, and yours ended it with status -9. Close stdin, and wait "
                "before you signal.",
            ),
            Wrong(
                """
                def hang_up(process, seconds):
                    process.stdin.close()
                    process.wait(timeout=seconds)
                """,
                "subprocess.TimeoutExpired came out of your function: a wait was over, and the server still "
                "ran. Catch it, and go on with the next step.",
            ),
            Wrong(
                """
                def hang_up(process, seconds):
                    process.stdin.close()
                    try:
                        process.wait(timeout=seconds)
                    except subprocess.TimeoutExpired:
                        process.kill()
                """,
                "this server goes when SIGTERM asks it to, and yours ended it with status -9. When the first "
                "wait is over, call terminate(), and wait again before kill().",
            ),
            Wrong(
                """
                def hang_up(process, seconds):
                    process.stdin.close()
                    try:
                        process.wait(timeout=seconds)
                    except subprocess.TimeoutExpired:
                        process.terminate()
                """,
                "only SIGKILL ends this server, and after your function it still ran. Let kill() be the last step.",
            ),
            Wrong(
                """
                def hang_up(process, seconds):
                    process.stdin.close()
                    try:
                        process.wait(timeout=seconds)
                    except subprocess.TimeoutExpired:
                        process.terminate()
                        process.wait()
                """,
                "only SIGKILL ends this server, and after 3 seconds your function still waited. Give each wait "
                "timeout=seconds, and return as soon as the server has ended.",
            ),
            Wrong(
                """
                def hang_up(process, seconds):
                    import time
                    process.stdin.close()
                    time.sleep(seconds)
                    process.terminate()
                    time.sleep(seconds)
                    process.kill()
                """,
                "the weather server goes by itself, and after 3 seconds your function still waited. Give each wait "
                "timeout=seconds, and return as soon as the server has ended.",
            ),
            Wrong(
                """
                def hang_up(process, seconds):
                    process.stdin.close()
                    try:
                        process.wait(timeout=seconds)
                        process.terminate()
                        process.wait(timeout=seconds)
                        process.kill()
                    except subprocess.TimeoutExpired:
                        pass
                """,
                "this server goes when SIGTERM asks it to, and after your function it still ran. When the first "
                "wait is over, call terminate(), and wait again before kill().",
            ),
        ),
    ),
    Exercise(
        id="1.2",
        stub='''
            def ask_v2(process, message):
                """Send `message`, and return the reply to it, whatever comes before."""
                ...
        ''',
        judge=_judge_ask,
        done="four servers, two questions each, and every answer belongs to its question.",
        hints=(
            "Write as in ask_v1. Then read line after line, for line in process.stdout, until one is the "
            "reply.",
            "json.loads raises ValueError for a line that is no JSON: go on with the next line. Not every JSON "
            "value is an object, so test isinstance(answer, dict) before you ask for its id.",
            'if isinstance(answer, dict) and answer.get("id") == message["id"]: return answer',
        ),
        solution='''
            def ask_v2(process, message):
                """Send `message`, and return the reply to it, whatever comes before."""
                process.stdin.write(json.dumps(message) + "\\n")
                process.stdin.flush()
                for line in process.stdout:
                    try:
                        answer = json.loads(line)
                    except ValueError:
                        continue
                    if isinstance(answer, dict) and answer.get("id") == message["id"]:
                        return answer
        ''',
        wrong=(
            Wrong(
                """
                def ask_v2(process, message):
                    process.stdin.write(json.dumps(message))
                    process.stdin.flush()
                    return json.loads(process.stdout.readline())
                """,
                "with a server that does nothing wrong, your function did not come back within 4 seconds. "
                'Is the line you write JSON, does it end with "\\n", do you flush, and do you stop reading at '
                "the reply with the id 7?",
            ),
            Wrong(
                """
                def ask_v2(process, message):
                    process.stdin.write(json.dumps(message) + "\\n")
                    process.stdin.flush()
                    return json.loads(process.stdout.readline())
                """,
                "with a banner on stdout, JSONDecodeError came out of your function. Skip a line that is no JSON.",
            ),
            Wrong(
                """
                def ask_v2(process, message):
                    process.stdin.write(json.dumps(message) + "\\n")
                    process.stdin.flush()
                    for line in process.stdout:
                        try:
                            return json.loads(line)
                        except ValueError:
                            pass
                """,
                "with lines of JSON that are no message, your function returned None. Return the reply: the "
                "object with the id 7.",
            ),
            Wrong(
                """
                def ask_v2(process, message):
                    process.stdin.write(json.dumps(message) + "\\n")
                    process.stdin.flush()
                    for line in process.stdout:
                        try:
                            answer = json.loads(line)
                            if answer["id"] == message["id"]:
                                return answer
                        except json.JSONDecodeError:
                            pass
                """,
                "with lines of JSON that are no message, your function raised TypeError: 'NoneType' object is "
                "not subscriptable. A line may hold JSON that is no object, or an object without an id.",
            ),
            Wrong(
                """
                def ask_v2(process, message):
                    process.stdin.write(json.dumps(message) + "\\n")
                    process.stdin.flush()
                    for line in process.stdout:
                        if line.startswith("{"):
                            return json.loads(line)["result"]
                """,
                "with a server that does nothing wrong, your function returned {}. That is the result alone. "
                "Return the whole reply, with its id.",
            ),
            Wrong(
                """
                def ask_v2(process, message):
                    process.stdin.write(json.dumps(message) + "\\n")
                    process.stdin.flush()
                    for line in process.stdout:
                        if str(message["id"]) in line:
                            return line
                """,
                "with a server that does nothing wrong, your function returned a text. Return the object that "
                "json.loads makes of it.",
            ),
            Wrong(
                """
                def ask_v2(process, message):
                    process.stdin.write(json.dumps(message) + "\\n")
                    process.stdin.close()
                    return json.loads(process.stdout.readline())
                """,
                "with a server that does nothing wrong, your function closed stdin, so nothing more can be asked. "
                "Leave it open.",
            ),
            Wrong(
                """
                def ask_v2(process, message):
                    process.stdin.write(json.dumps(message) + "\\n")
                    process.stdin.flush()
                    for line in process.stdout:
                        if line.startswith("{"):
                            return json.loads(line)
                """,
                "with lines of JSON that are no message, your function returned {}. The reply is an object with "
                "the id 7 and a result.",
            ),
            Wrong(
                """
                def ask_v2(process, message):
                    process.stdin.write(json.dumps(message) + "\\n")
                    process.stdin.flush()
                    for line in process.stdout:
                        if line.startswith("{") and "result" in json.loads(line):
                            return json.loads(line)
                """,
                "with replies to questions that nobody asked, you asked with the id 7 and returned the reply "
                "with the id 987654321.",
            ),
        ),
    ),
]
