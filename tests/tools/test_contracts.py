"""What `.importlinter` stops, on a package of empty rooms with one wrong import."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
ROOMS = ("model", "economics", "governance", "dialects", "planners", "sidecar", "engine", "readers", "bench", "cli")


def lint(root: Path, **files: str) -> str:
    """Write the empty rooms and `room___module=source`, run the contracts, and return what is printed."""
    package = root / "selfgc"
    for folder in (package, *(package / room for room in ROOMS)):
        folder.mkdir()
        (folder / "__init__.py").touch()
    (package / "errors.py").touch()
    (package / "model" / "anchors.py").touch()
    for name, source in files.items():
        path = package.joinpath(*name.split("___")).with_suffix(".py")
        path.parent.mkdir(exist_ok=True, parents=True)
        for folder in path.relative_to(package).parents:
            (package / folder / "__init__.py").touch()
        path.write_text(source)
    command = [Path(sys.executable).parent / "lint-imports", "--no-logo", "--no-cache", ROOT / ".importlinter"]
    return subprocess.run(command, cwd=root, capture_output=True, check=False, text=True).stdout


def test_sound_imports_are_kept(tmp_path):
    """Downward imports, from modules, in every room; the package itself may import the engine."""
    assert "4 kept, 0 broken" in lint(
        tmp_path,
        __init__="from selfgc.engine.context import x",
        engine___context="import os\nfrom selfgc.model.anchors import x",
        planners___newest="import re\nfrom selfgc.model.anchors import x",
        bench___judge___typed="from selfgc.bench.judge.uses import x",
        bench___judge___uses="import re",
    )


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            {"model___ids": "from selfgc.governance.decide import x", "governance___decide": ""},
            "selfgc.model.ids -> selfgc.gov",
        ),
        (
            {"sidecar___memory": "import selfgc.engine.context", "engine___context": ""},
            "selfgc.sidecar.memory -> selfgc.engine",
        ),
        ({"proxy___app": "import selfgc.bench.core", "bench___core": ""}, "selfgc.proxy.app -> selfgc.bench.core"),
        ({"attic": ""}, "- selfgc.attic"),
        ({"planners___clock": "import time"}, "selfgc.planners.clock -> time"),
        ({"dialects___chat": "import os.path"}, "selfgc.dialects.chat -> os"),
        ({"errors": "def f():\n    from urllib.request import urlopen"}, "selfgc.errors -> urllib"),
        ({"cli___main": "from selfgc import version", "__init__": "version = 1"}, "selfgc.cli.main -> selfgc (l.1)"),
        (
            {"cli___main": "from selfgc.model import x", "model_____init__": "x = 1"},
            "selfgc.cli.main -> selfgc.model (l.1)",
        ),
        ({"bench___judge___uses": "import selfgc.model.anchors"}, "selfgc.bench.judge.uses -> selfgc.model.anchors"),
        (
            {
                "bench___judge___typed": "import selfgc.bench.x",
                "bench___x": "import selfgc.planners.y",
                "planners___y": "",
            },
            "selfgc.bench.judge.typed -> selfgc.bench.x",
        ),
    ],
)
def test_wrong_imports_are_told(tmp_path, files, told):
    """Upward, sideways, unplaced, impure, through a facade, or the judge's: each breaks one contract."""
    printed = lint(tmp_path, **files)
    assert "3 kept, 1 broken" in printed
    assert told in printed
