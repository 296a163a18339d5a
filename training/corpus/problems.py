"""The app's own chains of sums, as the corpus writes them down.

`core.evaluation.questions.chains` draws and holds them out: the app asks only problems that no text
contains.
"""

import re

from core.evaluation.questions.chains import (
    HELD_OUT_OF,
    LARGEST,
    MOST_STEPS,
    ChainStep,
    ask_in_symbols,
    ask_in_words,
    calculate,
    expression,
    is_held_out,
)
from core.evaluation.questions.chains import Chain as Problem
from core.evaluation.questions.chains import draw_chain as draw_problem
from training.corpus.document import Document, Part

__all__ = [
    "HELD_OUT_OF",
    "LARGEST",
    "MOST_STEPS",
    "ChainStep",
    "Problem",
    "ask_in_symbols",
    "ask_in_words",
    "calculate",
    "draw_problem",
    "expression",
    "is_held_out",
    "without_numbers",
]


def without_numbers(text: str) -> Document:
    """Split a text so that its numbers bear no loss: nobody can foresee a question's numbers."""
    pieces = re.split(r"(\d+)", text)
    return tuple(Part(piece, not piece.isdigit()) for piece in pieces if piece)
