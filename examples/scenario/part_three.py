"""Turns 5 and 6: the history of batches, and the duty."""

from scenario.script import TESTS, Turn, bash, do, edit, read, write

HISTORY = Turn(
    "That is what I call proof, I have shown it to the head of NORD. Next: we want to keep the result of each batch "
    "and "
    "compare two of them. One SQLite file, named stock.db, not committed. Commands save, runs and compare. "
    "Please save the very first sample batch and Thursday, then make Friday (seed 32, 900 events, data/friday.log), "
    "save it too and "
    "tell me what differs most between Thursday and Friday.",
    (
        do(
            "I'll keep two tables, one row a batch and one a place.",
            write("stocktake/store.py"),
            write("tests/test_store.py"),
        ),
        do("", bash("python -m unittest tests.test_store", "Run the new tests", fails=True)),
        do(
            "SQLite says it plainly: ON CONFLICT needs a key that is unique. The stock table gets a primary key.",
            edit(
                "stocktake/store.py",
                "    value_cents INTEGER NOT NULL\n);\n",
                "    value_cents INTEGER NOT NULL,\n    PRIMARY KEY (batch, site, article)\n);\n",
            ),
        ),
        do("", bash("python -m unittest tests.test_store", "Run the new tests again", fails=True)),
        do(
            "Two more. Saving again must first delete what the batch had, then no conflict can arise at all; and a "
            "place "
            "that one batch does not know counts as zero.",
            edit(
                "stocktake/store.py",
                "            self.connection.executemany(\n"
                '                "INSERT INTO stock VALUES (?, ?, ?, ?, ?)"\n'
                '                " ON CONFLICT (batch, site, article) DO UPDATE SET"\n'
                '                " on_hand = excluded.on_hand, value_cents = excluded.value_cents",\n',
                '            self.connection.execute("DELETE FROM stock WHERE batch = ?", (batch,))\n'
                "            self.connection.executemany(\n"
                '                "INSERT INTO stock VALUES (?, ?, ?, ?, ?)",\n',
            ),
            edit(
                "stocktake/store.py",
                "        changes = [Change(site, article, old[site, article], new[site, article]) for site, article "
                "in places]\n",
                "        changes = [Change(*place, old.get(place, 0), new.get(place, 0)) for place in places]\n",
            ),
        ),
        do("", bash("python -m unittest tests.test_store", "Run the new tests again")),
        do(
            "The three commands.",
            edit(
                "stocktake/cli.py",
                "def make_parser() -> argparse.ArgumentParser:\n",
                "def run_save(options: argparse.Namespace) -> int:\n"
                '    """Save the stock after a log under the id of its batch."""\n'
                "    settings = read_settings(options.config)\n"
                "    log = read_log(options.log)\n"
                "    sifted = sift(log.events, settings.echo_devices, settings.echo_window)\n"
                "    ledger = replay(sifted.events, settings.offsets)\n"
                "    rows = make_rows(ledger, load_prices(settings.prices), settings.customs.rates_micro, "
                "settings.customs.reserve)\n"
                "    with History(options.store) as history:\n"
                "        history.save(options.batch, rows, len(log.rejects), len(sifted.echoes))\n"
                '    print(f"saved {options.batch}: {len(rows)} rows")\n'
                "    return 0\n\n\n"
                "def run_runs(options: argparse.Namespace) -> int:\n"
                '    """List the saved batches."""\n'
                "    with History(options.store) as history:\n"
                "        for run in history.runs():\n"
                '            print(f"{run.batch:<16} {run.pieces:>7} pieces {shown(run.value_cents):>14} "\n'
                '                  f"{run.rejects:>3} rejects {run.echoes:>3} echoes")\n'
                "    return 0\n\n\n"
                "def run_compare(options: argparse.Namespace) -> int:\n"
                '    """Print what differs between two batches, the largest change first."""\n'
                "    with History(options.store) as history:\n"
                "        changes = history.compare(options.before, options.after)\n"
                "    for change in sorted(changes, key=lambda change: (-abs(change.pieces), change.site, "
                "change.article)):\n"
                '        print(f"{change.site:<5} {change.article} {change.before:>5} -> {change.after:>5} '
                '{change.pieces:+d}")\n'
                '    print(f"{len(changes)} places differ")\n'
                "    return 0\n\n\n"
                "def make_parser() -> argparse.ArgumentParser:\n",
            ),
            edit(
                "stocktake/cli.py",
                "    differences.set_defaults(run=run_differences)\n",
                "    differences.set_defaults(run=run_differences)\n"
                '    save = commands.add_parser("save", help="save the stock after a log")\n'
                '    save.add_argument("log", type=Path)\n'
                '    save.add_argument("--batch", required=True)\n'
                "    save.set_defaults(run=run_save)\n"
                '    runs = commands.add_parser("runs", help="list the saved batches")\n'
                "    runs.set_defaults(run=run_runs)\n"
                '    compare = commands.add_parser("compare", help="compare two saved batches")\n'
                '    compare.add_argument("before")\n'
                '    compare.add_argument("after")\n'
                "    compare.set_defaults(run=run_compare)\n"
                "    for command in (save, runs, compare):\n"
                '        command.add_argument("--store", type=Path, default=STORE)\n',
            ),
            edit(
                "stocktake/cli.py",
                'CONFIG = Path("config/stocktake.toml")\n',
                'CONFIG = Path("config/stocktake.toml")\nSTORE = Path("stock.db")\n',
            ),
            edit(
                "stocktake/cli.py",
                "from stocktake.settings import read_settings\n",
                "from stocktake.settings import read_settings\nfrom stocktake.store import History\n",
            ),
        ),
        do(
            "",
            bash(
                "python -m stocktake.cli save data/scan-a.log --batch «first_batch» && "
                "python -m stocktake.cli save data/thursday.log --batch «thursday_batch»",
                "Save the first two batches",
            ),
            bash(
                "python tools/scanner.py --seed 32 --events 900 --out data/friday.log",
                "Make Friday's log",
                friday_batch=r"^batch\s+(\S+)",
                friday_intake=r"^intake\s+(\S+)",
            ),
        ),
        do(
            "",
            bash("python -m stocktake.cli save data/friday.log --batch «friday_batch»", "Save Friday"),
            bash("python -m stocktake.cli runs", "List the batches", fails=True),
        ),
        do(
            "Another import that I forgot, `shown`. The command had no test, so it gets one now.",
            edit(
                "stocktake/cli.py",
                "from stocktake.prices import load_prices\n",
                "from stocktake.prices import load_prices, shown\n",
            ),
            edit(
                "tests/test_cli.py",
                "    def test_bad_settings_are_one_line_and_exit_code_2(self):\n",
                "    def test_saved_batches_are_listed_and_compared(self):\n"
                '        store = ["--store", str(self.root / "stock.db")]\n'
                '        for batch in ("BX-T-1", "BX-T-2"):\n'
                '            self.run_command("save", str(self.root / "day.log"), "--batch", batch, *store)\n'
                '        _, listed = self.run_command("runs", *store)\n'
                '        self.assertEqual([line.split()[0] for line in listed.splitlines()], ["BX-T-1", "BX-T-2"])\n'
                '        self.assertEqual(self.run_command("compare", "BX-T-1", "BX-T-2", *store), (0, "0 places '
                'differ\\n"))\n\n'
                "    def test_bad_settings_are_one_line_and_exit_code_2(self):\n",
            ),
        ),
        do(
            "",
            bash(TESTS, "Run all tests", tests=r"Ran (\d+) tests"),
            bash(
                "python -m stocktake.cli runs",
                "List the batches",
                thursday_pieces=r"^«thursday_batch»\s+(\d+) pieces",
                friday_pieces=r"^«friday_batch»\s+(\d+) pieces",
            ),
            bash(
                "python -m stocktake.cli compare «thursday_batch» «friday_batch»",
                "Compare the two days",
                top_site=r"\A(\S+)",
                top_article=r"\A\S+\s+(\d+)",
                top_change=r"\A.* ([+-]\d+)$",
                places=r"^(\d+) places differ",
            ),
        ),
        do(
            "",
            bash("git status --short", "Is the store ignored?"),
            bash(
                "git add -A && git commit -q -m 'store: save batches, list and compare them' "
                "-m 'Ticket: WH-2291' && git log --oneline",
                "Commit",
                store_commit=r"^([0-9a-f]{7,}) store",
            ),
        ),
    ),
    "Saved batches live in stock.db, which is ignored. «first_batch», «thursday_batch» and «friday_batch» are in it, "
    "with "
    "«thursday_pieces» pieces on Thursday and «friday_pieces» on Friday. «places» places differ; the largest change is "
    "«top_article» at «top_site», «top_change» pieces. One caveat: our logs begin with an opening stock of their "
    "own, so "
    "this compares two separate days and not one day following the other. «tests» tests pass, commit «store_commit».",
)

