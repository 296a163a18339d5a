"""Sentences that refuse a pupil or a teacher, with the limits that they name."""

from __future__ import annotations

from core.decoding.errors import DecodingError
from core.language import N_, Message

MOST_ROOMS, MOST_PUPILS = 40, 200
# Teachers of one school often share an address.
MOST_OF_ADDRESS = 10
NO_CLASS = N_("There is no class with this code here: it has ended, or the code has a slip.")
ENDED = N_("The class has ended.")
RELEASED = N_("You were away for long, or left the class in another tab: join it again.")
FULL = Message("The class is full: it holds {pupils} pupils.", pupils=MOST_PUPILS)
NO_ROOM = Message(
    "This server holds {rooms} classes, and all are in use: try again later.",
    rooms=MOST_ROOMS,
)
TOO_MANY_CODES = N_("Too many codes were tried: wait a minute.")
TOO_MANY_GUESSES = N_("Too many answers at once: wait a few seconds.")
TOO_MANY_ROOMS = N_("Too many classes were opened: wait a minute.")
TOO_MANY_HERE = Message(
    "From your address {classes} classes are open: end one of them first.",
    classes=MOST_OF_ADDRESS,
)


class ClassError(DecodingError):
    """A class can't be opened or joined, or a guess isn't taken; the text is one sentence."""
