"""All parts of Streamlit's own page and code on which the dashboard relies beyond its public API.

Streamlit promises the interface of `import streamlit as st`, and a class for each key
(`st-key-KEY`); another version may rename everything else. So each such part stands here with its
purpose, and `tests/browser/test_insides.py` fails if Streamlit's page no longer has it. Nothing
else in the package names such a part, as `tests/app/parts/test_insides.py` checks.
"""

# The types of a container and of a page, for which `st` has no public names, and a function that
# tells whether an option was set, which `st.get_option` does not: only then is the server's address
# trusted as an origin.
from pathlib import Path

import streamlit
from streamlit.config import is_manually_set as is_manually_set
from streamlit.delta_generator import DeltaGenerator as DeltaGenerator
from streamlit.navigation.page import StreamlitPage as StreamlitPage

# The browser's report on a run: whether it came to its address by Back or Forward. `st` does not
# expose it; without it, such an address looks like one that the browser has not left yet.
from streamlit.runtime.scriptrunner import get_script_run_ctx as get_script_run_ctx

# The folder of Streamlit's page. The page is extended to preload Plotly, which saves half a second;
# the guard allows its scripts by their hashes; the page without a server takes its font.
STATIC = Path(streamlit.__file__).parent / "static"

# The logger that writes a line about the cache for every page at each start, which would hide the
# server's address.
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

# The Stop button beside the sign of a running page. Stop leaves a page without the parts it would
# have drawn below, and without a word about that; the dashboard's own Cancel ends a run and draws
# the whole page. The sign itself stays, as does that of a lost connection.
STOP = "[data-testid=stStatusWidget] button"

# A caption. Streamlit reduces the contrast of its letters to 3.9, and of code in it further; people
# with weak eyesight need at least 4.5.
CAPTION = "[data-testid=stCaptionContainer]"
