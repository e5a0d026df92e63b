"""Dockerfiles: what can be followed, and what is named because it cannot."""

from pathlib import Path

import pytest

from labkit.errors import InputError
from labkit.evals.dockerfile import Laid, follow

FILES = {
    "app.py": "x",
    "lib/a.py": "a",
    "lib/deep/b.py": "b",
    "data/one.csv": "1",
    "data/two.csv": "2",
}


@pytest.fixture
def context(tmp_path: Path) -> Path:
    """Return a folder with some files."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def laid(context: Path, *lines: str) -> Laid:
    """Follow a Dockerfile of these lines."""
    path = context / "Dockerfile"
    path.write_text("FROM python:3.12-slim\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return follow(path)


def placed(found: Laid, context: Path) -> dict[str, str]:
    """Return where files are placed, and which they are."""
    return {name: path.relative_to(context).as_posix() for name, path in found.files.items()}


@pytest.mark.parametrize(
    ("lines", "files"),
    [
        (["COPY app.py /app/"], {"/app/app.py": "app.py"}),
        (["COPY app.py /app/main.py"], {"/app/main.py": "app.py"}),
        (["WORKDIR /app", "COPY app.py ."], {"/app/app.py": "app.py"}),
        (["WORKDIR /app", "COPY app.py /app"], {"/app/app.py": "app.py"}),
        (["WORKDIR /app", "COPY ./app.py x/y.py"], {"/app/x/y.py": "app.py"}),
        (["WORKDIR /app", "WORKDIR src", "ADD app.py ./"], {"/app/src/app.py": "app.py"}),
        (
            ["COPY lib /app/lib"],
            {"/app/lib/a.py": "lib/a.py", "/app/lib/deep/b.py": "lib/deep/b.py"},
        ),
        (["COPY lib/ /app/"], {"/app/a.py": "lib/a.py", "/app/deep/b.py": "lib/deep/b.py"}),
        (["COPY data/*.csv /d/"], {"/d/one.csv": "data/one.csv", "/d/two.csv": "data/two.csv"}),
        (["COPY lib/a.py app.py /d"], {"/d/a.py": "lib/a.py", "/d/app.py": "app.py"}),
        (['COPY ["app.py", "/a b/x.py"]'], {"/a b/x.py": "app.py"}),
        (["COPY --chown=1000 --chmod=755 app.py /x"], {"/x": "app.py"}),
        (["COPY \\", "  # why", "  app.py \\", "  /app/"], {"/app/app.py": "app.py"}),
        (["copy app.py /x", "Copy lib/a.py /x"], {"/x": "lib/a.py"}),
    ],
)
def test_where_local_files_go(context: Path, lines: list[str], files: dict[str, str]) -> None:
    found = laid(context, *lines)
    assert (found.needs, found.problems) == ((), ())
    assert placed(found, context) == files


def test_the_whole_context(context: Path) -> None:
    found = laid(context, "WORKDIR /app", "COPY . .")
    assert set(placed(found, context).values()) == {*FILES, "Dockerfile"}
    assert found.workdir == "/app"


def test_variables_and_what_says_nothing_of_files(context: Path) -> None:
    found = laid(
        context, 'ENV A=1 B="two words"', "ENV C three", "ARG V=1", "EXPOSE 80", "USER root",
        'CMD ["sh"]', "ENTRYPOINT sh", "LABEL a=b", "SHELL [\"sh\"]", "# COPY no /x",
    )  # fmt: skip
    assert found.variables == {"A": "1", "B": "two words", "C": "three"}
    assert (found.files, found.needs, found.problems) == ({}, (), ())


@pytest.mark.parametrize(
    ("line", "need"),
    [
        ("RUN apt-get update && \\\n  apt-get install -y curl", "line 2: RUN apt-get update"),
        ("COPY --from=ghcr.io/x/uv:1 /uv /bin/", "line 2: COPY --from"),
        ("COPY --exclude=a lib /x", "line 2: COPY --exclude"),
        ("ADD https://example.org/a.txt /x", "line 2: ADD https"),
        ("ADD a.tar.gz /x", "line 2: ADD a.tar.gz"),
        ("COPY $SRC /x", "(a variable)"),
        ("ENV PATH=$PATH:/x", "ENV PATH (a variable)"),
        ("FROM alpine", "line 2: FROM alpine"),
        ("RUN <<EOF\ncp app.py /x\nEOF\nCOPY app.py /y", "(and all that follows)"),
    ],
)
def test_what_needs_an_image(context: Path, line: str, need: str) -> None:
    found = laid(context, line)
    assert (found.files, found.problems) == ({}, ())
    (told,) = found.needs
    assert need in told


def test_another_stage_starts_from_nothing(context: Path) -> None:
    found = laid(context, "WORKDIR /a", "COPY app.py /a/", "FROM scratch", "COPY lib/a.py /b/")
    assert placed(found, context) == {"/b/a.py": "lib/a.py"}
    assert found.workdir == "/"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("COPY gone.py /x", "gone.py is not there"),
        ("COPY ../secret /x", "../secret is not there"),
        ("COPY link /x", "link is not there"),
        ("COPY folder /x", "is no plain file"),
        ("COPY app.py", "is not understood"),
        ('COPY "app.py /x', "is not understood"),
        ("COPY [1", "is not understood"),
        ("WORKDIR", "is not understood"),
        ("FRMO x", "is no instruction"),
    ],
)
def test_what_is_not_understood(context: Path, line: str, problem: str) -> None:
    (context / "link").symlink_to("/etc/passwd")
    (context / "folder").mkdir()
    (context / "folder" / "link").symlink_to("/etc/passwd")
    found = laid(context, line)
    assert (found.files, found.needs) == ({}, ())
    (told,) = found.problems
    assert problem in told


def test_what_is_ignored_is_not_copied(context: Path) -> None:
    ignored = "# no\nDockerfile\n.dockerignore\n/lib/deep/\ndata/*.csv\n*.md\n"
    (context / ".dockerignore").write_text(ignored, encoding="utf-8")
    (context / "lib" / "notes.md").write_text("x", encoding="utf-8")
    (context / "notes.md").write_text("x", encoding="utf-8")
    found = laid(context, "COPY . /app")
    assert set(placed(found, context).values()) == {"app.py", "lib/a.py", "lib/notes.md"}
    assert found.problems == ()
    assert "data/one.csv is not there" in laid(context, "COPY data/one.csv /x").problems[0]


@pytest.mark.parametrize("line", ["!app.py", "[z-a]"])
def test_what_of_a_dockerignore_is_not_understood(context: Path, line: str) -> None:
    (context / ".dockerignore").write_text(f"{line}\n", encoding="utf-8")
    assert laid(context).problems == (f".dockerignore: {line} is not followed",)


def test_what_is_no_dockerfile(context: Path) -> None:
    (context / "Dockerfile").write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        follow(context / "Dockerfile")
