"""Projects excluded from training: all that search quality is measured on, however they are packaged.

A package is excluded by its name, a vendored copy by its folder, and what slips through both (a copied
function in a file of another name) by its content: ``encode.py`` compares it with fingerprints of the
measured trees.
"""

from __future__ import annotations

import re

MEASURED_PROJECTS = frozenset(
    """
    aiohttp flask httpx requests express redux gin gson commons-lang commons-lang3 monolog sinatra rack
    trpc ktor alamofire zod axum dapper exposed circe snapkit plug ecto fmt fmtlib libuv bats bats-core
    aeson telescope telescope.nvim lazy.nvim nvm zig-clap clap.zig fastapi model2vec pydantic
    pydantic-core pydantic_core starlette click axios cobra chi jackson-databind guzzle laravel rails
    tokio serde vitest messagepack msgpack newtonsoft-json newtonsoft.json kotlinx-coroutines
    kotlinx.coroutines cats http4s vapor nlohmann-json nlohmann abseil abseil-cpp absl phoenix curl redis
    bash-it pandoc xmonad mini.nvim zig zls django sympy scikit-learn sklearn matplotlib seaborn pytest
    _pytest werkzeug jinja2 jinja typer streamlink reflex kubernetes astropy pylint sphinx sqlfluff
    xarray semble
    """.split()
)
"""Names of the measured projects, as their folders are called."""

_PACKAGE = re.compile(
    r"""
    (^|[-_/@.])(aiohttp|flask|httpx|requests|express|redux|reduxjs|gin|gson|commons-?lang3?|monolog|sinatra|rack|trpc|ktor
    |alamofire|zod|axum|dapper|circe|snapkit|plug|ecto|fmt|fmtlib|libuv|uv|bats|aeson|telescope|nvm|clap-zig
    |fastapi|model2vec|pydantic|starlette|click|axios|cobra|chi|jackson-databind|jackson2-databind|guzzle|guzzlehttp|laravel
    |illuminate|rails|railties|activesupport|activerecord|activemodel|activejob|activestorage|actionpack|actionview|actionmailer
    |actioncable|tokio|serde|vitest|messagepack|msgpack|newtonsoft|coroutines|cats|http4s|vapor|nlohmann|json3|abseil|absl|phoenix
    |curl|pycurl|redis|hiredis|valkey|redict|keydb|pandoc|xmonad|zig|zls|django|sympy|scikit-learn|sklearn|matplotlib|mpl
    |seaborn|pytest|werkzeug|jinja2?|typer|streamlink|reflex|kubernetes|k8s|astropy|pylint|sphinx|sphinxcontrib|sphinxext
    |sqlfluff|xarray|semble|lazy-nvim|mini-nvim|bash-it|exposed)([-_/0-9.]|$)
    """,
    re.X,
)
"""Wider than needed on purpose: plug-ins of a measured project quote it, so they stay out too."""

_SINGLE_FILES = frozenset(
    {
        "json.hpp",
        "axios.js",
        "redux.js",
        "zod.js",
        "express.js",
        "click.py",
        "curl.h",
        "uv.h",
        "bats",
        "nvm.sh",
    }
)


def is_measured_package(name: str) -> bool:
    """Return whether a package of this name is, or belongs to, a project that is measured on."""
    return _PACKAGE.search(name.lower()) is not None


def is_measured_path(path: str) -> bool:
    """Return whether a file lies in a copy of a measured project."""
    *folders, filename = path.lower().split("/")
    names = (re.sub(r"[-_]v?\d[\d.]*$", "", folder) for folder in folders)
    return filename in _SINGLE_FILES or any(name in MEASURED_PROJECTS for name in names)
