"""What `labkit export` does: everything is checked before the first file is written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.cli.console import say
from labkit.cli.lab import Lab, now
from labkit.errors import InputError, refuse
from labkit.evals import RunReport
from labkit.evals.atif import (
    About,
    sample_trajectory,
    trajectory_text,
    transcript_trajectory,
)
from labkit.evals.inspectlog import write_inspect_log
from labkit.evals.reportfile import to_dict
from labkit.evals.runfolder import folder_name
from labkit.evals.studyreport import study_report
from labkit.evals.wholerun import read_run
from labkit.fields import counted, json_text, read_bytes
from labkit.model import ConfigurationId, RunId
from labkit.records import RunRecord, load_run
from labkit.transcripts.detect import read_transcript
from labkit.workspace import write_new


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Where to write what; None: not asked for."""

    report: Path | None = None
    inspect: Path | None = None
    atif: Path | None = None

    def require_free(self) -> None:
        """Refuse when nothing is wanted, or something is there already."""
        files = [path for path in (self.report, self.inspect) if path is not None]
        problems = [f"{path} is already there" for path in files if path.exists()]
        if self.atif is not None and self.atif.exists():
            if not self.atif.is_dir():
                problems.append(f"{self.atif} is not a folder")
            elif any(self.atif.iterdir()):
                problems.append(f"{self.atif} is not empty")
        refuse(problems, hint="choose another name: labkit never overwrites it silently")
        if not files and self.atif is None:
            raise InputError(
                "nothing to write is named", hint="add --inspect FILE.eval or --atif FOLDER"
            )


def export_report(path: Path | None, wanted: Wanted) -> None:
    """Write a run's report, and the samples that were kept of it, in other tools' formats."""
    if path is None:
        raise InputError(
            "there is nothing to export",
            hint="give a run's folder or its report.json, or --study A for a configuration's runs",
        )
    if wanted.report is not None:
        raise InputError(
            "a report is a report already", hint="--report goes with --study CONFIGURATION"
        )
    wanted.require_free()
    if not path.exists():
        raise InputError(
            f"no file or folder {path}", hint="give the folder that labkit evaluate made"
        )
    report = read_run(path)
    if not report.cases:
        raise InputError(
            f"{path} has no cases, only totals", hint="export the folder that the run was kept in"
        )
    if wanted.atif is not None and not any(case.samples for case in report.cases):
        raise InputError(
            f"no samples are kept beside {path}",
            hint="give the folder that the run was kept in: its samples.jsonl holds the traces",
        )
    _inspect(report, wanted)
    _trajectories(wanted, _of_samples(report))


def export_study(name: str, report: Path | None, wanted: Wanted) -> None:
    """Write what came of one configuration of the lab here."""
    from labkit.cli.finished import finished_study
    from labkit.phases import require_graded, require_unblinded

    if report is not None:
        raise InputError(
            "a report and --study are two sources", hint="leave out the one that is not meant"
        )
    wanted.require_free()
    configuration = ConfigurationId(name)
    lab = Lab.open()
    done = require_graded(lab.workspace)
    require_unblinded(lab.workspace)
    made = study_report(finished_study(lab, done), configuration)
    if wanted.report is not None:
        write_new(wanted.report, json_text(to_dict(made)))
        say(f"{wanted.report}: {counted(made.n_tasks, 'task')} of {made.candidate}")
    _inspect(made, wanted)
    runs = sorted(run for run in done.finished if run.configuration == configuration)
    _trajectories(wanted, _of_runs(lab, runs, made))


def _inspect(report: RunReport, wanted: Wanted) -> None:
    if wanted.inspect is not None:
        write_inspect_log(report, wanted.inspect, created=now())
        say(f"{wanted.inspect}: look at it with inspect view")


def _trajectories(wanted: Wanted, found: Iterator[tuple[str, dict[str, Any]]]) -> None:
    if wanted.atif is None:
        return
    count = 0
    for name, values in found:
        write_new(wanted.atif / f"{name}.json", trajectory_text(values))
        count += 1
    say(f"{wanted.atif}: {counted(count, 'file')}, a trajectory each")


def _of_samples(report: RunReport) -> Iterator[tuple[str, dict[str, Any]]]:
    for case in report.cases:
        for sample in case.samples:
            about = About(
                session=f"{case.id}/{sample.number}",
                agent=report.candidate,
                prompt=case.id,
                extra={"case": case.id, "sample": sample.number} | _pinned(report),
            )
            yield f"{folder_name(case.id)}__{sample.number}", sample_trajectory(sample, about)


def _of_runs(
    lab: Lab, runs: list[RunId], report: RunReport
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a trajectory of each run; `runs` were found intact."""
    tasks = lab.tasks()
    for run in runs:
        folder = lab.workspace.run(run)
        record = load_run(folder / "run.json")
        transcript = read_transcript(read_bytes(folder / record.transcript), agent=record.agent)
        about = About(
            session=str(run),
            agent=record.agent,
            version=record.agent_version,
            model=record.model,
            prompt=tasks[run.task].prompt,
            extra={"run": str(run)} | _pinned(report),
        )
        yield str(run), transcript_trajectory(transcript, about, _figures(record))


def _pinned(report: RunReport) -> dict[str, str]:
    return {"suite": report.suite, "suite_version": report.suite_version}


def _figures(record: RunRecord) -> Mapping[str, Any]:
    return {
        "tokens": record.tokens,
        "cost": record.cost,
        "seconds": record.seconds,
        "ended": str(record.ended),
        "ending": str(record.ending),
        "exit_code": record.exit_code,
    }
