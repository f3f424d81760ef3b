"""Where figures follow each other on a page."""

from typing import Any

from plotly.basedatatypes import BaseFigure
from streamlit.delta_generator import DeltaGenerator


class Place:
    """Where figures follow each other: the last one stays, for an empty place would flicker."""

    def __init__(self, inside: DeltaGenerator) -> None:
        self._inside = inside
        self._drawn: DeltaGenerator | None = None

    def draw(self, figure: BaseFigure, key: str, *, bar: bool, **options: Any) -> None:
        if self._drawn is None:
            self._drawn = self._inside if bar else self._inside.container(key=f"bare_{key}")
        after = self._drawn.plotly_chart(figure, key=key, **options)
        if isinstance(after, DeltaGenerator):  # and not a selection of points
            self._drawn = after
