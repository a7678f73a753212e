"""Questions about configuration: the manifest first, not the schema that is a thousand times as long, nor a script."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse import Engine, SearchOptions

MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: checkout
spec:
  replicas: 3
  template:
    spec:
      containers:
        - name: server
          image: shop/checkout:1.2
---
apiVersion: v1
kind: Service
metadata:
  name: checkout
spec:
  selector:
    app: checkout
  ports:
    - port: 80
"""
SCRIPT = """\
#!/bin/bash
# Scales the checkout deployment to some replicas.
scale_checkout() {
  kubectl scale deployment checkout --replicas "$1"
}
"""
SCHEMA_HEAD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.shop.io
spec:
  names:
    kind: Thing
  schema:
"""
SCHEMA_FIELD = """\
    field{n}:
      description: Number of replicas of the deployment that the checkout has.
      type: integer
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shop")
    schema = SCHEMA_HEAD + "".join(SCHEMA_FIELD.format(n=n) for n in range(5_000))
    for path, text in (
        ("deploy/checkout.yaml", MANIFEST),
        ("scripts/scale.sh", SCRIPT),
        ("crds/thing.yaml", schema),
    ):
        (root / path).parent.mkdir()
        (root / path).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize("query", ["checkout deployment replicas", "how many replicas does checkout have"])
def test_the_manifest_comes_first_and_its_right_document(query: str, root: Path) -> None:
    with Engine.open(root, allow_home=True) as engine:
        hits = engine.search(query, SearchOptions(limit=5, show_low_confidence=True)).results
    assert (hits[0].path, hits[0].entity) == ("deploy/checkout.yaml", "Deployment/checkout")
    paths = list(dict.fromkeys(hit.path for hit in hits))
    assert paths[-1] == "crds/thing.yaml", "the schema stands behind what is deployed"
