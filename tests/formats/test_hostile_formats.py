"""Files of every format that are broken, or written to take long: read as far as they go, in time by their length."""

import gc
import time

import pytest

from dowse.code.languages import load_builtin
from dowse.indexing.analyze_file import parse
from dowse.types.source import ParsedFile, ParseHealth
from tests.stores.building import HOW

FILES = {
    "a.ipynb": "# jupyter notebook python\n# %% cell 1\n",
    "A.vue": "<script lang='ts'>\n",
    "A.svelte": "",
    "A.astro": "---\n",
    "k8s.yaml": "apiVersion: v1\nkind: Service\n",
    "kustomization.yaml": "",
    "chart/templates/a.yaml": "{{ include }}\nkind: Service\n",
    "chart/values.yaml": "",
    "chart/Chart.yaml": "name: a\n",
    "compose.yaml": "services:\n  web:\n",
    ".github/workflows/a.yml": "jobs:\n  a:\n    steps:\n",
    ".gitlab-ci.yml": "job:\n  script:\n",
    ".circleci/config.yml": "jobs:\n  a:\n    steps:\n",
    "azure-pipelines.yml": "jobs:\n- job: a\n  steps:\n",
    "Jenkinsfile": "pipeline {\n",
    "cloudbuild.yaml": "steps:\n- name: a\n",
    "roles/a/tasks/main.yml": "- name: a\n  block:\n",
    "api.yaml": "openapi: 3.0.0\npaths:\n",
    "api.json": '{"openapi": "3.0.0", "paths": {',
    "main.tf": 'resource "a" "b" {\n',
    "a.avdl": "protocol A {\n",
    "a.avsc": '{"type": "record", ',
    "schema.json": '{"$schema": "https://json-schema.org/a", ',
    "a.proto": "message A {\n",
    "a.graphql": "type A {\n",
    "package.json": '{"scripts": {',
    "pyproject.toml": "[project]\n",
    "Cargo.toml": "[package]\n",
    "go.mod": "module a\n",
    "pom.xml": "<project>\n",
    "requirements.txt": "a\n",
    "a.properties": "",
    "a.toml": "[a]\n",
    "Dockerfile": "FROM a AS b\n",
    "a.rst": "",
    "a.adoc": "",
    "a.R": "",
    "CMakeLists.txt": "",
    "a.clj": "",
    "a.erl": "",
    "a.fs": "",
    "a.elm": "",
    "a.nim": "",
    "a.cr": "",
    "a.d": "",
    "a.frag": "",
    "a.sv": "",
    "a.vhd": "",
    "a.jsonnet": "",
    "a.vim": "",
    "a.el": "",
    "a.less": "",
    "a.vb": "",
    "a.asm": "",
    "urls.py": "urlpatterns = [\n",
    "app.js": "const express = 1;\n",
    "A.java": "@RequestMapping\nclass A {\n",
    "routes.rb": "routes.draw do\n",
    "a.go": 'x("/\n',
    "web.php": "<?php Route::\n",
}

PIECES = [
    "{", "[", "(", "<", '"', "'", "\\\"",
    "{{", "- ", "a: ", "a:\n", " ", "\n", "#", "<script ", "<template>", "<plugin>",
    '@a="', "{{ include ", "a$a$", "stage('a') {", "a.a.", "./a/", "=" , "=\n=\n", "path('", "app.get('/", "a: &a *a\n",
    "---\n", "- - - ", "|\n", "a: |\n", "FROM a\n", "message A {\n", 'rpc A (', "/*", '"""', "@GetMapping(",
    "[a]\n", "a = [\n", "a b ", "function ", "public ", "(define (", "a(a) = ", "let rec ", "module a\n",
    "a <- function(", "def a\n",
    "entity a is\n", ": a", "@a(", "-spec a(", "# a\n",
    "::::", "@@@@", "$ref: '#/a'\n", "!reference [", "{{ define \"a\" }}", "COPY --from=", "`a`_ ", "a\n---\n",
]  # fmt: skip


