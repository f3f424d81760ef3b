"""The dashboard's entry: `streamlit run app.py`, `make app` or `dpsco app`."""

import streamlit as st

if __name__ == "__main__":  # the script of every visit
    from dpsco_app.shell.main import main

    main()
else:  # once, by the server
    from dpsco_core import extend
    from dpsco_core.base.limits import require_environment

    require_environment()
    extend.load_installed()  # before any page is read, which lists what there is
    from dpsco_app.shell import front, guard, lost

    app = st.App(__file__, middleware=(*guard.MIDDLEWARE, *lost.MIDDLEWARE, *front.MIDDLEWARE))
