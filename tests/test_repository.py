"""The rules the repository keeps about itself: what is in it, how large it is, and that its wheel stands alone."""

import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]

TOP_LEVEL = {
    *("blade", "skills", "benchmarks", "golden_reports", "measure", "scripts", "tests", "docs"),
    *("pyproject.toml", "README.md", "Makefile", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"),
    *("AGENTS.md", "CLAUDE.md"),
}
"""All that may stand at the top, beside names that begin with a dot."""

MAX_FILE_BYTES = 5_000_000
MAX_TOTAL_BYTES = 60_000_000
LOCK_FILES = re.compile(r".*\.lock|.*-lock\.(json|yaml)|pylock\..*toml")
MACHINE_PATH = re.compile(rb"(?<![\w.~/-])/(?:work|root)/")


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    """Files under version control, relative to the repository; skips outside of a git checkout."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a git checkout, or no git to ask")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    return [Path(name) for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def lines_with_machine_paths(text: bytes) -> list[int]:
    """Line numbers, from 1, that name a place on somebody's machine; binary content has none."""
    if b"\0" in text:
        return []
    return [number for number, line in enumerate(text.splitlines(), start=1) if MACHINE_PATH.search(line)]


def test_the_top_level_holds_only_what_the_design_allows(tracked: list[Path]) -> None:
    top = {path.parts[0] for path in tracked if not path.parts[0].startswith(".")}

    assert top - TOP_LEVEL == set()


def test_no_tracked_file_is_large(tracked: list[Path]) -> None:
    sizes = {path.as_posix(): (ROOT / path).stat().st_size for path in tracked}

    assert {path: size for path, size in sizes.items() if size >= MAX_FILE_BYTES} == {}
    assert sum(sizes.values()) < MAX_TOTAL_BYTES


def test_no_lock_file_is_tracked(tracked: list[Path]) -> None:
    assert [path.as_posix() for path in tracked if LOCK_FILES.fullmatch(path.name)] == []


def test_no_tracked_text_names_a_machine_path(tracked: list[Path]) -> None:
    # Rollouts are quoted as they came: paths in them belong to the sandbox that made them.
    texts = [path for path in tracked if path.suffix != ".jsonl"]
    found = {path.as_posix(): lines_with_machine_paths((ROOT / path).read_bytes()) for path in texts}

    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("open('/{}/data.jsonl')", [1], id="quoted"),
        pytest.param("first\ncd /{}/here", [2], id="second_line"),
        pytest.param("see docs/{}/page and https://host.example/{}/page", [], id="part_of_a_longer_path"),
        pytest.param("\0 /{}/", [], id="binary"),
    ],
)
def test_machine_paths_are_recognised(text: str, expected: list[int]) -> None:
    assert lines_with_machine_paths(text.replace("{}", "root").encode()) == expected


@pytest.mark.parametrize("name", ["uv.lock", "poetry.lock", "package-lock.json", "pnpm-lock.yaml", "pylock.dev.toml"])
def test_lock_files_are_recognised(name: str) -> None:
    assert LOCK_FILES.fullmatch(name)


def built(root: Path, target: str, out: Path) -> Path:
    """The package as a `wheel` or an `sdist`, built in this environment, so that no network is needed."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(out)]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    (archive,) = out.iterdir()
    return archive


def names_in(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as packed:
        return sorted(packed.namelist())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package's wheel, unpacked."""
    out = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(built(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))) as packed:
        packed.extractall(out)
    return out


def test_a_wheel_made_from_the_source_distribution_is_the_same(tmp_path: Path) -> None:
    with tarfile.open(built(ROOT, "sdist", tmp_path / "sdist")) as packed:
        packed.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()

    assert names_in(built(source, "wheel", tmp_path / "again")) == names_in(built(ROOT, "wheel", tmp_path / "wheel"))


def runtime_distributions(requirements: list[str]) -> set[str]:
    """Names of the distributions that installing `requirements` brings, optional extras left out."""
    names: set[str] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in names or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        names.add(name)
        waiting += [Requirement(text) for text in importlib.metadata.requires(name) or []]
    return names


def modules_beyond(requirements: list[str]) -> list[str]:
    """Top-level modules installed here that a user who installs only `requirements` would not have."""
    present = runtime_distributions(requirements)
    providers = importlib.metadata.packages_distributions()
    return sorted(name for name, by in providers.items() if not {canonicalize_name(d) for d in by} & present)


