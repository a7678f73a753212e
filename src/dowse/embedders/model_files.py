"""Files of a local embedding model: find its folder, read its configuration, load its Hugging Face tokenizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import EmbedderError, SettingsError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER = "tokenizer.json"


def find_model_directory(path: str, root: Path, provider: str) -> Path:
    """Find the directory (or file) of a model: absolute, below the home folder (``~``), or relative to the tree."""
    if not path:
        raise SettingsError(f"the embedder '{provider}' needs a directory: '{provider}:/path/to/the/model'")
    found = root / Path(path).expanduser()
    if not found.exists():
        raise SettingsError(f"there is no model at {found}: check the path in embedder = '{provider}:{path}'")
    return found


def require_file(path: Path) -> Path:
    """Return the path of a file that a model cannot do without; raise an error if it is missing."""
    if not path.is_file():
        raise SettingsError(f"the model at {path.parent} lacks {path.name}: download it completely")
    return path


def read_json(path: Path) -> dict[str, Any]:
    """Read a configuration file of a model; return an empty dictionary if there is none."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"the model file {path} cannot be read: {error}") from error
    return values if isinstance(values, dict) else {}


def load_tokenizer(path: Path, extra: str) -> Tokenizer:
    """Load the tokenizer of a model; ``extra`` is the part of dowse to install if the library is missing."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise missing_package_error("tokenizers", extra) from error
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more precise
        raise EmbedderError(f"the tokenizer {path} cannot be used: {error}") from error


def missing_package_error(package: str, extra: str) -> EmbedderError:
    """Make the error that says how to install what an embedder needs."""
    return EmbedderError(f"the package '{package}' is needed for this embedder: pip install 'dowse[{extra}]'")
