"""The arms of a comparison: each configuration with its agent, its model and its environment."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import IO

from labkit.building import Surroundings
from labkit.configurations import Configuration
from labkit.errors import InputError
from labkit.model import Api, TaskId
from labkit.providers import Provider
from labkit.sandbox.interface import Halt, SidecarSandbox
from labkit.settings import Settings
from labkit.workspace import Workspace
from labkit_runner.agents.interface import Agent
from labkit_runner.agents.registry import agent_named
from labkit_runner.gateway.host import Gateway, Terms, gateway
from labkit_runner.gateway.keys import key_of
from labkit_runner.job import Route
from labkit_runner.logins import Login, Subscribed, TunnelRoute
from labkit_runner.masking import NOTHING_SECRET, Masker
from labkit_runner.readback import ReadBack


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A configuration, ready to be run."""

    configuration: Configuration
    agent: Agent
    provider: Provider | None = None
    """Where its model is asked; None: nowhere."""
    route: Route | None = None
    masker: Masker = NOTHING_SECRET
    """Of what lies in its sandboxes."""
    surroundings: Mapping[TaskId, Surroundings] = field(default_factory=dict)
    """What tasks are run in with the agent on top; a task without is run in its own."""
    readback: Mapping[str, ReadBack] = field(default_factory=dict)
    """What the agent's program says of itself, by image."""

    @property
    def api(self) -> Api | None:
        """What is spoken with its model."""
        return self.provider.api if self.provider else None


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayRoute:
    """The way to a model through a gateway of each run's own."""

    sandbox: SidecarSandbox
    terms: Terms

    def opened(self, wire: IO[bytes], halt: Halt) -> AbstractContextManager[Gateway]:
        """Start a gateway; see `Route`."""
        return gateway(self.sandbox, self.terms, wire, halt)

    def to(self, url: str) -> "GatewayRoute":
        """Return the way to a model at another place, which needs no key."""
        provider = replace(self.terms.provider, url=url, key="", prices={})
        return replace(self, terms=replace(self.terms, provider=provider, key=""))


def arm_of(configuration: Configuration, workspace: Workspace, settings: Settings) -> Arm:
    """Return a configuration with its agent and provider, as they are written down.

    Raises InputError when there is no such provider, or when the agent does not speak its API.
    """
    agent = agent_named(configuration.agent, workspace)
    return Arm(
        configuration=configuration,
        agent=agent,
        provider=_provider(configuration, agent, settings),
    )


def _provider(configuration: Configuration, agent: Agent, settings: Settings) -> Provider | None:
    name = configuration.provider or agent.provider
    if not name:
        return None
    provider = settings.providers.get(name)
    if provider is None:
        raise InputError(
            f"configuration {configuration.id}: there is no provider {name}",
            hint=f"providers: in labkit.yaml has {', '.join(sorted(settings.providers))}",
        )
    if provider.api not in agent.apis:
        spoken = ", ".join(agent.apis) or "nothing"
        raise InputError(
            f"configuration {configuration.id}: {name} speaks {provider.api}, "
            f"{configuration.agent} speaks {spoken}",
            hint="choose another provider, or another agent",
        )
    return provider


def with_route(
    arm: Arm, sandbox: SidecarSandbox, settings: Settings, login: Login | None = None
) -> Arm:
    """Return an arm with its way to the model; raises InputError when its key is not set.

    `login` is that of a configuration which is paid by a subscription.
    """
    if arm.provider is None:
        return arm
    if login is not None:
        return replace(
            arm,
            agent=Subscribed(arm.agent, login),
            route=TunnelRoute(
                sandbox=sandbox,
                login=login,
                plain=GatewayRoute(
                    sandbox=sandbox,
                    terms=Terms(provider=arm.provider, key="", caps=settings.caps),
                ),
            ),
            masker=login.masker,
        )
    if settings.caps.cost is not None and not arm.provider.prices:
        raise InputError(
            f"limits.cost: the provider {arm.provider.name} has no prices, so nobody can hold it",
            hint="write prices: below it in labkit.yaml, or take cost: out of limits:",
        )
    terms = Terms(
        provider=arm.provider,
        key=key_of(arm.provider),
        caps=settings.caps,
        turn_cap=arm.configuration.turn_cap,
        main=arm.agent.main,
    )
    return replace(arm, route=GatewayRoute(sandbox=sandbox, terms=terms))


def rehearsed(arm: Arm) -> tuple[Arm, Route]:
    """Return an arm as it is rehearsed, and its way: without a subscription's login.

    A vendor's host cannot be a script, and no login is needed to find out whether an agent works.
    """
    assert arm.route is not None  # noqa: S101 - nobody rehearses what asks no model
    if not isinstance(arm.agent, Subscribed):
        return arm, arm.route
    configuration = replace(arm.configuration, login="key")
    return replace(arm, agent=arm.agent.agent, configuration=configuration), arm.route
