"""The numbers of the page One run as tables."""

from collections.abc import Sequence

import pandas as pd

from dpsco_app.pages.one_run.charts import PART_NAMES
from dpsco_app.parts.touch.run import RunLine
from dpsco_core.explain.anatomy import PARTS, ErrorParts


def path_table(lines: Sequence[RunLine]) -> pd.DataFrame:
    """Return the excess risk along each run, a run and a step a row; the answer comes last."""
    parts = []
    for line in lines:
        steps, risks = line.path.steps, line.path.risks
        last = int(steps[-1])
        parts.append(
            pd.DataFrame(
                {
                    "Run": line.name,
                    "Steps done": [*steps.tolist(), last],
                    "Excess risk": [*risks.tolist(), line.path.final],
                    "Of": ["the iterate"] * len(steps) + ["the answer"],
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def parts_table(parts: ErrorParts) -> pd.DataFrame:
    """Return the parts of the error, a clip radius a row."""
    columns = {"Clip radius": parts.radii}
    columns |= {PART_NAMES[name].capitalize(): getattr(parts, name) for name in PARTS}
    return pd.DataFrame(columns | {"Whole error": parts.total})
