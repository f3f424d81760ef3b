"""Formulas as plain Unicode text, for a terminal."""

import re

TOKEN = re.compile(r"\\[A-Za-z]+\s*|\\.|\S|\s+")
SYMBOLS = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "varepsilon": "ε", "epsilon": "ε"},
    **{"eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ"},
    **{"pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ"},
    **{"omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Lambda": "Λ", "Pi": "Π", "Phi": "Φ"},
    **{"Sigma": "Σ", "Omega": "Ω", "ell": "ℓ", "infty": "∞", "nabla": "∇", "sum": "Σ"},
    **{"int": "∫", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "langle": "⟨"},
    **{"rangle": "⟩", "Vert": "‖", "vert": "|", "cdot": "·", "circ": "∘", "dots": "…", "pm": "±"},
    **{"|": "‖", "{": "{", "}": "}"},
}
RELATIONS = {
    **{"ge": "≥", "le": "≤", "ne": "≠", "in": "∈", "sim": "∼", "approx": "≈", "propto": "∝"},
    **{"leftarrow": "←", "to": "→", "times": "×", "mid": "|"},
}
FUNCTIONS = ("min", "max", "ln", "log", "sup", "inf", "arg", "exp", "cosh", "tanh", "Pr")
ACCENTS = {"bar": "\u0304", "tilde": "\u0303", "hat": "\u0302"}
DROPPED = ("big", "Big", "bigg", "Bigg", "left", "right")
SPACES = ("quad", "qquad", " ", ",", ";", ":", "!")
FRACTIONS = ("frac", "tfrac", "dfrac")
TEXTS = ("text", "mathrm", "operatorname")
KNOWN_COMMANDS = {
    *SYMBOLS,
    *RELATIONS,
    *FUNCTIONS,
    *ACCENTS,
    *DROPPED,
    *SPACES,
    *FRACTIONS,
    *TEXTS,
    *("sqrt", "binom"),
}
RAISED = str.maketrans("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ")
LOWERED = str.maketrans("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
# Numerators that match this pattern need no brackets.
FACTORS = re.compile(r"([^\s=+\-/,;<>≤≥≈≠∈∼∝(){}|‖\[\]±]|[√^_]\([^()]*\))+")


def plain_text(text: str) -> str:
    r"""Return text with its formulas between dollars as plain text, without the dollars.

    Examples
    --------
    >>> plain_text(r"A share $\frac{\varepsilon}{2n}$ of the budget.")
    'A share ε/(2n) of the budget.'
    """
    pieces = text.split("$")
    return "".join(plain_formula(p) if i % 2 else p for i, p in enumerate(pieces))


def plain_formula(latex: str) -> str:
    r"""Return a formula in LaTeX as one line of Unicode text.

    Examples
    --------
    >>> plain_formula(r"\sigma=\sqrt d\,\Delta_\infty\sqrt{\frac T{2\rho}}")
    'σ = √d Δ_∞ √(T/(2ρ))'
    >>> plain_formula(r"M\Big[\frac d{\sqrt n}+\Big(\frac{d^{3/2}}{n}\Big)^{1-1/p}\Big]")
    'M[d/√n+(d^(3/2)/n)^(1-1/p)]'
    """
    text = re.sub(r"\s+", " ", _Latex(latex).row()).strip()
    for spaced, close in ((" ,", ","), ("( ", "("), (" )", ")")):
        text = text.replace(spaced, close)
    return text


class _Latex:
    """The part of a formula that has not been read yet."""

    def __init__(self, latex: str) -> None:
        """Divide a LaTeX formula into its tokens."""
        self.tokens: list[str] = TOKEN.findall(latex)

    def next_token(self) -> str:
        """Return the next token without its spaces, or "" at the end."""
        while self.tokens:
            token = self.tokens.pop(0)
            if not token.isspace():
                return token if token[1:] == " " else token.rstrip()
        return ""

    def row(self) -> str:
        """Read up to a closing brace or the end, and return what was read as Unicode text."""
        text, ends_in_word, after_function = "", False, False
        while (token := self.next_token()) not in ("", "}"):
            piece, is_word = self.piece(token)
            if token in ("^", "_"):  # The limit of a function comes before the function's argument.
                text += piece
                ends_in_word = ends_in_word or (piece[:1] == token and piece[-1] != ")")
                continue
            if token[1:] in FRACTIONS and after_function:
                piece = piece if piece[0] == "(" else f"({piece})"
                is_word = False
            after_function = token[1:] in FUNCTIONS
            needs_space = bool(text and piece) and is_word and _ends_a_factor(text)
            needs_space = needs_space or (ends_in_word and _begins_a_factor(piece))
            text += " " * needs_space + piece
            if piece:
                ends_in_word = is_word
        return text

    def argument(self) -> str:
        """Read the next argument, a group in braces or a single token, and return its text."""
        token = self.next_token()
        return self.row() if token == "{" else self.piece(token)[0]

    def piece(self, token: str) -> tuple[str, bool]:
        """Return a token with its arguments as text, and whether it needs space before letters."""
        if token == "{":
            return self.row(), False
        if token in ("^", "_"):
            return self.script(token), False
        if not token.startswith("\\"):
            return (f" {token} " if token in ("=", "<", ">") else token), False
        name = token[1:]
        if name in FRACTIONS:
            return self.fraction(), True
        if name == "sqrt":
            return f"√{_bracket_if_needed(self.argument(), factors=False)}", True
        if name == "binom":
            return f"C({self.argument()}, {self.argument()})", True
        if name in TEXTS:
            return self.words(), False
        if name in ACCENTS:
            return f"{self.argument()}{ACCENTS[name]}", False
        if name in DROPPED:
            return "", False
        if name in SPACES:
            return " ", False
        if name in RELATIONS:
            return f" {RELATIONS[name]} ", False
        # An unknown command is written by its name.
        return SYMBOLS.get(name, name), name not in SYMBOLS

    def fraction(self) -> str:
        """Read numerator and denominator, and return "a/b" with brackets where needed."""
        numerator = _bracket_if_needed(self.argument())
        text = f"{numerator}/{_bracket_if_needed(self.argument(), factors=False)}"
        follows = next((t.strip() for t in self.tokens if t.strip() not in ENDLESS), "")
        return text if follows in ENDS else f"({text})"

    def script(self, mark: str) -> str:
        """Read a superscript (``mark`` is "^") or subscript ("_"), and return its text.

        It is in Unicode's raised or lowered characters if these exist.
        """
        text = self.argument().replace(" ", "")
        if text in ("*", "'"):
            return text
        alphabet = RAISED if mark == "^" else LOWERED
        if text and all(ord(letter) in alphabet for letter in text):
            return text.translate(alphabet)
        return f"{mark}{text}" if len(text) == 1 or text.isalpha() else f"{mark}({text})"

    def words(self) -> str:
        """Read a group of literal text, such as that of ``\\text``, and return it with spaces."""
        if not self.tokens or self.tokens.pop(0) != "{":
            return ""
        end = self.tokens.index("}") if "}" in self.tokens else len(self.tokens)
        words, self.tokens = self.tokens[:end], self.tokens[end + 1 :]
        return "".join(" " if word[1:] in SPACES and word[0] == "\\" else word for word in words)


# The tokens that may follow a fraction without brackets, and the tokens to skip in the search for
# them.
ENDS = {
    *("", "+", "-", "=", "<", ">", ",", ";", ")", "]", "}"),
    *(rf"\{name}" for name in ("}", "quad", "rfloor", "rceil", "rangle", *RELATIONS)),
}
ENDLESS = ("", r"\big", r"\Big", r"\bigg", r"\right", r"\ ")


def _ends_a_factor(text: str) -> bool:
    """Return whether a text ends in a letter, a digit or a closing bracket, as a factor does."""
    return text[-1].isalnum() or text[-1] in "∞*')]⌋⌉"


def _begins_a_factor(text: str) -> bool:
    """Return whether a text begins with a letter, a digit or a root, as a factor does."""
    return bool(text) and (text[0].isalnum() or text[0] == "√")


def _bracket_if_needed(text: str, *, factors: bool = True) -> str:
    """Return the text of a numerator, denominator or radicand, in brackets if it needs them.

    With `factors`, a product of factors needs none, as in a numerator.
    """
    text = text.strip()
    is_single = len(re.sub(r"[₀-₉ᵢⱼₖₗₘₙₚᵣₛₜᵤᵥₓₐₑₕₒ⁰¹²³⁴-⁹'\u0302-\u0304]", "", text)) == 1
    if is_single or re.fullmatch(r"[\d.]+", text) or (factors and FACTORS.fullmatch(text)):
        return text
    if re.fullmatch(r"√(\w|\([^()]*\))", text):
        return text
    return f"({text})"
