"""Scripts of skills as an agent runs them: from the skill's own folder, with nothing of ours on the path."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from rollout_rows import Row, write_rows

SKILLS = Path(__file__).parents[2] / "skills"
SCRIPTS = sorted(path.relative_to(SKILLS).as_posix() for path in SKILLS.glob("*/scripts/*.py"))


def run_script(script: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs `skill/scripts/name.py` without site packages, so that only the standard library is there."""
    skill, _, name = script.partition("/")
    command = [sys.executable, "-S", "-I", "-B", name, *map(str, words)]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(command, cwd=SKILLS / skill, env=env, capture_output=True, text=True, timeout=30)


def said_by(script: str, folder: Path, rows: list[Row | str], *words: str) -> Any:
    """What a script prints about some rows."""
    done = run_script(script, write_rows(folder / "rollouts.jsonl", rows), *words)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)
