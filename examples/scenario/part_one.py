"""Turns 1 and 2: the parser and the ledger."""

from scenario.script import TESTS, Turn, bash, do, edit, grep, read, write, write_text

NOTES = """# Notes

Ticket WH-2291.

## Facts to keep
- customs.json, SHA-256 before the first change: «customs_sha»
- first sample batch: «first_batch», seed 7
- offsets of the devices: see the receipt of that batch, dev-0fe7 is the worst with «offset_0fe7»

## Open
- [ ] events: lines to events and rejects
- [ ] ledger: pieces on hand by site and article
- [ ] reports: CSV, JSON, table
- [ ] settings: offsets of the devices
"""

PARSER = Turn(
    "Good morning. In this folder you find AGENTS.md, please read it before anything else. We want a small tool named "
    "stocktake: it reads the logs of our hand-held scanners and tells how many pieces of each article should be at "
    "each site. For today only the first piece of it: a parser that turns log lines into events. Make yourself a "
    "sample log with tools/scanner.py, seed 7 and 300 events, so that you see what the lines look like.\n\n"
    "One thing I have to be strict about: never touch config/customs.json. Customs has a signed copy, and the last "
    "time somebody 'tidied' it we waited three weeks for a new signature.",
    (
        do(
            "I'll read the house rules first and look at what is here.",
            read("AGENTS.md"),
            bash("find . -type f | sort", "List all files"),
        ),
        do(
            "The log format comes from the scanner script, and I need to know what the customs file holds without "
            "writing to it.",
            read("tools/scanner.py"),
            read("config/customs.json"),
            read("data/prices.csv"),
        ),
        do(
            "Rule 8 asks for the checksum before the first change.",
            bash(
                'python -c "import hashlib; '
                "print(hashlib.sha256(open('config/customs.json','rb').read()).hexdigest())\"",
                "SHA-256 of the customs file",
                customs_sha=r"^([0-9a-f]{64})$",
            ),
            bash(
                "python tools/scanner.py --seed 7 --events 300 --out data/scan-a.log",
                "Make the sample log",
                first_batch=r"^batch\s+(\S+)",
                intake_url=r"^intake\s+(\S+)",
                first_log_sha=r"^sha256\s+(\S+)",
                offset_9922=r"^dev-9922\s+\S+\s+(\S+)",
                offset_d5e0=r"^dev-d5e0\s+\S+\s+(\S+)",
                offset_e123=r"^dev-e123\s+\S+\s+(\S+)",
                offset_0fe7=r"^dev-0fe7\s+\S+\s+(\S+)",
                offset_94b9=r"^dev-94b9\s+\S+\s+(\S+)",
            ),
        ),
        do("", bash("sed -n '60,190p' data/scan-a.log", "Look at the middle of the log")),
        do(
            "The receipt is printed only once, so I put its facts into the notes, and start the repository.",
            write_text("NOTES.md", NOTES),
            write_text(".gitignore", "__pycache__/\ndata/*.log\n*.db\nout/\n"),
            bash("git init -q && git status --short", "Start the repository"),
        ),
        do(
            "Now the package: errors first, then the parser.",
            write("stocktake/__init__.py"),
            write("stocktake/errors.py"),
            write("stocktake/events.py"),
        ),
        do(
            "",
            write_text("tests/__init__.py", '"""Tests of stocktake."""\n'),
            write("tests/test_events.py"),
        ),
        do("", bash(TESTS, "Run the tests", fails=True)),
        do(
            "Two errors with one cause: a note such as `note=po=8938` has a second equals sign, and a word without any "
            "breaks the unpacking. `_fields` has to split at the first sign only and name the word it cannot use.",
            read("stocktake/events.py", 85, 45),
        ),
        do(
            "",
            edit(
                "stocktake/events.py",
                "def _fields(rest: str) -> dict[str, str]:\n"
                '    return dict(part.split("=") for part in rest.split())\n',
                "def _fields(rest: str, line: int) -> dict[str, str]:\n"
                "    found = {}\n"
                "    for part in rest.split():\n"
                '        key, sign, value = part.partition("=")\n'
                "        if not sign:\n"
                '            raise BadLine(f"{part!r} is no key=value pair", line)\n'
                "        found[key] = value\n"
                "    return found\n",
            ),
        ),
        do("", bash(TESTS, "Run the tests again", fails=True)),
        do(
            "I changed the function and forgot its caller.",
            edit(
                "stocktake/events.py",
                'fields = _fields(match["rest"] or "")',
                'fields = _fields(match["rest"] or "", line)',
            ),
        ),
        do("", bash(TESTS, "Run the tests again", tests=r"Ran (\d+) tests")),
        do(
            "Green. Now the real sample: what is rejected, and is every line accounted for?",
            bash(
                'python -c "\n'
                "from stocktake.events import parse_log\n"
                "log = parse_log(open('data/scan-a.log', encoding='utf-8'))\n"
                "for reject in log.rejects: print(reject.reason, '|', reject.text)\n"
                "print(len(log.events), 'events', len(log.rejects), 'rejects')\n"
                '"',
                "Parse the sample log",
                first_rejects=r"events (\d+) rejects",
                first_events=r"^(\d+) events",
            ),
        ),
        do(
            "",
            edit("NOTES.md", "- [ ] events: lines to events and rejects", "- [x] events: lines to events and rejects"),
            bash(
                "git add -A && git commit -q -m 'events: read scanner lines, keep what cannot be read' "
                "-m 'Ticket: WH-2291' && git log --oneline",
                "Commit",
                first_commit=r"^([0-9a-f]{7,}) events",
            ),
        ),
    ),
    "The parser stands: `parse_line` for one line, `parse_log` for a file. On the sample log, batch «first_batch», it "
    "finds «first_events» events and «first_rejects» rejects; each reject keeps its text and a reason. «tests» tests "
    "pass. Two of them failed at first because a note may hold a second equals sign (`note=po=8938`), which is fixed. "
    "`config/customs.json` was only read; its checksum is in NOTES.md. The commit is «first_commit».",
)

