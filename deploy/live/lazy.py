"""A package of a wheel that imports its modules when they are first used, for less memory."""

import ast
from collections.abc import Iterator, Mapping
from pprint import pformat

INIT = '''"""Its modules are imported when a name of theirs is first used."""

from importlib import import_module

WHERE = {where}


def __getattr__(name):
    if name not in WHERE:
        raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
    value = globals()[name] = getattr(import_module("." + WHERE[name], __name__), name)
    return value
'''


def lazy(files: Mapping[str, bytes], package: str) -> bytes:
    """Return a package's `__init__` that offers what its own does, from the same modules.

    Raises `KeyError` if a module whose names are all imported does not list them.
    """
    modules = {}
    for statement in ast.parse(files[f"{package}/__init__.py"]).body:
        if isinstance(statement, ast.ImportFrom) and statement.level == 1 and statement.module:
            names = [alias.name for alias in statement.names]
            module = statement.module
            if names == ["*"]:
                names = [*_listed(files[f"{package}/{module}.py"], module)]
            modules |= dict.fromkeys(names, module)
    return INIT.format(where=pformat(modules)).encode()


def _listed(source: bytes, module: str) -> Iterator[str]:
    """Yield the names of `__all__`."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            yield from ast.literal_eval(statement.value)
            return
    raise KeyError(f"__all__ of {module}")
