"""Servers that misbehave, one fault at a time: `python -m mcp_lessons.servers.faulty NAME`.

Lesson 7 is the lab for them; the lessons before it borrow a few. `--list` prints every name with one
sentence. Each fault is a class that overrides a few lines of a healthy server, and its name is the
class's in snake case. The fault is the behaviour of a real process: nothing is staged in the client.

    healthy         the server that nothing is wrong with, and the parts that a fault replaces
    lines           what is wrong with the bytes, before any message is read
    replies         what is wrong with the replies: their ids, their errors, their shape
    conversation    what is wrong with the order of things, and what the server sends unasked
    handshake       what is wrong with the handshake
    listing         what is wrong with the list of tools
    results         what is wrong, or unusual, with the result of a call
    processes       what is wrong with the process: it dies, it stays, it does not listen
"""

from . import conversation, handshake, lines, listing, processes, replies, results
from .healthy import Healthy, fault_name

FAULTS: dict[str, type[Healthy]] = {"none": Healthy} | {
    fault_name(fault): fault
    for module in (lines, replies, conversation, handshake, listing, results, processes)
    for fault in vars(module).values()
    if isinstance(fault, type) and fault.__module__ == module.__name__ and not fault.__name__.startswith("_")
}
"""Every fault by its name; "none" is the healthy server."""
