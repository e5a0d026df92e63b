import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from gitrepo import Project
from runs import A, Lab, a_configuration

from labkit.errors import InputError
from labkit.model import RunId, TaskId
from labkit.sandbox.interface import SidecarSandbox
from labkit_runner.agents.claude import ClaudeCode
from labkit_runner.agents.command import CommandAgent
from labkit_runner.agents.interface import GATEWAY, HOME, Launch, Request
from labkit_runner.attempt import perform
from labkit_runner.logins import (
    VENDORS,
    Login,
    Subscribed,
    TunnelRoute,
    read_login,
    warning,
)
from labkit_runner.masking import MASK

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ACCESS, REFRESH = "sk-ant-oat01-" + "aB3d" * 20, "sk-ant-ort01-" + "x9Q_" * 20
LATER = int(NOW.timestamp() * 1000) + 3_600_000
RUN = RunId(TaskId("bug-a"), A, 1)


def credentials(**changes: object) -> dict[str, object]:
    return {
        "accessToken": ACCESS,
        "refreshToken": REFRESH,
        "expiresAt": LATER,
        "scopes": ["user:inference", "user:profile"],
        "subscriptionType": "pro",
        **changes,
    }


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def a_file(folder: Path, **changes: object) -> Path:
    text = json.dumps({"claudeAiOauth": credentials(**changes)})
    return write(folder / ".claude" / ".credentials.json", text)


def a_login(folder: Path) -> Login:
    a_file(folder)
    return read_login("claude-code", {}, home=folder, now=NOW)


def test_a_login_is_one_file_at_its_usual_place(tmp_path: Path) -> None:
    found = a_login(tmp_path)
    assert (found.data, found.expires) == (
        a_file(tmp_path).read_bytes(),
        datetime(2026, 1, 2, 4, 4, 5, tzinfo=UTC),
    )
    assert found.secrets == (ACCESS, REFRESH)
    assert ACCESS not in repr(found)


def test_a_login_may_be_named(tmp_path: Path) -> None:
    elsewhere = write(tmp_path / "mine.json", json.dumps({"claudeAiOauth": credentials()}))
    environ = {"LABKIT_LOGIN_CLAUDE": str(elsewhere)}
    found = read_login("claude-code", environ, home=tmp_path / "nowhere", now=NOW)
    assert found.path == elsewhere


def read_badly(folder: Path, agent: str = "claude-code", **environ: str) -> str:
    with pytest.raises(InputError) as error:
        read_login(agent, environ, home=folder, now=NOW)
    assert error.value.hint
    assert ACCESS not in str(error.value) + str(error.value.hint)
    return error.value.message


def test_a_login_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "there is no" in read_badly(tmp_path)
    assert "no such file" in read_badly(tmp_path, LABKIT_LOGIN_CLAUDE=str(tmp_path / "no"))
    assert "is not a file" in read_badly(tmp_path, LABKIT_LOGIN_CLAUDE=str(tmp_path))
    path = write(tmp_path / "l.json", "{" + ACCESS)
    assert "not JSON" in read_badly(tmp_path, LABKIT_LOGIN_CLAUDE=str(path))
    write(path, json.dumps({"apiKey": ACCESS}))
    assert "no claudeAiOauth.accessToken" in read_badly(tmp_path, LABKIT_LOGIN_CLAUDE=str(path))
    write(path, json.dumps([ACCESS]))
    assert "no claudeAiOauth.accessToken" in read_badly(tmp_path, LABKIT_LOGIN_CLAUDE=str(path))
    write(path, " " * 200_000)
    assert "too large" in read_badly(tmp_path, LABKIT_LOGIN_CLAUDE=str(path))
    a_file(tmp_path).chmod(0o644)
    assert "can be read by others" in read_badly(tmp_path)


def test_a_login_that_is_over_is_refused(tmp_path: Path) -> None:
    a_file(tmp_path, expiresAt=LATER - 3_600_000)
    assert "ended on 2026-01-02 03:04 UTC" in read_badly(tmp_path)
    a_file(tmp_path, expiresAt="soon")
    assert read_login("claude-code", {}, home=tmp_path, now=NOW).expires is None


