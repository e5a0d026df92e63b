"""What a failed exchange says of itself, and what is made of it: kind, words and wait together."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from labkit.model import Ended
from labkit.sandbox.interface import Outcome
from labkit_runner.causes import Broken, cause
from labkit_runner.failures import failure
from labkit_runner.gateway.apis.interface import told_error
from labkit_runner.gateway.doors import wait_of
from labkit_runner.gateway.wire import Exchange, Wire, read_wire
from labkit_runner.gateway.wire import Outcome as Came
from labkit_runner.voided import broken

GEMINI = "You exceeded your current quota, please check your plan and billing details."
DETAILS = "type.googleapis.com/google.rpc"


def gemini(quota: str, delay: str = "") -> dict[str, Any]:
    details: list[dict[str, Any]] = [
        {"@type": f"{DETAILS}.QuotaFailure", "violations": [{"quotaId": quota}]}
    ]
    if delay:
        details.append({"@type": f"{DETAILS}.RetryInfo", "retryDelay": delay})
    return {"code": 429, "message": GEMINI, "status": "RESOURCE_EXHAUSTED", "details": details}


MINUTE = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
TPM = (
    "Rate limit reached for m on tokens per min (TPM): Limit 30000. Visit "
    "https://platform.openai.com/account/billing to add a payment method: more quota."
)
CASES: Mapping[str, tuple[int, Mapping[str, Any], Broken, str]] = {
    "a balancer": (502, {"message": "upstream connect error from a load balancer"},
                   Broken.OVERLOADED, "the model's API failed (502)"),
    "credit service down": (500, {"message": "credit balance service is down"},
                            Broken.OVERLOADED, "the model's API failed (500)"),
    "TPM with a link": (429, {"type": "tokens", "code": "rate_limit_exceeded", "message": TPM},
                        Broken.RATE_LIMIT, "too many requests (429)"),
    "TPM without a code": (429, {"message": TPM}, Broken.RATE_LIMIT, "too many requests (429)"),
    "no quota": (429, {"type": "insufficient_quota", "message": GEMINI},
                 Broken.QUOTA, "the quota is used up (429)"),
    "no quota, in words": (429, {"message": GEMINI}, Broken.QUOTA, "the quota is used up (429)"),
    "Gemini a minute": (429, gemini(MINUTE, "32s"), Broken.RATE_LIMIT, "too many requests (429)"),
    "Gemini a minute, no delay": (429, gemini(MINUTE), Broken.RATE_LIMIT, "too many requests"),
    "Gemini a day": (429, gemini(DAY, "40s"), Broken.QUOTA, "the quota is used up (429)"),
    "spend limit": (400, {"type": "invalid_request_error",
                          "message": "You have reached your specified API spend limit."},
                    Broken.QUOTA, "the quota is used up (400)"),
    "usage limits": (400, {"type": "invalid_request_error",
                           "message": "You have reached your specified API usage limits."},
                     Broken.QUOTA, "the quota is used up (400)"),
    "credit": (400, {"message": "Your credit balance is too low to access the API"},
               Broken.QUOTA, "the quota is used up (400)"),
    "bill": (403, {"type": "billing_error"}, Broken.QUOTA, "the quota is used up (403)"),
    "no money": (402, {}, Broken.QUOTA, "the quota is used up (402)"),
    "about balance": (400, {"message": "tool balance: unknown field credit"},
                      Broken.REQUEST, "did not take the request (400)"),
    "no key": (401, {"message": "see your billing page, your quota"}, Broken.AUTH, "key was"),
    "not for you": (403, {"type": "permission_error"}, Broken.AUTH, "the key was refused (403)"),
    "no model": (404, {"message": "no quota for this model"}, Broken.MODEL, "not known (404)"),
    "busy": (529, {"type": "overloaded_error"}, Broken.OVERLOADED, "is overloaded (529)"),
    "busy in a stream": (200, {"type": "overloaded_error"}, Broken.OVERLOADED, "is overloaded"),
    "rate in a stream": (200, {"type": "rate_limit_error"}, Broken.RATE_LIMIT, "too many requests"),
    "quota in a stream": (200, {"code": "insufficient_quota"}, Broken.QUOTA, "quota is used up"),
}  # fmt: skip


def failed(status: int | None, error: Mapping[str, Any], header: str | None = None) -> Wire:
    return wire_of("error", status=status, error=told_error(dict(error)), retry_after=header)


def wire_of(outcome: str, **values: Any) -> Wire:
    request = {"kind": "request", "t": 0, "n": 1, "main": True, "model": "m"}
    response = {
        "kind": "response", "t": 1, "n": 1, "outcome": outcome, "status": None, "seconds": 1,
        "usage": None, "cost": None, "stop": "", "error": None, "web": [],
    }  # fmt: skip
    return read_wire(json.dumps(each).encode() for each in (request, response | values))


def last(wire: Wire) -> Exchange:
    assert wire.final
    return wire.final


@pytest.mark.parametrize("case", CASES)
def test_kind_and_reason_agree(case: str) -> None:
    status, error, kind, said = CASES[case]
    exchange = last(failed(status, error))
    assert cause(exchange) is kind
    assert said in failure(exchange)
    money = kind is Broken.QUOTA
    assert ("quota is used up" in failure(exchange).partition(":")[0]) is money


@pytest.mark.parametrize(
    ("header", "error", "seconds"),
    [
        ("2", {}, 2.0),
        ("2", gemini(MINUTE, "32.5s"), 2.0),
        (None, gemini(MINUTE, "32.5s"), 32.5),
        ("3600", {}, 3600.0),
        (None, {}, None),
        ("soon", {}, None),
        ("-3", {}, None),
        ("nan", {}, None),
    ],
)
def test_what_the_api_asks_to_wait_reaches_who_tries_again(
    header: str | None, error: Mapping[str, Any], seconds: float | None
) -> None:
    outcome = Outcome(ended=Ended.EXITED, exit_code=1, seconds=9, cut_bytes=0, image_digest="")
    found = broken("too many requests", outcome, failed(429, error, header))
    assert found.retry_after == seconds
    assert found.kind is Broken.RATE_LIMIT


def test_every_form_of_the_header_is_seconds() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 95 <= float(wait_of({"Retry-After": later}) or "") <= 100
    assert wait_of({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}) == "0"
    assert wait_of({"Retry-After": " 7 ", "x": "y"}) == "7"
    assert wait_of({"retry-after-ms": "1500", "Retry-After": "2"}) == "1.5"
    assert wait_of({"Retry-After": "tomorrow"}) == "tomorrow"
    assert wait_of({}) is None


@pytest.mark.parametrize("outcome", [Came.ABANDONED, Came.CUT, Came.DROPPED, Came.SILENT])
def test_what_broke_off_before_it_told_its_use_costs_what_nobody_knows(outcome: Came) -> None:
    assert wire_of(outcome, status=200).cost is None
    assert wire_of(outcome, status=200, usage={"input": 5}, cost=0.5).cost == 0.5


def test_a_refusal_and_what_never_arrived_cost_nothing() -> None:
    assert failed(529, {}).cost == 0
    assert wire_of(Came.UNREACHABLE).cost == 0
    assert wire_of(Came.ERROR, status=200).cost is None  # it was answering already


def test_a_request_that_was_on_its_way_when_the_gateway_died_is_not_free() -> None:
    request = {"kind": "request", "t": 0, "n": 1, "main": True, "model": "m"}
    refused = {"kind": "refused", "t": 0, "n": 1, "method": "", "target": "", "why": "over"}
    lines = [json.dumps(each).encode() for each in (request, refused)]
    assert read_wire(lines[:1]).cost is None
    assert read_wire(lines).cost == 0
