"""Convert every error in a model's files to a message of one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from safetensors import SafetensorError

from ...decoding.errors import ModelError
from ...decoding.validation import shortened
from ...language import N_, Message

_REASON_LENGTH = 160

# Parts of transformers' messages, in lower case, and the message to show; the first match counts.
_KNOWN: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("couldn't connect", "connection error", "offline", "local cache"),
        N_(
            "{model} is no local folder, and the hub can't be reached for it; check the "
            "network, or give a local folder or an embedded model."
        ),
    ),
    (
        ("gated repo",),
        N_(
            "{model} is a gated model of the hub; ask for access on its page and log in "
            "with `hf auth login`."
        ),
    ),
    (
        ("revision not found", "revisionnotfound"),
        N_("The hub has no such version of {model}; check what stands behind the @."),
    ),
    (
        ("valid model identifier", "valid repository name", "repo id must", "repo_id"),
        N_(
            "There is neither a local folder nor a public hub model {model}; check the "
            "spelling, or log in with `hf auth login` if it is private."
        ),
    ),
    (
        ("custom code", "trust_remote_code"),
        N_(
            "{model} needs Python code of its own, which is never run here; use a model "
            "whose architecture transformers knows."
        ),
    ),
    (
        ("does not recognize this architecture",),
        N_(
            "{model} has an architecture that the installed transformers doesn't know; use "
            "another model, or a newer transformers."
        ),
    ),
    (
        ("`model_type`",),
        N_(
            "The configuration of {model} names no model_type; give the folder of a "
            "transformers model."
        ),
    ),
    (
        ("ignore_mismatched_sizes",),
        N_(
            "The weights of {model} have other shapes than its config.json says; get both "
            "from the same place."
        ),
    ),
    (
        ("no file named model.safetensors", "loaded with `safetensors`"),
        N_(
            "{model} has no safetensors weights, and pickled ones are never opened; use a "
            "model that has model.safetensors."
        ),
    ),
    (
        (
            *("out of memory", "not enough memory", "can't allocate memory", "memoryerror"),
            "cannot allocate memory",
        ),
        N_("{model} doesn't fit into memory; use a smaller model, or dtype bfloat16."),
    ),
)


@contextmanager
def explaining(model_id: str, part: str) -> Iterator[None]:
    """Convert a library's error about a `part` of the model to a ModelError of one sentence."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        raise explain(model_id, part, error) from None


def explain(model_id: str, part: str, error: Exception) -> ModelError:
    """Return a ModelError of one sentence for a library's error about a `part` of the model."""
    message = f"{error} {type(error).__name__}".lower()
    for signs, sentence in _KNOWN:
        if any(sign in message for sign in signs):
            return ModelError(Message(sentence, model=model_id))
    reason = (
        shortened(" ".join(str(error).split()), _REASON_LENGTH).rstrip(".") or type(error).__name__
    )
    if isinstance(error, SafetensorError):
        return ModelError(
            Message(
                "A weights file of {model} is damaged ({reason}); get it again.",
                model=model_id,
                reason=reason,
            )
        )
    if isinstance(error, ImportError):
        return ModelError(
            Message(
                "{model} needs a library that isn't installed ({reason}); install it, "
                "or use another model.",
                model=model_id,
                reason=reason,
            )
        )
    return ModelError(
        Message(
            "The {part} of {model} can't be used ({reason}); get the model's files "
            "again, or use another model.",
            part=Message(part),
            model=model_id,
            reason=reason,
        )
    )
