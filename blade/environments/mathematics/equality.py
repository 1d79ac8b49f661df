"""Compares two answers as mathematics, in the process that `blade.environments.helper` limits."""

import importlib
import logging
from typing import Any

from blade.environments import helper


def equal(request: dict[str, Any]) -> dict[str, Any]:
    """Whether what was said equals what was expected; what cannot be read equals nothing."""
    library = importlib.import_module("math_verify")
    readings = [library.LatexExtractionConfig(), library.ExprExtractionConfig()]
    expected, said = (
        library.parse(f"${request[name]}$", extraction_config=readings, parsing_timeout=None)
        for name in ("expected", "said")
    )
    return {"equal": bool(expected and said) and bool(library.verify(expected, said, timeout_seconds=None))}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return equal(request)
    except (Exception, RecursionError) as error:
        return {"equal": False, "error": type(error).__name__}


def serve() -> None:
    """Answers requests until there are no more."""
    logging.disable(logging.CRITICAL)
    helper.serve(answer)
