"""`labkit evaluate` and `labkit finalize`: a candidate on a suite."""

from pathlib import Path
from typing import Annotated

import typer

from labkit.cli.options import HolderKey, Me, SandboxName

Suite = Annotated[Path, typer.Option("--suite", metavar="SUITE", help="A suite's file or folder.")]
Candidate = Annotated[
    str,
    typer.Option(
        "--candidate",
        metavar="CANDIDATE",
        help="What is measured: FILE.py:FUNCTION, cmd:COMMAND (in the sandbox), host:COMMAND, "
        "patches:FILE.jsonl, solutions:FOLDER, known-fixes or nothing.",
    ),
]
Samples = Annotated[int, typer.Option("-n", min=1, help="Samples of each case.")]
Ks = Annotated[str, typer.Option("--ks", metavar="K,K", help="The k of pass@k [default: 1 to n].")]
Workers = Annotated[int, typer.Option(min=1, help="So many samples at once.")]
Seed = Annotated[int, typer.Option(help="Sample k of a case is given this seed plus k - 1.")]
PolicyName = Annotated[
    str, typer.Option("--policy", help="A case is passed when its samples do: all, any, majority.")
]
Timeout = Annotated[
    float | None,
    typer.Option(min=0.001, show_default=False, help="Seconds that a sample may take."),
]
Image = Annotated[str, typer.Option(help="The image that commands run in [default: labkit's own].")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


SplitName = Annotated[str, typer.Option("--split", help="train or val; test is labkit finalize's.")]
Ids = Annotated[
    str,
    typer.Option("--ids", metavar="ID,ID", help="Only these cases; no gate takes the report."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FOLDER", show_default=False, help="[default: SUITE-runs/TIME-SPLIT]"
    ),
]
Retry = Annotated[
    bool, typer.Option("--retry-errored", help="Take samples without a verdict again.")
]
KeepName = Annotated[
    str, typer.Option("--keep", help="Whose working folders are kept: all, failed or none.")
]
Probe = Annotated[bool, typer.Option("--probe", help="First see whether two seeds differ.")]
Val = Annotated[
    Path | None,
    typer.Option(
        "--val", metavar="REPORT", show_default=False, help="The candidate's last report on val."
    ),
]


def evaluate(
    suite: Suite,
    candidate: Candidate,
    split: SplitName = "val",
    n: Samples = 1,
    ks: Ks = "",
    workers: Workers = 1,
    ids: Ids = "",
    seed: Seed = 0,
    policy: PolicyName = "all",
    timeout: Timeout = None,
    sandbox: SandboxName = "auto",
    image: Image = "",
    out: Out = None,
    retry: Retry = False,
    keep: KeepName = "all",
    probe: Probe = False,
    as_json: AsJson = False,
) -> None:
    """Measure a candidate on the train or val split; every sample is kept."""
    from labkit.cli import evalruns, evaluating

    run = evalruns.Asked(
        suite=suite, candidate=candidate, n=n, ks=ks, workers=workers, seed=seed, policy=policy,
        timeout=timeout, sandbox=sandbox, image=image, as_json=as_json,
    )  # fmt: skip
    wanted = evaluating.Wanted(split=split, ids=ids, out=out, retry=retry, keep=keep, probe=probe)
    raise typer.Exit(evaluating.evaluate(run, wanted))


def finalize(
    suite: Suite,
    candidate: Candidate,
    n: Samples = 1,
    ks: Ks = "",
    workers: Workers = 1,
    seed: Seed = 0,
    policy: PolicyName = "all",
    timeout: Timeout = None,
    sandbox: SandboxName = "auto",
    image: Image = "",
    val: Val = None,
    key: HolderKey = "",
    me: Me = "",
    as_json: AsJson = False,
) -> None:
    """Score the sealed test split, once and for all, and record that it was."""
    from labkit.cli import evalruns, finalizing

    run = evalruns.Asked(
        suite=suite, candidate=candidate, n=n, ks=ks, workers=workers, seed=seed, policy=policy,
        timeout=timeout, sandbox=sandbox, image=image, as_json=as_json,
    )  # fmt: skip
    raise typer.Exit(finalizing.finalize(run, val, key, me))
