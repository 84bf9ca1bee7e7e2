"""Pins: what no plan touches, and sentences of the user that hold a rule."""

import pytest

from builders import call, index_of, result, session, text_block, user
from selfgc.model.pins import is_instruction_file, pinned_spans, states_constraint
from selfgc.model.policy import Policy

RULES = {
    "en": [
        "Never push to main.",
        "Don't touch the migrations folder.",
        "You must not commit secrets.",
        "Only edit files under src/.",
        "Always run the linter before you commit.",
        "Do not delete any data.",
        "Use tabs, without exception.",
        "You may use the network if you need it.",
        "Leave the config file untouched.",
        "Make sure that the tests pass before you finish.",
        "Keep the public API unchanged.",
        "Ask me before you install anything.",
        "From now on answer in French.",
        "The build has to stay green.",
        "You can delete the cache folder.",
        "Dont use any external library.",
        "No new dependencies, please.",
        "Stay away from the production database.",
        "Prefer composition over inheritance.",
        "Please refrain from reformatting.",
    ],
    "de": [
        "Ändere niemals die Datenbank.",
        "Bitte nicht auf main pushen.",
        "Verwende keine externen Bibliotheken.",
        "Nur Dateien unter src bearbeiten.",
        "Führe immer zuerst die Tests aus.",
        "Du darfst das Netz benutzen.",
        "Das Löschen von Daten ist verboten.",
        "Alle Antworten müssen auf Deutsch sein.",
        "Du sollst die API unverändert lassen.",
        "Frag mich, bevor du etwas installierst.",
        "Finger weg von der Produktion!",
        "Arbeite ohne neue Abhängigkeiten.",
        "Lass die Konfiguration so, wie sie ist.",
        "Ab jetzt bitte auf Deutsch.",
    ],
    "fr": [
        "Ne touche jamais à la base de données.",
        "N'utilise pas de bibliothèque externe.",
        "Modifie seulement les fichiers de src.",
        "Lance toujours les tests avant de valider.",
        "Il est interdit de supprimer des données.",
        "Tu peux utiliser le réseau.",
        "Les réponses doivent être en français.",
        "Travaille sans nouvelle dépendance.",
        "Il faut garder l'API inchangée.",
        "Évite de reformater le code.",
        "N'installe rien.",
        "Demande-moi avant d'installer quoi que ce soit.",
        "Aucune dépendance nouvelle.",
        "Tu dois répondre en français.",
        "Désormais, réponds en français.",
    ],
    "es": [
        "Nunca toques la base de datos.",
        "No uses bibliotecas externas.",
        "Modifica solo los archivos de src.",
        "Ejecuta siempre las pruebas antes de confirmar.",
        "Está prohibido borrar datos.",
        "Puedes usar la red.",
        "Las respuestas deben estar en español.",
        "Trabaja sin nuevas dependencias.",
        "Evita reformatear el código.",
        "Hay que mantener la API sin cambios.",
        "Tienes permiso para borrar la caché.",
        "Pregúntame antes de instalar algo.",
        "Jamás subas secretos.",
        "Solamente edita el archivo de pruebas.",
        "Ningún cambio en producción.",
    ],
    "pt": [
        "Nunca toque no banco de dados.",
        "Não use bibliotecas externas.",
        "Altere apenas os arquivos de src.",
        "Execute sempre os testes antes de confirmar.",
        "É proibido apagar dados.",
        "Você pode usar a rede.",
        "As respostas devem estar em português.",
        "Trabalhe sem novas dependências.",
        "Evite reformatar o código.",
        "Só edite os testes.",
        "Jamais envie segredos.",
        "É preciso manter a API.",
        "Pergunte antes de instalar algo.",
        "Nenhuma dependência nova.",
        "Tem que passar nos testes.",
    ],
    "it": [
        "Non toccare mai il database.",
        "Non usare librerie esterne.",
        "Modifica solo i file in src.",
        "Esegui sempre i test prima di confermare.",
        "È vietato cancellare dati.",
        "Puoi usare la rete.",
        "Le risposte devono essere in italiano.",
        "Lavora senza nuove dipendenze.",
        "Evita di riformattare il codice.",
        "Modifica soltanto i test.",
        "Bisogna mantenere l'API.",
        "Chiedimi prima di installare qualcosa.",
        "Nessuna nuova dipendenza.",
        "Devi rispondere in italiano.",
        "È permesso cancellare la cache.",
    ],
    "nl": [
        "Raak de database nooit aan.",
        "Gebruik geen externe bibliotheken.",
        "Wijzig alleen bestanden in src.",
        "Voer altijd eerst de tests uit.",
        "Het is verboden om data te wissen.",
        "Je mag het netwerk gebruiken.",
        "Antwoorden moeten in het Nederlands zijn.",
        "Werk zonder nieuwe afhankelijkheden.",
        "Niet naar main pushen.",
        "Vermijd het herformatteren van code.",
        "Vraag me eerst voordat je iets installeert.",
        "Je kunt de cache wissen.",
        "Slechts één bestand per commit.",
        "Houd de API zoals die is.",
    ],
    "pl": [
        "Nigdy nie dotykaj bazy danych.",
        "Nie używaj zewnętrznych bibliotek.",
        "Zmieniaj tylko pliki w src.",
        "Zawsze najpierw uruchom testy.",
        "Usuwanie danych jest zabronione.",
        "Możesz używać sieci.",
        "Odpowiedzi muszą być po polsku.",
        "Pracuj bez nowych zależności.",
        "Nie wolno zmieniać API.",
        "Unikaj przeformatowania kodu.",
        "Musisz odpowiadać po polsku.",
        "Zapytaj mnie, zanim coś zainstalujesz.",
        "Żadnych nowych zależności.",
        "Należy zachować API.",
        "Wyłącznie pliki testowe.",
    ],
    "ru": [
        "Никогда не трогай базу данных.",
        "Не используй внешние библиотеки.",
        "Меняй только файлы в src.",
        "Всегда сначала запускай тесты.",
        "Удалять данные запрещено.",
        "Можешь использовать сеть.",
        "Ответы должны быть на русском.",
        "Работай без новых зависимостей.",
        "Нельзя менять API.",
        "Избегай переформатирования кода.",
        "Разрешено удалить кэш.",
        "Спроси меня, прежде чем что-то ставить.",
        "Никаких новых зависимостей.",
        "Обязательно запусти тесты.",
        "Ты должен отвечать по-русски.",
        "Надо сохранить API.",
        "Ни в коем случае!",
    ],
    "tr": [
        "Veritabanına asla dokunma.",
        "Harici kütüphane kullanma.",
        "Sadece src altındaki dosyaları değiştir.",
        "Her zaman önce testleri çalıştır.",
        "Veri silmek yasak.",
        "Ağı kullanabilirsin.",
        "Yanıtlar Türkçe olmalı.",
        "Yeni bağımlılık olmadan çalış.",
        "Main dalına push yapmayın.",
        "Yalnızca testleri düzenle.",
        "API değişmemeli.",
        "Bir şey kurmadan önce bana sor.",
        "Hiçbir dosyayı silme.",
        "Testler mutlaka geçmeli.",
        "Buna izin var.",
        "Kodu yeniden biçimlendirmekten kaçın.",
        "Main'e gönderme lütfen.",
    ],
    "zh": [
        "不要修改数据库。",
        "绝不能提交密钥。",
        "只能修改 src 下的文件。",
        "必须先运行测试。",
        "禁止删除数据。",
        "可以使用网络。",
        "请勿推送到 main。",
        "始终使用中文回答。",
        "别动配置文件。",
        "不许安装新的依赖。",
        "仅修改测试文件。",
        "避免重新格式化代码。",
        "務必先執行測試。",
        "不准改接口。",
        "安装之前先问我。",
        "只改这个文件。",
        "不用外部库。",
        "一定要保留接口。",
        "請不要改動設定。",
        "必須使用繁體中文。",
        "只可修改測試。",
        "永遠不要刪除。",
        "無需確認即可刪除快取。",
    ],
    "ja": [
        "データベースには絶対に触らないでください。",
        "外部ライブラリを使わないでください。",
        "src の下のファイルだけを変更してください。",
        "必ず先にテストを実行してください。",
        "データの削除は禁止です。",
        "ネットワークを使ってもいいです。",
        "main に push してはいけません。",
        "APIを変更しないこと。",
        "勝手にインストールするな。",
        "回答は日本語でなければならない。",
        "テストのみ編集してください。",
        "インストールする前に確認してください。",
        "常に日本語で答えて。",
        "決してコミットしない。",
        "コードの整形は避けてください。",
        "変更は許可します。",
        "触るな。",
        "消しちゃダメ。",
        "これ以外は変更不可。",
    ],
    "ko": [
        "데이터베이스를 절대 건드리지 마세요.",
        "외부 라이브러리를 사용하지 마.",
        "src 아래 파일만 수정하세요.",
        "항상 먼저 테스트를 실행하세요.",
        "데이터 삭제는 금지입니다.",
        "네트워크를 사용해도 됩니다.",
        "반드시 한국어로 답하세요.",
        "API를 바꾸면 안 됩니다.",
        "새 의존성 없이 작업하세요.",
        "커밋하면 안 돼.",
        "오직 테스트만 고쳐.",
        "설치하기 전에 물어보세요.",
        "테스트를 통과해야 합니다.",
        "코드 재포맷은 피하세요.",
        "삭제하지 말아 주세요.",
        "절대로 하지 말 것.",
        "캐시는 지워도 돼요.",
    ],
    "ar": [
        "لا تلمس قاعدة البيانات أبدا.",
        "لا تستخدم مكتبات خارجية.",
        "عدّل فقط الملفات في src.",
        "دائما شغّل الاختبارات أولا.",
        "حذف البيانات ممنوع.",
        "يمكنك استخدام الشبكة.",
        "يجب أن تكون الإجابات بالعربية.",
        "اعمل بدون تبعيات جديدة.",
        "تجنب إعادة تنسيق الشيفرة.",
        "مسموح حذف الذاكرة المؤقتة.",
        "اسألني قبل أن تثبت شيئا.",
        "يُمنع الدفع إلى main.",
        "ولا تغيّر الواجهة.",
        "عدم حذف أي ملف.",
        "لازم تشغل الاختبارات.",
        "دائمًا استخدم العربية.",
        "غير مسموح بالحذف.",
    ],
    "hi": [
        "डेटाबेस को कभी मत छूना।",
        "बाहरी लाइब्रेरी का उपयोग न करें।",
        "केवल src की फ़ाइलें बदलें।",
        "हमेशा पहले टेस्ट चलाएँ।",
        "डेटा हटाना मना है।",
        "आप नेटवर्क का उपयोग कर सकते हैं।",
        "उत्तर हिंदी में होने चाहिए।",
        "नई निर्भरता के बिना काम करें।",
        "API मत बदलो।",
        "ज़रूर टेस्ट चलाना।",
        "सिर्फ़ टेस्ट बदलें।",
        "कुछ भी इंस्टॉल करने से पहले मुझसे पूछें।",
        "हटाने की अनुमति है।",
        "कोई नई निर्भरता नहीं।",
        "कोड को दोबारा फ़ॉर्मेट करने से बचें।",
        "हर बार टेस्ट चलाएँ।",
        "टेस्ट पास होना अनिवार्य है।",
    ],
}
PLAIN = [
    "Please run the tests.",
    "What does this function do?",
    "Add a button to the settings page.",
    "The login page is slow today.",
    "Can you look at the failing build?",
    "Thanks, that works.",
    "Let's continue with the next step.",
    "Fix the typo in the readme.",
    "Here is the log from yesterday.",
    "Rename the class to Parser.",
    "I think the bug is in the cache.",
    "Show me the diff.",
    "Write a short summary of the changes.",
    "Where is the port configured?",
    "Refactor this into two functions.",
    "The test fails on Windows.",
    "Open the file and read it.",
    "Update the version to 2.1.",
    "How many users are active?",
    "Deploy it to staging.",
    "Explain the error message.",
    "Use the new client here.",
    "Move the helper into its own module.",
    "Compare both approaches.",
    "Merge the branch when it is green.",
    "It crashed again with the same trace.",
    "Look up the docs for this call.",
    "Sort the list by date.",
    "Great work so far!",
    "Create a table for the orders.",
    "Go on.",
    "Why is this value null?",
    "Yes, please.",
    "Plot the results of the second run.",
]
PLAIN_ELSEWHERE = [
    "Bitte starte die Tests.",
    "Der Knopf ist zu groß.",
    "Lance les tests, merci.",
    "Ajoute un bouton rouge.",
    "Ejecuta las pruebas, gracias.",
    "Esegui i test, grazie.",
    "Draai de tests.",
    "Uruchom testy.",
    "Запусти тесты.",
    "Testleri çalıştır.",
    "运行测试。",
    "这个类别的区别很特别。",
    "可以帮我看看吗?",
    "テストを実行してください。",
    "테스트를 실행해 주세요.",
    "좋지만 느려요.",
    "شغّل الاختبارات.",
    "أهلا وسهلا بك.",
    "टेस्ट चलाओ।",
    "इसका मतलब क्या है?",
]


