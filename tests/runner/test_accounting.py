"""What people should know of a run, and what cannot be bounded."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from runs import A, a_configuration, arms

from labkit.bounds import Caps
from labkit.errors import InputError
from labkit.model import Api
from labkit.providers import Provider
from labkit.sandbox.interface import SidecarSandbox
from labkit.settings import Settings
from labkit.workspace import Workspace
from labkit_runner.accounting import Done, remarks_of
from labkit_runner.agents.interface import Account, Said
from labkit_runner.arms import with_route
from labkit_runner.gateway.wire import Exchange, Outcome, Wire

TOLD = {"input": 1, "output": 1}


def exchange(model: str, **more: object) -> Exchange:
    values = {"number": 1, "main": True, "outcome": Outcome.ANSWERED, "usage": TOLD, **more}
    return Exchange(model=model, **values)  # type: ignore[arg-type]


def remarks(*exchanges: Exchange, **more: bool) -> tuple[str, ...]:
    wire = Wire(exchanges=exchanges, **more)  # type: ignore[arg-type]
    account = Account(said=Said.COMPLETED)
    return remarks_of(cast("Done", SimpleNamespace(wire=wire, account=account)), "m1")


def test_another_model_on_the_wire_is_a_remark_once() -> None:
    assert remarks(exchange("m1")) == ()
    aside = exchange("m2", main=False)
    counted = exchange("m3", generates=False)
    [told] = remarks(exchange("m1"), aside, aside, counted)
    assert told == "asked for the model m2, and the configuration names m1"


def test_unknown_tokens_and_a_record_that_was_cut_are_remarks() -> None:
    failed = exchange("m1", usage=None, outcome=Outcome.ERROR, status=429)
    assert remarks(failed) == ()
    assert "1 answer of the model told no usage" in remarks(exchange("m1", usage=None))[0]
    assert "too large" in remarks(exchange("m1"), is_cut=True)[0]


def test_a_bound_on_cost_that_nobody_can_hold_is_refused(tmp_path: Path) -> None:
    [arm] = arms(Workspace(tmp_path), a_configuration(A)).values()
    provider = Provider(name="here", api=Api.CHAT, url="http://x", key="", prices={})
    asking = replace(arm, provider=provider)
    settings = cast("Settings", SimpleNamespace(caps=Caps(cost=1.0)))
    with pytest.raises(InputError, match="the provider here has no prices"):
        with_route(asking, cast("SidecarSandbox", None), settings)
