"""The tokenizer of a remote model: a local one with the same vocabulary, or the server's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from ...decoding.errors import ModelError, PromptError
from ...decoding.reasoning.types import ThinkMarks
from ...language import Message
from ..hub_id import hub_id
from ..isolation.client import RequestLimits, ask
from ..loading.folder import check_small_files, read_json
from ..loading.inspection import load_tokenizer
from ..loading.load import fetch_model
from ..loading.quiet import quiet
from ..places import EMBEDDED_PREFIX, embedded_folder, list_stored, looks_like_path
from ..text.think_marks import BY_PROMPT, KNOWN_MARKS
from ..text.token_text import display_text
from ..text.tokenizing import Texts, Tokenizing, no_text
from .engine import Engine

# English, code, digits, an accent, CJK, a symbol outside the basic plane.
SAMPLES = ("Once upon a time, 3 cats", "def f(x): return x + 12", " Ünï 猫が好き。\n", "🙂 ok")
_INSPECTING = RequestLimits(cpu_seconds=30, seconds=120.0, memory_bytes=3 * 2**29)
# Possible special tokens are tested one by one, the likely ends first; beyond this number, they
# count as special.
_MOST_TRIED = 64
_LIKELY_ENDS = ("end", "eo", "</s>", "stop")
# Replaces the unknown bytes of a partial character.
_UNKNOWN = "\ufffd".encode()
_CHAT = ({"role": "user", "content": "a"},)


class LocalTokens(Tokenizing):
    """A transformers tokenizer on this machine."""

    caveat, unknown = "", frozenset[int]()

    def __init__(self, where: str, should_stop: Callable[[], bool]) -> None:
        """Load the tokenizer from `embedded:NAME`, a folder or a hub id.

        Raises:
            ModelError: the tokenizer doesn't exist or can't be read.
        """
        folder, trusted = _folder_of(where, should_stop)
        with quiet():
            if not trusted:
                check_small_files(folder, where)
                arguments = {"folder": str(folder.absolute()), "model_id": where}
                ask("inspect_tokenizer", _INSPECTING, should_stop, **arguments)
            tokenizer = load_tokenizer(folder, where)
        super().__init__(tokenizer, where, isolate_templates=not trusted)
        # The model's files may name several end-of-sequence tokens; a tokenizer has one.
        ends = [self.tokenizer.eos_token_id]
        for name in ("generation_config.json", "config.json"):
            with suppress(OSError, ModelError):
                named = read_json(folder / name, where).get("eos_token_id")
                ends += named if isinstance(named, list) else [named]
        self.eos_ids = frozenset(token_id for token_id in ends if type(token_id) is int)

    @property
    def texts(self) -> Texts:
        """Bytes and display text of each token."""
        return self._texts


def _folder_of(where: str, should_stop: Callable[[], bool]) -> tuple[Path, bool]:
    """Return the tokenizer's folder, and True if it came with the app."""
    name = where.removeprefix(EMBEDDED_PREFIX)
    if where.startswith(EMBEDDED_PREFIX) and name in list_stored():
        return embedded_folder(name), True
    if looks_like_path(where):
        return Path(where).expanduser(), False
    hub_id(where)
    return fetch_model(where, should_stop, weights=False), False


