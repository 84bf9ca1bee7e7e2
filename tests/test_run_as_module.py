"""`python -m selfgc` is the command line."""

import runpy
import sys

import pytest


def test_the_module_runs_the_command(monkeypatch, capsys):
    """It prints the version and ends with exit code 0."""
    monkeypatch.setattr(sys, "argv", ["selfgc", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("selfgc", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("selfgc ")


def test_importing_the_module_runs_nothing():
    """Only as a program it runs."""
    assert "main" in runpy.run_module("selfgc.__main__", run_name="elsewhere")
