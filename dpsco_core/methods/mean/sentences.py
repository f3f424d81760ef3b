"""Sentences and examples that the stories of several methods share."""

from typing import Any

GRID = (500.0, 1000.0, 2000.0, 5000.0, 10_000.0, 20_000.0, 50_000.0)
OVER_N: dict[str, Any] = {"axis": "n", "grid": GRID, "trials": 10}
EXAMPLE: dict[str, Any] = OVER_N | {"methods": ("mean.sample", "mean.clipped", "mean.cwme-cdp")}
REFERENCES: dict[str, Any] = OVER_N | {
    "methods": ("mean.sample", "mean.adaptive", "mean.instance-optimal", "mean.coinpress"),
}
NO_BOUND = "Nothing hides a single record: use it only to see what privacy costs."
KNOWN_SET = "A public bound on the norm of the true mean (half the diameter of its set)."
