"""Serve the dashboard: `python -m dpsco_app [--with FILE] [--study FILE] [OPTION ...]`."""

import argparse
import logging
import sys

if __name__ == "__main__":
    from dpsco_app.parts.insides import CACHE_LOG

    # Streamlit warns that the pages' cache is created without a server, which is intended here.
    logging.getLogger(CACHE_LOG).addFilter(
        lambda record: "No runtime found" not in record.getMessage()
    )
    from dpsco_core.base.errors import InvalidInput
    from dpsco_core.base.limits import require_environment
    from dpsco_core.plugins import extend

    parser = argparse.ArgumentParser(prog="python -m dpsco_app", allow_abbrev=False, add_help=False)
    parser.add_argument("--with", dest="own", action="append", default=[])
    parser.add_argument("--study")
    chosen, options = parser.parse_known_args()
    try:
        require_environment()
        # Plug-ins are loaded before any page is imported, since pages list the registered methods.
        extend.load_installed()
        extend.load(*chosen.own)
        from dpsco_app.shell.serve import offer_study, serve

        offer_study(chosen.study)
    except InvalidInput as problem:
        print(f"dpsco: {problem}", file=sys.stderr)
        sys.exit(2)
    serve(options)
