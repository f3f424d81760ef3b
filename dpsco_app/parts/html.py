"""Standalone HTML pages as a single file."""


def html_page(title: str, style: str, body: str, script: str = "") -> str:
    """Return an HTML page from its title, CSS, body and script elements; it contacts no host."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{title}</h1>\n{body}<p>Made by DP-SCO Explorer.</p>\n</main>\n{script}"
        "</body>\n</html>\n"
    )