LEDGER = Turn(
    "That was quick, thanks. Next the ledger: replay the events and tell me how many pieces lie where. The clocks of "
    "the devices are off, AGENTS.md says how to correct them, please do it properly. When a count finds something "
    "else than the books, the count is right, but I want to see the difference. And stock below zero does not exist.",
    (
        do(
            "Corrected tick = tick - offset, and the order of the log within one tick. I'll write the ledger and its "
            "tests "
            "together.",
            write("stocktake/ledger.py"),
            write("tests/test_ledger.py"),
        ),
        do("", bash(TESTS, "Run the tests", fails=True)),
        do(
            "A receipt at a place that the ledger has never seen raises KeyError, so nearly everything fails. I'll "
            "give it one way in.",
            edit(
                "stocktake/ledger.py",
                "            self.on_hand[place] += event.pieces\n",
                "            self._put(place, event.pieces)\n",
            ),
            edit(
                "stocktake/ledger.py",
                "    def _take(self, place: Place, event: Event, tick: int) -> int:\n",
                "    def _put(self, place: Place, pieces: int) -> None:\n"
                "        self.on_hand[place] = self.on_hand.get(place, 0) + pieces\n\n"
                "    def _take(self, place: Place, event: Event, tick: int) -> int:\n",
            ),
        ),
        do("", bash(TESTS, "Run the tests again", fails=True)),
        do(
            "What is left is a real mistake of mine: a move takes at one site and adds nowhere. What arrives must be "
            "what was taken, not what was wanted, or pieces would be made from nothing.",
            edit(
                "stocktake/ledger.py",
                "        elif event.kind is Kind.MOVE:\n            self._take(place, event, tick)\n",
                "        elif event.kind is Kind.MOVE:\n"
                "            taken = self._take(place, event, tick)\n"
                "            self._put(Place(event.goal, event.article), taken)\n",
            ),
        ),
        do("", bash(TESTS, "Run the tests again", tests=r"Ran (\d+) tests")),
        do(
            "Now the sample with the offsets of its receipt. I print every difference and the stock at the end.",
            bash(
                'python -c "\n'
                "from stocktake.events import parse_log\n"
                "from stocktake.ledger import replay, totals\n"
                "log = parse_log(open('data/scan-a.log', encoding='utf-8'))\n"
                "offsets = {'dev-9922': «offset_9922», 'dev-d5e0': «offset_d5e0», 'dev-e123': «offset_e123», "
                "'dev-0fe7': «offset_0fe7», 'dev-94b9': «offset_94b9»}\n"
                "ledger = replay(log.events, offsets)\n"
                "for found in ledger.differences: print(found, found.pieces)\n"
                "for over in ledger.overdraws: print(over)\n"
                "for place, pieces in sorted(ledger.on_hand.items()): print(place.site, place.article, pieces)\n"
                "print('total', sum(totals(ledger).values()))\n"
                '"',
                "Replay the sample log",
                first_total=r"^total (\d+)",
                gain_nord=r"article=60118.* (\d+)$",
                gain_hafen=r"site='HAFEN', article=60110.* (\d+)$",
            ),
        ),
        do(
            "Does the order matter on real data? The same without offsets, only the numbers:",
            bash(
                'python -c "\n'
                "from stocktake.events import parse_log\n"
                "from stocktake.ledger import replay, totals\n"
                "log = parse_log(open('data/scan-a.log', encoding='utf-8'))\n"
                "ledger = replay(log.events, {})\n"
                "print(len(ledger.differences), len(ledger.overdraws), sum(totals(ledger).values()))\n"
                '"',
                "Replay without offsets",
            ),
            grep(r"COUNT art=30422", "data/scan-a.log"),
        ),
        do(
            "",
            edit(
                "NOTES.md",
                "- [ ] ledger: pieces on hand by site and article",
                "- [x] ledger: pieces on hand by site and article\n"
                "- [ ] counts that find MORE than the books: NORD 60118 «gain_nord», HAFEN 60110 «gain_hafen» in "
                "batch «first_batch». Why?",
            ),
            bash(
                "git add -A && git commit -q -m 'ledger: replay events, correct clocks, remember differences' "
                "-m 'Ticket: WH-2291' && git log --oneline",
                "Commit",
                ledger_commit=r"^([0-9a-f]{7,}) ledger",
            ),
        ),
    ),
    "The ledger is in (commit «ledger_commit», «tests» tests). On batch «first_batch» it ends with «first_total» "
    "pieces over all "
    "sites. Counts overrule the books and leave a difference behind; taking more than is there leaves an overdraw. "
    "What I noticed: most differences are one or two pieces missing, as one would expect. But two counts found more "
    "than "
    "the books say, 60118 at NORD («gain_nord» more) and 60110 at HAFEN («gain_hafen» more), and pieces do not grow. "
    "I put that into "
    "NOTES.md and did not try to explain it yet.",
)
