"""A model's own multi-token-prediction layers, loaded at their first use."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from .mtp import MtpHead
    from .mtp_loading import LoadedModel

_LOADING = Lock()


class BringsHead:
    """Part of a model that loads its own head once."""

    _mtp_head: MtpHead | None = None

    def mtp_head(self) -> MtpHead:
        """Return its own multi-token-prediction layers as a head; they are loaded once.

        Raises:
            ModelError: it has none, or they can't be loaded.
        """
        with _LOADING:
            if self._mtp_head is None:
                from .mtp_loading import load_mtp_head

                self._mtp_head = load_mtp_head(cast("LoadedModel", self))
        return self._mtp_head
