"""Turns 3 and 4: the reports with their settings, and the echoes of old firmware."""

from scenario.script import TESTS, Turn, bash, do, edit, grep, read, write

REPORTS = Turn(
    "Good. Now reports: the accountants want CSV, the web shop wants JSON, and I want a table I can read. There is a "
    "skill for the format, follow it to the letter, their macro is picky. Put the offsets into a settings file "
    "config/stocktake.toml instead of code. And please: do not change the names of the public functions in "
    "stocktake/events.py from now on, the loader on the handhelds' docking station imports parse_line and parse_log.",
    (
        do("", read("skills/report-format/SKILL.md")),
        do(
            "The format is clear. Settings first, with the offsets from the receipt of the first batch.",
            write("config/stocktake.toml"),
            write("stocktake/settings.py"),
        ),
        do("Prices and reports.", write("stocktake/prices.py"), write("stocktake/report.py")),
        do("", write("tests/test_report.py")),
        do("", bash(TESTS, "Run the tests", fails=True)),
        do(
            "Real faults, each against a line of the skill: rounding (half up), `free` (never below 0), the total row "
            "(empty article) and the line end of the last line. I'll fix them where they are.",
            edit(
                "stocktake/prices.py",
                "    return article.price_cents * pieces * rate // MICRO\n",
                "    return (article.price_cents * pieces * rate * 2 + MICRO) // (2 * MICRO)\n",
            ),
            edit(
                "stocktake/report.py",
                "        free = pieces - reserved\n",
                "        free = max(0, pieces - reserved)\n",
            ),
            edit(
                "stocktake/report.py",
                '    lines.append(";".join(str(value) for value in total_of(report.rows)))\n    return '
                '"\\r\\n".join(lines)\n',
                "    total = total_of(report.rows)\n"
                '    lines.append(";".join(("TOTAL", "", "", *map(str, total[3:]))))\n'
                '    return "\\r\\n".join(lines) + "\\r\\n"\n',
            ),
        ),
        do("", bash(TESTS, "Run the tests again")),
        do(
            "Last, the command line, with tests that run it in a folder of their own.",
            write("stocktake/cli.py"),
            write("tests/test_cli.py"),
        ),
        do(
            "",
            bash(
                "python -m stocktake.cli report data/scan-a.log --batch «first_batch»", "Try the real log", fails=True
            ),
        ),
        do(
            "I use `read_settings` without importing it.",
            edit(
                "stocktake/cli.py",
                "from stocktake.report import Report, check_csv, make_rows, render_csv, render_json, render_table\n",
                "from stocktake.report import Report, check_csv, make_rows, render_csv, render_json, render_table\n"
                "from stocktake.settings import read_settings\n",
            ),
        ),
        do(
            "",
            bash("python -m stocktake.cli report data/scan-a.log --batch «first_batch»", "Try again", fails=True),
            read("stocktake/settings.py", 50, 23),
        ),
        do(
            "The paths in the settings count from the folder above `config/`; the docstring says so and the code "
            "does not. A missing file should also be told as one line and not as a traceback.",
            edit("stocktake/settings.py", "    root = path.parent\n", "    root = path.resolve().parent.parent\n"),
            edit(
                "stocktake/settings.py",
                '    except ValueError as error:\n        raise BadConfig(f"{path.name}: {error}") from error\n',
                "    except (OSError, ValueError) as error:\n"
                '        raise BadConfig(f"{path.name}: {error}") from error\n',
            ),
        ),
        do(
            "",
            bash(
                "python -m stocktake.cli report data/scan-a.log --batch «first_batch»", "The table of the first batch"
            ),
            bash(TESTS, "Run the tests", tests=r"Ran (\d+) tests"),
        ),
        do(
            "The skill asks for the CSV to be checked with our own command, and I want to see the JSON once as the "
            "web shop will.",
            bash(
                "mkdir -p out && python -m stocktake.cli report data/scan-a.log --form csv --batch «first_batch» > "
                "out/a.csv"
                " && python -m stocktake.cli check-csv out/a.csv && tail -n 3 out/a.csv | tr -d '\\r'",
                "Export and check the CSV",
                first_value=r"^TOTAL;;;\d+;\d+;\d+;(\d+)",
                first_reserved=r"^TOTAL;;;\d+;(\d+)",
            ),
            bash(
                "python -m stocktake.cli report data/scan-a.log --form json --batch «first_batch»",
                "The JSON of the first batch",
            ),
        ),
        do(
            "",
            edit(
                "NOTES.md",
                "- [ ] reports: CSV, JSON, table\n- [ ] settings: offsets of the devices\n",
                "- [x] reports: CSV, JSON, table\n- [x] settings: offsets of the devices\n\n"
                "## Must not change\n- config/customs.json, at all\n"
                "- the names parse_line and parse_log: the docking station's loader imports them\n",
            ),
            bash(
                "git add -A && git commit -q -m 'report: CSV, JSON and table, settings in a file' "
                "-m 'Ticket: WH-2291' && git log --oneline",
                "Commit",
                report_commit=r"^([0-9a-f]{7,}) report",
            ),
        ),
    ),
    "Reports work in all three forms: `python -m stocktake.cli report LOG --form csv|json|table --batch ID`. The CSV "
    "of "
    "«first_batch» passes `check-csv`; its total row says «first_value» cents. Offsets are in config/stocktake.toml. "
    "On the way the tests found four faults against the skill (rounding, `free`, total row, last line end), and "
    "running it "
    "found two more (a missing import, paths that were counted from the wrong folder). «tests» tests pass now, the "
    "commit is "
    "«report_commit». Names in events.py are as they were, and I noted that they stay.",
)

