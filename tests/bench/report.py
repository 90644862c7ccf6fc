"""How a figure is printed: beside its target, and honest about it."""


def line(what: str, figures: str, ratio: float | None = None, most: float = 0.0, unit: str = "×") -> None:
    """One line of the report; `most` is the most that `ratio` may be."""
    verdict = ""
    if ratio is not None:
        verdict = f"{ratio:8.2f} {unit:2}  target ≤ {most:g}  {'ok' if ratio <= most else 'MISSED'}"
    print(f"{what:46} {figures:44} {verdict}", flush=True)


def at_least(what: str, figures: str, ratio: float, least: float) -> None:
    """One line of the report; `least` is the least that `ratio` may be."""
    verdict = f"{ratio:8.2f} ×   target ≥ {least:g}  {'ok' if ratio >= least else 'MISSED'}"
    print(f"{what:46} {figures:44} {verdict}", flush=True)
