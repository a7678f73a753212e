"""Kubernetes manifests, Kustomize, Argo CD, Flux and custom resources: each document a resource, with its containers.

References are what manifests mean by them: a selector the workloads with such labels in its folder, a name the resource
of that kind, a path of Kustomize, Argo CD or Flux a file or folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dowse.code.formats.outline import OutlineNode
from dowse.code.formats.reading import (
    IN_TREE,
    LABELS,
    MAX_NAME_CHARS,
    SELECTOR,
    FormatResult,
    FormatSource,
    Item,
    make_item,
)
from dowse.code.formats.yaml_outline import read_documents
from dowse.types.source import Kind

MAX_DATA_KEYS = 200
"""Keys of a ConfigMap or Secret that are entities."""

_NAMED_KINDS = {
    "configMapRef": "ConfigMap", "configMapKeyRef": "ConfigMap", "configMap": "ConfigMap",
    "secretRef": "Secret", "secretKeyRef": "Secret", "secret": "Secret", "imagePullSecrets": "Secret",
    "service": "Service", "backendRefs": "Service",
}  # fmt: skip
"""Keys whose ``name`` is that of a resource of some kind."""

_SCALAR_KINDS = {
    "serviceAccountName": "ServiceAccount", "serviceAccount": "ServiceAccount", "secretName": "Secret",
    "claimName": "PersistentVolumeClaim", "storageClassName": "StorageClass", "serviceName": "Service",
    "priorityClassName": "PriorityClass", "ingressClassName": "IngressClass",
}  # fmt: skip
"""Keys whose value is the name of a resource of some kind."""

_PATH_KEYS = frozenset({
    "resources", "bases", "components", "crds", "configurations", "generators", "transformers",
    "patchesStrategicMerge",
})  # fmt: skip
"""Keys of a kustomization whose items are paths."""

_CONTAINER_LISTS = frozenset({"containers", "initContainers"})

_WORKLOADS = frozenset({
    "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod", "Rollout",
})  # fmt: skip
_TEMPLATE_VALUE = re.compile(
    r"""\{\{-?[^}]*?(?:"([\w./-]+)"|\.(?:Values|Release|Chart)\.([\w.]+))[^}]*\}\}"""
)
_TEMPLATE = re.compile(r"\{\{[^}]*\}\}")


def read(source: FormatSource) -> FormatResult:
    """Read the resources of a file."""
    return read_resources(source.content)


def read_resources(content: bytes) -> FormatResult:
    """Read the resources of a manifest, or of a template of manifests."""
    result = FormatResult(apart=frozenset({Kind.RESOURCE}))
    for document in read_documents(content):
        for operation in document.children:
            if operation.is_item and operation.text("op") and operation.text("path"):
                _read_operation(result, operation)
        inner = [item for item in document.items("items") if item.get("kind")]
        for node in inner if document.text("kind").endswith("List") and inner else [document]:
            _read_resource(result, node)
    return result


def plain_name(text: str) -> str:
    """Strip the marks of a template from a name: ``{{ include "a.name" . }}-web`` -> ``a.name-web``."""
    if "{{" not in text:
        return text
    text = text[:MAX_NAME_CHARS]
    text = _TEMPLATE_VALUE.sub(lambda found: found[1] or found[2], text)
    return _TEMPLATE.sub("", text).strip("-. ") or "?"


def _read_resource(result: FormatResult, node: OutlineNode) -> None:
    kind = plain_name(node.text("kind"))
    name = plain_name(node.text("metadata", "name"))
    if not kind:
        if not any(node.get(key) for key in ("resources", "bases", "patches", "components", "generators")):
            return
        kind = "Kustomization"
    qualified = f"{kind}/{name}" if name else kind
    words = [kind, name, plain_name(node.text("metadata", "namespace")), node.text("apiVersion")]
    if kind == "CustomResourceDefinition":
        words.append(f"schema of {node.text('spec', 'names', 'kind')}")
    result.items.append(make_item(Kind.RESOURCE, node, qualified, " ".join(words), name or kind))
    if kind == "CustomResourceDefinition":
        return
    result.items += _list_parts(node, qualified)
    _link_labels(result, node, kind)
    for inner in node.walk():
        _link_names(result, inner)
    if kind in ("Kustomization", "Component"):
        _link_kustomization(result, node)
    _link_delivery(result, node, kind)


def _read_operation(result: FormatResult, node: OutlineNode) -> None:
    """Read an operation of a JSON patch: the container that it adds, or what it changes."""
    path, value = node.text("path"), node.get("value")
    steps = [step for step in path.split("/") if step not in ("", "-") and not step.isdigit()]
    name = plain_name(value.text("name")) if value else ""
    if name and steps and steps[-1] in _CONTAINER_LISTS:
        signature = f"container {name} image {plain_name(node.text('value', 'image'))}"
        result.items.append(make_item(Kind.CONTAINER, node, f"patch/{name}", signature, name))
    else:
        words = f"{node.text('op')} {path} {value.value if value else ''}"
        result.items.append(make_item(Kind.KEY, node, f"patch{path}", words, steps[-1] if steps else path))
        result.items += _list_parts(node, "patch")
    for inner in node.walk():
        _link_names(result, inner)


def _link_delivery(result: FormatResult, node: OutlineNode, kind: str) -> None:
    """Link the folders that Argo CD or Flux deploys, and what has to be there before."""
    group = node.text("apiVersion")
    if group.startswith("argoproj.io/"):
        for inner in node.walk():
            if inner.key == "path" and inner.value:
                result.link(inner.value, inner.row, "path")
    elif group.partition("/")[0].endswith(".fluxcd.io"):
        if path := node.get("spec", "path"):
            result.link(path.value, path.row, "path")
        before = node.get("spec", "dependsOn")
        for name in (item.get("name") for item in before.children) if before else ():
            if name and name.value:
                result.link(f"{kind}/{plain_name(name.value)}", name.row, IN_TREE)


def _list_parts(node: OutlineNode, qualified: str) -> Iterator[Item]:
    """List the containers of a workload and the keys of a ConfigMap."""
    for inner in node.walk():
        if inner.key in _CONTAINER_LISTS:
            for container in inner.children:
                if container.is_item and (name := plain_name(container.text("name"))):
                    signature = f"container {name} image {plain_name(container.text('image'))}"
                    yield make_item(Kind.CONTAINER, container, f"{qualified}/{name}", signature, name)
    for data in (node.get("data"), node.get("stringData")):
        for key in list(data.fields())[:MAX_DATA_KEYS] if data else ():
            yield make_item(Kind.KEY, key, f"{qualified}/{key.key}", key.key)


def _link_labels(result: FormatResult, node: OutlineNode, kind: str) -> None:
    """Note the labels of a workload's pods, and what a service selects."""
    if kind in _WORKLOADS:
        inner = [node.get("metadata"), *(one for one in node.walk() if one.key == "template")]
        labels = next((found for one in reversed(inner) if one and (found := _find_labels(one))), None)
        if labels and (pairs := _list_pairs(labels)):
            result.link(",".join(pairs), node.row, LABELS)
        return
    selector = node.get("spec", "selector")
    if selector is not None and (pairs := _list_pairs(selector.get("matchLabels") or selector)):
        result.link(",".join(pairs), selector.row, SELECTOR)