ECHOES = Turn(
    "We ran Thursday through it (seed 31, 900 events, please make it as data/thursday.log) and the storekeepers at "
    "NORD and "
    "HAFEN laugh at us: when they count they find more than the report says. You had something like that in your "
    "notes, didn't you? Please find out where it comes from before you change anything, and show me the proof.",
    (
        do(
            "I have an open note on exactly this. Let me make Thursday's log and see how many counts are above the "
            "books.",
            read("NOTES.md"),
            bash(
                "python tools/scanner.py --seed 31 --events 900 --out data/thursday.log",
                "Make Thursday's log",
                thursday_batch=r"^batch\s+(\S+)",
                thursday_intake=r"^intake\s+(\S+)",
            ),
        ),
        do(
            "",
            bash(
                "python -m stocktake.cli differences data/thursday.log",
                "What the counts of Thursday found",
                gain_tick=r"^(\d{6}) \S+\s+\d+ dev-\w+ expected .* \+\d+$",
                gain_site=r"^\d{6} (\S+)\s+\d+ dev-\w+ expected .* \+\d+$",
                gain_article=r"^\d{6} \S+\s+(\d+) dev-\w+ expected .* \+\d+$",
                gain_pieces=r"^\d{6} \S+\s+\d+ dev-\w+ expected .* \+(\d+)$",
                before=r"^(\d+) differences",
            ),
        ),
        do(
            "Losses are one or two pieces, gains are as large as a pick. Take the first gain, «gain_article» at "
            "«gain_site», "
            "tick «gain_tick»: what did the log say about it until then?",
            grep(r" «gain_site» (PICK|COUNT|RECV|MOVE) art=«gain_article» ", "data/thursday.log"),
            bash("sed -n '73,330p' data/thursday.log", "Read the first part of the day"),
        ),
        do(
            "There are pairs of one scan, one tick apart, from the same device. I count such pairs by device over "
            "both logs, "
            "to see whether it is people or devices.",
            bash(
                'python -c "\n'
                "from collections import Counter\n"
                "from stocktake.events import Kind, parse_log\n"
                "for name in ('scan-a', 'thursday'):\n"
                "    log = parse_log(open(f'data/{name}.log', encoding='utf-8'))\n"
                "    last, pairs, picks = {}, Counter(), Counter()\n"
                "    for event in log.events:\n"
                "        if event.kind is not Kind.PICK: continue\n"
                "        picks[event.device] += 1\n"
                "        old = last.get(event.device)\n"
                "        told = (event.article, event.pieces, event.person)\n"
                "        if old and event.tick - old[0] <= 2 and told == old[1]:\n"
                "            pairs[event.device] += 1\n"
                "            print(name, event.line, event.device, event.site, *told)\n"
                "        last[event.device] = (event.tick, told)\n"
                "    for device in sorted(picks): print(name, device, picks[device], 'picks', pairs[device], 'pairs')\n"
                '"',
                "Count doubled scans by device",
                pairs_9922=r"thursday dev-9922 \d+ picks (\d+) pairs",
                pairs_94b9=r"thursday dev-94b9 \d+ picks (\d+) pairs",
            ),
        ),
        do(
            "Only dev-9922 and dev-94b9, on both days. On the receipt of «first_batch» these two are the only ones "
            "with "
            "firmware 2.3.9. So it is the firmware: a scan is sometimes sent twice, a tick later. I take such echoes "
            "out "
            "before the ledger, and keep them in a list of their own, as rule 6 wants nothing dropped silently.",
            write("stocktake/echoes.py"),
            write("tests/test_echoes.py"),
        ),
        do("", bash("python -m unittest tests.test_echoes", "Run the new tests", fails=True)),
        do(
            "A beat between the two scans hides the echo, as the beat is remembered as the last event. A beat should "
            "not "
            "be remembered.",
            edit(
                "stocktake/echoes.py",
                "            kept.append(event)\n            last[event.device] = event\n",
                "            kept.append(event)\n"
                "            if event.kind is not Kind.BEAT:\n"
                "                last[event.device] = event\n",
            ),
        ),
        do(
            "",
            bash("python -m unittest tests.test_echoes", "Run the new tests again"),
            write("tests/test_settings.py"),
        ),
        do(
            "Which devices echo belongs into the settings, not into code.",
            edit(
                "stocktake/settings.py",
                "    customs: Customs\n    offsets: dict[str, int]\n",
                "    customs: Customs\n    offsets: dict[str, int]\n"
                "    echo_devices: tuple[str, ...]\n    echo_window: int\n",
            ),
            edit(
                "stocktake/settings.py",
                "    return Settings(prices, read_customs(customs), dict(offsets))\n",
                '    echoes = data.get("echoes", {})\n'
                '    devices, window = tuple(echoes.get("devices", ())), echoes.get("window", 2)\n'
                "    if type(window) is not int or window < 1:\n"
                '        raise BadConfig(f"{path.name}: the echo window must be at least 1 tick, not {window!r}")\n'
                "    return Settings(prices, read_customs(customs), dict(offsets), devices, window)\n",
            ),
            edit(
                "config/stocktake.toml",
                "dev-94b9 = «offset_94b9»\n",
                "dev-94b9 = «offset_94b9»\n\n"
                "# Firmware 2.3.9 sends a scan twice now and then; see stocktake/echoes.py.\n"
                '[echoes]\ndevices = ["dev-9922", "dev-94b9"]\nwindow = 2\n',
            ),
        ),
        do(
            "Now the two commands that replay a log.",
            edit(
                "stocktake/cli.py",
                "    settings = read_settings(options.config)\n"
                "    log = read_log(options.log)\n"
                "    ledger = replay(log.events, settings.offsets)\n"
                "    prices = load_prices(settings.prices)\n",
                "    settings = read_settings(options.config)\n"
                "    log = read_log(options.log)\n"
                "    sifted = sift(log.events, settings.echo_devices, settings.echo_window)\n"
                "    ledger = replay(sifted.events, settings.offsets)\n"
                "    prices = load_prices(settings.prices)\n",
                fails=True,
            ),
        ),
        do("I remembered that function wrongly. Let me look.", read("stocktake/cli.py", 1, 62)),
        do(
            "",
            edit(
                "stocktake/cli.py",
                "    log = read_log(options.log)\n    ledger = replay(log.events, settings.offsets)\n",
                "    log = read_log(options.log)\n"
                "    sifted = sift(log.events, settings.echo_devices, settings.echo_window)\n"
                "    ledger = replay(sifted.events, settings.offsets)\n",
            ),
            edit(
                "stocktake/cli.py",
                "    ledger: Ledger = replay(read_log(options.log).events, settings.offsets)\n",
                "    sifted = sift(read_log(options.log).events, settings.echo_devices, settings.echo_window)\n"
                "    ledger: Ledger = replay(sifted.events, settings.offsets)\n",
            ),
            edit(
                "stocktake/cli.py",
                '    print(f"{len(ledger.differences)} differences, {missing} pieces missing, '
                '{len(ledger.overdraws)} overdraws")\n',
                "    for echo in sifted.echoes:\n"
                '        print(f"{echo.tick:06d} {echo.site:<5} {echo.article} {echo.device} line {echo.line}: echo '
                'of {echo.pieces}")\n'
                '    print(f"{len(ledger.differences)} differences, {missing} pieces missing, '
                '{len(ledger.overdraws)} overdraws, "\n'
                '          f"{len(sifted.echoes)} echoes")\n',
            ),
            edit(
                "stocktake/cli.py",
                "from stocktake.errors import StocktakeError\n",
                "from stocktake.echoes import sift\nfrom stocktake.errors import StocktakeError\n",
            ),
        ),
        do("", bash(TESTS, "Run all tests", tests=r"Ran (\d+) tests")),
        do(
            "All green. Now the proof on Thursday's log: no count may be above the books any more.",
            bash(
                "python -m stocktake.cli differences data/thursday.log",
                "The same command as before",
                after=r"^(\d+) differences",
                thursday_echoes=r"(\d+) echoes$",
                thursday_missing=r"(-\d+) pieces missing",
            ),
            bash(
                "python -m stocktake.cli differences data/scan-a.log | grep -c '+' || true",
                "Gains left in the first batch",
                gains_left=r"^(\d+)$",
            ),
        ),
        do(
            "",
            edit(
                "NOTES.md",
                "- [ ] counts that find MORE than the books: NORD 60118 «gain_nord», HAFEN 60110 «gain_hafen» in "
                "batch «first_batch». Why?\n",
                "- [x] counts that find MORE than the books: echoes of firmware 2.3.9 (dev-9922, dev-94b9)\n",
            ),
            bash(
                "git add -A && git commit -q -m 'echoes: a scan that old firmware sends twice counts once' "
                "-m 'Ticket: WH-2291' && git log --oneline",
                "Commit",
                echo_commit=r"^([0-9a-f]{7,}) echoes",
            ),
        ),
    ),
    "It is the firmware. dev-9922 (NORD) and dev-94b9 (HAFEN) are the only devices with 2.3.9, and they alone send a "
    "scan twice, one tick later: «pairs_9922» and «pairs_94b9» pairs on Thursday, none from any other device. The "
    "first gain was "
    "«gain_article» at «gain_site», «gain_pieces» pieces, exactly one doubled pick. Echoes are now taken out before "
    "the books and listed "
    "by `differences`: on batch «thursday_batch» «thursday_echoes» of them. «before» differences became «after», all "
    "of them losses, "
    "«thursday_missing» pieces in all; in the first batch «gains_left» gains are left. «tests» tests pass, commit "
    "«echo_commit». The lasting cure "
    "would be new firmware for the two devices.",
)
