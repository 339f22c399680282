"""Hooks of hatchling: the wheel needs what requirements.in names, and carries its static files as they are served."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        lines = Path(self.root, "requirements.in").read_text("utf-8").splitlines()
        metadata["dependencies"] = [line for line in lines if line and not line.startswith("#")]


class StaticFiles(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.home = tempfile.TemporaryDirectory()
        collect = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]
        subprocess.run(collect, cwd=self.root, env=os.environ | {"ASSAY_HOME": self.home.name}, check=True)
        build_data["force_include"][f"{self.home.name}/static"] = "static"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self.home.cleanup()