class ServerTokens:
    """The server's own tokenizer, used over HTTP; connecting reads the bytes of all tokens.

    Raises:
        ModelError: the server doesn't name its tokens, or their bytes don't make up a text.
    """

    def __init__(self, engine: Engine, vocab_size: int) -> None:
        self._engine = engine
        told_bytes = engine.vocabulary(vocab_size)
        self.unknown = frozenset(at for at, raw in enumerate(told_bytes) if raw is None)
        self._bytes = [_UNKNOWN if raw is None else raw for raw in told_bytes]
        self._names: dict[int, str] = {}
        eos = set()
        for number, token_id in enumerate(self._maybe_special()):
            effect = engine.forced(token_id, 1) if number < _MOST_TRIED else None
            if effect is None or effect.text == "" or effect.ends:
                self._names[token_id] = self._bytes[token_id].decode() or engine.decode([token_id])
                self._bytes[token_id] = b""
            if effect is not None and effect.ends:
                eos.add(token_id)
        self.eos_ids = frozenset(eos)
        for text in SAMPLES[:2]:
            if b"".join(map(self.bytes_of, self.encode(text))).decode("utf-8", "replace") != text:
                raise ModelError(
                    Message(
                        "The tokens that the server of {label} names make another text "
                        "than its own; name a tokenizer: ?tokenizer=FOLDER before the "
                        "# of the address.",
                        label=engine.label,
                    )
                )

    def _maybe_special(self) -> list[int]:
        """Return the ids of tokens in brackets or without bytes; likely ends first."""
        ids = []
        for token_id, raw in enumerate(self._bytes):
            text = raw.decode("utf-8", "replace")
            marked = len(text) > 2 and (text[0] + text[-1]) in ("<>", "[]") and " " not in text
            if marked or not raw:
                ids.append(token_id)
        names = {at: self._bytes[at].decode("utf-8", "replace").lower() for at in ids}
        return sorted(ids, key=lambda at: not any(end in names[at] for end in _LIKELY_ENDS))

    @property
    def texts(self) -> Texts:
        """This object: it holds the bytes of every token."""
        return self

    @property
    def caveat(self) -> str:
        """Warning about the number of tokens with unknown bytes; empty if there are none."""
        if not self.unknown:
            return ""
        return Message(
            "{count:,} tokens are parts of characters, whose bytes the server doesn't tell: "
            "?tokenizer=FOLDER before the # of the address names a tokenizer that does.",
            count=len(self.unknown),
        )

    def bytes_of(self, token_id: int) -> bytes:
        """Return the bytes that the token adds to a text; none for special and unknown tokens."""
        return self._bytes[token_id] if 0 <= token_id < len(self._bytes) else b""

    def text_of(self, token_id: int) -> str:
        """Return the display text; bytes of an incomplete character appear as `<E2><98>`."""
        if token_id in self._names:
            return self._names[token_id] or f"<unused {token_id}>"
        if token_id in self.unknown:
            return f"<part {token_id}>"
        raw = self.bytes_of(token_id)
        return display_text(raw) if raw else f"<unused {token_id}>"

    def encode(self, text: str) -> list[int]:
        """Encode a text with the server's tokenizer.

        Raises:
            PromptError: the text is no valid Unicode.
        """
        require_unicode(text)
        return self._engine.encode(text)

    @cached_property
    def has_chat_template(self) -> bool:
        """True if the server can render a conversation."""
        try:
            return bool(self._engine.encode_chat(_CHAT, True))
        except ModelError:
            return False

    def encode_chat(
        self, messages: Sequence[dict[str, str]], add_generation_prompt: bool = True
    ) -> list[int]:
        """Return the conversation's token ids, from the server's chat template.

        Raises:
            ModelError: the server has no chat template.
            PromptError: a message contains a special token, which the server would encode as one.
        """
        for message in messages:
            content = message.get("content", "")
            require_unicode(content)
            spelled = next((name for name in self._names.values() if name and name in content), "")
            if spelled:
                raise PromptError(
                    Message(
                        "A message spells out the special token {spelled}, which the "
                        "server would read as one; name a tokenizer in the address, or "
                        "leave it out.",
                        spelled=spelled,
                    )
                )
        return self._engine.encode_chat(messages, add_generation_prompt)

    @cached_property
    def think_marks(self) -> ThinkMarks:
        """Thinking marks that are tokens; without them, marks that the prompt asks for."""
        names = {display_text(raw) for raw in self._bytes} | set(self._names.values())
        for start, end in KNOWN_MARKS:
            if start in names and end in names:
                return ThinkMarks(start, end, "tokens")
        return BY_PROMPT


# Tokenizer of a remote model.
Tokens: TypeAlias = LocalTokens | ServerTokens


def require_unicode(text: str) -> None:
    """Raise PromptError for half a surrogate pair, which is no character."""
    try:
        text.encode()
    except UnicodeError:
        raise no_text(text) from None
