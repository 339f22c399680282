"""Take one step of a benchmark in this process and print what it cost: `python -m loadtest.bench.step NAME TURN SIZE`.

Each step has a process of its own: what it allocates is not another's peak, and nothing is cached beforehand.
"""

import importlib
import os
import sys
from collections.abc import Callable

import django

from loadtest.bench import sizes
from loadtest.bench.measuring import Measured


def main() -> None:
    """Run `loadtest.bench.MODULE.FUNCTION` named as MODULE.FUNCTION."""
    name, turn, size = sys.argv[1:]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    module, _, function = name.partition(".")
    step: Callable[[sizes.Size, int], Measured] = getattr(
        importlib.import_module(f"loadtest.bench.{module}"), function
    )
    print(step(getattr(sizes, size), int(turn)).to_json())


if __name__ == "__main__":
    main()
