"""Format features: whether the query names the format of a file, the kind of what is defined in it, or a route.

"Which workflow publishes the package" asks for a pipeline, "POST /login" for the route of that name, whatever words
they share with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from dowse.code import tokens
from dowse.lazy_rows import read_column
from dowse.search.query.route_names import find_routes
from dowse.search.ranking.candidates import Candidate, FileCandidate
from dowse.search.ranking.features.feature import Feature, Values
from dowse.types.queries import Query
from dowse.types.source import Kind

FEATURES = {
    "format_asked": Feature("format", 1, prior=0.5),  # the query names the format that the file is in
    "kind_asked": Feature("format", 1, prior=0.3),  # and the kind of what a place defines
    "answers_route": Feature("format", 1, prior=6.0, least=2.0),  # the query names the route
}

_FORMAT_WORDS = {
    "ansible": "ansible playbook",
    "astro": "astro component",
    "azure-pipelines": "azure ci pipeline",
    "bash": "bash script shell",
    "cargo-package": "cargo crate dependency",
    "circleci": "ci circleci pipeline workflow",
    "cloud-build": "build ci pipeline",
    "compose": "compose docker",
    "dockerfile": "docker dockerfile image",
    "github-actions": "action ci github pipeline workflow",
    "gitlab-ci": "ci gitlab pipeline",
    "graphql": "graphql",
    "helm": "chart helm",
    "jenkins": "ci jenkins jenkinsfile pipeline",
    "jupyter": "cell jupyter notebook",
    "kubernetes": "autoscaler configmap crd daemonset deployment ingress kubernetes kustomize manifest pod replica "
    "statefulset",
    "make": "makefile",
    "maven-project": "dependency maven pom",
    "npm-package": "dependency npm package script",
    "openapi": "openapi swagger",
    "protobuf": "grpc proto protobuf rpc",
    "python-project": "dependency package pyproject",
    "python-requirements": "dependency requirements",
    "sql": "database migration sql table",
    "svelte": "component svelte",
    "terraform": "opentofu terraform tofu",
    "vue": "component vue",
}
_KIND_WORDS = {
    Kind.CELL: "cell notebook",
    Kind.COMPONENT: "component dialog modal widget",
    Kind.CONTAINER: "container sidecar",
    Kind.DEPENDENCY: "dependency",
    Kind.JOB: "job",
    Kind.KEY: "default setting value variable",
    Kind.RESOURCE: "resource",
    Kind.ROUTE: "api endpoint route",
    Kind.SERVICE: "service",
    Kind.STAGE: "stage",
    Kind.STEP: "step",
    Kind.TEMPLATE: "template",
    Kind.WORKFLOW: "pipeline workflow",
}

FORMAT_WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(map(tokens.stem, words.split())) for name, words in _FORMAT_WORDS.items()
}
"""What formats are called in a query, as stems."""

KIND_WORDS: Mapping[Kind, frozenset[str]] = {
    kind: frozenset(map(tokens.stem, words.split())) for kind, words in _KIND_WORDS.items()
}
"""What kinds of entities of formats are called in a query, as stems."""

COMPARED_PLACES = 4
"""Places of a file whose definitions are looked at, best first."""


class FormatFeatures:
    """The format features of the files and places of one query."""

    def __init__(self, query: Query) -> None:
        words = frozenset(query.words)
        self._languages = {name for name, own in FORMAT_WORDS.items() if not words.isdisjoint(own)}
        self._kinds = {kind for kind, own in KIND_WORDS.items() if not words.isdisjoint(own)}
        self._routes = find_routes(query.text)

    def compute(self, file: FileCandidate) -> Values:
        """Compute the features of one file, in the order of the table."""
        places = file.places[:COMPARED_PLACES]
        return (
            float(file.file.parsed.language in self._languages),
            max(map(self.score_kind, places)) if self._kinds else 0.0,
            max(map(self.score_route, file.places)) if self._routes else 0.0,
        )

    def score_kind(self, place: Candidate) -> float:
        """Score whether a place defines something of a kind that the query names: 1, or 0."""
        if not self._kinds:
            return 0.0
        held = (
            place.definition_indexes
            if place.chunk.entity is None
            else (*place.definition_indexes, place.chunk.entity)
        )
        kinds = read_column(place.file.parsed.entities, "kind") if held else ()
        return float(any(kinds[i] in self._kinds for i in held))

    def score_route(self, place: Candidate) -> float:
        """Score how surely a place has a route that the query names, from 0 to 1."""
        held = place.definition_indexes if self._routes else ()
        if not held:
            return 0.0
        entities = place.file.parsed.entities
        names, kinds = read_column(entities, "name"), read_column(entities, "kind")
        found = [names[i] for i in held if kinds[i] is Kind.ROUTE]
        return max((route.score(name) for name in found for route in self._routes), default=0.0)

    def describe(self, file: FileCandidate) -> str:
        """Say what the query names of a file."""
        _, kind, route = self.compute(file)
        if route:
            return "answers the route"
        language = file.file.parsed.language
        return (
            f"{language}, as the query asks for" if not kind else "has what the query asks for, by its kind"
        )
