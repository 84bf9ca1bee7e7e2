"""Names that any agent can guess: common identifiers, file names, numbers and addresses. They are no anchors.

A corpus shows most of them by itself (`rarity.py`); this list serves where the corpus is small.
"""

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FILES = _words("""
    readme.md readme license license.md changelog.md contributing.md claude.md agents.md todo.md plan.md notes.md
    main.py app.py __init__.py __main__.py setup.py manage.py conftest.py models.py views.py urls.py utils.py
    config.py settings.py test.py tests.py scratch.py requirements.txt pyproject.toml setup.cfg tox.ini pytest.ini
    index.js index.ts index.tsx index.jsx index.html index.php main.js main.ts main.tsx app.js app.ts app.tsx app.vue
    app.jsx server.js server.ts package.json package-lock.json yarn.lock pnpm-lock.yaml tsconfig.json jsconfig.json
    vite.config.js vite.config.ts vitest.config.js vitest.config.ts webpack.config.js babel.config.js jest.config.js
    jest.config.ts next.config.js tailwind.config.js tailwind.config.ts postcss.config.js eslint.config.js
    .eslintrc.json style.css styles.css main.css main.go go.mod go.sum main.rs lib.rs mod.rs cargo.toml cargo.lock
    main.java pom.xml build.gradle composer.json composer.lock phpunit.xml gemfile artisan makefile dockerfile
    docker-compose.yml docker-compose.yaml compose.yml compose.yaml nginx.conf .env .env.example .env.local
    .gitignore .gitkeep .dockerignore .gitattributes data.json config.json config.yaml config.yml settings.json
    schema.sql schema.prisma init.sql data.csv output.txt test.txt run.sh start.sh build.sh test.sh entrypoint.sh
    node.js vue.js next.js express.js
    """)
_FOLDERS = _words("""
    src app lib test tests docs api web backend frontend server client public config scripts repo database db routes
    pages components views models services controllers migrations assets static storage
    """)
