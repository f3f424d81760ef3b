"""The page without a server: the front page in a browser that runs the library itself.

`visit` is what runs there, in Pyodide, and here when the prepared figures are made; `build` makes
the folder that any host can serve. No Streamlit and no pandas.
"""
