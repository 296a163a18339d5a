"""A small grammar for questions, and the careless ways in which people write them."""

import random
import re

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = ". . twenty thirty forty fifty sixty seventy eighty ninety".split()
_BEFORE = """Please, @
Hi, @
Hello! @
Hey, @
OK, @
Now, @
Question: @
A question: @
I have a question. @
Here is one for you: @
My question: @
Next: @
Right, @
One more: @
Hm, @""".splitlines()
_AFTER = """@ please
@ Please.
@ Thanks!
@ Thank you.
@ Do you know?
@ Tell me.
@ Be quick.
@ I forgot.
@ I am curious.""".splitlines()


def expand(rng: random.Random, pattern: str, slots: dict[str, str] | None = None) -> str:
    """Write one pattern: "[x|y]" is a choice (also within another), "{slot}" a value."""
    while match := _CHOICE.search(pattern):
        pattern = (
            pattern[: match.start()] + rng.choice(match[1].split("|")) + pattern[match.end() :]
        )
    values = slots or {}
    return re.sub(r"  +", " ", _SLOT.sub(lambda slot: values[slot[1]], pattern)).strip()


def capitalize(text: str) -> str:
    """Write the first letter large and leave the others as they are."""
    return text[:1].upper() + text[1:]


def number_word(number: int) -> str:
    """Write a number from 0 to 99 in English words."""
    if number < len(_ONES):
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")


def in_words(text: str) -> str:
    """Write all of a text's numbers below 100 in words, if it has no other numbers."""
    numbers = re.findall(r"[\d.]*\d", text)
    if any("." in number or int(number) > 99 for number in numbers):
        return text
    return re.sub(r"\d+", lambda found: number_word(int(found[0])), text)


def roughen(rng: random.Random, text: str) -> str:
    """Write a question as people type it: politely, in small letters, without its mark."""
    share = rng.random()
    if share < 0.10:
        inner = text if text[:2] in ("I ", "I'") else text[0].lower() + text[1:]
        before = rng.choice(_BEFORE)
        text = before.replace("@", text if before[-3] in "!.:" else inner)
    elif share < 0.15:
        after = rng.choice(_AFTER)
        text = after.replace("@", text.rstrip(".?") + "," if after == "@ please" else text)
    share = rng.random()
    if share < 0.22:
        text = text.lower()
    elif share < 0.25:
        text = text.upper()
    if rng.random() < 0.2:
        text = text.rstrip("?.")
    elif rng.random() < 0.03:
        text = text.rstrip("?.") + rng.choice(("??", " ?", "?!", "!", "..."))
    return text.replace("What is", "What's", 1) if rng.random() < 0.12 else text
