"""A group of commands whose most usual one needs no word: `labkit grade X`, `labkit summary`."""

from typing import Any, ClassVar

from typer.core import TyperGroup


class Wordless(TyperGroup):
    """A group that runs the command called `usual` when the first word is not another's."""

    usual: ClassVar[str]
    usages: ClassVar[tuple[str, ...]]
    """How to call the usual command, then the others, without the group's own name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the word in where another command, or a look at the help, is not meant."""
        if args[:1] != ["--help"] and (not args or args[0] not in self.commands):
            args = [self.usual, *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Show every way to call it."""
        for usage in self.usages:
            formatter.write_usage(ctx.command_path, usage)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Show the options of the usual command, then the commands."""
        usual = self.commands[self.usual]
        usual.format_options(type(ctx)(usual, parent=ctx, info_name=self.usual), formatter)
        self.format_commands(ctx, formatter)
