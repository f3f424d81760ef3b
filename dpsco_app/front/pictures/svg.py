"""Drawings beside words, as images that every host accepts inside HTML."""

import base64

SPACE = "http://www.w3.org/2000/svg"  # The namespace of drawings.
HEIGHT = 72  # The height in pixels of a drawing in a line of words.


def picture(box: str, parts: str, attributes: str, words: str = "") -> str:
    """Return a drawing as an image element, for hosts that accept no SVG inside HTML.

    Screen readers read `words` in its place.
    """
    text = f"<svg xmlns='{SPACE}' viewBox='{box}'>{parts}</svg>"
    code = base64.b64encode(text.encode()).decode()
    return f"<img {attributes} alt='{words}' src='data:image/svg+xml;base64,{code}'>"
