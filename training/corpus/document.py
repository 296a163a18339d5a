"""What a family of training text hands out: plain documents and chats."""

from typing import NamedTuple


class Part(NamedTuple):
    """A piece of text; one that is not learned stays in the context but bears no loss."""

    text: str
    learned: bool = True


Document = tuple[Part, ...]


class Message(NamedTuple):
    """One turn of a chat; the role is "system", "user" or "assistant"."""

    role: str
    parts: Document
