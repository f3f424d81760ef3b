"""Serve the dashboard: `python -m dpsco_app [STREAMLIT OPTION ...]`.

The pages are imported before the server starts, so that the first visitor does not wait for it.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

# The cache is made before there is a server, which is what is meant here.
logging.getLogger("streamlit.runtime.caching.cache_data_api").addFilter(
    lambda record: "No runtime found" not in record.getMessage()
)

from streamlit.web import cli  # noqa: E402 (after the logger is told)

import dpsco_app.main  # noqa: E402

HERE = Path(dpsco_app.main.__file__).resolve().parent


def entry() -> Path:
    """Return the script that Streamlit runs: app.py in a checkout, its copy in a wheel."""
    checkout = HERE.parent / "app.py"
    return checkout if checkout.exists() else HERE / "entry.py"


if __name__ == "__main__":
    sys.argv = ["streamlit", "run", str(entry()), *sys.argv[1:]]
    sys.exit(cli.main())
