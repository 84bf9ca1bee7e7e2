"""Turns 7 to 9: where reserved pieces lie, a question about broken lines, and the release; then the open request."""

from scenario.script import TESTS, Turn, bash, do, edit, grep, read, write_text

CHANGELOG = """# Changelog

## 1.0.0

### Added
- Reads the logs of the hand-held scanners of all three sites; a line that cannot be read is shown with its reason.
- Tells how many pieces of each article lie at each site, with the clocks of the devices corrected.
- Shows where a count found something else than the books, and where more was taken than was there.
- Reports as a table, as CSV for the accountants and as JSON for the web shop.
- Keeps the result of each batch and compares two of them.
- Tells the customs duty on the stock by tariff code.

### Fixed
- A scan that firmware 2.3.9 (dev-9922, dev-94b9) sends twice counts once.
- Reserved pieces are kept back at HAFEN only, no longer at all three sites.

### Known limits
- Each log begins with an opening stock; two days are compared as they are and not joined.
- The price list has no history: old batches are valued with the prices of today.
"""

RELEASE_FILE = """{
  "version": "1.0.0",
  "ticket": "WH-2291",
  "first_batch": "«first_batch»",
  "intake_url": "«intake_url»",
  "device_offsets": {
    "dev-9922": «offset_9922»,
    "dev-d5e0": «offset_d5e0»,
    "dev-e123": «offset_e123»,
    "dev-0fe7": «offset_0fe7»,
    "dev-94b9": «offset_94b9»
  },
  "customs_sha256": "«customs_sha»",
  "declaration": "DE-7302-2291-44",
  "base_commit": "«first_commit»",
  "tests": «tests»
}
"""

RESERVE = Turn(
    "The web shop complains: it shows fewer free pieces than we have, for three articles. I looked, and you subtract "
    "the reserve "
    "at every site. That is wrong, reserved pieces lie at HAFEN, and at HAFEN only. Please correct that, tests first, "
    "and give me the JSON of Friday for them.",
    (
        do(
            "`make_rows` takes the reserve of an article for each site, so it is held back three times. I'll look at "
            "the "
            "places that know about it.",
            grep(r"reserve", "stocktake"),
            grep(r"reserve|4, 11|\(4, 0\)", "tests"),
        ),
        do(
            "Tests first, as you asked: one new, two with other numbers.",
            edit(
                "tests/test_report.py",
                '        rows = report_of({("NORD", 41206): 3}, {41206: 4}).rows\n'
                "        self.assertEqual((rows[0].reserved, rows[0].free), (4, 0))\n",
                '        rows = report_of({("HAFEN", 41206): 3}, {41206: 4}).rows\n'
                "        self.assertEqual((rows[0].reserved, rows[0].free), (4, 0))\n\n"
                "    def test_only_hafen_keeps_pieces_back(self):\n"
                '        rows = report_of({("MITTE", 41206): 9, ("NORD", 41206): 3}, {41206: 4}).rows\n'
                "        self.assertEqual([(row.reserved, row.free) for row in rows], [(0, 9), (0, 3)])\n",
            ),
            edit(
                "tests/test_report.py",
                "        self.assertEqual(total_of(rows)[3:], (15, 4, 11, 285))\n",
                "        self.assertEqual(total_of(rows)[3:], (15, 2, 13, 285))\n",
            ),
        ),
        do("", bash("python -m unittest tests.test_report", "Run the report's tests", fails=True)),
        do("Both fail for the right reason. Now the code.", read("stocktake/report.py")),
        do(
            "",
            edit(
                "stocktake/report.py",
                "        reserved = reserve.get(place.article, 0)\n",
                "        reserved = reserve.get(place.article, 0) if place.site == RESERVE_SITE else 0\n",
            ),
            edit(
                "stocktake/report.py",
                'FORMAT = "stock/3"\n',
                'FORMAT = "stock/3"\nRESERVE_SITE = "HAFEN"\n"""The site where reserved pieces lie."""\n',
            ),
        ),
        do(
            "",
            bash(TESTS, "Run all tests", tests=r"Ran (\d+) tests"),
            bash(
                "python -m stocktake.cli report data/friday.log --form json --batch «friday_batch»",
                "Friday for the web shop",
                friday_reserved=r'"total": \{\s+"on_hand": \d+,\s+"reserved": (\d+)',
                friday_free=r'"total": \{\s+"on_hand": \d+,\s+"reserved": \d+,\s+"free": (\d+)',
            ),
            bash(
                "python -m stocktake.cli report data/friday.log --form csv --batch «friday_batch» > out/friday.csv "
                "&& python -m stocktake.cli check-csv out/friday.csv",
                "The accountants' check",
            ),
        ),
        do(
            "",
            bash(
                "git add -A && git commit -q -m 'report: reserved pieces lie at HAFEN only' -m 'Ticket: WH-2291' "
                "&& git log --oneline",
                "Commit",
                reserve_commit=r"^([0-9a-f]{7,}) report: reserved",
            ),
        ),
    ),
    "You are right, the reserve was held back at each of the three sites. Now it is at HAFEN only: on Friday "
    "«friday_reserved» pieces are reserved and «friday_free» are free over all sites. The JSON of «friday_batch» is "
    "above, and the CSV still passes the "
    "accountants' check. The JSON's form is unchanged (`stock/3`). «tests» tests pass, commit «reserve_commit».",
)

