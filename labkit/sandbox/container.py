"""What a container is made of: the engine settings that a spec turns into, all hardening on."""

from typing import Any

import docker
from docker.types import LogConfig, Ulimit

from labkit.sandbox.bootstrap import bootstrap
from labkit.sandbox.interface import CHANNEL, SANDBOX_UID, Limits, Spec
from labkit.sandbox.owner import Owner

MIB = 1024 * 1024
OPEN_FILES = 4096
RUN_LABEL = "labkit.run"
"""The label by which people know whose a leftover was."""
TEMPORARY = "/tmp"  # noqa: S108 - inside a sandbox, where it is private and empty


def container_settings(
    client: docker.APIClient, spec: Spec, *, image: str, cpus: float
) -> dict[str, Any]:
    """Return the arguments of `create_container` for a spec.

    `image` is what the image of the spec was prepared as; `cpus` is what the engine has.
    """
    sizes = (len(spec.returned_tar), len(spec.streamed_tar))
    typed = spec.keyboard is not None
    command = bootstrap(spec.argv, returned=spec.returned, sizes=sizes, typed=typed)
    return {
        "image": image,
        "entrypoint": command[:1],
        "command": command[1:],
        "user": f"{SANDBOX_UID}:{SANDBOX_UID}",
        "working_dir": spec.workdir,
        "environment": {"HOME": spec.home or TEMPORARY, "LANG": "C.UTF-8", **spec.environment},
        "labels": {**spec.labels, "labkit": "1", "labkit.owner": Owner.current().text()},
        "volumes": [spec.returned, spec.home] if spec.home else [spec.returned],
        "stdin_open": True,
        "healthcheck": {"test": ["NONE"]},
        "use_config_proxy": False,
        "host_config": client.create_host_config(
            network_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            init=True,
            log_config=LogConfig(type="none"),
            tmpfs=_memory_folders(spec),
            binds=[f"{spec.channel}:{CHANNEL}:ro,nocopy"] if spec.channel else None,
            **_limits(spec.limits, cpus=cpus),
        ),
    }


def _memory_folders(spec: Spec) -> dict[str, str]:
    # Without `exec` the scripts of a virtual environment cannot run; without uid and gid a folder
    # that the image already has keeps its owner.
    common = f"rw,exec,nosuid,nodev,size={spec.limits.scratch}m,uid={SANDBOX_UID},gid={SANDBOX_UID}"
    folders = dict.fromkeys(spec.memory_folders, f"{common},mode=0755")
    return folders | {TEMPORARY: f"{common},mode=1777"}


def _limits(limits: Limits, *, cpus: float) -> dict[str, Any]:
    memory = limits.memory * MIB
    # A file larger than what is read back could not be returned anyway.
    return {
        "pids_limit": limits.processes,
        "mem_limit": memory,
        "memswap_limit": memory,
        "nano_cpus": int(min(limits.cpus, cpus) * 1e9),
        "ulimits": [
            Ulimit(name="fsize", soft=limits.returned_bytes, hard=limits.returned_bytes),
            Ulimit(name="nofile", soft=OPEN_FILES, hard=OPEN_FILES),
            Ulimit(name="core", soft=0, hard=0),
        ],
    }
