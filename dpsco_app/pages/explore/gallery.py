"""The gallery of Explore's presets: a picture of each, what to look for, and a button."""

from collections.abc import Callable

import streamlit as st

from dpsco_app.pages.explore.presets import KINDS, PRESETS, Preset
from dpsco_app.pages.explore.thumbnails import path

COLUMNS = 3
STYLE = """<style>
[data-testid="stDialog"] [data-testid="stImage"] img { width: 100%; }
</style>"""

Start = Callable[[Preset], None]


def draw_gallery(start: Start) -> None:
    """Draw the button that opens the gallery; `start` opens the preset that is chosen there."""
    if st.button("Gallery", icon=":material/grid_view:", key="gallery_open"):
        _gallery(start)


@st.dialog("Gallery of presets", width="large")
def _gallery(start: Start) -> None:
    st.html(STYLE)
    st.markdown("Each makes one point. The lines are those of its run, in the colours of Explore.")
    for kind, name in KINDS.items():
        st.markdown(f"**{name}**")
        for i, preset in enumerate(preset for preset in PRESETS if preset.kind == kind):
            if i % COLUMNS == 0:
                columns = st.columns(COLUMNS)
            with columns[i % COLUMNS], st.container(border=True):
                picture = path(preset).read_text(encoding="utf-8")
                st.image(picture, width="stretch", alt=f"Lines of {preset.name}")
                if st.button(
                    preset.name,
                    key=f"gallery_{preset.name}",
                    width="stretch",
                    on_click=start,
                    args=(preset,),
                ):
                    st.rerun()
                st.caption(preset.look_for)
