"""The other model of a pair: the one on a server, and the one that a GGUF file was made from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from core.decoding.errors import ModelError
from core.decoding.validation import brief
from core.language import N_, Message, tr
from core.models import recent
from core.models.packaged import PACKAGED, is_installed, packaged_file
from core.models.places import EMBEDDED_PREFIX, looks_like_path
from core.models.remote.address import FORMS, is_remote, read_address
from core.models.remote.keys import key_for
from core.server.settings import settings
from pages.ui.compare.state import LEFT, RIGHT, SLOTS, FoundOriginal
from pages.ui.hosting import endpoint
from pages.ui.platform import session, slot
from pages.ui.resources import models
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.widgets.controls.control import value


class NeedsModelError(ModelError):
    """A pair lacks the model of a side, whose set-up the page opens."""

    def __init__(self, sentence: str, side: str) -> None:
        super().__init__(sentence)
        self.side = side


def here_and_server(model: str) -> tuple[str, str]:
    """Return a model on this machine, and an address at which a server has one.

    Raises:
        NeedsModelError: either is unknown.
    """
    if models.is_on_server(model):
        return _here(model), model
    server = next(servers(model), "")
    if not server:
        raise NeedsModelError(_no_server(model), RIGHT)
    return model, server


def servers(model: str) -> Iterator[str]:
    """Yield the models on servers that may stand beside a model, the best choice first.

    They are the one that side B has, those used lately, the operator's, and the app's own endpoint.
    """
    with slot.use(SLOTS[1]):
        chosen = [str(value("model"))]
    known = [*chosen, *recent.last_used()] if models.free_choice() else chosen
    for name in dict.fromkeys([*known, *settings().models]):
        # An endpoint of this app that was used lately may be gone, or have another port.
        if models.is_on_server(name) and not models.unknown(name) and not _is_of_this_app(name):
            yield name
    if own := own_endpoint(model):
        yield own


def own_endpoint(model: str) -> str:
    """Return the address of a model at the app's own endpoint; empty if it doesn't answer for it.

    Only on one's own machine, where any address may be typed.
    """
    parts = urlsplit(session.browser_url())
    closed = endpoint.service().closed or not models.free_choice()
    if closed or not parts.netloc or model not in models.offered():
        return ""
    origin = f"{parts.scheme}://{parts.netloc}"
    if settings().api_keys and not key_for(origin):
        return ""
    tokenizer = f"?tokenizer={model}" if models.is_embedded(model) else ""
    return f"vllm:{origin}{tokenizer}#{model}"


def _is_of_this_app(name: str) -> bool:
    with suppress(ModelError):
        return read_address(_place(name)).model.startswith(EMBEDDED_PREFIX)
    return False


def _place(name: str) -> str:
    return settings().models.get(name, name)


def _here(server: str) -> str:
    """Return the model on this machine that a server's address names.

    Raises:
        NeedsModelError: it names none.
    """
    with suppress(ModelError):
        address = read_address(_place(server))
        for name in (address.model, address.tokenizer):
            if name and not models.unknown(name) and _is_known_here(name):
                return name
    raise NeedsModelError(
        Message(
            "The model of side A is on a server: choose the same one on this "
            "machine, and press again."
        ),
        LEFT,
    )


def _is_known_here(name: str) -> bool:
    return name in models.offered() or (models.free_choice() and Path(name).is_dir())


def _no_server(model: str) -> str:
    if not models.free_choice():
        return tr("This server offers no model on another server: ask its operator for one.")
    return tr(
        "No server is known that has {model}: type its address as the model of "
        "side B ({form}), then press Run there.",
        model=brief(model),
        form=FORMS.split(", ")[0],
    )


def gguf_files(model: str) -> dict[str, Path]:
    """Return the GGUF files that a visitor may run, by the picker's names.

    The chosen one is first, then those used lately.
    """
    used = recent.last_used() if models.free_choice() else []
    files = {}
    for name in dict.fromkeys([model, *used, *models.options()]):
        with suppress(ModelError, OSError, RuntimeError):
            if file := _gguf_file(name):
                files[name] = file
    return files


def _gguf_file(name: str) -> Path | None:
    from core.models.gguf.source import gguf_in
    from core.models.places import begins_as_gguf

    if models.unknown(name):
        return None
    if name in PACKAGED:
        return packaged_file(name) if is_installed(name) else None
    place = _place(name)
    if is_remote(place) or models.is_embedded(name) or not looks_like_path(place):
        return None
    file = gguf_in(Path(place).expanduser(), name)
    return file if file is not None and begins_as_gguf(file) else None


def first_gguf(model: str) -> tuple[str, Path]:
    """Return the GGUF file to compare.

    Raises:
        NeedsModelError: none was chosen, used lately or is offered.
    """
    for name, file in gguf_files(model).items():
        return name, file
    raise NeedsModelError(
        N_("No GGUF file was chosen or used lately: type the path of one as the model of side A.")
        if models.free_choice()
        else N_(
            "No GGUF file was chosen or used lately: this server offers none for the model of "
            "side A."
        ),
        LEFT,
    )


@jobs.in_background
def find_original(job: Job, name: str, file: Path) -> FoundOriginal:
    """Find the model that a GGUF file was made from.

    Raises:
        ModelError: it is unknown, or isn't offered here.
        LoadingStoppedError: the job was stopped.
    """
    from core.models.gguf.original import Original, original_of
    from core.models.loading.hub import is_cached

    job.set_stage(tr("Reading the header of the file"))
    shown = brief(file.name)
    if name in PACKAGED:
        original = Original(PACKAGED[name].original, f"{name} was made from")
    else:
        original = original_of(file, shown, job.should_stop)
    places = {place: offered for offered, place in settings().models.items()}
    where = places.get(original.where, original.where)
    if models.unknown(where):
        raise ModelError(
            Message(
                "{file} was made from {model}, which this server doesn't offer: choose "
                "another pair.",
                file=shown,
                model=brief(where),
            )
        )
    at_hand = where != original.where or models.is_embedded(where) or looks_like_path(where)
    return FoundOriginal(name, where, at_hand or is_cached(where), original.known_by)


def to_download(found: FoundOriginal) -> NeedsModelError:
    """Return the sentence about an original that isn't on this machine yet."""
    return NeedsModelError(
        tr(
            "{known_by} {model}, which isn't on this machine yet. Press Run here to download it.",
            known_by=found.known_by,
            model=brief(found.where),
        ),
        RIGHT,
    )
