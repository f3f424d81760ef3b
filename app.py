"""The dashboard's entry: `streamlit run app.py`, `make app` or `dpsco app`."""

import streamlit as st

if __name__ == "__main__":  # the script of every visit
    from dpsco_app.shell.main import main

    main()
else:  # once, by the server
    from dpsco_core.base.limits import require_environment
    from dpsco_core.plugins import extend

    require_environment()
    extend.load_installed()  # before any page is read, which lists what there is
    from dpsco_app.shell import guard, lost, preload

    app = st.App(__file__, middleware=(*guard.MIDDLEWARE, *lost.MIDDLEWARE, *preload.MIDDLEWARE))
