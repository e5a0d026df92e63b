"""The gateway seen from labkit."""

import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, cast

import pytest
from gateways import SECRET, ProcessSandbox, ask_at, question, upstream

from labkit.bounds import Caps
from labkit.errors import InfrastructureError, InputError
from labkit.model import Api
from labkit.providers import Price, Provider
from labkit.sandbox.interface import Halt, SidecarSandbox
from labkit_runner.gateway.host import SOCKET, Terms, gateway, settings
from labkit_runner.gateway.keys import key_of
from labkit_runner.gateway.wire import Wire


def terms(url: str, **more: Any) -> Terms:
    provider = Provider(
        name="here",
        api=Api.ANTHROPIC,
        url=url,
        key="LABKIT_TEST_KEY",
        prices={"m1": Price(input=3, output=15)},
    )
    return Terms(provider=provider, key=SECRET, caps=Caps(), **more)


def run(
    folder: Path, asked: Terms, act: Callable[[str, Halt], None], sink: IO[bytes], module: str = ""
) -> tuple[Wire, Halt]:
    halt = Halt()
    sandbox = cast("SidecarSandbox", ProcessSandbox(folder, module))
    with gateway(sandbox, asked, sink, halt, grace=0.2) as found:
        act(f"{found.channel}/{SOCKET}", halt)
    return found.wire, halt


def until(true: Callable[[], object]) -> None:
    late = time.monotonic() + 10
    while not true():
        assert time.monotonic() < late
        time.sleep(0.01)


def test_every_line_is_kept_and_summed_up(tmp_path: Path) -> None:
    sink = io.BytesIO()
    with upstream() as server:
        wire, halt = run(
            tmp_path, terms(server.url), lambda place, _: (ask_at(place, question()), None)[1], sink
        )
    assert wire.ended
    assert wire.answered == 1
    assert wire.cost == pytest.approx(0.0006)
    assert halt.why == ""
    kinds = [json.loads(line)["kind"] for line in sink.getvalue().splitlines()]
    assert kinds[0] == "ready"
    assert kinds[-1] == "end"
    assert {"part", "piece", "request", "response", "fingerprint"} <= set(kinds)


def test_a_bound_stops_the_run_after_a_grace(tmp_path: Path) -> None:
    def act(place: str, halt: Halt) -> None:
        ask_at(place, question())
        status, answer = ask_at(place, question())
        assert status == 400
        assert b"bound on requests" in answer
        assert halt.why == ""
        until(lambda: halt.why)

    with upstream() as server:
        wire, halt = run(tmp_path, terms(server.url, turn_cap=1), act, io.BytesIO())
    assert wire.cap == "requests"
    assert halt.why == "its bound on requests was reached"


def test_a_run_that_ends_in_the_grace_is_not_stopped(tmp_path: Path) -> None:
    def act(place: str, _: Halt) -> None:
        ask_at(place, question())
        ask_at(place, question())

    with upstream() as server:
        wire, halt = run(tmp_path, terms(server.url, turn_cap=1), act, io.BytesIO())
    time.sleep(0.4)
    assert (wire.cap, halt.why) == ("requests", "")


def test_a_gateway_that_dies_stops_the_run(tmp_path: Path) -> None:
    sandbox = ProcessSandbox(tmp_path)
    halt = Halt()
    with (
        upstream() as server,
        gateway(cast("SidecarSandbox", sandbox), terms(server.url), io.BytesIO(), halt) as found,
    ):
        assert sandbox.last
        sandbox.last.process.kill()
        until(lambda: halt.why)
    assert "the gateway beside the run ended" in halt.why
    assert not found.wire.ended


def test_a_gateway_that_does_not_start_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"did not start: .*antigravity_missing"):
        run(
            tmp_path,
            terms("http://127.0.0.1:1"),
            lambda *_: None,
            io.BytesIO(),
            "antigravity_missing",
        )


class Full(io.RawIOBase):
    def write(self, _: object) -> int:
        raise OSError(28, "No space left on device")


def test_a_record_that_cannot_be_written_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="could not be written: No space left"):
        run(
            tmp_path,
            terms("http://127.0.0.1:1"),
            lambda _, halt: until(lambda: halt.why),
            cast("IO[bytes]", Full()),
        )


def test_settings_carry_what_the_provider_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "no_proxy", "NO_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://ana:s%40cret@proxy.example:3128")
    told = settings(terms("https://api.example", turn_cap=5, mask=("canary",)), "./s")
    assert told["caps"]["requests"] == 5
    assert told["prices"]["m1"]["input"] == 3
    assert told["prices"]["m1"]["cache_read"] is None
    assert told["proxy"] == "http://ana:s%40cret@proxy.example:3128"
    assert told["mask"] == ["canary", "s@cret"]
    assert "BEGIN CERTIFICATE" in told["ca"]
    monkeypatch.setenv("no_proxy", "api.example")
    assert settings(terms("https://api.example"), "./s")["proxy"] == ""
    assert settings(terms("http://api.example"), "./s")["ca"] == ""


def test_nothing_prints_a_key() -> None:
    assert SECRET not in repr(terms("http://x"))


PROVIDER = terms("https://api.example").provider


def test_a_key_comes_from_its_variable_or_a_private_file(tmp_path: Path) -> None:
    assert key_of(PROVIDER, {"LABKIT_TEST_KEY": " sk-1 \n"}) == "sk-1"
    file = tmp_path / "key"
    file.write_text("sk-2\n")
    file.chmod(0o600)
    assert key_of(PROVIDER, {"LABKIT_TEST_KEY_FILE": str(file)}) == "sk-2"


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({}, "the variable LABKIT_TEST_KEY is not set: the key of the provider here is needed"),
        ({"LABKIT_TEST_KEY": "  "}, "is not set"),
        ({"LABKIT_TEST_KEY": "a\r\nX: b"}, "holds no key"),
        ({"LABKIT_TEST_KEY": "sk-ключ"}, "holds no key"),
        ({"LABKIT_TEST_KEY": "a", "LABKIT_TEST_KEY_FILE": "b"}, "both LABKIT_TEST_KEY and"),
        ({"LABKIT_TEST_KEY_FILE": "/nowhere/key"}, "no key file /nowhere/key"),
    ],
)
def test_a_missing_or_odd_key_is_told(environ: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        key_of(PROVIDER, environ)
    assert "sk-" not in caught.value.message


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-2\n")
    file.chmod(0o644)
    with pytest.raises(InputError, match="can be read by others") as caught:
        key_of(PROVIDER, {"LABKIT_TEST_KEY_FILE": str(file)})
    assert caught.value.hint == f"run: chmod 600 {file}"
