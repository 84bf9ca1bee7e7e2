"""Arguments and options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])


def file_argument(function: _Decorated) -> _Decorated:
    """Add FILE: a recorded session."""
    return click.argument("file", type=click.Path(path_type=Path), metavar="FILE")(function)


def skip_bad_option(function: _Decorated) -> _Decorated:
    """Add --skip-bad."""
    text = "Leave out what cannot be read in FILE and say how much that was, instead of refusing the file."
    return click.option("--skip-bad", is_flag=True, help=text)(function)


def store_option(function: _Decorated) -> _Decorated:
    """Add --store, which must be given."""
    return click.option(
        "--store", type=click.Path(path_type=Path), required=True, metavar="STORE", help="The store, one SQLite file."
    )(function)


def session_option(function: _Decorated) -> _Decorated:
    """Add --session for a store that is read."""
    text = "The session in the store. May be left out when the store holds one only."
    return click.option("--session", metavar="S", help=text)(function)


def output_options(function: _Decorated) -> _Decorated:
    """Add --json and --debug, which every command has."""
    as_json = click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document, and errors as JSON on standard error."
    )
    debug = click.option("--debug", is_flag=True, expose_value=False, help="Print the traceback of an error.")
    return as_json(debug(function))
