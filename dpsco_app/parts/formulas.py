"""The formula of a bound on a page, and the meaning of its letters."""

import re

OPENING, CLOSING, GAPS = ("{", "(", "["), ("}", ")", "]"), (",\\quad", ",\\ ")
DEFINES = ("=", r"\le", r"\ge", r"\sim", r"\text")


def formula_parts(latex: str) -> tuple[str, ...]:
    r"""Return a formula and the definitions that follow it, split at commas outside all brackets.

    Examples
    --------
    >>> formula_parts(r"\min(a,\ b),\ a=1,\quad b=2")
    ('\\min(a,\\ b)', 'a=1', 'b=2')
    """
    pieces, depth = [""], 0
    for token in re.split(r"(,\\quad|,\\ |[{(\[\])}])", latex):
        depth += (token in OPENING) - (token in CLOSING)
        if depth == 0 and token in GAPS:
            pieces.append("")
        else:
            pieces[-1] += token
    return tuple(part.strip() for part in pieces)


def formula_markdown(latex: str) -> str:
    """Return a formula as text that can wrap, with the meaning of its letters below."""
    statement, *rest = formula_parts(latex)
    definitions = [p for p in rest if r"\ (q" not in p and any(d in p for d in DEFINES)]
    main = [statement, *(p for p in rest if p not in definitions)]
    lines = [", ".join(_inline_formula(p) for p in main)]
    if definitions:
        lines.append("where " + ", ".join(_inline_formula(p) for p in definitions))
    return "\n\n".join(lines)


def _inline_formula(part: str) -> str:
    """Return a formula in Markdown; words in it are outside of the mathematics and can wrap."""
    opened = rf"$\displaystyle {part}$"
    split = re.sub(r"\\text\{([^}]*)\}", r"$\1$\\displaystyle ", opened)
    return split.replace(r"$\displaystyle $", "").replace(r"\displaystyle $", "$")
