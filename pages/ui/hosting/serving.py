"""Middleware and lifespan of the app."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import streamlit as st
from starlette.middleware import Middleware
from streamlit.cli_util import open_browser
from streamlit.web.server.server_util import get_display_address, get_url

from core.server.ending import ended_by_signals
from core.server.headers import SecurityHeaders, inline_scripts
from core.server.hosts import HostGuard
from core.server.refusals import Refusals
from core.server.settings import settings
from pages.ui.hosting import endpoint, start_page, uploads
from pages.ui.hosting.departures import QuietDepartures
from pages.ui.hosting.early import EarlyScripts
from pages.ui.hosting.metrics import ClosedMetrics
from pages.ui.hosting.uploads import UploadBounds
from pages.ui.platform import containers, messages, reach
from pages.ui.resources import models


def middleware() -> list[Middleware]:
    """Return the middleware that a request passes before Streamlit or a route of the app.

    Raises:
        ConfigError: a setting can't be read.
    """
    set_by_operator = settings()
    return [
        Middleware(Refusals),
        Middleware(
            HostGuard,
            names=reach.names(),
            shared=reach.shared(),
            api_origins=set_by_operator.api_origins,
        ),
        Middleware(
            SecurityHeaders,
            frames=set_by_operator.frames,
            scripts=inline_scripts(start_page.html()),
        ),
        Middleware(ClosedMetrics, is_open=set_by_operator.metrics),
        Middleware(UploadBounds),
        Middleware(EarlyScripts),
        Middleware(QuietDepartures),
    ]


# A run releases the GIL at every torch operation, then waits this long for each page being drawn.
# With 50 visitors, over four times as many runs end as with Python's 5 ms.
_SWITCH_SECONDS = 0.0005
# The workers load the model after the first page (loading at the start slows that page by 0.3 to
# 0.7 s), or after this time if no page was opened; then this process loads its own.
_IDLE_SECONDS = 5.0


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:  # noqa: ARG001
    """Print the address, open the browser, and forget ended sessions' files until the end."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    messages.send_news_only()
    containers.keep_opened()
    url = get_url(get_display_address(st.get_option("server.address") or "0.0.0.0"))
    print(f"\n  Decoding Explorer is at {url}\n{endpoint.start_line(url)}", flush=True)
    asyncio.get_running_loop().call_later(_IDLE_SECONDS, models.warm_up)
    if not st.get_option("server.headless"):
        asyncio.get_running_loop().call_soon(open_browser, url)
    forgetting = asyncio.create_task(uploads.forget_ended())
    try:
        async with ended_by_signals(endpoint.service().end):
            yield
    finally:
        forgetting.cancel()
        with suppress(asyncio.CancelledError):
            await forgetting
