"""The lessons without Streamlit: what they ask, what they measure, and who judges.

`measure` takes the results from whoever has run them. There is no pandas in here, so that a page
without a server can have the lessons.
"""