def pins(messages, **policy):
    """Pinned ids with their reasons, under a policy."""
    return pinned_spans(index_of(messages).spans, Policy(**policy))


def turn(*calls):
    return session([("go", calls, "done")])


# -- constraints -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "sentence"), [(name, said) for name, all_of in RULES.items() for said in all_of])
def test_a_sentence_that_holds_a_rule_is_found(language, sentence):
    """Prohibitions, permissions and standing rules, in fifteen languages."""
    assert states_constraint(sentence)


@pytest.mark.parametrize("sentence", PLAIN + PLAIN_ELSEWHERE)
def test_a_plain_sentence_holds_no_rule(sentence):
    """Tasks, questions and thanks."""
    assert not states_constraint(sentence)


def test_a_rule_is_found_in_any_case_and_anywhere_in_a_long_text():
    """It may stand in the middle of a pasted log."""
    log = "12:00 the server has started\n" * 2000
    assert not states_constraint(log)
    assert states_constraint(f"{log}NEVER restart it!\n{log}")


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "mal" * 100_000, "m" * 300_000 + " ", " " * 1_000_000, "漢字" * 100_000]
)
def test_the_search_is_linear_in_the_text(text):
    """A megabyte without a rule in it is read through once."""
    assert not states_constraint(text)


# -- instruction files -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "AGENTS.md",
        "/repo/CLAUDE.md",
        "C:\\repo\\GEMINI.md",
        "/repo/CLAUDE.local.md",
        "docs/agents.md",
        "CONVENTIONS.md",
        "/skills/pdf/SKILL.md",
        "/repo/.cursorrules",
        ".clinerules",
        ".windsurfrules",
        ".github/copilot-instructions.md",
    ],
)
def test_files_of_standing_instructions_are_known(path):
    """By their names, wherever they are."""
    assert is_instruction_file(path)


