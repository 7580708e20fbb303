"""Reference checkpoints that are read only where they are present."""

import os
from pathlib import Path

FOLDER = os.environ.get("TRILEMMA_REFERENCE_WEIGHTS", "")
MISSING = "reference checkpoints are absent; name their folder in TRILEMMA_REFERENCE_WEIGHTS"


def path(name: str) -> Path:
    return Path(FOLDER) / name


def present(name: str) -> bool:
    return FOLDER != "" and path(name).is_file()
