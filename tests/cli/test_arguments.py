"""Shared arguments and options."""

import click

from selfgc.cli import arguments


def parameters(*decorators):
    """The parameters of a command with these decorators, by name."""

    def command(**_):
        pass

    for decorate in decorators:
        command = decorate(command)
    return {parameter.name: parameter for parameter in click.command()(command).params}


def test_each_decorator_adds_its_parameters():
    """Names are those of the usage lines."""
    found = parameters(
        arguments.file_argument,
        arguments.skip_bad_option,
        arguments.store_option,
        arguments.session_option,
        arguments.output_options,
    )
    assert set(found) == {"file", "skip_bad", "store", "session", "as_json", "debug"}
    assert found["store"].required
    assert found["file"].metavar == "FILE"


def test_debug_is_no_argument_of_the_command():
    """Only the outer edge looks at it."""
    assert parameters(arguments.output_options)["debug"].expose_value is False
