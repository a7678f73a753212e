"""Names with slashes and dots that entities of formats have: they are names, not paths of files that are missing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dowse import Engine
from tests.source_trees import write_tree

HELPERS = """\
{{- define "shop.fullname" -}}
{{ .Release.Name | trunc 63 }}
{{- end }}

{{ define "shop.settings" -}}
url: "http://{{ include "shop.fullname" . }}-api.shop.fullname"
name: {{ include "shop.fullname" . }}
{{- end }}
"""
MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: api
spec:
  template:
    spec:
      containers:
        - name: web
          image: shop/api:1.2
---
apiVersion: v1
kind: Service
metadata:
  name: api
spec:
  ports:
    - port: 80
"""
FILES = {
    "chart/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
    "chart/templates/_helpers.tpl": HELPERS,
    "deploy/api.yaml": MANIFEST,
    "compose.yaml": "services:\n  api:\n    image: shop/api\n  web:\n    image: shop/web\n",
    "server.py": '@app.post("/orders/{id}")\ndef change_order(id):\n    return 1\n',
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    tree = write_tree(tmp_path_factory.mktemp("tree"), FILES)
    with Engine.open(tree, show_low_confidence=True) as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "entity"),
    [
        ("Deployment/api", "Deployment/api"),
        ("service/web", "service/web"),
        ("deployment/api/web", "Deployment/api/web"),
        ("image of Deployment/api/web", "Deployment/api/web"),
        ("shop.fullname", "shop.fullname"),
        ("shop.settings", "shop.settings"),
        ("POST /orders/{id}", "POST /orders/{id}"),
        ("where is POST /orders/{id} handled", "POST /orders/{id}"),
    ],
)
def test_a_hierarchical_name_is_found_by_name(query: str, entity: str, engine: Engine) -> None:
    response = engine.search(query)
    assert response.results[0].entity == entity
    assert not [note for note in response.notes if "nothing is called" in note or "never closed" in note]


def test_a_path_that_is_no_name_is_still_said_to_be_missing(engine: Engine) -> None:
    assert "nothing is called 'Deployment/shop'" in " ".join(engine.search("Deployment/shop").notes)


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("Deployment/api", ["deploy/api.yaml:Deployment/api"]),
        ("deployment/api/web", ["deploy/api.yaml:Deployment/api/web"]),
        ("Deployment/*", ["deploy/api.yaml:Deployment/api", "deploy/api.yaml:Deployment/api/web"]),
        ("service/a*", ["compose.yaml:service/api", "deploy/api.yaml:Service/api"]),
    ],
)
def test_entities_are_found_by_a_hierarchical_name(name: str, ids: list[str], engine: Engine) -> None:
    assert sorted(hit.id for hit in engine.graph.entities(name, content=False)) == ids
