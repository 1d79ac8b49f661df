"""`blade diagnose`: read rollouts, compute everything, write the folder the other commands work on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from blade.cli.options import AsJson, Root, epilog, with_options, working_on
from blade.cli.reading_options import Format, Quiet, analysing, reading

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from blade.cli.pipeline import Done
    from blade.diagnosis import AnalyzeOptions
    from blade.rollouts import ReadOptions

EPILOG = epilog(
    "blade diagnose rollouts.jsonl --out out",
    "blade diagnose results/word_math.jsonl --benchmark word_math --out out",
    "blade diagnose logs/2026-11-18_arc.eval --score accuracy --out out",
    "blade diagnose jobs/2026-11-18__13-00-00 --where 'source == \"terminal-bench\"' --out out",
    "blade diagnose scores.csv --trajectories 'runs/*.json' --join instance_id=file --out out",
    "blade diagnose results/*.jsonl.gz --group-by model --out out",
    "blade diagnose results/rollouts.jsonl --follow --until-idle 600 --out out",
    "cat rollouts.jsonl | blade diagnose - --success 'reward >= 0.5' --slice difficulty",
)


@with_options(read=reading, options=analysing, engine=working_on)
def diagnose(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Rollout files, logs, job folders or globs, in any format of `blade list formats`; - is stdin.",
            show_default=False,
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output folder.")] = Path("blade-out"),
    format: Format = None,
    read: "ReadOptions",
    benchmark: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Benchmark to take the success rule, slices and taxonomy pack from."),
    ] = None,
    options: "AnalyzeOptions",
    engine: "AbstractContextManager[object]",
    follow: Annotated[
        bool, typer.Option("--follow", help="Diagnose again whenever the inputs have grown, until Ctrl-C.")
    ] = False,
    until_idle: Annotated[
        float | None,
        typer.Option(min=0.1, metavar="S", help="With --follow: end when nothing has changed for S seconds."),
    ] = None,
    root: Root = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure a run and say which tasks failed and why.

    Writes report.html, report.md (one page), appendix.md, analysis.json, reading_list.md and labels.jsonl into DIR.
    Several runs each get a folder of their own there; DIR/report.html shows them side by side, DIR/runs.json lists
    them. With --group-by, DIR/comparison.html and comparison.md compare them.
    """
    from blade.cli.follow import follow as followed
    from blade.cli.inputs import STDIN, is_pipe, resolved_inputs
    from blade.cli.pipeline import Done, diagnose_into
    from blade.cli.progress import ReadingBar
    from blade.engine import engine_for, use
    from blade.errors import UsageError

    read = msgspec.structs.replace(read, format=format)
    if benchmark is not None:
        options = as_benchmark_says(options, benchmark, root)
    if until_idle is not None and not follow:
        raise UsageError("--until-idle is only used with --follow.")
    if follow and any(text == STDIN or is_pipe(text) for text in inputs):
        raise UsageError("--follow reads files again as they grow; standard input and pipes cannot be read again.")
    found: list[Done] = []

    def look() -> None:
        with ReadingBar(wanted=not quiet) as bar, resolved_inputs(inputs, out) as sources, use(engine_for(read.jobs)):
            found[:] = [diagnose_into(out, sources, read=read, options=options, keep=not follow, progress=bar)]
        for folder in found[0].folders:
            keep_narrative(folder)
        if follow and not quiet:
            typer.echo(f"blade: {state_sentence(found[0])}", err=True)

    with engine:
        if follow:
            followed(inputs, format, look, until_idle=until_idle, as_json=as_json)
        else:
            look()
    if found:
        render(found[0], as_json=as_json, quiet=quiet)


def state_sentence(done: "Done") -> str:
    """Where the runs stand, on one line."""
    from blade.diagnosis.analysis import headline_of
    from blade.report.numbers import number, plural

    said = [
        f"{workspace.analysis.inputs.run}: {plural(workspace.analysis.coverage.rollouts, 'rollout')} of "
        f"{plural(workspace.analysis.coverage.tasks, 'task')}, {workspace.analysis.headline} "
        f"{number(headline_of(workspace.analysis).value)}"
        for workspace in done.workspaces
    ]
    return "; ".join(said[:4])


def keep_narrative(folder: Path) -> None:
    """A narrative the folder has already stays in the report, as far as it still holds."""
    from blade.report.workspace import NARRATIVE, open_workspace

    if not (folder / NARRATIVE).is_file():
        return
    from blade.audit.narrated import render_narrated
    from blade.cli.report import tell_left_out
    from blade.errors import UsageError

    try:
        _, wrong = render_narrated(open_workspace(folder))
    except UsageError as error:
        wrong = {NARRATIVE: str(error)}
    tell_left_out(wrong)


def as_benchmark_says(options: "AnalyzeOptions", name: str, root: Path | None) -> "AnalyzeOptions":
    """What the user left open, as the benchmark has it."""
    import msgspec

    from blade.benchmarks import find_benchmark
    from blade.diagnosis.packs.load import shipped_names

    known = find_benchmark(name, root)
    if options.success is None and known.success is not None:
        source = f"stated by the benchmark {known.name}"
        options = msgspec.structs.replace(options, success=known.success, success_source=source)
    pack = known.skill if known.skill in shipped_names() else None
    slices = tuple(dict.fromkeys([*options.slices, *known.slices]))
    return msgspec.structs.replace(options, slices=slices, pack=options.pack or pack)


def render(done: "Done", *, as_json: bool, quiet: bool) -> None:
    """The summary for a person, or the analyses for a program."""
    from blade.cli.several import print_runs, runs_document
    from blade.cli.summary import print_summary
    from blade.cli.terminal import make_console, print_json
    from blade.report.workspace import ANALYSIS

    if as_json:
        print_json(runs_document(done.workspaces) if done.several else (done.folders[0] / ANALYSIS).read_bytes())
    elif done.several and not quiet:
        print_runs(make_console(), done.workspaces, done.comparison)
    elif not quiet:
        print_summary(make_console(), done.workspaces[0])
