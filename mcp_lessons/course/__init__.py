"""What only the lessons need: classes that grow, checks for exercises, an end to waiting.

    Client = so_far("Client", lesson=3)     a fresh class with what the lessons before 3 built

    @add_to(Client)                         this lesson's method
    def list_tools(self): ...

    with give_up_after(2, process): ...     a wait that would be endless ends as StillWaiting
    check("3.2", my_function)               "not done yet", "✓ …", or the first thing that is wrong
    hint("3.2"); solution("3.2")

The finished client does not import this package.
"""

from .checking import check, hint, solution
from .classes import add_to, so_far
from .set_up import set_up_check
from .waiting import StillWaiting, give_up_after

__all__ = ["StillWaiting", "add_to", "check", "give_up_after", "hint", "set_up_check", "so_far", "solution"]