BROKEN = Turn(
    "Quick question in between, no change please. The people at the docking station ask whether the broken lines "
    "come from "
    "one device. Look at Thursday and Friday. And they want to hear again that their loader will go on working.",
    (
        do(
            "",
            bash(
                "python -m stocktake.cli rejects data/thursday.log",
                "Broken lines of Thursday",
                thursday_rejects=r"^(\d+) of \d+ lines",
            ),
            bash(
                "python -m stocktake.cli rejects data/friday.log",
                "Broken lines of Friday",
                friday_rejects=r"^(\d+) of \d+ lines",
            ),
            grep(r"^def |^class ", "stocktake/events.py"),
        ),
        do(
            "By device, as far as the broken line still names one, and against how many lines the device sends at all:",
            bash(
                'python -c "\n'
                "import re\n"
                "from collections import Counter\n"
                "from stocktake.events import parse_log\n"
                "sent, broken = Counter(), Counter()\n"
                "for day in ('thursday', 'friday'):\n"
                "    log = parse_log(open(f'data/{day}.log', encoding='utf-8'))\n"
                "    sent.update(event.device for event in log.events)\n"
                "    for reject in log.rejects:\n"
                "        found = re.search('dev-[0-9a-f]{4}', reject.text)\n"
                "        broken[found[0] if found else 'unknown'] += 1\n"
                "for device in sorted(sent | broken): print(device, broken[device], 'of', sent[device] + "
                "broken[device])\n"
                '"',
                "Broken lines by device",
                broken_9922=r"^dev-9922 (\d+) of",
                broken_unknown=r"^unknown (\d+) of",
            ),
            bash(
                "git diff --stat «first_commit» -- stocktake/events.py && git show "
                "«first_commit»:stocktake/events.py | "
                "grep -n '^def '",
                "Did the parser change since its first commit?",
            ),
        ),
    ),
    "No single device: the «thursday_rejects» broken lines of Thursday and «friday_rejects» of Friday are spread "
    "over all seven, "
    "dev-9922 with «broken_9922» is nothing special, and «broken_unknown» are too short to name a device. It looks "
    "like the radio and not "
    "like a scanner. For the loader: `parse_line` and `parse_log` are as they were; stocktake/events.py has not "
    "changed by a byte "
    "since its first commit, «first_commit».",
)

RELEASE = Turn(
    "Good, then let us make the first release, by the book. There is a skill for it. You have all the facts it asks "
    "for from "
    "our work today; please do not make up any.",
    (
        do(
            "I'll read the release skill, and the rules once more so that I miss nothing.",
            read("skills/release/SKILL.md"),
            read("AGENTS.md"),
        ),
        do(
            "First its conditions: green, clean, and the customs file untouched.",
            bash(TESTS, "Run all tests", tests=r"Ran (\d+) tests"),
            bash("git status --short", "Is the work tree clean?"),
            bash(
                'python -c "import hashlib; '
                "print(hashlib.sha256(open('config/customs.json','rb').read()).hexdigest())\"",
                "SHA-256 of the customs file now",
                customs_now=r"^(«customs_sha»)$",
            ),
        ),
        do(
            "All three hold; the checksum is the one from the beginning. Version, changelog and the release file:",
            edit("stocktake/__init__.py", 'VERSION = "0.1.0"', 'VERSION = "1.0.0"'),
            write_text("CHANGELOG.md", CHANGELOG),
            write_text("release.json", RELEASE_FILE),
        ),
        do(
            "What I typed from memory I check against the settings and the history.",
            bash(
                'python -c "\n'
                "import json, tomllib\n"
                "release = json.load(open('release.json', encoding='utf-8'))\n"
                "settings = tomllib.load(open('config/stocktake.toml', 'rb'))\n"
                "print('offsets', release['device_offsets'] == settings['offsets'])\n"
                "print('url names batch', release['first_batch'] in release['intake_url'])\n"
                '" && python -m stocktake.cli runs && git log --oneline | tail -n 1',
                "Check the release file",
            ),
            read("NOTES.md"),
        ),
        do(
            "",
            edit(
                "NOTES.md",
                "- [x] settings: offsets of the devices\n",
                "- [x] settings: offsets of the devices\n"
                "- [x] release 1.0.0\n"
                "- [ ] ask for new firmware on dev-9922 and dev-94b9\n",
            ),
            bash(
                "git add -A && git commit -q -m 'release: 1.0.0' -m 'Ticket: WH-2291' && git tag v1.0.0 && git log "
                "--oneline",
                "Commit and tag",
                release_commit=r"^([0-9a-f]{7,}) release",
            ),
        ),
        do("", bash("git status --short && git tag --list && ls", "A last look")),
    ),
    "Released: stocktake 1.0.0, tag v1.0.0, commit «release_commit».\n"
    "«tests» tests are green and the work tree is clean.\n"
    "config/customs.json has the same SHA-256 as this morning.\n"
    "release.json names the first batch «first_batch» with its receipt address, the five offsets, and the first "
    "commit «first_commit».\n"
    "CHANGELOG.md has the three headings.\n"
    "Still open: new firmware for dev-9922 and dev-94b9.",
)

LAST_REQUEST = (
    "Wonderful. The auditor wants one page, so please write AUDIT.md: the receipt address and the SHA-256 of the "
    "very first sample log, "
    "the clock offset of each device, how many pieces the first batch had before and after the echoes were taken "
    "out, the two "
    "counts that put us on the track, the duty for bolts on Friday with its tariff code, the intake addresses of "
    "Thursday and Friday, and the "
    "rule of the report format about rounding, word for word. Leave customs.json alone, as always."
)