@pytest.mark.parametrize(
    "path", ["", "README.md", "/repo/MY-AGENTS.md", "AGENTS.md.bak", "src/claude.py", "CLAUDE.md/x"]
)
def test_other_files_are_no_instructions(path):
    """The whole name counts."""
    assert not is_instruction_file(path)


# -- pins ------------------------------------------------------------------------------------------------

READ_RULES = ("Read", {"file_path": "/repo/CLAUDE.md"}, "be brief")
READ_CODE = ("Read", {"file_path": "/repo/src/app.py"}, "code")
SKILL = ("Skill", {"skill": "pdf"}, "how to fill forms")
MEMORY = ("memory", {"command": "view", "path": "/memories"}, "notes")


@pytest.mark.parametrize(
    ("made", "policy", "reason"),
    [
        (READ_RULES, {}, "instruction file"),
        (("Bash", {"command": "cat /repo/AGENTS.md"}, "be brief"), {}, "instruction file"),
        (SKILL, {}, "skill"),
        (MEMORY, {}, "memory"),
        (("save_memory", {"fact": "x"}, "saved"), {}, "memory"),
        (("mcp__memory__search", {"query": "x"}, "found"), {}, "memory"),
        (READ_CODE, {"pinned_ids": ("function:Read:1",)}, "named by the caller"),
        (READ_CODE, {"pinned_tools": ("Read",)}, "named tool"),
        (READ_CODE, {"pinned_tools": ("Re?d",)}, "named tool"),
        (("mcp__db__query", {"sql": "x"}, "y"), {"pinned_tools": ("mcp__*",)}, "named tool"),
        (READ_CODE, {"pinned_paths": ("/repo/src/*",)}, "named path"),
    ],
)
def test_what_is_pinned_tells_its_reason(made, policy, reason):
    """By kind, by tool, by path, or by the caller's word."""
    assert list(pins(turn(made), **policy).values()) == [reason]


