"""Compiles the hot loops when a wheel is built or a clone is installed; see docs/decisions/0016.

Where the machine has no C compiler, the build asks pip for one: the package ziglang.
"""

from __future__ import annotations

import sys
import sysconfig
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LoopsHook(BuildHookInterface[Any]):
    """Puts the compiled loops into the wheel, which is then one for this kind of machine and every Python 3."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what the build needs besides what pyproject.toml says."""
        return [] if self._compiler().find_compiler() else ["ziglang>=0.13"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library beside its sources; `version` is "editable" when a clone is installed."""
        compiler = self._compiler()
        try:
            library = compiler.build(compiler.SOURCES)
        except compiler.CannotBuildError as error:
            sys.exit(f"holdrank cannot be built: {error}. Fix: {compiler.REPAIR}.")
        if version != "editable":
            build_data["artifacts"].append(library.relative_to(self.root).as_posix())
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"

    def _compiler(self) -> ModuleType:
        """Return the module that builds the loops; the package around it cannot be imported yet."""
        path = Path(self.root) / "src" / "holdrank" / "arrays" / "compiler.py"
        spec = spec_from_file_location("compiler", path)
        if spec is None or spec.loader is None:
            raise AssertionError(path)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