def test_agents_without_a_turn_limit_cannot_use_one(tmp_path: Path) -> None:
    assert "no turn limit of its own" in read_badly(tmp_path, "codex")
    assert "knows no subscription" in read_badly(tmp_path, "opencode")


def test_the_warning_says_how_to_revoke(tmp_path: Path) -> None:
    said = warning(a_login(tmp_path))
    assert "treat its token as exposed" in said
    assert VENDORS["claude-code"].revoke in said


def test_the_file_alone_goes_in_and_no_key_with_it(tmp_path: Path) -> None:
    write(tmp_path / ".claude" / "history.jsonl", "private")
    configuration = a_configuration(
        agent="claude-code", agent_version="2.1.332", login="subscription", steps=""
    )
    agent = Subscribed(ClaudeCode(), a_login(tmp_path))
    launch = agent.launch(Request(run=RUN, configuration=configuration, prompt="p", seed=1))
    (file,) = launch.home
    assert (file.path, file.data) == (b".claude/.credentials.json", a_file(tmp_path).read_bytes())
    assert launch.environment["HTTPS_PROXY"] == GATEWAY
    assert launch.environment["ANTHROPIC_BASE_URL"] == "https://api.anthropic.com"
    assert launch.environment["ANTHROPIC_API_KEY"] == ""
    (managed,) = launch.fixed["/etc/claude-code"]
    settings = json.loads(managed.data)
    assert settings["apiKeyHelper"] == ""
    assert settings["env"]["HTTPS_PROXY"] == GATEWAY
    assert ACCESS.encode() not in managed.data
    assert "--max-turns" in launch.argv


LEAKS = f"""\
token=$(grep -o 'sk-ant-oat01-[A-Za-z0-9]*' {HOME}/.claude/.credentials.json)
echo "out $token"; echo "err $token" >&2
printf '%s' "$token" | base64 -w0; echo
printf '%s' "$token" | fold -w 7
echo "x = '$token'" > a.py; printf 'bin\\0%s' "$token" > blob; ln -s "$token" link
mkdir -p {HOME}/.claude/projects/w
echo "{{\\"t\\": \\"$token\\"}}" > {HOME}/.claude/projects/w/s.jsonl
ls -l {HOME}/.claude/.credentials.json; find {HOME} -type f
"""


class Leaky(CommandAgent):
    """Writes the token of its login wherever it can."""

    def launch(self, request: Request) -> Launch:
        """Ask for its sessions, too."""
        return replace(super().launch(request), sessions=(".claude/projects/**/*.jsonl",))


def test_the_token_is_in_nothing_that_is_kept(
    project: Project, sandbox: SidecarSandbox, tmp_path: Path
) -> None:
    lab = Lab(project, sandbox)
    login = a_login(tmp_path)
    configuration = a_configuration(agent="command", command=("bash", "-c", LEAKS), steps="")
    job = replace(
        lab.job(configuration, RUN),
        agent=Subscribed(Leaky(), login),
        route=TunnelRoute(sandbox=sandbox, login=login, plain=None),  # type: ignore[arg-type] # no trial
        masker=login.masker,
    )
    record = perform(lab.bench, job, lab.workspace.run(RUN))
    folder = lab.workspace.run(RUN)
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert not [name for name, data in kept.items() if login.masker.finds(data)]
    assert b"out " + MASK in kept["transcript.txt"]
    assert b"err " + MASK in kept["stderr.txt"]
    assert b"+x = '" + MASK + b"'" in kept["diff.patch"]
    assert MASK in kept["sessions.tar"]
    assert sorted(record.left_out) == [
        f"{path}: it held a secret of the login, which was masked"
        for path in ("a.py", "blob", "link")
    ]
    assert (record.tokens, record.cost, record.requests) == (None, None, None)
    assert any("paid by a subscription" in remark for remark in record.remarks)
    project.git("checkout", "--quiet", "base")
    project.git("apply", "--check", "-", stdin=kept["diff.patch"])