@pytest.mark.parametrize(
    ("made", "policy"),
    [
        (READ_CODE, {}),
        (READ_CODE, {"pinned_tools": ("read",), "pinned_ids": ("function:Read:2",), "pinned_paths": ("app.py",)}),
        (("Write", {"file_path": "/repo/CLAUDE.md", "content": "x"}, "ok"), {}),
        (("Edit", {"file_path": "/a.py", "old_string": "x"}, "ok"), {"pinned_paths": ("/a.py",)}),
        (("memorable", {"x": "y"}, "ok"), {}),
        (READ_RULES, {"pins_instructions": False}),
        (SKILL, {"pins_skills": False}),
        (MEMORY, {"pins_memory": False}),
    ],
)
def test_what_nobody_pins_is_free(made, policy):
    """Other spans, and kinds that the policy does not pin; of files, reads are pinned and writes are not."""
    assert pins(turn(made), **policy) == {}


@pytest.mark.parametrize("made", [READ_RULES, SKILL])
def test_of_several_copies_only_the_newest_is_pinned(made):
    """An older one says nothing that the newest does not."""
    assert [*pins(turn(made, READ_CODE, made))] == [index_of(turn(made, READ_CODE, made)).spans[2].id]


def test_copies_of_different_files_are_all_pinned():
    """Newest is told by file."""
    other = ("Read", {"file_path": "/repo/sub/CLAUDE.md"}, "be long")
    assert [*pins(turn(READ_RULES, other))] == ["function:Read:2", "function:Read:1"]


def test_a_failed_read_does_not_stand_for_the_file():
    """The older copy that holds the text is pinned as well."""
    messages = [*turn(READ_RULES), call("x", "Read", file_path="/repo/CLAUDE.md"), result("x", "gone", is_error=True)]
    assert [*pins(messages)] == ["function:Read:2", "function:Read:1"]


def test_every_memory_span_and_every_named_one_is_pinned():
    """They are no copies of each other."""
    assert len(pins(turn(MEMORY, MEMORY))) == 2
    assert len(pins(turn(READ_CODE, READ_CODE), pinned_tools=("Read",))) == 2


def test_the_text_of_a_skill_stands_for_the_call_that_loaded_it():
    """The newest copy of the skill is the text that the harness put in."""
    skill = text_block('<skill name="pdf">how to fill forms</skill>')
    assert pins([*turn(SKILL), user(skill, "go on")]) == {"skill:pdf:2": "skill"}
