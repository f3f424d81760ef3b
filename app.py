"""The dashboard's entry: `streamlit run app.py`, `make app` or `dpsco app`."""

import streamlit as st

# Streamlit runs this file as a script for every visit, and the server imports it once.
if __name__ == "__main__":
    from dpsco_app.shell.main import main

    main()
else:
    from dpsco_core.base.limits import require_environment
    from dpsco_core.plugins import extend

    require_environment()
    # Plug-ins are loaded before any page is imported, since pages list the registered methods.
    extend.load_installed()
    from dpsco_app.shell import guard, lost, preload

    app = st.App(__file__, middleware=(*guard.MIDDLEWARE, *lost.MIDDLEWARE, *preload.MIDDLEWARE))
