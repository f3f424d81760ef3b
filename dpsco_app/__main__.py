"""Serve the dashboard: `python -m dpsco_app [--with FILE] [--study FILE] [OPTION ...]`."""

import logging
import sys

if __name__ == "__main__":
    # The pages' cache is made before there is a server, which is what is meant here.
    logging.getLogger("streamlit.runtime.caching.cache_data_api").addFilter(
        lambda record: "No runtime found" not in record.getMessage()
    )
    from dpsco_app.shell.own import add_own

    options = add_own(sys.argv[1:])  # before any page is read, which lists what there is
    from dpsco_app.shell.serve import serve

    serve(options)
