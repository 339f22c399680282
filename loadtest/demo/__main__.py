"""`python -m loadtest.demo` makes the demo's files anew, from a database of their own."""

import os
import subprocess
import sys
import tempfile

MAKE = "from exchange.demo_campaign import FILES; from loadtest.demo.campaign import make; make(FILES)"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="assay-demo-") as folder:
        environment = os.environ | {"ASSAY_HOME": folder, "DATABASE_URL": f"sqlite:///{folder}/demo.sqlite3"}
        for words in (["migrate", "--verbosity", "0"], ["shell", "--no-imports", "-c", MAKE]):
            subprocess.run([sys.executable, "manage.py", *words], env=environment, check=True)


if __name__ == "__main__":
    main()
