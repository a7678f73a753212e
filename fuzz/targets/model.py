"""The header of a model's weights and its configuration: SettingsError for bad ones; declared tensors are there."""

import numpy as np

from dowse.embedders import model2vec, model_files
from dowse.errors import SettingsError
from fuzz.inputs import choose, make_folder


def run(data: bytes) -> None:
    """Open a file of weights (its length is put before the header here), or a file of JSON."""
    kind, content = choose(data, 3)
    path = make_folder("model") / "model"
    header, _, arrays = content.partition(b"\n")
    path.write_bytes(len(header).to_bytes(8, "little") + header + arrays if kind == 0 else content)
    try:
        if kind == 2:
            assert isinstance(model_files.read_json(path), dict)
            return
        tensors = model2vec.open_tensors(path)
    except SettingsError:
        return
    assert any(name in tensors and tensors[name].ndim == 2 for name in model2vec.TABLE_NAMES)
    for tensor in tensors.values():
        np.asarray(tensor).tobytes()
