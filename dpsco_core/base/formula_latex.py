r"""A formula in LaTeX, as mathematicians set it: ``sqrt(d)/(n*epsilon)`` is a fraction over a root.

Quotients are fractions, and in powers and logarithms they are written in a line: `d^{1/4}`.
Products have no sign; brackets are as large as what they hold. A product of quotients is one
quotient, and so are their squares, without roots: ``L*(sqrt(d/rho)/n)^2`` is set as `Ld/(rho n^2)`.
"""

import re

from dpsco_core.base.formula import Expression

GREEK = ("beta", "delta", "kappa", "lambda", "mu", "rho", "sigma", "Delta")
# The letters whose LaTeX is not their name.
LETTERS_IN_LATEX = {name: rf"\{name}" for name in GREEK}
LETTERS_IN_LATEX |= {"epsilon": r"\varepsilon", "theta": r"\|\theta^*\|_q"}
_UNITY = Expression("1")
_COMMAND_AT_END = re.compile(r"\\[A-Za-z]+$")
# The beginnings of LaTeX that need no space before them.
_OPENING = (r"\sqrt", r"\frac", r"\big", r"\Big", "(")


def latex_of(expression: Expression) -> str:
    r"""Return an expression in LaTeX.

    Examples
    --------
    >>> from dpsco_core.base.formula import parse_formula
    >>> latex_of(parse_formula("D*(sqrt(d/n) + (d/(sqrt(rho)*n))^(1-1/p))").expression)
    'D\\Big[\\sqrt{\\frac dn}+\\Big(\\frac d{\\sqrt\\rho\\,n}\\Big)^{1-1/p}\\Big]'
    """
    return _write(_flatten(expression))


def _write(expression: Expression, inline: bool = False) -> str:
    """Return a flattened expression in LaTeX; `inline` writes quotients with a slash."""
    text, parts = expression.text, expression.parts
    if not parts:
        return LETTERS_IN_LATEX.get(text, text)
    if text in ("min", "max"):
        listed = ",".join(_write(part, inline) for part in parts)
        return rf"\{text}" + _add_brackets(listed, r"\{", r"\}")
    if text == "sqrt":
        return _join_pieces(r"\sqrt", _write_argument(_write(parts[0], inline)))
    if text == "exp":
        return "e^" + _write_argument(_write(parts[0], inline=True))
    if text in ("log", "ln"):
        return r"\ln" + _add_brackets(_write(parts[0], inline=True))
    if text == "^":
        base = _write_operand(parts[0], "+-*/^", inline)
        return f"{base}^{_write_argument(_write(parts[1], inline=True))}"
    if len(parts) == 1:
        return "-" + _write_operand(parts[0], "+-", inline)
    left, right = parts
    if text in "+-":
        signs = "+-" if text == "-" else ""
        return _write(left, inline) + text + _write_operand(right, signs, inline)
    if text == "*":
        space = r"\," if _last_factor(left).text in ("sqrt", "ln", "log") else ""
        return _join_factors(
            _write_operand(left, "+-", inline), _write_operand(right, "+-", inline), space
        )
    if inline:
        return f"{_write_operand(left, '+-', inline)}/{_write_operand(right, '+-*/', inline)}"
    numerator = _join_pieces(r"\frac", _write_argument(_write(left)))
    return _join_pieces(numerator, _write_argument(_write(right)))


def _write_operand(expression: Expression, signs: str, inline: bool) -> str:
    """Return an operand in LaTeX, in brackets if negative or if its operator is in `signs`."""
    written = _write(expression, inline)
    is_made = bool(expression.parts) and expression.text in signs
    return _add_brackets(written) if is_made or written[0] == "-" else written


def _flatten(expression: Expression) -> Expression:
    """Return an equal expression in which quotients are joined and signs stand before products."""
    text, parts = expression.text, tuple(map(_flatten, expression.parts))
    if text == "^" and parts[0].text in ("/", "sqrt") and parts[1].text == "2":
        return _square(parts[0])
    if text not in ("*", "/"):
        return Expression(text, parts)
    left, right = parts
    if left.text == "-" and len(left.parts) == 1:
        return Expression("-", (_flatten(Expression(text, (left.parts[0], right))),))
    if text == "*" and right.text == "/":
        numerator, denominator = left.parts if left.text == "/" else (left, _UNITY)
        quotient = (_multiply(numerator, right.parts[0]), _multiply(denominator, right.parts[1]))
        return Expression("/", quotient)
    if text == "/" and left.text == "/":
        return Expression("/", (left.parts[0], _multiply(left.parts[1], right)))
    if text == "/" and left.text == "sqrt" and left.parts[0].text == "/":
        numerator, denominator = (Expression("sqrt", (part,)) for part in left.parts[0].parts)
        return Expression("/", (numerator, _multiply(denominator, right)))
    return Expression(text, parts)


def _multiply(left: Expression, right: Expression) -> Expression:
    """Return the expression of a product, without a factor of 1."""
    if _UNITY in (left, right):
        return right if left == _UNITY else left
    return Expression("*", (left, right))


def _square(expression: Expression) -> Expression:
    """Return the square of an expression; of a quotient or product, each part is squared."""
    text, parts = expression.text, expression.parts
    if text == "sqrt":
        return parts[0]
    if text in ("*", "/"):
        return Expression(text, tuple(map(_square, parts)))
    return expression if expression == _UNITY else Expression("^", (expression, Expression("2")))


def _last_factor(expression: Expression) -> Expression:
    """Return the last factor of a product, or the expression itself if it is no product."""
    return _last_factor(expression.parts[1]) if expression.text == "*" else expression


def _add_brackets(written: str, opening: str = "(", closing: str = ")") -> str:
    """Return LaTeX in brackets as high as it is; large round brackets are put in square ones."""
    size = r"\Big" if r"\frac" in written else r"\big" if "^" in written else ""
    if opening == "(" and r"\Big(" in written:
        opening, closing = "[]"
    return f"{size}{opening}{written}{size}{closing}"


def _write_argument(written: str) -> str:
    """Return LaTeX as the argument of a command or a power, without braces if it is one sign."""
    return written if re.fullmatch(r".|\\[A-Za-z]+", written) else f"{{{written}}}"


def _join_factors(left: str, right: str, space: str = "") -> str:
    """Return two factors in LaTeX side by side, with `space` where no bracket or root follows."""
    if left[-1].isdigit() and right[0].isdigit():
        return rf"{left}\cdot{right}"
    if right.startswith(_OPENING):
        return left + right
    if "_" in left[-4:] or "_" in right[:4]:
        space = r"\,"
    return left + space + right if space else _join_pieces(left, right)


def _join_pieces(left: str, right: str) -> str:
    """Return two pieces of LaTeX joined, with a space between a command and a letter."""
    return (
        f"{left} {right}" if right[0].isalpha() and _COMMAND_AT_END.search(left) else left + right
    )
