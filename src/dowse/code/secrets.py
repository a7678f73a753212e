"""Secret scanning and redaction: mask API keys, tokens, passwords and private keys with ``*`` before a file is indexed.

Byte for byte, so that offsets and lines stay. Precision comes first: a rule fires on the format of one vendor's token,
or on a high-entropy literal (Shannon) that is assigned to something called a password. Placeholders and references to
the environment are left alone. Files without secrets are ruled out fast: only long runs of token characters, found by
one translation and a substring search, are matched with regular expressions.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from dowse.code import languages
from dowse.code.file_roles import classify_role
from dowse.types.source import MaskedSecret, Role


@dataclass(frozen=True, slots=True)
class _Rule:
    """A secret with a form of its own; the group ``secret`` (or all of the match) is blanked out."""

    name: str
    literal: bytes  # what the text must hold for the expression to be tried; for a token its beginning
    regex: re.Pattern[bytes]


def _rule(name: str, literal: bytes, regex: bytes) -> _Rule:
    return _Rule(name, literal, re.compile(regex, re.VERBOSE | re.DOTALL))


# Found anywhere in a text that holds the literal.
_TEXT_RULES = (
    # At least a line of base64: an empty block in a test or a manual is no key.
    _rule(
        "private key",
        b"PRIVATE KEY",
        rb"""-----BEGIN[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
             (?P<secret>(?>(?:[^-]+|-(?!----)){1,500}))-----END""",
    ),
    _rule(
        "Slack webhook",
        b"hooks.slack.com",
        rb"hooks\.slack\.com/services/T\w{7,}/B\w{7,}/(?P<secret>[A-Za-z0-9]{20,})",
    ),
    _rule("Azure storage key", b"AccountKey=", rb"AccountKey=(?P<secret>[A-Za-z0-9+/]{86}==)"),
    _rule("Azure shared access key", b"SharedAccessKey=", rb"SharedAccessKey=(?P<secret>[A-Za-z0-9+/]{43}=)"),
)

_AWS_KEY_ID = "AWS access key id"

# A run of token characters that begins with the literal.
_TOKEN_RULES = (
    _rule(_AWS_KEY_ID, b"AKIA", rb"AKIA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _rule(_AWS_KEY_ID, b"ASIA", rb"ASIA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    *(
        _rule("GitHub token", prefix, prefix + rb"[A-Za-z0-9]{36,255}")
        for prefix in (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_")
    ),
    _rule("GitHub token", b"github_pat_", rb"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    *(
        _rule("GitLab token", prefix, prefix + rb"[\w-]{20,}")
        for prefix in (b"glpat-", b"gldt-", b"glrt-", b"glcbt-", b"glptt-")
    ),
    *(
        _rule("Slack token", prefix, prefix + rb"(?:[0-9]+-)+[A-Za-z0-9-]{10,}")
        for prefix in (b"xoxa-", b"xoxb-", b"xoxp-", b"xoxo-", b"xoxs-", b"xoxr-")
    ),
    _rule("Stripe key", b"sk_live_", rb"sk_live_[0-9A-Za-z]{20,}"),
    _rule("Stripe key", b"rk_live_", rb"rk_live_[0-9A-Za-z]{20,}"),
    _rule("Stripe webhook secret", b"whsec_", rb"whsec_[0-9A-Za-z+/]{32,}"),
    _rule("Google API key", b"AIza", rb"AIza[0-9A-Za-z_-]{35}(?![\w-])"),
    _rule("Google OAuth secret", b"GOCSPX-", rb"GOCSPX-[\w-]{28}"),
    _rule("Anthropic key", b"sk-ant-", rb"sk-ant-[a-z]+[0-9]{2}-[\w-]{40,}"),
    _rule("OpenAI key", b"sk-", rb"sk-[\w-]{20,200}T3BlbkFJ[\w-]{20,200}"),
    _rule("npm token", b"npm_", rb"npm_[A-Za-z0-9]{36}(?!\w)"),
    _rule("PyPI token", b"pypi-", rb"pypi-AgE[\w-]{50,}"),
    _rule("Hugging Face token", b"hf_", rb"hf_[A-Za-z0-9]{34}(?!\w)"),
    _rule("DigitalOcean token", b"dop_v1_", rb"dop_v1_[0-9a-f]{64}"),
    _rule("Docker token", b"dckr_pat_", rb"dckr_pat_[\w-]{27}"),
    _rule("Shopify token", b"shpat_", rb"shpat_[0-9a-fA-F]{32}"),
    _rule("age key", b"AGE-SECRET-KEY-1", rb"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    *(
        _rule("Twilio key", b"SK" + digit.encode(), rb"SK[0-9a-f]{32}(?![0-9A-Za-z])")
        for digit in "0123456789abcdef"
    ),
    _rule("JSON web token", b"eyJ", rb"eyJ[\w-]{15,5000}\.eyJ[\w-]{15,5000}\.[\w-]{16,5000}"),
)
_SENDGRID = _rule("SendGrid key", b"SG.", rb"SG\.[\w-]{22}\.[\w-]{43}(?![\w-])")

# An access key id comes with its secret, which has no form of its own, within a few lines.
_AWS_SECRET = re.compile(rb"(?<![A-Za-z0-9+/=])(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])")
_AWS_NEARBY = 300  # bytes

_URL_PASSWORD = re.compile(
    rb"://(?P<user>[^\s:/@\"'`<>{}()$%\\]{0,100}):(?P<secret>[^\s:/@\"'`<>{}()$\\,;]{8,200})@(?P<host>[\w.-]+)"
)
# Where nobody has an account: this machine, reserved names.
_NO_HOST = re.compile(
    rb"(?i)^(?:localhost|127\.|0\.0\.0\.0|::1)|(?:^|\.)(?:example|test|invalid|local|host)(?:\.|$)"
)

# Keys that are printed in a vendor's manual.
_PUBLIC_EXAMPLES = (
    b"EXAMPLE",
    b"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq",
    base64.b64encode(b'{"sub":"1234567890","name":"John Doe"')[
        :-3
    ],  # what everybody's first JSON web token says
)

# What people write where a secret would stand.
_PLACEHOLDER = re.compile(
    rb"(?i)example|sample|dummy|change|placeholder|your|xxx|test|fake|mock|insert|replace|redact|secret|pass|token"
    rb"|x-oauth|abc|123456|012345|foo|qwert|default|demo|invalid|hunter|admin|root|user|name|\*\*"
)

# --- literals that look random, assigned to a name that says so ---

_SECRET_NAME = rb"""
    (?P<name>passw(?:or)?d|passphrase|pwd|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key
      |auth[_-]?key|encryption[_-]?key|signing[_-]?key|master[_-]?key|account[_-]?key)[\w-]{0,12}
"""
# Nothing is given back once it was read (``++``): a line of blanks would be shared out in every way there is.
_ASSIGNMENT = re.compile(
    _SECRET_NAME
    + rb"""["'\]]{0,2}(?:\s*+:(?:\s++[\w.\[\]|?\ ]{0,30}+|[\w.\[\]|?\ ]{1,30}+))?
           \s*+(?:=>|:=|=|:|\()\s*+[rbfuL@]{0,2}$""",
    re.VERBOSE | re.IGNORECASE,
)
# What a Dockerfile may say without a sign between name and value.
_SET_IN_IMAGE = re.compile(rb"^\s*ENV\s+[\w-]*?" + _SECRET_NAME + rb"\s+$", re.VERBOSE | re.IGNORECASE)
_NOT_SECRET_NAME = re.compile(
    rb"(?i)public|publish|csrf|page|next|cursor|continu|sync|hash|digest|checksum|sha\d|md5|etag"
    rb"|(?:_id|name|type|url)\W"
)
_NAME_REACH_BYTES = 100  # bytes of a line in which the name stands
_NAME_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
_VALUE_CHARACTERS = _NAME_CHARACTERS + b"+/=~!@#%^&*"
_QUOTES = b"\"'`"
# In files of these names an assignment needs no quotes.
_PLAIN_PREFIX = ".env"
_PLAIN_ENDINGS = (".env", ".properties", ".ini", ".cfg", ".conf", ".yml", ".yaml", ".toml")
_PLAIN_NAMES = ("credentials", ".npmrc", ".pypirc")
_BEFORE_PLAIN = b"=: \t"
# Nor does it in these languages, where less can stand between a name and its value.
_BEFORE_PLAIN_IN = {"bash": b"=", "dockerfile": b"= \t"}
_AFTER_PLAIN = b" \t\r\n#;"

_MIN_RANDOM_CHARS = 20  # characters
_MIN_HEX_CHARS = 32  # a hexadecimal digit says less
_RANDOM_BITS = 3.5  # Shannon entropy per character; words have about 3, random letters and digits above 4
_HEX_BITS = 3.0
_MAX_STEPS = 0.25  # share of characters that follow the one before in the alphabet, as in "abcdef0123456789"
_HEX_DIGITS = re.compile(rb"[0-9a-fA-F]+")
_DIGIT_LETTER_SWITCH = re.compile(rb"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]")
_DIGITS = b"0123456789"
_UUID = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MIN_DIGITS = 2  # the fewest that make three changes
_MIN_SWITCHES = 3  # changes between letters and digits: names have one or two, random strings five in twenty

# --- runs of token characters ---

_MIN_RUN_BYTES = 20  # the shortest token in the table
_TOKEN_CHARACTERS = _NAME_CHARACTERS.rstrip(b".") + b"+/"
_RUN_MARKS = bytes(ord("x") if byte in _TOKEN_CHARACTERS else ord(" ") for byte in range(256))
_MARKED_RUN = b"x" * _MIN_RUN_BYTES
_RULE_PREFIX_BYTES = 3  # bytes by which the rules for a run are looked up
_RULES_BY_PREFIX: dict[bytes, list[_Rule]] = {}
for _token_rule in _TOKEN_RULES:
    _RULES_BY_PREFIX.setdefault(_token_rule.literal[:_RULE_PREFIX_BYTES], []).append(_token_rule)
_DOT_BYTE, _NEWLINE_BYTE = b".\n"

# What is blanked out of a secret; a private key in a program may have string syntax between its lines.
_VISIBLE_CHARACTER = re.compile(rb"(?P<kept>\\.)|[^\s\"'`(),;]")
_LONG_WORD = re.compile(rb"[A-Za-z0-9+/=]{20}")


class _Span(NamedTuple):
    start: int
    end: int
    rule: str


def mask(content: bytes, path: str) -> tuple[bytes, tuple[MaskedSecret, ...]]:
    """Mask (redact) the secrets of a content, keeping its length and lines; return also where they were."""
    in_runs = list(_find_in_runs(content, path))
    spans = [*_find_in_text(content), *_find_in_urls(content), *_find_aws_secrets(content, in_runs), *in_runs]
    if not spans:
        return content, ()
    masked = bytearray(content)
    found: list[MaskedSecret] = []
    line, covered = 1, 0
    for start, end, rule in sorted(
        spans, key=itemgetter(0)
    ):  # stable: of two, the more special rule is first
        if start < covered or _counts_up(content[start:end]) or _is_id_in_test(content[start:end], path):
            continue
        line += content.count(b"\n", covered, start)
        found.append(MaskedSecret(path, line, rule))
        masked[start:end] = _VISIBLE_CHARACTER.sub(_mask_character, content[start:end])
        line += content.count(b"\n", start, end)
        covered = end
    return bytes(masked), tuple(found)


def _mask_character(match: re.Match[bytes]) -> bytes:
    return match["kept"] or b"*"


def _find_in_text(content: bytes) -> Iterator[_Span]:
    for rule in _TEXT_RULES:
        if rule.literal in content:
            for match in rule.regex.finditer(content):
                if not _is_public(match["secret"]) and _LONG_WORD.search(match["secret"]):
                    yield _Span(*match.span("secret"), rule.name)


def _find_in_urls(content: bytes) -> Iterator[_Span]:
    for match in _URL_PASSWORD.finditer(content):
        password = match["secret"]
        user = match["user"]
        is_guessable = password.isalpha() or password.isdigit() or password == user or user == b"username"
        if is_guessable or _PLACEHOLDER.search(password) or _NO_HOST.search(match["host"]):
            continue
        yield _Span(*match.span("secret"), "password in a URL")


def _find_in_runs(content: bytes, path: str) -> Iterator[_Span]:
    """Find secrets that are, or begin with, a long run of token characters."""
    marked = content.translate(_RUN_MARKS)
    start = marked.find(_MARKED_RUN)
    before_value = _QUOTES + _characters_before_plain(content, path) if start >= 0 else b""
    while start >= 0:
        end = marked.find(b" ", start + _MIN_RUN_BYTES)
        if end < 0:
            end = len(content)
        token = content.rfind(b"/", start, end) + 1 or start  # a path may lead up to a token
        for rule in _RULES_BY_PREFIX.get(content[token : token + _RULE_PREFIX_BYTES], ()):
            yield from _find_token(content, rule, token)
        before = content[start - 1] if start else _NEWLINE_BYTE
        if before == _DOT_BYTE and content.endswith(_SENDGRID.literal, 0, start):
            yield from _find_token(content, _SENDGRID, start - len(_SENDGRID.literal))
        elif before in before_value and _has_digits(content[start:end]):
            yield from _find_assigned(content, start, end)
        start = marked.find(_MARKED_RUN, end)


def _characters_before_plain(content: bytes, path: str) -> bytes:
    """Return the characters that may precede a value without quotes; none if values are always in quotes."""
    name = path.rpartition("/")[2]
    if name.endswith(_PLAIN_ENDINGS) or name.startswith(_PLAIN_PREFIX) or name in _PLAIN_NAMES:
        return _BEFORE_PLAIN
    return _BEFORE_PLAIN_IN.get(languages.load_builtin().detect(path, content).name, b"")


def _find_token(content: bytes, rule: _Rule, start: int) -> Iterator[_Span]:
    match = rule.regex.match(content, start)
    if match and not _is_public(match[0]):
        yield _Span(*match.span(), rule.name)


def _find_aws_secrets(content: bytes, spans: Sequence[_Span]) -> Iterator[_Span]:
    """Find the secrets near access key ids, which come in order; what is near to several is read once."""
    nearby: list[list[int]] = []
    for start, end, rule in spans:
        if rule != _AWS_KEY_ID:
            continue
        if nearby and start - _AWS_NEARBY <= nearby[-1][1]:
            nearby[-1][1] = end + _AWS_NEARBY
        else:
            nearby.append([max(0, start - _AWS_NEARBY), end + _AWS_NEARBY])
    for first, last in nearby:
        for match in _AWS_SECRET.finditer(content, first, last):
            if not _is_public(match[0]) and _looks_random(match[0]) and not _HEX_DIGITS.fullmatch(match[0]):
                yield _Span(*match.span(), "AWS secret key")


def _find_assigned(content: bytes, start: int, end: int) -> Iterator[_Span]:
    """Find a random literal that starts with a run, in quotes or up to the end of its line, and has such a name."""
    nearby = max(0, start - _NAME_REACH_BYTES)
    if not _has_switches(content[start : min(end, start + _NAME_REACH_BYTES)]):
        return
    rest = content[end : end + _NAME_REACH_BYTES]
    end += len(rest) - len(rest.lstrip(_VALUE_CHARACTERS))
    quote = content[start - 1 : start]
    is_quoted = quote in _QUOTES
    if content[end : end + 1] not in (quote if is_quoted else _AFTER_PLAIN):
        return
    before = content[nearby : start - is_quoted].rpartition(b"\n")[2]
    found = _ASSIGNMENT.search(before) or _SET_IN_IMAGE.search(before)
    if found is None:
        return
    name_start = len(before[: found.start("name")].rstrip(_NAME_CHARACTERS))
    if _NOT_SECRET_NAME.search(before, name_start):
        return
    value = content[start:end]
    if _looks_random(value) and not (_PLACEHOLDER.search(value) or _PLACEHOLDER.search(_decode(value))):
        yield _Span(start, end, "assigned secret")


def _decode(value: bytes) -> bytes:
    """Decode what may be base64: "username:password" in it is no secret either."""
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        return b""


def _looks_random(value: bytes) -> bool:
    """Return whether a value is long, of even characters, and mixes letters and digits as names do not."""
    if len(value) < _MIN_RANDOM_CHARS:
        return False
    least, bits = (
        (_MIN_HEX_CHARS, _HEX_BITS) if _HEX_DIGITS.fullmatch(value) else (_MIN_RANDOM_CHARS, _RANDOM_BITS)
    )
    if len(value) < least or not _has_switches(value):
        return False
    return _entropy(value) >= bits and not _counts_up(value)


def _counts_up(value: bytes) -> bool:
    """Return whether a value is made of the alphabet and of numbers in order, as in a manual."""
    steps = sum(second - first == 1 for first, second in pairwise(value))
    return steps >= len(value) * _MAX_STEPS


def _is_id_in_test(value: bytes, path: str) -> bool:
    """Return whether a value is a UUID in a test, which names something there more often than it opens it."""
    return _UUID.fullmatch(value) is not None and classify_role(path) is Role.TEST


def _has_digits(value: bytes) -> bool:
    return len(value) - len(value.translate(None, _DIGITS)) >= _MIN_DIGITS


def _has_switches(value: bytes) -> bool:
    return len(_DIGIT_LETTER_SWITCH.findall(value)) >= _MIN_SWITCHES


def _entropy(value: bytes) -> float:
    """Compute the Shannon entropy in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _is_public(secret: bytes) -> bool:
    return any(known in secret for known in _PUBLIC_EXAMPLES)
