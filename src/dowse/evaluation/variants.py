"""Ablation and parameter variants to compare: parse ``dense=off``, ``fusion=rrf lexical_weight=2``,
``term_graph=k8s.json``.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from dowse import settings as settings_module
from dowse.errors import UsageError
from dowse.evaluation.eval_types import Variant
from dowse.settings import FEATURE_GROUPS, Settings

BASE_NAME = "base"
"""The name of the variant with the settings in force."""

CHANNEL_WEIGHTS = {
    "lexical": "lexical_weight",
    "dense": "dense_weight",
    "names": "name_weight",
    "files": "file_weight",
}
"""Channels that can be switched off by name, and the weight that does it."""

PATH_SETTINGS = ("term_graph",)
"""Settings that name a file: relative to the working directory if it is there, else to the root."""


def parse(text: str, base: Settings) -> Variant:
    """Parse the settings of a ``--compare``; its text is the name of the variant."""
    settings: dict[str, Any] = {}
    off: list[str] = []
    for part in _split(text):
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise UsageError(
                f"'{part}' is not a setting and its value: write it like fusion=rrf or dense=off"
            )
        if key in CHANNEL_WEIGHTS and value in ("on", "off"):
            settings[CHANNEL_WEIGHTS[key]] = (
                getattr(Settings(), CHANNEL_WEIGHTS[key]) if value == "on" else 0.0
            )
        elif key in FEATURE_GROUPS and value in ("on", "off"):
            off.append(key if value == "off" else f"-{key}")
        else:
            settings[key] = settings_module.parse_value(key, _resolve_path(key, value))
    if off:
        settings["disabled_features"] = _merge_disabled_features(base.disabled_features, off)
    return Variant(text, settings)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text.replace("\\", "\\\\"))
    except ValueError as error:
        raise UsageError(f"'{text}' cannot be read: {error}") from None


def _resolve_path(key: str, value: str) -> str:
    here = Path(value).expanduser().absolute()
    return str(here) if key in PATH_SETTINGS and value and here.is_file() else value


def _merge_disabled_features(now: tuple[str, ...], changes: list[str]) -> tuple[str, ...]:
    on = {change[1:] for change in changes if change.startswith("-")}
    off = [change for change in changes if not change.startswith("-")]
    return tuple(dict.fromkeys(signal for signal in (*now, *off) if signal not in on))


def rename_variant(variant: Variant, name: str) -> Variant:
    """Give a variant another name."""
    return Variant(name, variant.settings)


def overlay_variant(base: Variant, variant: Variant) -> Variant:
    """Apply a variant on top of settings that every run has."""
    return Variant(variant.name, {**base.settings, **variant.settings})