RUN_BLOCKED = """
import json, sys
unpacked, blocked, *sys.argv = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(blocked))  # importing a name that maps to None raises ImportError
sys.path.insert(0, unpacked)
"""


def run_as_user(wheel: Path, code: str, *, argv: list[str]) -> subprocess.CompletedProcess[str]:
    """Run code that sees the wheel, its dependencies and the standard library, and nothing installed beside them."""
    (metadata,) = wheel.glob("*.dist-info")
    requirements = importlib.metadata.Distribution.at(metadata).requires or []
    blocked = [name for name in modules_beyond(requirements) if name != "blade"]
    arguments = json.dumps([str(wheel), blocked, *argv])
    command = [sys.executable, "-I", "-c", RUN_BLOCKED + code, arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=wheel, stdin=subprocess.DEVNULL)


def test_the_wheel_holds_the_package_its_types_and_its_licence(wheel: Path) -> None:
    names = {path.relative_to(wheel).as_posix() for path in wheel.rglob("*") if path.is_file()}
    tops = {PurePosixPath(name).parts[0].partition("-")[0] for name in names}

    assert tops == {"blade", "blade_diagnostics"}
    assert "blade/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_one_wheel_serves_every_platform(wheel: Path) -> None:
    (metadata,) = wheel.glob("*.dist-info")

    assert "Tag: py3-none-any" in (metadata / "WHEEL").read_text().splitlines()


def test_the_wheel_holds_the_skills_and_finds_their_packs(wheel: Path) -> None:
    def files(skills: Path) -> set[Path]:
        found = {path.relative_to(skills) for path in skills.rglob("*") if path.is_file()}
        return {path for path in found if path.parts[1] != "evals" and "__pycache__" not in path.parts}

    code = (
        "from blade.diagnosis.packs import load_pack, shipped_names\nfor n in shipped_names(): print(load_pack(n).name)"
    )
    done = run_as_user(wheel, code, argv=["blade"])

    assert files(wheel / "blade" / "skills") == files(ROOT / "skills")
    assert done.stdout.split() == sorted(path.parents[1].name for path in ROOT.glob("skills/*/assets/taxonomy.yaml"))
    assert not list(wheel.glob("blade/skills/*/evals"))


def test_the_wheel_installs_its_skills_without_development_packages(wheel: Path, tmp_path: Path) -> None:
    argv = ["blade", "skill", "install", "--agent", "claude", "--project", str(tmp_path)]
    done = run_as_user(wheel, "from blade.cli.main import main; main()", argv=argv)

    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in (tmp_path / ".claude" / "skills").glob("[!.]*")} == {
        path.name for path in (ROOT / "skills").glob("[!.]*")
    }


def test_the_wheel_shows_its_help_without_development_packages(wheel: Path) -> None:
    done = run_as_user(wheel, "from blade.cli.main import main; main()", argv=["blade", "--help"])

    assert (done.returncode, done.stderr) == (0, "")
    assert "diagnose" in done.stdout


def test_the_wheel_gives_its_demo_without_development_packages(wheel: Path, tmp_path: Path) -> None:
    argv = ["blade", "demo", "--out", str(tmp_path / "demo")]
    done = run_as_user(wheel, "from blade.cli.main import main; main()", argv=argv)

    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "demo" / "report.md").stat().st_size > 0


WIRES = {"blade.llm.chat", "blade.llm.messages", "blade.llm.responses"}
"""The modules that need an SDK of the extra `llm`, and that nobody loads before a model is asked."""


def test_every_module_of_the_wheel_can_be_imported_without_extras_and_development_packages(wheel: Path) -> None:
    modules = [path.relative_to(wheel).with_suffix("") for path in sorted(wheel.glob("blade/**/*.py"))]
    names = [".".join(module.parts) for module in modules if module.name not in {"__init__", "__main__"}]
    code = "import importlib\nfor name in sys.argv: importlib.import_module(name)"
    done = run_as_user(wheel, code, argv=sorted({*names} - WIRES))

    assert (done.returncode, done.stderr) == (0, "")


def test_code_run_from_the_wheel_sees_the_wheel_and_its_dependencies_only(wheel: Path) -> None:
    code = "import blade, msgspec; print(blade.__file__); import pytest"
    done = run_as_user(wheel, code, argv=["blade"])

    assert Path(done.stdout.strip()) == wheel / "blade" / "__init__.py"
    assert "pytest" in done.stderr.splitlines()[-1]
    assert done.returncode == 1
