"""How each coding agent is started."""
