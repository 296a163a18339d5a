"""Calls and results agree with the sums, and the results are not learned."""

import random
import re

from tests.training.reading import holds, learned, whole
from training.corpus import calculator
from training.corpus.tokens import CALL, END_RESULT, RESULT

_CALL = re.compile(rf"{CALL}(\d+)([-+*/])(\d+){RESULT}(\d+){END_RESULT}")


def test_each_call_has_its_result_and_the_answer_is_the_last_one() -> None:
    rng = random.Random(1)
    counts = {1: 0, 2: 0}
    for _ in range(2000):
        document = calculator.plain(rng)
        question, text = whole(document).split("\n")
        calls = _CALL.findall(text)
        counts[len(calls)] += 1
        assert all(holds(int(a), op, int(b), int(c)) for a, op, b, c in calls)
        assert text.endswith(f"{END_RESULT}The answer is {calls[-1][3]}.")
        assert all(f"{RESULT}~" in learned(document) for _ in calls)
        assert learned(document).count("~The answer") == 1
        assert END_RESULT not in learned(document)
        assert set(re.findall(r"\d+", question)) <= {n for call in calls for n in call}
    assert counts[2] > 500
