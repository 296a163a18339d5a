"""Content of a file that a visitor has uploaded."""

from __future__ import annotations

from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile

from core.decoding.errors import DecodingError
from core.language import N_

NO_ROOM = N_(
    "The server no longer has this file: there was no room, or the page was disconnected for too "
    "long. Remove another file, or upload this one again later."
)


def content_of(upload: UploadedFile | DeletedFile) -> bytes:
    """Return the bytes of a widget's upload.

    Raises:
        DecodingError: the server doesn't hold the file.
    """
    if isinstance(upload, DeletedFile):
        raise DecodingError(NO_ROOM)
    return upload.getvalue()
