"""Formats that are more than the language they are written in: notebooks, manifests, pipelines, components, schemas.

A format is one file here and one row in ``FORMATS``. The row says how a file is recognised: by its name, or by path and
content among the files of a base language; the first row that fits counts. The file has ``read``, which gives entities
with hierarchical names, references and where chunks end, in the same values as a language does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from dowse.code.languages.spec import Language

if TYPE_CHECKING:
    from dowse.code.formats.reading import FormatReader, FormatResult, FormatSource

FORMATS: tuple[Language, ...] = (
    Language(name="jupyter", extensions=(".ipynb",), aliases=("notebook",), reader="notebook"),
    Language(name="vue", extensions=(".vue",), reader="components", named=True),
    Language(name="svelte", extensions=(".svelte",), reader="components", named=True),
    Language(name="astro", extensions=(".astro",), reader="components", named=True),
    Language(name="protobuf", extensions=(".proto",), aliases=("proto", "grpc"), reader="protobuf_schema"),
    Language(
        name="graphql",
        extensions=(".graphql", ".gql", ".graphqls"),
        aliases=("gql",),
        reader="graphql_schema",
    ),
    Language(name="avro", extensions=(".avsc", ".avpr", ".avdl"), reader="avro_schema"),
    Language(
        name="openapi",
        aliases=("swagger",),
        bases=("yaml", "json"),
        forms=((r"", r"""\A[\s{]{0,50}(?:#.*\n\s*|---\s*)*["']?(?:openapi|swagger)["']?\s*:\s*["']?\d"""),),
        reader="openapi",
    ),
    Language(
        name="json-schema",
        bases=("json", "yaml"),
        forms=((r"", r"""\$schema["']?\s*:\s*["']?https?://json-schema\.org"""),),
        reader="json_schema",
    ),
    Language(
        name="terraform",
        aliases=("opentofu", "tofu"),
        bases=("hcl",),
        forms=((r"\.(?:tf|tofu|tfvars)$",),),
        reader="terraform",
    ),
    Language(name="npm-package", bases=("json",), forms=((r"(?:^|/)package\.json$",),), reader="manifests"),
    Language(
        name="composer-package", bases=("json",), forms=((r"(?:^|/)composer\.json$",),), reader="manifests"
    ),
    Language(
        name="python-project", bases=("toml",), forms=((r"(?:^|/)pyproject\.toml$",),), reader="manifests"
    ),
    Language(
        name="python-requirements",
        bases=("text",),
        forms=((r"(?:^|/)(?:requirements|constraints)[\w.-]*\.txt$|(?:^|/)requirements/[\w.-]+\.txt$",),),
        reader="manifests",
    ),
    Language(name="cargo-package", bases=("toml",), forms=((r"(?:^|/)Cargo\.toml$",),), reader="manifests"),
    Language(name="maven-project", bases=("xml",), forms=((r"(?:^|/)pom\.xml$",),), reader="manifests"),
    Language(
        name="circleci",
        bases=("yaml",),
        forms=((r"(?:^|/)\.circleci/[^/]+\.ya?ml$",),),
        reader="ci_pipelines",
    ),
    Language(
        name="azure-pipelines",
        aliases=("azure",),
        bases=("yaml",),
        forms=(
            (r"(?:^|/)[^/]*azure-pipelines[^/]*\.ya?ml$",),
            (r"(?:^|/)\.?azure[\w-]*/", r"^\s*-?\s*(?:job|stage|steps|template|jobs|stages):"),
        ),
        reader="ci_pipelines",
    ),
    Language(
        name="cloud-build",
        aliases=("cloudbuild",),
        bases=("yaml",),
        forms=((r"(?:^|/)[^/]*cloudbuild[^/]*(?:/[^/]+)?\.ya?ml$", r"^steps:", r"^\s*-\s+(?:name|id):"),),
        reader="ci_pipelines",
    ),
    Language(
        name="jenkins", bases=("groovy",), forms=((r"(?:^|/)[^/]*Jenkinsfile[^/]*$",),), reader="ci_pipelines"
    ),
    Language(
        name="github-actions",
        aliases=("actions", "workflows"),
        bases=("yaml",),
        forms=((r"(?:^|/)\.github/workflows/[^/]+$",), (r"(?:^|/)action\.ya?ml$", r"^runs:")),
        reader="github_actions",
        named=True,
    ),
    Language(
        name="gitlab-ci",
        aliases=("gitlab",),
        bases=("yaml",),
        forms=(
            (r"(?:^|/)[^/]*\.gitlab-ci\.ya?ml$",),
            (r"(?:^|/)\.?gitlab(?:-ci|/ci)?/", r"^(?:\s+- |\s+)?(?:script|extends|stage|include):|^include:"),
        ),
        reader="gitlab_ci",
    ),
    Language(
        name="compose",
        aliases=("docker-compose",),
        bases=("yaml",),
        forms=((r"(?:^|/)(?:[^/]*[._-])?compose[^/]*$", r"^(?:services|include|x-[\w-]+):"),),
        reader="compose",
    ),
    Language(
        name="helm",
        bases=("yaml", "template", "text"),
        forms=(
            (r"(?:^|/)Chart\.ya?ml$", r"^name:"),
            (r"(?:^|/)values[^/]*\.ya?ml$",),
            (
                r"(?:^|/)templates/.+\.(?:ya?ml|tpl|txt)$",
                r"\{\{-?\s*(?:\.(?:Values|Release|Chart)\b|(?:include|template|define|if|with|range|tpl|toYaml)\b|/\*)",
            ),
        ),
        reader="helm",
        named=True,
    ),
    Language(
        name="kubernetes",
        aliases=("k8s", "kustomize"),
        bases=("yaml",),
        forms=(
            (r"(?:^|/)kustomization\.ya?ml$",),
            (r"", r"^apiVersion:[ \t]*\S", r"^kind:[ \t]*\S"),
            (
                r"",
                r"^(?:- |  )op:[ \t]*[\"']?(?:add|remove|replace|move|copy|test)\b",
                r"^(?:- |  )path:[ \t]*[\"']?/",
            ),
        ),
        reader="kubernetes",
    ),
    Language(
        name="ansible",
        bases=("yaml",),
        forms=(
            (
                r"(?:^|/)(?:tasks|handlers)/[^/]+\.ya?ml$",
                r"^\s*- (?:name|block|include\w*|import\w*|ansible\.[\w.]+):",
            ),
            (
                r"",
                r"^(?:- |  )hosts:[ \t]*\S",
                r"^\s+(?:- )?(?:tasks|roles|pre_tasks|post_tasks|gather_facts|become):",
            ),
        ),
        reader="ansible",
    ),
)


def read_format(source: FormatSource) -> FormatResult:
    """Read a file in a format."""
    reader: FormatReader = import_module(f"{__name__}.{source.language.reader}").read
    return reader(source)
