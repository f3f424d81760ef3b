"""The page without a server: the front page in a browser that runs the library itself.

`visit` is what runs there, in Pyodide, and where `deploy.live` builds the page and its prepared
figures. No Streamlit and no pandas.
"""
