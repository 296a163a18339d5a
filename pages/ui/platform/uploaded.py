"""Content of a file that a visitor has uploaded."""

from __future__ import annotations

from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile

from core.decoding.errors import DecodingError

NO_ROOM = (
    "The server doesn't hold this file: it had no room for it, or the page was away for too long. "
    "Remove another one, or give it again later."
)


def content_of(upload: UploadedFile | DeletedFile) -> bytes:
    """Return the bytes of a widget's upload.

    Raises:
        DecodingError: the server doesn't hold the file.
    """
    if isinstance(upload, DeletedFile):
        raise DecodingError(NO_ROOM)
    return upload.getvalue()
