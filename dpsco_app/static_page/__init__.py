"""The page without a server: the front page in a browser that runs the library itself.

`visit` runs there, in Pyodide, and also where `deploy.live` builds the page and its prepared
figures. Nothing here imports Streamlit or pandas.
"""
