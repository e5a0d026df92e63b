"""Why nobody could be reached, in a few words: without what the program calls its parts."""

import os

import aiohttp


def unreachable(error: aiohttp.ClientConnectorError | aiohttp.ClientHttpProxyError) -> str:
    """Return the place and what is wrong there, as in "127.0.0.1:8000: Connection refused"."""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy answered {error.status} {error.message}".rstrip()
    cause = error.os_error
    number = cause.errno or 0
    why = os.strerror(number) if number > 0 else cause.strerror or str(cause)
    return f"{error.host}:{error.port}: {why}"
