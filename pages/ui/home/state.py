"""Session state of Home."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pages.ui.run.view import PageView


@dataclass(eq=False)
class HomeView(PageView):
    """One session's view of Home."""

    key: ClassVar[str] = "home-view"
