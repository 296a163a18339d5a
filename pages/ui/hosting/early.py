"""Preload headers for the scripts of a page's first elements, and for the font of tokens.

Without them Streamlit fetches each script after the script run that sends its first element.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from streamlit.file_util import get_static_dir

from core.server.hosts import ASGIApp, AsgiMessage, Receive, Send
from pages.ui.platform.chart_script import SCRIPT

# File names in Streamlit's build, without the hash.
_NAMES = ("BidiComponent", "ButtonGroup", "NumberInput", "Selectbox", "TextArea")
_FONT = "SourceCodeVF-Upright"


class EarlyScripts:
    """Middleware that adds the preload headers to each HTML response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: AsgiMessage, receive: Receive, send: Send) -> None:
        async def with_scripts(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                headers = [(name.lower(), value) for name, value in message.get("headers", ())]
                if any(n == b"content-type" and v.startswith(b"text/html") for n, v in headers):
                    message = {**message, "headers": [*headers, *_links()]}
            await send(message)

        await self.app(scope, receive, with_scripts if scope["type"] == "http" else send)


@cache
def _links() -> tuple[tuple[bytes, bytes], ...]:
    """Return a header for each script and font that exists."""
    scripts = (
        file for name in _NAMES for file in Path(get_static_dir()).glob(f"static/js/{name}.*")
    )
    kind = "rel=modulepreload; crossorigin"
    named = [f"<./static/js/{file.name}>; {kind}" for file in scripts]
    fonts = Path(get_static_dir()).glob(f"static/media/{_FONT}.*.woff2")
    kind = "rel=preload; as=font; crossorigin"
    named.extend(f"<./static/media/{file.name}>; {kind}" for file in fonts)
    named.append(f"<{SCRIPT}>; rel=preload; as=script")
    return tuple((b"link", link.encode()) for link in named)
