"""All parts of Streamlit's own page and code on which the dashboard relies beyond its public API.

Streamlit promises the interface of `import streamlit as st`, and a class for each key
(`st-key-KEY`); another version may rename everything else. So each such part stands here with its
purpose, and `tests/browser/test_insides.py` fails if Streamlit's page no longer has it. Nothing
else in the package names such a part, as `tests/app/parts/test_insides.py` checks.
"""

# `st` has no public names for the types of a container and of a page, and `st.get_option` does not
# tell whether an option was set: only if it was is the server's address trusted as an origin.
from pathlib import Path

import streamlit
from streamlit.config import is_manually_set as is_manually_set
from streamlit.delta_generator import DeltaGenerator as DeltaGenerator
from streamlit.navigation.page import StreamlitPage as StreamlitPage

# The context of a run, which tells whether the browser reached the address by Back or Forward. `st`
# does not expose this; without it, such an address would look like an outdated one.
from streamlit.runtime.scriptrunner import get_script_run_ctx as get_script_run_ctx

# The folder of Streamlit's page. This page is extended to preload Plotly, which saves half a
# second; `guard` allows its scripts by their hashes; and the page without a server uses its font.
STATIC = Path(streamlit.__file__).parent / "static"

# The logger of the cache. At each start it would write a line for every page, which would push the
# server's address out of sight.
CACHE_LOG = "streamlit.runtime.caching.cache_data_api"

# A link in the menu. Streamlit marks the current page, but not the page to which a view belongs
# ("Who wins" is a view of Explore), so nothing would show where the visitor is.
MENU_LINK = "[data-testid=stTopNavLink]"

# The box of an open menu. Streamlit limits it to the room below its button, however small: at the
# foot of a figure it would show a single line. A minimum height makes it open upwards.
MENU_BOX = "[data-testid=stPopoverBody]"

# The buttons that open and close the sidebar. On a phone the sidebar covers the page and stays when
# a page is chosen in it; the dashboard's own button "Settings" opens it, since Streamlit's is only
# a pair of arrows.
OPEN_SIDEBAR = "[data-testid=stExpandSidebarButton]"
CLOSE_SIDEBAR = "[data-testid=stSidebarCollapseButton] button"

# The container of the button that copies a text. Streamlit shows the button only while the pointer
# is on the text, so visitors would hardly find that the address under "Link" can be copied, and on
# a touch screen never.
COPY = '[data-testid=stCode] > div:has([aria-label="Copy to clipboard"])'

# A coloured word of code. Streamlit's colours have a contrast of 2.6 to 4.3 on the page.
TOKEN = "[data-testid=stCode] .token"

# The Stop button beside the sign of a running page. It would leave the page without the parts that
# are still to be drawn, and without an explanation; the dashboard's own Cancel ends a run and draws
# the whole page. The sign itself is kept, as is the sign of a lost connection.
STOP = "[data-testid=stStatusWidget] button"

# A caption. Streamlit reduces the contrast of its letters to 3.9, and of code in it further; people
# with weak eyesight need at least 4.5.
CAPTION = "[data-testid=stCaptionContainer]"
