"""The weather server: `python -m mcp_lessons.servers.weather`.

Forecasts and alerts for a small invented country, from fixed tables: the answers never change.

The list of tools grows: asking for the alerts of a region that has one of level 3 brings a further
tool, `shelters`, and the notification that the list has changed. It arrives before the reply.
"""

from ._stdio import Server, Tool

DAYS = ["Friday", "Saturday", "Sunday"]

FORECASTS = {  # place: for each day, the sky, the temperature in °C, the chance of rain in percent
    "Alder Quay": [("a sea breeze", 17, 20), ("low cloud", 16, 40), ("gales and rain", 13, 95)],
    "Brindlow": [("bright spells", 18, 10), ("sun and high cloud", 20, 15), ("showers", 16, 70)],
    "Larkmoor": [("mist, then sun", 15, 15), ("showers in the afternoon", 17, 65), ("drizzle", 14, 80)],
    "Skerry": [("a stiff wind", 13, 30), ("a stiff wind", 13, 35), ("gales and rain", 11, 100)],
    "Sorrel Hill": [("clear", 19, 0), ("clear", 21, 5), ("thunder in the evening", 18, 55)],
    "Tessaby": [("a sea breeze", 17, 10), ("sunny", 19, 5), ("gales and rain", 14, 90)],
}

ALERTS = {  # region: the level of each alert, from 1 (take note) to 3 (take shelter), and its text
    "coast": [(3, "Storm on Sunday: keep away from the harbour walls."), (1, "High tides all weekend.")],
    "hills": [(2, "Dry grass: no open fires.")],
    "moors": [],
}

SHELTERS = {
    "coast": "The net loft in Tessaby and the customs house in Alder Quay are open day and night.",
    "hills": "The barn at Sorrel Hill is open day and night.",
    "moors": "The chapel in Brindlow is open day and night.",
}

PLACE = {"type": "string", "enum": list(FORECASTS), "description": "The place, by its full name."}
DAY = {"type": "string", "enum": DAYS, "default": "Friday", "description": "The day; today is Friday."}
REGION = {"type": "string", "enum": list(ALERTS), "description": "The region, a part of the country."}
LEVEL = {
    "type": "integer",
    "minimum": 1,
    "maximum": 3,
    "default": 1,
    "description": "Leave out alerts milder than this: 1 take note, 2 take care, 3 take shelter.",
}


def forecast(place: str, day: str) -> tuple[str, dict]:
    sky, celsius, rain = FORECASTS[place][DAYS.index(day)]
    text = f"{place} on {day}: {sky}, {celsius} °C, {rain} % chance of rain."
    return text, {"place": place, "day": day, "sky": sky, "celsius": celsius, "rain_percent": rain}


def alerts(region: str, level: int) -> str:
    found = [(its_level, text) for its_level, text in ALERTS[region] if its_level >= level]
    if any(its_level == 3 for its_level, _ in found):
        server.add(SHELTERS_TOOL)
    return "\n".join(f"Level {its_level}: {text}" for its_level, text in found) or f"No alerts: {region}."


def shelters(region: str) -> str:
    return SHELTERS[region]


FORECAST_TOOL = Tool(
    "forecast",
    "The weather forecast for one place on one day: sky, temperature in °C and chance of rain in percent.",
    {"type": "object", "properties": {"place": PLACE, "day": DAY}, "required": ["place"]},
    forecast,
    output_schema={
        "type": "object",
        "properties": {
            "place": {"type": "string"},
            "day": {"type": "string"},
            "sky": {"type": "string"},
            "celsius": {"type": "integer"},
            "rain_percent": {"type": "integer", "minimum": 0, "maximum": 100},
        },
        "required": ["place", "day", "sky", "celsius", "rain_percent"],
    },
)

ALERTS_TOOL = Tool(
    "alerts",
    "Official warnings in force for a whole region, such as storm, flood or fire, with their level.",
    {"type": "object", "properties": {"region": REGION, "level": LEVEL}, "required": ["region"]},
    alerts,
)

SHELTERS_TOOL = Tool(
    "shelters",
    "Where people can take shelter in a region while a level 3 alert is in force.",
    {"type": "object", "properties": {"region": REGION}, "required": ["region"]},
    shelters,
)

server = Server("weather", [FORECAST_TOOL, ALERTS_TOOL], "Forecasts and alerts. Today is Friday.")

if __name__ == "__main__":
    server.run()
