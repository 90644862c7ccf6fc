"""The maps server: `python -m mcp_lessons.servers.maps`.

The places of a small invented country, and the quickest way from one to the other, from a fixed
table: the answers never change.
"""

import heapq

from ._stdio import Server, Tool, ToolError

PLACES = {
    "Alder Quay": "a fishing harbour on the coast",
    "Brindlow": "a market town at the edge of the moors",
    "Larkmoor": "a village in the moors, with a lake and picnic meadows",
    "Skerry": "an island off the coast, with a lighthouse",
    "Sorrel Hill": "a farm in the hills, with a view over the whole country",
    "Tessaby": "the largest town, on the coast",
}

LINES = [  # both ways: two places, what runs between them, minutes
    ("Tessaby", "Alder Quay", "the coast tram", 20),
    ("Tessaby", "Brindlow", "bus 9", 50),
    ("Alder Quay", "Brindlow", "bus 4", 35),
    ("Brindlow", "Larkmoor", "the moor railway", 25),
    ("Brindlow", "Sorrel Hill", "the footpath", 60),
]  # no line reaches Skerry: its ferry is laid up until spring


def places() -> str:
    return "\n".join(f"{name}: {what}." for name, what in PLACES.items())


def route(origin: str, destination: str) -> str:
    if origin == destination:
        return f"You are in {destination} already."
    reached: set[str] = set()
    frontier = [(0, origin, [])]  # the quickest way first
    while frontier:
        minutes, here, legs = heapq.heappop(frontier)
        if here == destination:
            return f"From {origin} to {destination}: {', then '.join(legs)}. {minutes} minutes in all."
        if here not in reached:
            reached.add(here)
            for there, by, more in departures(here):
                heapq.heappush(frontier, (minutes + more, there, [*legs, f"{by} to {there} ({more} min)"]))
    raise ToolError(f"No way from {origin} to {destination}: the ferry to Skerry is laid up until spring.")


def departures(here: str) -> list[tuple[str, str, int]]:
    out = [(b, by, minutes) for a, b, by, minutes in LINES if a == here]
    back = [(a, by, minutes) for a, b, by, minutes in LINES if b == here]
    return out + back


def place(description: str) -> dict:
    return {"type": "string", "enum": list(PLACES), "description": description}


server = Server(
    "maps",
    [
        Tool(
            "route",
            "How to get from one place to another by public transport or on foot: each leg, and the minutes.",
            {
                "type": "object",
                "properties": {
                    "origin": place("Where the journey starts: from here."),
                    "destination": place("Where the journey ends: to here."),
                },
                "required": ["origin", "destination"],
            },
            route,
        ),
        Tool(
            "places",
            "List all the places on the map, with one line about each.",
            {"type": "object", "properties": {}},
            places,
        ),
    ],
    "The map of the country: its places, and how to get from one to the other.",
)

if __name__ == "__main__":
    server.run()
