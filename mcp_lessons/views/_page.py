"""A record as one page of its own, that fetches nothing: `Traffic.save_html`, `mcp-lessons trace --html`."""

from pathlib import Path

from ..traffic import Traffic
from . import _rows
from ._bundle import bundle, styles
from ._redact import redacted
from ._snapshot import traffic_tables
from ._text import escape, table

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 16px; background: #fff; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #0d1014; color: #e8eaed; }} }}
{css}
</style>
</head>
<body>
<main id="view"></main>
<noscript>{table}</noscript>
<script type="application/json" id="record">{record}</script>
<script type="module">
{esm}
</script>
</body>
</html>
"""  # noqa: E501


def save_html(traffic: Traffic, path: str | Path) -> None:
    """See `Traffic.save_html`. Where no script runs (a mail program's preview), the page shows the table."""
    from ._traffic import TrafficView  # the view imports widgets, which a page does not need to be read

    events = [redacted(event) for event in traffic]
    rows = _rows.rows(events)
    servers = list(dict.fromkeys(event.server for event in events if event.server and event.connection))
    message = {
        "rows": rows,
        "servers": servers,
        "dropped": traffic.dropped + len(events) - len(rows),
        "record": None,
    }
    page = _PAGE.format(
        title=escape(": ".join([table("traffic")["title"], *filter(None, [", ".join(servers)])])[:200]),
        css=styles(*TrafficView.sheets),
        table=traffic_tables(events)[1],
        record=_rows.dumps(message).replace("<", "\\u003c"),
        esm=bundle("standalone.js"),
    )
    Path(path).write_text(page, encoding="utf-8")