def _find_labels(node: OutlineNode) -> OutlineNode | None:
    return node.get("labels") or node.get("metadata", "labels")


def _list_pairs(node: OutlineNode) -> list[str]:
    """List the pairs of a mapping of scalars, also of one in braces."""
    pairs = [(child.key, child.value) for child in node.fields()]
    if node.value.startswith("{"):
        pairs = [
            (key.strip(), value.strip(" \"'"))
            for key, _, value in (pair.partition(":") for pair in node.value.strip("{} ").split(","))
        ]
    return sorted(f"{key}={value}" for key, value in pairs if value)


def _link_names(result: FormatResult, node: OutlineNode) -> None:
    """Link what names another resource by its kind and name."""
    if kind := _SCALAR_KINDS.get(node.key):
        if node.value:
            result.link(f"{kind}/{plain_name(node.value)}", node.row, IN_TREE)
        return
    if kind := _NAMED_KINDS.get(node.key):
        for part in (node, *node.children):
            if (name := part.get("name")) and name.value and not part.get("kind"):
                result.link(f"{kind}/{plain_name(name.value)}", name.row, IN_TREE)
    kind_node, name = node.get("kind"), node.get("name")
    if kind_node and name and kind_node.value and name.value:
        result.link(f"{plain_name(kind_node.value)}/{plain_name(name.value)}", name.row, IN_TREE)


def _link_kustomization(result: FormatResult, node: OutlineNode) -> None:
    """Link the files and folders that a kustomization is made of."""
    for part in node.fields():
        if part.key in _PATH_KEYS:
            for path, row in node.scalars(part.key):
                result.link(path, row, "path")
        elif part.key in ("patches", "patchesJson6902", "replacements"):
            for item in part.children:
                result.link(item.text("path"), item.row, "path")
        elif part.key in ("configMapGenerator", "secretGenerator"):
            for item in part.children:
                for key in ("files", "envs", "env"):
                    for path, row in item.scalars(key):
                        result.link(path.rpartition("=")[2], row, "path")
