"""The parts of Streamlit's own page and code that the dashboard reaches into: all of them.

Streamlit promises what `import streamlit as st` offers, and a class for each key (`st-key-KEY`):
another version may name all else differently. So each part stands here, with what would be missed
without it, and `tests/browser/test_insides.py` fails once Streamlit's page has it no more. Nothing
else in the package names such a part; `tests/app/parts/test_insides.py` keeps it so.
"""

# What annotations call the place of an element, and a page: `st` has no names for them. And
# whether somebody has set an option, which `st.get_option` does not tell: the address of the server
# is trusted as an origin only then.
from pathlib import Path

import streamlit
from streamlit.config import is_manually_set as is_manually_set
from streamlit.delta_generator import DeltaGenerator as DeltaGenerator
from streamlit.navigation.page import StreamlitPage as StreamlitPage

# What the browser says of a run: whether it came to its address by Back or Forward. `st` does not
# tell; without it such an address is taken for one that the browser has not yet left.
from streamlit.runtime.scriptrunner import get_script_run_ctx as get_script_run_ctx

# The folder of the page. It is told to load Plotly at once, which saves half a second; the guard
# allows its scripts by their hashes; and the page without a server takes its font.
STATIC = Path(streamlit.__file__).parent / "static"

# Who writes a line about the cache for every page at each start, which would hide the address.
CACHE_LOG = "streamlit.runtime.caching.cache_data_api"

# The link of a place in the menu. Streamlit marks the place that is shown, but not the place of a
# view ("Who wins" is one of Explore's): nothing would say where one is.
MENU_LINK = "[data-testid=stTopNavLink]"

# The box of an open menu. Streamlit gives it the room below its button, however little: one at the
# foot of a figure would show a single line. A least height makes it open upwards.
MENU_BOX = "[data-testid=stPopoverBody]"

# The buttons that open and close the sidebar. On a phone it lies over the page, and Streamlit
# leaves it there when a page is chosen in it; the row above the figure has a button "Settings",
# which opens it: Streamlit's own is a pair of arrows.
OPEN_SIDEBAR = "[data-testid=stExpandSidebarButton]"
CLOSE_SIDEBAR = "[data-testid=stSidebarCollapseButton] button"

# The place of the button that copies a text. Streamlit shows it while the pointer is on the text:
# who opens "Link" would have to find out that the address can be copied by a click, and on a
# screen without a pointer nobody would.
COPY = '[data-testid=stCode] > div:has([aria-label="Copy to clipboard"])'

# The buttons beside the sign of a running page, which are Stop. It leaves a page without what it
# would have drawn below, and no word of that; the dashboard's own Cancel ends a run and draws the
# whole page, and any control does. The sign itself stays, and so does that of a lost connection.
STOP = "[data-testid=stStatusWidget] button"

# A caption. Streamlit pales its letters to a contrast of 3.9 with the page, and those of code in it
# further: 4.5 is the least that people with weak eyes can read.
CAPTION = "[data-testid=stCaptionContainer]"
