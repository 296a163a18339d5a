"""Home: the address of the app, with the ways into it."""

from __future__ import annotations

from pages.ui.home import page

page.show()
