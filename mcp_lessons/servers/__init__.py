"""Sample servers, each a program of its own: `python -m mcp_lessons.servers.NAME`.

weather   forecasts and alerts for a small invented country
maps      its places, and how to get from one to the other
faulty    servers that misbehave, one fault at a time
"""
