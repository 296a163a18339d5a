import random
import re

from training.corpus import lists
from training.corpus.lists import COUNTS, KINDS, SERIES, make_list


def test_no_list_repeats_an_item_and_all_are_of_the_kind() -> None:
    for seed in range(5000):
        made = make_list(random.Random(seed))
        known = (SERIES if made.ordered else KINDS)[made.kind]
        assert len(set(made.items)) == len(made.items) >= 3
        assert set(made.items) <= set(known)
        assert not made.ordered or made.items == known[: len(made.items)]


def test_a_counted_request_gets_that_many_items() -> None:
    counted = 0
    for seed in range(3000):
        messages = lists.chat(random.Random(seed))
        question, answer = (message.parts[0].text for message in messages[-2:])
        match = re.search(rf"\b({'|'.join(COUNTS[3:])}) [a-zA-Z]", question)
        if match and "multiples" not in question:
            counted += 1
            items = re.split(r", |\n", answer.split(": ")[-1])
            assert len(items) == COUNTS.index(match[1]), (question, answer)
    assert counted > 800
