"""The ladder (the list of names and numbers beside a figure) as an HTML table."""

from html import escape

from dpsco_app.figure.theme import Theme
from dpsco_app.figure.values import Figure, LadderRow


def ladder_table(figure: Figure, theme: Theme) -> str:
    """Return a figure's ladder as an HTML table, which only screen readers see if it is drawn."""
    ladder = figure.ladder
    rows = sorted(ladder.rows, key=lambda row: -row.end)
    heads = "".join(f"<th scope='col'>{escape(name)}</th>" for name in ladder.columns)
    # A column without a title gets a data cell, since an empty header cell is not accessible.
    title = f"<th scope='col'>{escape(ladder.title)}</th>" if ladder.title else "<td></td>"
    body = "".join(_table_row(row, theme) for row in rows)
    foot = (
        f"<tfoot><tr><td colspan='{len(ladder.columns) + 1}'>{escape(ladder.caption)}</td></tr>"
        "</tfoot>"
        if ladder.caption
        else ""
    )
    is_drawn = theme.size.ladder and figure.ruler is None
    kind = "ladder" + " heard" * is_drawn + " before" * figure.faded
    return (
        f"<table class='{kind}'><caption>{escape(figure.alt)}</caption><thead><tr>"
        f"{title}{heads}</tr></thead>"
        f"<tbody>{body}</tbody>{foot}</table>"
    )


def _table_row(row: LadderRow, theme: Theme) -> str:
    """Return a row of the table of a figure's lines, as HTML."""
    colour = theme.colour(row.colour)
    cells = "".join(f"<td>{escape(value)}</td>" for value in row.values)
    note = f"<small>{escape(row.note)}</small>" if row.note else ""
    weight = "600" if row.bold else "400"
    return (
        f"<tr style='color:{colour};font-weight:{weight}'><th scope='row'>"
        f"<i class='{row.swatch}' data-sign='{row.sign}'></i>{escape(row.name)}{note}</th>"
        f"{cells}</tr>"
    )