DUTY = Turn(
    "Now something from the customs office: for the declaration they want the duty on our stock, by tariff code, of "
    "one "
    "batch. The tariffs and the exempt site are in the customs file you read at the beginning. Duty is "
    "rounded once per code. Nothing is written into that file, of course. A command `duty LOG` please, and the "
    "result for Friday.",
    (
        do(
            "I still have the file in view: six tariffs with their duty per mille, HAFEN exempt. The calculation "
            "gets a module of its own.",
            write("stocktake/duty.py"),
            write("tests/test_duty.py"),
        ),
        do("", bash("python -m unittest tests.test_duty", "Run the new tests")),
        do(
            "Now the settings have to read tariffs and exempt sites. That is the `Customs` class and `read_customs`.",
            edit(
                "stocktake/settings.py",
                "    rates_micro: dict[str, int]\n    reserve: dict[int, int]\n",
                "    rates_micro: dict[str, int]\n    reserve: dict[int, int]\n"
                "    tariffs: dict[str, Tariff]\n    exempt_sites: frozenset[str]\n",
            ),
            edit(
                "stocktake/settings.py",
                '        declaration = str(data["declaration"])\n',
                '        declaration = str(data["declaration"])\n'
                "        tariffs = {\n"
                '            str(group): Tariff(str(row["code"]), int(row["duty_per_mille"]))\n'
                '            for group, row in data["tariffs"].items()\n'
                "        }\n"
                '        exempt = frozenset(map(str, data["exempt_sites"]))\n',
            ),
            edit(
                "stocktake/settings.py",
                "    return Customs(declaration, rates, reserve)\n",
                "    return Customs(declaration, rates, reserve, tariffs, exempt)\n",
            ),
            edit(
                "stocktake/settings.py",
                "from stocktake.errors import BadConfig\n",
                "from stocktake.duty import Tariff\nfrom stocktake.errors import BadConfig\n",
            ),
        ),
        do("", bash(TESTS, "Run all tests", fails=True)),
        do(
            "As it should be: the settings now insist on tariffs, and the small customs file in test_cli.py has "
            "none. The "
            "test's world is what has to grow.",
            edit(
                "tests/test_cli.py",
                '    "reserve": {},\n}\n',
                '    "reserve": {},\n'
                '    "tariffs": {"bolts": {"code": "7318 15 88", "duty_per_mille": 37}},\n'
                '    "exempt_sites": ["HAFEN"],\n}\n',
            ),
            read("stocktake/cli.py"),
        ),
        do(
            "Four commands begin with the same five lines by now. I'll put them into one function before I add a "
            "fifth.",
            edit(
                "stocktake/cli.py",
                "def run_report(options: argparse.Namespace) -> int:\n"
                '    """Print the stock after a log, in one of three forms."""\n'
                "    settings = read_settings(options.config)\n"
                "    log = read_log(options.log)\n"
                "    sifted = sift(log.events, settings.echo_devices, settings.echo_window)\n"
                "    ledger = replay(sifted.events, settings.offsets)\n"
                "    rows = make_rows(ledger, load_prices(settings.prices), settings.customs.rates_micro, "
                "settings.customs.reserve)\n"
                "    sys.stdout.write(FORMS[options.form](Report(options.batch, rows, len(log.rejects))))\n",
                "class Day(NamedTuple):\n"
                '    """A log, sifted, replayed and priced: what most commands begin with."""\n\n'
                "    settings: Settings\n"
                "    log: Log\n"
                "    sifted: Sifted\n"
                "    prices: dict[int, Article]\n"
                "    rows: tuple[Row, ...]\n\n\n"
                "def read_day(options: argparse.Namespace) -> Day:\n"
                '    """Read settings, prices and a log, and return the stock after it."""\n'
                "    settings = read_settings(options.config)\n"
                "    log = read_log(options.log)\n"
                "    sifted = sift(log.events, settings.echo_devices, settings.echo_window)\n"
                "    ledger = replay(sifted.events, settings.offsets)\n"
                "    prices = load_prices(settings.prices)\n"
                "    rows = make_rows(ledger, prices, settings.customs.rates_micro, settings.customs.reserve)\n"
                "    return Day(settings, log, sifted, prices, rows)\n\n\n"
                "def run_report(options: argparse.Namespace) -> int:\n"
                '    """Print the stock after a log, in one of three forms."""\n'
                "    day = read_day(options)\n"
                "    sys.stdout.write(FORMS[options.form](Report(options.batch, day.rows, len(day.log.rejects))))\n",
            ),
            edit(
                "stocktake/cli.py",
                "    settings = read_settings(options.config)\n"
                "    log = read_log(options.log)\n"
                "    sifted = sift(log.events, settings.echo_devices, settings.echo_window)\n"
                "    ledger = replay(sifted.events, settings.offsets)\n"
                "    rows = make_rows(ledger, load_prices(settings.prices), settings.customs.rates_micro, "
                "settings.customs.reserve)\n"
                "    with History(options.store) as history:\n"
                "        history.save(options.batch, rows, len(log.rejects), len(sifted.echoes))\n"
                '    print(f"saved {options.batch}: {len(rows)} rows")\n'
                "    return 0\n",
                "    day = read_day(options)\n"
                "    with History(options.store) as history:\n"
                "        history.save(options.batch, day.rows, len(day.log.rejects), len(day.sifted.echoes))\n"
                '    print(f"saved {options.batch}: {len(day.rows)} rows")\n'
                "    return 0\n\n\n"
                "def run_duty(options: argparse.Namespace) -> int:\n"
                '    """Print the customs duty on the stock after a log, by tariff code."""\n'
                "    day = read_day(options)\n"
                "    customs = day.settings.customs\n"
                "    dues = duty_of(day.rows, day.prices, customs.tariffs, customs.exempt_sites)\n"
                "    for due in dues:\n"
                '        print(f"{due.code}  {shown(due.value_cents):>14}  {shown(due.duty_cents):>12}")\n'
                "    total = sum(due.duty_cents for due in dues)\n"
                "    print(f\"declaration {customs.declaration}: duty {shown(total)}, without {', "
                "'.join(sorted(customs.exempt_sites))}\")\n"
                "    return 0\n",
            ),
            edit(
                "stocktake/cli.py",
                '    runs = commands.add_parser("runs", help="list the saved batches")\n',
                '    duty = commands.add_parser("duty", help="print the customs duty on the stock after a log")\n'
                '    duty.add_argument("log", type=Path)\n'
                "    duty.set_defaults(run=run_duty)\n"
                '    runs = commands.add_parser("runs", help="list the saved batches")\n',
            ),
        ),
        do(
            "",
            edit(
                "stocktake/cli.py",
                "from pathlib import Path\n\nfrom stocktake.echoes import sift\n",
                "from pathlib import Path\nfrom typing import NamedTuple\n\n"
                "from stocktake.duty import duty_of\nfrom stocktake.echoes import Sifted, sift\n",
            ),
            edit(
                "stocktake/cli.py",
                "from stocktake.prices import load_prices, shown\n"
                "from stocktake.report import Report, check_csv, make_rows, render_csv, render_json, render_table\n"
                "from stocktake.settings import read_settings\n",
                "from stocktake.prices import Article, load_prices, shown\n"
                "from stocktake.report import Report, Row, check_csv, make_rows, render_csv, render_json, "
                "render_table\n"
                "from stocktake.settings import Settings, read_settings\n",
            ),
        ),
        do(
            "",
            bash(TESTS, "Run all tests", tests=r"Ran (\d+) tests"),
            bash(
                "python -m stocktake.cli duty data/friday.log",
                "The duty for Friday",
                friday_duty=r"duty ([\d .]+),",
                bolts_duty=r"^7318 15 88 .* ([\d .]+)$",
            ),
            bash(
                "python -m stocktake.cli report data/scan-a.log --form csv --batch «first_batch» | tail -n 1 | tr -d "
                "'\\r'",
                "The total row of the first batch, after the echoes",
                first_value_now=r"^TOTAL;;;\d+;\d+;\d+;(\d+)",
            ),
        ),
        do(
            "The customs file must be as it was; I compare with the checksum of the beginning.",
            bash(
                "python -c \"import hashlib; print(hashlib.sha256(open('config/customs.json','rb').read()).hexdigest()"
                " == '«customs_sha»')\"",
                "Compare the checksum",
                same=r"^(True)$",
            ),
            bash(
                "git add -A && git commit -q -m 'duty: customs duty by tariff code' -m 'Ticket: WH-2291' && git log "
                "--oneline",
                "Commit",
                duty_commit=r"^([0-9a-f]{7,}) duty",
            ),
        ),
    ),
    "`python -m stocktake.cli duty LOG` prints value and duty by tariff code. For Friday, batch «friday_batch», the "
    "duty is "
    "«friday_duty» EUR under declaration DE-7302-2291-44, with HAFEN exempt. The customs file was read only and "
    "still has "
    "its checksum. One thing changed on the side: the total value of the first batch is now «first_value_now» cents "
    "instead "
    "of «first_value», because the echoes are out. «tests» tests pass, commit «duty_commit».",
)