_LIBRARIES = re.compile(r"(?:^|/)(?:node_modules|vendor|site-packages|dist-packages|\.venv|venv|__pycache__)/")
_SYSTEM = re.compile(
    r"/(?:dev|proc|sys|etc|usr|bin|var/log|var/www/html|opt|tmp)(?:/(?:null|stdout|stderr|local/bin|bin|bin/env|bin/bash"
    r"|local|lib|hosts|passwd|nginx/conf\.d|nginx/nginx\.conf|docker\.sock))?"
)
_IDENTIFIERS = _words("""
    __init__ __main__ __name__ __file__ __dict__ __class__ __repr__ __str__ __pycache__ __tests__ __dirname __filename
    node_modules created_at updated_at deleted_at is_active is_valid user_id item_id order_id group_id
    first_name last_name file_path file_name full_name user_name old_string new_string replace_all
    start_date end_date start_time end_time date_from date_to page_size per_page total_count max_length min_length
    max_retries error_code error_message status_code content_type access_token refresh_token password_hash
    primary_key foreign_key unique_key not_null auto_increment server_default default_factory server_onupdate
    from_dict to_dict to_json from_json as_dict get_user get_current_user set_password
    check_password unit_tests api_tests test_client test_data db_session get_session session_id
    parseInt parseFloat toString toFixed toUpperCase toLowerCase toLocaleString toISOString indexOf lastIndexOf
    forEach findIndex charAt charCodeAt fromCharCode setTimeout clearTimeout setInterval clearInterval
    addEventListener removeEventListener getElementById querySelector querySelectorAll createElement appendChild
    removeChild preventDefault stopPropagation innerHTML innerText textContent className classList dataTestid
    localStorage sessionStorage useState useEffect useMemo useCallback useRef useContext useReducer useNavigate
    useParams useRouter useRoute createApp createRouter createPinia defineStore defineComponent defineProps onMounted
    beforeEach afterEach beforeAll afterAll toBe toEqual toHaveBeenCalled toHaveBeenCalledWith toBeInTheDocument
    mockReturnValue mockResolvedValue mockImplementation findOne findMany findAll findById findFirst
    findUnique updateOne deleteOne updateMany deleteMany createMany onClick onChange onSubmit onClose isLoading
    hasError isOpen errorMessage statusCode userId itemId orderId createdAt updatedAt deletedAt firstName
    lastName fileName filePath startDate endDate startTime endTime pageSize pageNumber totalCount totalPages
    maxLength minLength contentType accessToken refreshToken passwordHash backgroundColor fontSize fontWeight
    borderRadius marginTop marginBottom paddingTop flexDirection justifyContent alignItems maxWidth minWidth
    maxHeight minHeight lineHeight textAlign zIndex boxShadow
    ValueError TypeError KeyError IndexError AttributeError RuntimeError ImportError ModuleNotFoundError
    FileNotFoundError PermissionError NotImplementedError AssertionError TimeoutError ConnectionError SyntaxError
    ReferenceError RangeError NullPointerException IllegalArgumentException IllegalStateException RuntimeException
    InvalidArgumentException IOException StackTrace HttpException ValidationError IntegrityError NotFoundError
    BaseModel TestCase TestClient FastAPI SQLAlchemy PostgreSQL MySQL SQLite MongoDB JavaScript TypeScript GitHub
    GitLab DevOps NodeJS ReactDOM ReactNode OpenAPI GraphQL WebSocket WebSockets StringBuilder ArrayList
    HashMap LinkedList LocalDate LocalDateTime BigDecimal CompletableFuture ResponseEntity RestController
    RequestMapping GetMapping PostMapping PutMapping DeleteMapping PathVariable RequestBody RequestParam
    SpringBootApplication HttpStatus HttpServletRequest HttpServletResponse DateTime PhpUnit DATABASE_URL SECRET_KEY
    JWT_SECRET API_KEY NODE_ENV DB_HOST DB_PORT DB_NAME DB_USER DB_PASSWORD DB_DATABASE DB_USERNAME APP_ENV APP_KEY
    APP_DEBUG LOG_LEVEL BASE_URL BASE_DIR ROOT_DIR NOT_FOUND VALIDATION_ERROR
    INTERNAL_SERVER_ERROR CURRENT_TIMESTAMP PRIMARY_KEY
    """)
_NUMBERS = _words("""
    111 112 123 127 128 192 255 256 512 640 720 768 999 1024 1080 1111 1234 1280 1440 1536 1920 2048 3306 4096 5432
    6379 8080 8192 8443 8888 9999 12345 16384 27017 32768 65535 65536 86400 99999 100000 123456 1048576 3.14 3.11
    3.12 3.13 99.9 99.99
    """)
_YEAR_OR_STATUS = re.compile(r"(?:19|20)\d\d|[1-5]\d\d")
_HOST_ONLY = re.compile(
    r"\w+://(?:[^/@]*@)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|(?:[\w-]+\.)*example\.(?:com|org))(?::\d+)?"
)
_SCHEMA = re.compile(r"https?://(?:www\.w3\.org|maven\.apache\.org|json-schema\.org|schemas\.\w+\.\w+)\b")


def is_common_identifier(name: str) -> bool:
    """Whether a code identifier belongs to a language, a library or everyday code."""
    return name in _IDENTIFIERS


def is_common_number(number: str) -> bool:
    """Whether a plain number is a power, a port, a year, an HTTP status or another one that everybody writes."""
    return number in _NUMBERS or _YEAR_OR_STATUS.fullmatch(number) is not None


def is_common_url(url: str) -> bool:
    """Whether a URL names only a local or example host, or the schema of a format."""
    return _HOST_ONLY.fullmatch(url) is not None or _SCHEMA.match(url) is not None


def is_common_folder(name: str) -> bool:
    """Whether a folder's name is one that most projects have."""
    return name.lower() in _FOLDERS


def is_common_file(path: str) -> bool:
    """Whether a path is a usual file name, alone or within usual folders, or belongs to every system or a library."""
    *folders, name = path.lower().split("/")
    if name in _FILES and _FOLDERS.issuperset(folders):
        return True
    return _SYSTEM.fullmatch(path) is not None or _LIBRARIES.search(path) is not None
