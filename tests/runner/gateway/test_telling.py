"""What is told of a run is bounded, whatever is asked."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from gateways import gateway, question, upstream

from labkit_runner.gateway.masks import Mask
from labkit_runner.gateway.telling import Teller, bounded
from labkit_runner.gateway.wire import read_wire

WEB = [{"type": "web_search_20250305", "name": "x"}]


def lines(out: io.BytesIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_refused_request_is_told_by_its_digest_and_size(tmp_path: Path) -> None:
    junk = "J" * 3_000_000
    with upstream() as server, gateway(tmp_path, server.url) as gate:
        for _ in range(3):
            assert gate.ask(question(tools=WEB, junk=junk, system=junk))[0] == 400
        wire = gate.close()
        told = [json.dumps(each) for kind in ("request", "part") for each in gate.events(kind)]
        [first, *_] = gate.events("request")
    assert not wire.exchanges
    assert len(set(wire.refused)) == 1
    assert sum(map(len, told)) < 3000
    assert first["bytes"] > 6_000_000
    assert first["digest"].startswith("sha256:")
    assert (first["params"], first["parts"]) == ({}, {})


def test_large_parameters_and_parts_are_told_by_digest_and_beginning(tmp_path: Path) -> None:
    body = question(output_config={"format": "F" * 200_000}, system="S" * 2_000_000)
    body["messages"] = [{"role": "user", "content": str(each)} for each in range(20_000)]
    with upstream() as server, gateway(tmp_path, server.url) as gate:
        assert gate.ask(body)[0] == 200
        [request] = gate.events("request")
        parts = gate.events("part")
    config = request["params"]["output_config"]
    assert (config["size"] > 200_000, len(config["beginning"])) == (True, 2000)
    assert request["params"]["max_tokens"] == 1000
    assert len(request["parts"]["messages"]) == 5001
    [system] = [each for each in parts if each["digest"] in request["parts"]["system"]]
    assert system["cut"] > 1_900_000
    assert len(json.dumps(request)) < 600_000


def test_so_many_parameters_are_told_as_one() -> None:
    told = bounded({str(each): "x" * 50 for each in range(50_000)})
    assert list(told) == ["all"]
    assert len(json.dumps(told)) < 5000


def test_no_beginning_holds_the_beginning_of_a_secret(tmp_path: Path) -> None:
    secret = "sk-very-secret-0123456789"
    body = question(output_config="x" * 1990 + secret + "y" * 100_000)
    with upstream() as server, gateway(tmp_path, server.url, secret=secret) as gate:
        gate.ask(body)
        [request] = gate.events("request")
    assert "sk-very" not in json.dumps(request)


def test_from_a_bound_on_only_numbers_are_told() -> None:
    out = io.BytesIO()
    teller = Teller(out, Mask(()), most=1000)
    teller.part("a" * 700)
    teller.tell("piece", n=1, text="b" * 200)
    before = len(out.getvalue())
    for number in range(100):
        teller.part(f"{number}" * 900)
        teller.tell("piece", n=1, text="c" * 900)
        teller.tell("refused", method="POST", target="/", why="no")
    request = {"n": 2, "main": True, "use": "generate", "model": "m"}
    teller.tell("request", **request, params={"x": "y" * 900}, parts={"system": ["z" * 900]})
    teller.tell("end")
    assert len(out.getvalue()) < before + 400
    told = lines(out)
    assert [each["kind"] for each in told] == ["part", "piece", "cut", "request", "end"]
    assert (told[3]["params"], told[3]["parts"], told[4]["refused"]) == ({}, {}, 100)
    assert read_wire(out.getvalue().splitlines()).is_cut


@pytest.mark.parametrize("most", [10_000])
def test_refusals_without_end_are_counted(most: int) -> None:
    out = io.BytesIO()
    teller = Teller(out, Mask(()))
    for _ in range(most + 5):
        teller.tell("refused", method="POST", target="/", why="no")
    teller.tell("end")
    told = lines(out)
    assert not teller.listens
    assert (len(told), told[-1]["refused"]) == (most + 1, most + 5)
