"""Parse the address of a remote model, `KIND:URL#MODEL`."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlsplit

from ...decoding.errors import ModelError
from ...decoding.record.servers import LLAMA_CPP, VLLM
from ...language import N_, Message

# Display name of each kind.
KINDS = {"vllm": VLLM, "llamacpp": LLAMA_CPP, "openai": "OpenAI-shaped"}
FORMS = "vllm:http://HOST:8000#MODEL, llamacpp:http://HOST:8080 or openai:https://HOST#MODEL"
_LONGEST = 1_000
_OPTIONS = ("tokenizer",)


@dataclass(frozen=True, slots=True)
class Address:
    """Address of a model on a server.

    Args:
        kind: API of the server, a key of `KINDS`.
        url: base URL of the server, without `/v1`; requests append `/v1/completions`.
        model: name of the model on the server; empty if the server has only one.
        tokenizer: a folder, a hub id or `embedded:NAME`; empty for the server's own tokenizer.
    """

    kind: str
    url: str
    model: str = ""
    tokenizer: str = ""

    @property
    def origin(self) -> str:
        """Scheme, host and port; API keys are stored by origin."""
        return origin_of(self.url)

    @property
    def is_local(self) -> bool:
        """True if the server runs on this machine."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"


def is_remote(where: str) -> bool:
    """Return True if `where` is the address of a model on a server."""
    kind, colon, url = where.partition(":")
    return bool(colon) and kind in KINDS and url.lower().startswith(("http:", "https:"))


def read_address(where: str) -> Address:
    """Parse an address.

    Raises:
        ModelError: the text is no address, or holds a password.
    """
    kind, _, text = where.partition(":")
    try:
        if not is_remote(where) or len(where) > _LONGEST or not where.isprintable():
            raise ValueError
        parts = urlsplit(text.strip())
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True))
        origin_of(text)
    except ValueError:
        raise ModelError(
            Message("A model on a server is named {forms}; write it so.", forms=FORMS)
        ) from None
    if parts.username is not None or parts.password is not None:
        raise ModelError(
            N_(
                "The address of a server holds no name and no password: leave them "
                "out, and give the key in DECODING_EXPLORER_MODEL_KEYS or in the field "
                "under the model."
            )
        )
    if stray := sorted(options.keys() - set(_OPTIONS)):
        raise ModelError(
            Message(
                "An address takes {options} behind the question mark, got {stray!r}.",
                options=" and ".join(_OPTIONS),
                stray=stray[0],
            )
        )
    if not parts.fragment and kind != "llamacpp":
        raise ModelError(Message("The address names no model: write {forms}.", forms=FORMS))
    url = f"{origin_of(text)}{parts.path.rstrip('/').removesuffix('/v1')}"
    return Address(kind, url, parts.fragment, options.get("tokenizer", ""))


def origin_of(url: str) -> str:
    """Return the scheme, host and port of a URL; API keys are stored by this text.

    Raises:
        ValueError: the URL lacks a scheme or a host.
    """
    parts = urlsplit(url.strip())
    scheme, host, port = parts.scheme.lower(), parts.hostname, parts.port
    if scheme not in ("http", "https") or not host or any(c.isspace() for c in host):
        raise ValueError(url)
    shown = f"[{host}]" if ":" in host else host
    standard = port in (None, {"http": 80, "https": 443}[scheme])
    return f"{scheme}://{shown}" if standard else f"{scheme}://{shown}:{port}"
