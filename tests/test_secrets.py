"""Masking: tokens of every kind are blanked out in place, and what only looks like one is left alone.

The tokens are put together here so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import base64
import random
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.code.secrets import mask
from dowse.types.source import MaskedSecret

ALNUM = string.ascii_letters + string.digits


def draw(length: int, alphabet: str = ALNUM, seed: int = 7) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


def pem(kind: str = "RSA PRIVATE KEY", join: str = "\n") -> str:
    body = base64.b64encode(random.Random(1).randbytes(600)).decode()
    lines = [body[i : i + 64] for i in range(0, len(body), 64)]
    return join.join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])


JWT = "eyJ" + draw(30) + ".eyJ" + draw(60) + "." + draw(43)
AWS_ID = "AKIA" + draw(16, string.ascii_uppercase + string.digits)
AWS_SECRET = draw(18) + "/" + draw(12, seed=8) + "+" + draw(8, seed=9)
HEX = "0123456789abcdef"

TOKENS = {
    "AWS access key id": AWS_ID,
    "GitHub token": "ghp_" + draw(36),
    "GitHub token (new)": "github_pat_" + draw(22) + "_" + draw(59),
    "GitLab token": "glpat-" + draw(20),
    "Slack token": "xoxb-" + draw(12, string.digits) + "-" + draw(12, string.digits) + "-" + draw(24),
    "Stripe key": "sk_live_" + draw(24),
    "Stripe webhook secret": "whsec_" + draw(32),
    "Google API key": "AIza" + draw(35),
    "Google OAuth secret": "GOCSPX-" + draw(28),
    "Anthropic key": "sk-ant-" + "api03-" + draw(93),
    "OpenAI key": "sk-proj-" + draw(40) + "T3Blbk" + "FJ" + draw(40),
    "npm token": "npm_" + draw(36),
    "PyPI token": "pypi-" + "AgEIcHlwaS5vcmc" + draw(80),
    "SendGrid key": "SG." + draw(22) + "." + draw(43),
    "Twilio key": "SK" + draw(32, HEX),
    "Hugging Face token": "hf_" + draw(34),
    "JSON web token": JWT,
}


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize(
    "around",
    [
        "x = '{}'",
        'password = "{}"',
        "curl -H 'Authorization: Bearer {}' x",
        "TOKEN={}",
        "git clone https://{}@host.org/x",
        "{}",
    ],
)
def test_tokens(name: str, around: str) -> None:
    text = f"first line\n{around.format(TOKENS[name])}\nlast line"
    masked, found = mask(text.encode(), "src/x.py")
    assert masked.decode() == text.replace(TOKENS[name], "*" * len(TOKENS[name]))
    assert found == (MaskedSecret("src/x.py", 2, name.partition(" (")[0]),)


@pytest.mark.parametrize(
    ("text", "secret", "rule"),
    [
        ("postgres://app:{}@db.internal:5432/x", "s3cr!tR4bbit9", "password in a URL"),
        ("DefaultEndpointsProtocol=https;AccountKey={};Endpoint", draw(86) + "==", "Azure storage key"),
        ("Endpoint=sb://x/;SharedAccessKey={}", draw(43) + "=", "Azure shared access key"),
        (
            "https://hooks.slack.com/services/T0" + draw(8) + "/B0" + draw(8) + "/{}",
            draw(24),
            "Slack webhook",
        ),
        ('password = "{}"', draw(24), "assigned secret"),
        ("API_KEY: '{}'", draw(40, HEX), "assigned secret"),
        ('{{"name": "x", "client_secret": "{}"}}', draw(32), "assigned secret"),
        ("auth_token: str = '{}'", draw(28), "assigned secret"),
        ('conn.setPassword("{}");', draw(28), "assigned secret"),
        ('aws_secret_access_key = "{}"', AWS_SECRET, "assigned secret"),
        ('secret => "{}",', draw(10) + "+" + draw(25) + "=", "assigned secret"),
    ],
)
def test_secrets_in_their_surroundings(text: str, secret: str, rule: str) -> None:
    masked, found = mask(text.format(secret).encode(), "x.py")
    assert masked.decode() == text.format("*" * len(secret))
    assert [secret.rule for secret in found] == [rule]


@pytest.mark.parametrize("path", [".env", "config/.env.production", "x.yml", "app.properties", "x.ini"])
@pytest.mark.parametrize("text", ["SECRET_KEY={}\n", "db.password: {}\n", "api_key = {} # comment\n"])
def test_configuration_needs_no_quotes(path: str, text: str) -> None:
    secret = draw(32)
    assert mask(text.format(secret).encode(), path)[0].decode() == text.format("*" * 32)
    assert mask(text.format(secret).encode(), "x.py")[1] == ()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        *(
            (path, text)
            for path in ("run.sh", ".bashrc", "deploy/env.zsh")
            for text in (
                "API_TOKEN={}\n",
                "export API_TOKEN={}\n",
                "readonly API_TOKEN={} # comment\n",
                "declare -x API_TOKEN={}; run\n",
                "f() {{\n  local db_password={}\n}}\n",
                "API_TOKEN={} ./run --fast\n",
            )
        ),
        ("bin/deploy", "#!/usr/bin/env bash\nexport API_TOKEN={}\n"),
        *(
            (path, text)
            for path in ("Dockerfile", "docker/Dockerfile.dev", "app.dockerfile", "Containerfile")
            for text in (
                "ENV API_TOKEN={}\n",
                "ENV API_TOKEN {}\n",
                "ARG API_TOKEN={}\n",
                "ENV MODE=fast \\\n    API_TOKEN={}\n",
            )
        ),
    ],
)
def test_scripts_and_images_need_no_quotes(path: str, text: str) -> None:
    secret = draw(40)
    assert mask(text.format(secret).encode(), path)[0].decode() == text.format("*" * 40)


@pytest.mark.parametrize("path", ["run.sh", "Dockerfile"])
@pytest.mark.parametrize(
    "text",
    [
        "TOKEN=$1",
        "export API_TOKEN=$(cat /run/secrets/api_v1_token_2a3b)",
        "API_TOKEN=${API_TOKEN_FROM_ENVIRONMENT_1A2B3C}",
        "TOKEN_FILE=/run/secrets/api1_v2_3a4b5c",
        "PASSWORD=changeme",
        "ENV TOKEN_FILE /run/secrets/api1_v2_3a4b5c",
        "ENV DIGEST " + draw(40),
        "COMMIT=" + draw(40, HEX),
        "PUBLIC_KEY=" + draw(40),
        'echo "the token" ' + draw(40),
        "RUN fetch-token " + draw(40),
    ],
)
def test_no_false_alarm_without_quotes(path: str, text: str) -> None:
    assert mask(text.encode(), path) == (text.encode(), ())


def test_an_aws_key_takes_its_secret_with_it() -> None:
    text = f"id: {AWS_ID}\nkey: {AWS_SECRET}\nsha1: {draw(40, HEX)}\n"
    masked, found = mask(text.encode(), "notes.txt")
    assert masked.decode() == text.replace(AWS_ID, "*" * 20).replace(AWS_SECRET, "*" * 40)
    assert [(secret.line, secret.rule) for secret in found] == [
        (1, "AWS access key id"),
        (2, "AWS secret key"),
    ]


@pytest.mark.parametrize(
    "kind", ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
)
def test_private_keys(kind: str) -> None:
    key = pem(kind)
    masked, found = mask(f"a\n{key}\nb".encode(), "id_rsa")
    lines = masked.decode().split("\n")
    assert (lines[:2], lines[-2:]) == (["a", f"-----BEGIN {kind}-----"], [f"-----END {kind}-----", "b"])
    assert {char for line in lines[2:-2] for char in line} == {"*"}
    assert [len(line) for line in lines[2:-2]] == [len(line) for line in key.split("\n")[1:-1]]
    assert found == (MaskedSecret("id_rsa", 2, "private key"),)


def test_a_private_key_in_a_program_keeps_the_syntax_around_it() -> None:
    text = 'KEY = ("' + pem(join='\\n"\n  "') + '")\n'
    masked, found = mask(text.encode(), "x.py")
    assert len(found) == 1
    compile(masked, "x.py", "exec")
    assert "*" * 64 + '\\n"\n  "' in masked.decode()


@pytest.mark.parametrize(
    "text",
    [
        'password = "changeme"',
        'password = "correct horse battery staple 12345"',
        'api_key = "your-api-key-goes-here-1234567"',
        'token = "${API_TOKEN_FROM_ENVIRONMENT_1}"',
        'token = os.environ["MY_SERVICE_TOKEN_V2_1A2B3C"]',
        "token = get_secret_token_from_vault_v2_a1b2()",
        'secret = "abcdefghijklmnopqrstuvwxyz0123456789"',
        'secret = "ghijklm1nopqrs2tuvwxyz3qrstu"',
        'token = "test_token_1a2b3c4d5e6f7g8h9i"',
        'tokenizer = "distilbert-base-uncased-finetuned-sst-2-english"',
        'password_field = "user_login_form_password_2_input"',
        'token_url = "https://auth.host/oauth2/v1/token/a1b2c3"',
        'next_page_token = "' + draw(40) + '"',
        'public_key = "' + draw(40) + '"',
        'checksum = "' + draw(64, HEX) + '"',
        'key = "' + draw(40) + '"',
        'integrity = "sha512-' + draw(86) + '=="',
        "commit " + draw(40, HEX),
        "id = '6f1c2a34-9b7e-4d2c-8a55-0c9d1e2f3a4b'",
        "AKIAIOSFODNN7" + "EXAMPLE",
        "aws_secret_access_key = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY'",
        "http://user:pass@localhost/x",
        "http://svc:Kw93ndk2pz@localhost/x http://svc:Kw93ndk2pz@example.com http://svc:Kw93ndk2pz@127.0.0.1",
        "http://user:password123@example.com/x",
        "postgres://postgres:postgres@db/x",
        "redis://:${REDIS_PASSWORD}@cache:6379",
        "https://user:%s@host.org/ https://x:{token}@host.org https://u:<password>@h.org",
        "http://host.org:8080/path@2x.png and ssh://git@github.com:22/x",
        "mailto://someone:1234567890@host.org",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN CERTIFICATE-----\n" + draw(640) + "\n-----END CERTIFICATE-----",
        "ghp_short ghp_" + "x" * 35,
        "sk-learn-compatible-estimators-with-long-names",
        "npm_config_registry_and_other_settings_of_npm",
        "AIza_is_a_prefix_but_this_is_prose_not_a_key_at_all",
        "eyJust.a.word and eyJhbGciOiJIUzI1NiJ9 alone",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0."
        + draw(43),
        "xoxb-not-a-token-because-it-has-no-digits",
        "SK_CONSTANT_WITH_A_LONG_NAME_0123456789",
        "def test_service_account_token_secret_key_v1_2_3(): pass",
        "",
    ],
)
def test_no_false_alarm(text: str) -> None:
    assert mask(text.encode(), "src/app.py") == (text.encode(), ())


def test_secrets_are_listed_in_order_with_their_lines() -> None:
    text = f"a\n\n{TOKENS['npm token']} {TOKENS['GitHub token']}\n{pem()}\n\nx = '{TOKENS['GitLab token']}'\n"
    _, found = mask(text.encode(), "x")
    last = text.count("\n", 0, text.index("glpat-")) + 1
    assert [(secret.line, secret.rule) for secret in found] == [
        (3, "npm token"),
        (3, "GitHub token"),
        (4, "private key"),
        (last, "GitLab token"),
    ]


PIECES = st.sampled_from([
    *TOKENS.values(), pem(), "password = '", "'", '"', "\n", "\r\n", " ", "é🎉", "://u:", "@host.org", "AccountKey=",
    draw(30), "-----BEGIN PRIVATE KEY-----", "-----END", "\\n",
])  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=20), max_size=12))
def test_masking_keeps_the_shape_of_a_text(pieces: list[str]) -> None:
    content = "".join(pieces).encode()
    masked, found = mask(content, "x.yml")
    assert len(masked) == len(content)
    assert [len(line) for line in masked.split(b"\n")] == [len(line) for line in content.split(b"\n")]
    masked.decode()
    assert all(old == new or new == ord("*") for old, new in zip(content, masked, strict=True))
    assert bool(found) == (masked != content)


@pytest.mark.parametrize(
    "content",
    [
        b"a" * 500_000,
        b'"a1b2c3d4e5f6g7h8i9j0k1" ' * 20_000,
        b"://a:" * 100_000,
        b"-----BEGIN PRIVATE KEY-----" * 20_000,
        b"-----BEGIN PRIVATE KEY-----" + b"a-" * 250_000,
        b"eyJ" * 160_000,
        b"sk-" + b"T3Blbk" * 80_000,
        b"xoxb-" + b"1-" * 250_000,
        b"aB3dE5gH7jK9mN1pQ3sT5v+" * 20_000,
        b"password" * 60_000,
    ],
    ids=lambda content: content[:20].decode(),
)
def test_no_text_takes_long(content: bytes) -> None:
    started = time.process_time()
    mask(content, "x.yml")
    assert time.process_time() - started < 5


def test_ids_and_sequences_in_tests_are_no_secrets() -> None:
    uuid = b'local TOKEN = "01dd4c9e-cb5e-4b26-9e49-4eb0509fbd68"\n'
    assert mask(uuid, "spec/01-request_spec.lua") == (uuid, ())
    assert mask(uuid, "src/client.lua")[1]
    ordered = b"'ghp_1234567890abcdefghijklmnopqrstuvwxyzAB'"
    assert mask(ordered, "src/auth.php") == (ordered, ())
    proxy = b"'http://username:p%40ssword@proxyserver.net:3128/'"
    assert mask(proxy, "src/proxy.php") == (proxy, ())
