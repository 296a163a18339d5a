"""Language of the texts that a reader sees: English in the code, others from catalogues."""

from .catalogue import LANGUAGES, current, language_of, use, words_of
from .message import N_, Message, Plural, in_every_language, tr, trn

__all__ = [
    "LANGUAGES",
    "N_",
    "Message",
    "Plural",
    "current",
    "in_every_language",
    "language_of",
    "tr",
    "trn",
    "use",
    "words_of",
]
