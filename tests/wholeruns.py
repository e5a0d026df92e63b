"""Whole runs of real agents: the run phase's own code, gateway and all, against a scripted model.

Nothing stands in for anything but the model: the environment is made by the agent's own install
lines in a workshop, and the run is `perform`'s.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitrepo import make_project
from runs import LIMITS, Lab, a_configuration
from sandboxes import IMAGE, missing

from labkit.bounds import Caps
from labkit.building import Surroundings
from labkit.configurations import Configuration
from labkit.errors import LabkitError
from labkit.model import Api, RunId
from labkit.providers import Price, Provider
from labkit.records import RunRecord
from labkit.sandbox.choose import workshop_of
from labkit.sandbox.interface import Limits, SidecarSandbox
from labkit.sandbox.making import NAME, Making
from labkit_runner.agents.interface import Agent
from labkit_runner.agents.registry import agent_named
from labkit_runner.arms import GatewayRoute
from labkit_runner.attempt import perform
from labkit_runner.gateway.host import Terms
from labkit_runner.gateway.wire import Wire, read_wire
from labkit_runner.readback import read_back
from labkit_runner.rehearsal.play import Played, playing
from labkit_runner.rehearsal.script import Script, ToolCall, Turn, Usage

BASE = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
}
MEND = "sed -i 's/a - b/a + b/' calc.py"
RUN = RunId.parse("bug-a__A__1")
KEY = "sk-test-0123456789-abcdefghijklmnop"
PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
MODELS = {
    "claude-code": "claude-sonnet-4-5-20250929",
    "codex": "gpt-5.5",
    "mini-swe-agent": "m1",
    "gemini-cli": "gemini-2.5-pro",
    "opencode": "m1",
}
UNCAPPED = Caps()
ROOM = replace(LIMITS, seconds=90, memory=2048, processes=256, scratch=512)


@dataclass(slots=True, kw_only=True)
class Stage:
    """A small project, and an agent that is to mend it."""

    lab: Lab
    agent: Agent
    configuration: Configuration
    place: Surroundings
    sandbox: SidecarSandbox
    caps: Caps = UNCAPPED
    limits: Limits = ROOM
    prices: dict[str, Price] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the run's evidence is."""
        return self.lab.workspace.run(RUN)

    @property
    def wire(self) -> Wire:
        """What went over the wire."""
        with (self.folder / "wire.jsonl").open("rb") as lines:
            return read_wire(lines)

    def turns(self, *commands: str, last: str = "It is mended.") -> tuple[Turn, ...]:
        """Return turns in which the model has commands run, and a last word."""
        usage = Usage(input=1200, output=40)
        asked = [self.agent.rehearsed(each)[:-1] for each in commands]
        end = self.agent.rehearsed("true")[-1]
        turns = [*(turn for each in asked for turn in each), end if end.calls else Turn(text=last)]
        return tuple(replace(turn, usage=usage) for turn in turns)

    def play(self, script: Script, *, url: str = "") -> tuple[RunRecord, Played]:
        """Run the agent once against a script; raises Voided as `perform` does."""
        with playing(script) as played:
            bench = replace(self.lab.bench, sandbox=self.sandbox, limits=self.limits)
            job = replace(
                self.lab.job(self.configuration, RUN),
                agent=self.agent,
                surroundings=self.place,
                api=self.api,
                route=self._route(url or played.url),
                readback=read_back(self.sandbox, self.place, self.agent, self.configuration),
            )
            return perform(bench, job, self.folder), played

    @property
    def api(self) -> Api:
        """What the agent speaks."""
        return self.agent.apis[0]

    def _route(self, url: str) -> GatewayRoute:
        below = "/v1" if self.api in (Api.RESPONSES, Api.CHAT) else ""
        provider = Provider(
            name="test", api=self.api, url=f"{url}{below}", key="TEST_KEY",
            prices=self.prices or {self.configuration.model: PRICE},
        )  # fmt: skip
        terms = Terms(
            provider=provider, key=KEY, caps=self.caps, turn_cap=self.configuration.turn_cap
        )
        return GatewayRoute(sandbox=self.sandbox, terms=terms)


def stage(sandbox: SidecarSandbox, folder: Path, name: str, **changes: object) -> Stage:
    """Return a stage with an agent installed; skip the test where the index is silent."""
    project = make_project(folder / "project")
    project.commit(BASE)
    project.git("tag", "base")
    lab = Lab(project, sandbox)
    fields = {"agent": name, "agent_version": "", "model": MODELS[name], "steps": ""} | changes
    configuration = a_configuration(**fields)  # type: ignore[arg-type] # fields by name
    agent = agent_named(name, lab.workspace)
    return Stage(
        lab=lab,
        agent=agent,
        configuration=configuration,
        place=environment(sandbox, agent.install(configuration)),
        sandbox=sandbox,
    )


def environment(sandbox: SidecarSandbox, install: Sequence[str]) -> Surroundings:
    """Return an environment with an agent in it, made once on a machine."""
    workshop = workshop_of(sandbox, lambda _: None)
    making = Making(image=IMAGE, setup=tuple(install))
    key = making.key(workshop.kind, workshop.foundation(making))
    if not workshop.has(key):
        try:
            workshop.make(key, making, lambda _: None)
        except LabkitError as error:
            missing("registry", "\n".join(error.problems))
    return Surroundings(image=f"{NAME}:{key}", key=key)


def tool(name: str, **given: object) -> Turn:
    """Return a turn that asks for a tool."""
    return Turn(calls=(ToolCall(name=name, input=given),))
