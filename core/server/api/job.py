"""Job of a request; its failure becomes an API error."""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass

from ..job import ModelJob
from .answer.parts import AllEnded, Failed
from .errors import ApiError, as_api_error, stopped


@dataclass(eq=False, kw_only=True)
class RequestJob(ModelJob):
    """Job of a request.

    Args:
        refusal: the error to send, after the job has failed.
    """

    refusal: ApiError | None = None

    def explain(self, error: Exception) -> str:
        self.refusal = as_api_error(error)
        if self.refusal.status == 500:
            traceback.print_exc(file=sys.stderr)
        return str(self.refusal)

    @property
    def last_part(self) -> AllEnded | Failed:
        """The last part of its answer."""
        return AllEnded() if self.state == "finished" else Failed(self.refusal or stopped())
