"""`python -m tests.golden` compares the golden documents with what is made now; `--renew` keeps what is made now."""

import os
import sys
from pathlib import Path

import pytest

from tests.golden.keeping import RENEW


def main() -> int:
    if sys.argv[1:] == ["--renew"]:
        os.environ[RENEW] = "1"
    return pytest.main(["-n", "0", "-q", str(Path(__file__).parent)])


if __name__ == "__main__":
    sys.exit(main())
