"""`python -m pages.ui.gallery [FOLDER]`: write the static site of all stored examples."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from pages.ui.gallery.site import INDEX, write_site


def main(folder: Path) -> None:
    """Write the site and print its place and size."""
    logging.disable(logging.WARNING)  # Streamlit warns that no page runs.
    written = write_site(folder)
    size = sum(path.stat().st_size for path in written) / 1e6
    print(f"wrote {folder / INDEX} and {len(written) - 1} pages ({size:.1f} MB)")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "site"))
