"""`python -m tests.browser.pictures [FOLDER]` draws the pictures of docs/screens anew, from a fresh demo."""

import os
import sys
from pathlib import Path

import pytest

from tests.browser.pictures import FOLDER

SCREENS = Path(__file__).resolve().parents[3] / "docs" / "screens"


def main() -> int:
    folder = Path(sys.argv[1]) if sys.argv[1:] else SCREENS
    folder.mkdir(parents=True, exist_ok=True)
    os.environ[FOLDER] = str(folder.resolve())
    return pytest.main(["-n", "0", "-q", "-m", "browser", "--reruns", "0", str(Path(__file__).parent)])


if __name__ == "__main__":
    sys.exit(main())
