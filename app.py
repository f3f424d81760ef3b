"""The dashboard's entry: `streamlit run app.py`, `make app` or `dpsco app`."""

from dpsco_app.main import main

main()