PARSED = (
    ".ipynb",
    ".vue",
    ".svelte",
    ".astro",
    ".py",
    ".js",
    ".java",
    ".rb",
    ".go",
    ".php",
    ".tf",
    "Dockerfile",
    "Jenkinsfile",
)
"""Files that a grammar reads too, whose time is limited where it runs."""


@pytest.mark.parametrize("path", [path for path in FILES if not path.endswith(PARSED)])
def test_a_file_of_nonsense_is_read_in_time_by_its_length(path: str) -> None:
    for piece in PIECES:
        quick, slow = (measure(path, make_nonsense(path, piece, size)) for size in (8_000, 32_000))
        assert slow < 0.3 + 8 * quick, (piece, quick, slow)


def make_nonsense(path: str, piece: str, size: int) -> bytes:
    """A file that begins like one of its format, and goes on with the same piece: on one line, then on several."""
    text = piece * (size // len(piece) // 2)
    lines = (text[n : n + 1_900] for n in range(0, len(text), 1_900))
    return "\n".join([FILES[path] + text, *lines]).encode()


def measure(path: str, content: bytes) -> float:
    """Measure the CPU time without the collector, whose rounds take long in a process of many tests."""
    gc.disable()
    try:
        started = time.process_time()
        parse(HOW, path, content)
        return time.process_time() - started
    finally:
        gc.enable()


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize(
    "rest", ["", "\0\0", "\ufffd", "a: [", "}}}}", "]]]]", "\t\t\t", "\r\n\r\n", '"', "..."]
)
def test_a_broken_file_is_read_as_far_as_it_goes(path: str, rest: str) -> None:
    content = (FILES[path] + rest).encode()
    parsed = parse(HOW, path, content)[0]
    assert all(0 < e.start_line <= e.line <= e.end_line for e in parsed.entities)
    assert all(e.parent is None or e.parent < n for n, e in enumerate(parsed.entities))
    held = b"".join(content[chunk.start : chunk.end] for chunk in parsed.chunks)
    assert sorted(held.split()) == sorted(content.split())


def test_every_format_is_tried() -> None:
    languages = load_builtin()
    found = {languages.detect(path, text.encode() or b" ").name for path, text in FILES.items()}
    readers = {languages.by_name[name].reader for name in found} - {""}
    assert readers == {row.reader for row in languages.by_name.values() if row.reader}


@pytest.mark.parametrize(
    "text",
    [
        "<script>function kept() {}",
        "<script setup lang='ts'>\nfunction kept(a: number) {}\n",
        "<style>p {</style><script>\nfunction kept() {}",
    ],
)
@pytest.mark.parametrize("path", ["A.vue", "A.svelte"])
def test_a_broken_component_keeps_its_definitions(text: str, path: str) -> None:
    assert {"A", "kept"} <= {entity.name for entity in read(path, text).entities}


def test_a_hundred_documents_are_a_hundred_resources() -> None:
    text = "---\n".join(f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c{n}\n" for n in range(100))
    parsed = read("all.yaml", text)
    assert [entity.qualified for entity in parsed.entities] == [f"ConfigMap/c{n}" for n in range(100)]
    assert len(parsed.chunks) == 100


def test_aliases_are_not_expanded() -> None:
    text = "services:\n  a: &a {x: 1}\n" + "".join(f"  s{n}: &s{n} [*a, *a, *a]\n" for n in range(200))
    assert len(read("compose.yaml", text).entities) == 201


@pytest.mark.parametrize("path", FILES)
def test_a_blank_file_defines_nothing(path: str) -> None:
    parsed = read(path, " \n\n")
    assert (parsed.entities, parsed.chunks) == ((), ())


def test_a_notebook_without_cells_has_no_structure() -> None:
    assert read("a.ipynb", '{"cells": [').health is ParseHealth.FAILED


def read(path: str, text: str) -> ParsedFile:
    return parse(HOW, path, text.encode())[0]
