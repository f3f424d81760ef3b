"""Tables of LaTeX in the style of the package booktabs."""

import re
from collections.abc import Sequence

SPECIAL = re.compile(r"([&%$#_{}])")
# Signs that LaTeX's text fonts lack or read as commands.
SIGNS = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}"} | {s: f"${s}$" for s in "<>"}
POWER = re.compile(r"(-?[\d.]+)e([+-]\d+)")


def escape_latex(text: str) -> str:
    """Return a text with LaTeX's special characters escaped.

    Examples
    --------
    >>> escape_latex("p >= 2, 95 %, n^2")
    'p $>$= 2, 95 \\\\%, n\\\\^{}2'
    """
    return "".join(SIGNS.get(sign) or SPECIAL.sub(r"\\\1", sign) for sign in text)


def latex_number(text: str) -> str:
    """Return a number that is printed as text in LaTeX; other texts are escaped.

    Examples
    --------
    >>> latex_number("1.2e-05"), latex_number("0.31"), latex_number("-")
    ('$1.2\\\\cdot10^{-5}$', '$0.31$', '-')
    """
    if match := POWER.fullmatch(text):
        return rf"${match[1]}\cdot10^{{{int(match[2])}}}$"
    return f"${text}$" if re.fullmatch(r"-?[\d.,]*\d", text) else escape_latex(text)


def booktabs(
    columns: str,
    heads: Sequence[Sequence[str]],
    rows: Sequence[Sequence[str]],
    caption: str,
) -> str:
    """Return a table of LaTeX, which needs the package booktabs, and ends with a line break.

    `columns` is the argument of ``tabular``; `heads`, `rows` and `caption` are LaTeX.
    """
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *(" & ".join(cells) + r" \\" for cells in heads),
        r"\midrule",
        *(" & ".join(cells) + r" \\" for cells in rows),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{caption}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
