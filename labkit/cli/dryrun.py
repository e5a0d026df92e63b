"""What `labkit task run --dry-run` shows: every run in its order, and what it will take."""

from collections.abc import Mapping, Sequence

from labkit.cli.console import data
from labkit.cli.purse import Purse
from labkit.cli.team import table
from labkit.configurations import Configuration
from labkit.environments import BASE_IMAGE
from labkit.fields import counted
from labkit.model import ConfigurationId, TaskId
from labkit.plan import PlannedRun
from labkit.spending import Likely, amount, minutes, over_budget
from labkit.tasks import Task

_HEAD = ("order", "run", "configuration", "image", "time", "tokens", "cost")


def show(
    purse: Purse,
    runs: Sequence[PlannedRun],
    tasks: Mapping[TaskId, Task],
    configurations: Mapping[ConfigurationId, Configuration],
) -> None:
    """Write the runs, what each and all of them take, and whether the budget bears it."""
    known = purse.records()
    rows = [
        (
            str(item.order),
            str(item.run),
            configurations[item.run.configuration].describe(),
            _image(purse, tasks[item.run.task]),
            *_figures(purse.takes_one(item, known)),
        )
        for item in runs
    ]
    together = purse.takes(runs, known)
    all_of_them = ("", counted(len(runs), "run"), "", "", *_figures(together))
    data(table([_HEAD, *rows, all_of_them]))
    seen = ", ".join(f"{len(records)} of {letter}" for letter, records in sorted(known.items()))
    data(
        f"by the mean of each configuration's finished runs: {seen}"
        if seen
        else "nothing has run yet: what is known are the limits"
    )
    if purse.is_bounded:
        data(_budget(purse, together))


def _image(purse: Purse, task: Task) -> str:
    own, team = task.environment, purse.lab.settings.environment
    made = own if own.named else team
    name = made.image or made.dockerfile or team.image or BASE_IMAGE
    return f"{name} and setup" if made.setup else name


def _figures(takes: Likely) -> tuple[str, str, str]:
    time = "unknown" if takes.minutes is None else minutes(takes.minutes)
    tokens = "unknown" if takes.tokens is None else f"{takes.tokens:,.0f}"
    cost = "unknown" if takes.cost is None else amount("cost", takes.cost)
    shown = {"minutes": time, "tokens": tokens, "cost": cost}
    most = {name: f"<= {value}" for name, value in shown.items() if name in takes.by_limits}
    return tuple((shown | most)[name] for name in ("minutes", "tokens", "cost"))  # type: ignore[return-value] # three


def _budget(purse: Purse, together: Likely) -> str:
    so_far = purse.so_far()
    why = over_budget(purse.budget, so_far, together, "all that is left")
    spent = f"spent so far: {amount('tokens', so_far.tokens)}, cost {amount('cost', so_far.cost)}"
    return f"{spent}; {why or 'the budget bears what is left, as far as that is known'}"
