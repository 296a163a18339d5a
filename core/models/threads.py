"""Number of torch's threads beside a server that draws pages."""

from __future__ import annotations

import os
from functools import cache

import torch


@cache
def leave_a_processor() -> None:
    """Let torch use one processor less than there are, unless `OMP_NUM_THREADS` says how many.

    Its threads wait for each other at every product; one that another thread keeps from its
    processor holds all of them up. Once a process.
    """
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(max(1, min(torch.get_num_threads(), (os.cpu_count() or 1) - 1)))
