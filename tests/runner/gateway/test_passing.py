"""What the gateway lets through comes as it was sent, and everything is told."""

from pathlib import Path

from gateways import MESSAGE, SECRET, gateway, question, sse, upstream


def test_a_streamed_answer_passes_and_is_metered(tmp_path: Path) -> None:
    with (
        upstream() as server,
        gateway(tmp_path, server.url, prices={"m1": {"input": 3, "output": 15}}) as gate,
    ):
        status, body = gate.ask(question(), "/v1/messages?beta=true", **{"x-api-key": "dummy"})
        wire = gate.close()
    assert (status, body) == (200, sse(*MESSAGE))
    asked = server.requests[0]
    assert asked.raw_path == "/v1/messages?beta=true"
    assert asked.headers.getall("x-api-key") == [SECRET]
    assert wire.ended
    assert wire.answered == 1
    assert (wire.usage or {})["input"] == 100
    assert (wire.usage or {})["output"] == 20
    assert wire.cost == (100 * 3 + 20 * 15) / 1e6
    assert wire.last
    assert wire.last.stop == "end_turn"
    assert wire.fingerprint["model"] == "m1"
    assert "".join(each["text"] for each in gate.events("piece")).encode() == body
