"""A language of three words whose probabilities one can multiply by hand, and its stored search.

`python -m core.traces.three_words FILE` writes the search.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..decoding.beam.config import BeamSearch
from ..decoding.record.trace import Trace

if TYPE_CHECKING:
    from ..models.scripted import ScriptedModel

WORDS = (" go", " left", " right")
PROMPT = " go"


def three_word_model() -> ScriptedModel:
    """Return a model in which the likeliest first word begins no likely text.

    After the prompt "left" has 0.5 and "right" 0.4; but "right" is followed by itself with 0.9,
    "left" with 0.4. So greedy decoding finds 0.5 x 0.4, and a beam of two 0.4 x 0.9.
    """
    from ..models.scripted import ScriptedModel

    script = {(): [0.1, 0.5, 0.4], (1,): [0.25, 0.4, 0.35], (2,): [0.04, 0.06, 0.9]}
    return ScriptedModel(script, tokens=WORDS, eos=None, model_id="three words")


def three_word_search() -> Trace[Any]:
    """Return a beam search of width 2 over two words of the model."""
    from ..decoding.check import collect_checked

    return collect_checked(three_word_model(), PROMPT, BeamSearch(num_beams=2, max_new_tokens=2))


if __name__ == "__main__":
    three_word_search().save(sys.argv[1])
