"""Builds the compiled half of the reader, where there is a C compiler; without one, everything works, only slower.

Hatchling runs it while the package is installed or packed (`[tool.hatch.build.hooks.custom]`). It can be run by hand
after a change of the C source: python scripts/build_native.py
"""

import os
import platform
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ModuleNotFoundError:  # when it is run by hand
    BuildHookInterface = object  # type: ignore[assignment,misc]

FOLDER = Path("blade", "rollouts", "native")
LIBRARY = FOLDER / "libblade.so"
INSTRUCTIONS = ("-mavx2", "-mbmi", "-mpopcnt", "-mpclmul")
"""What the library needs of a processor; it asks the processor when it is loaded."""


def build(root: Path) -> bool:
    """Compiles the library into the source tree; whether it is there now."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    target = root / LIBRARY
    if sys.platform != "linux" or platform.machine() != "x86_64" or compiler is None:
        return False
    version = runpy.run_path(str(root / FOLDER / "source.py"))["source_version"](root / FOLDER)
    fresh = target.with_suffix(f".{os.getpid()}.part")
    flags = ["-O2", "-std=c11", "-Wall", "-Wextra", *INSTRUCTIONS, f"-DVERSION={version}", "-shared", "-fPIC"]
    command = [*shlex.split(compiler), *flags, str(root / FOLDER / "rows.c"), "-o", str(fresh)]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        fresh.unlink(missing_ok=True)
        why = getattr(error, "stderr", None) or error
        print(f"blade: the compiled reader could not be built, the slower one is used:\n{why}", file=sys.stderr)
        return False
    fresh.replace(target)  # at once, so that a process that has the old one loaded keeps it
    return True


class NativeBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the library to what is installed; a wheel with it is one for this platform, but for any Python 3."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before the files of a wheel are collected."""
        if self.target_name == "wheel" and build(Path(self.root)):
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
            build_data["artifacts"].append(LIBRARY.as_posix())


if __name__ == "__main__":
    built = build(Path(__file__).resolve().parents[1])
    print(f"{LIBRARY} is built." if built else "Nothing is built: it takes Linux on x86-64 and a C compiler.")
    sys.exit(not built)
