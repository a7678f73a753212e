"""Settings of a tree (dowse.toml, pyproject.toml) and the languages they define. SettingsError for what is wrong."""

from dowse import settings
from dowse.code import languages
from dowse.errors import SettingsError
from fuzz.inputs import choose, make_folder

NAMES = (settings.CONFIG_FILE, "pyproject.toml")


def run(data: bytes) -> None:
    """Resolve the settings of a folder with one such file."""
    choice, content = choose(data, len(NAMES))
    folder = make_folder("configuration")
    for number, name in enumerate(NAMES):
        path = folder / name
        if number == choice:
            path.write_bytes(content)
        else:
            path.unlink(missing_ok=True)
    try:
        resolved = settings.resolve(folder).settings
        known = languages.extend_builtin(resolved.languages)
    except SettingsError:
        return
    resolved.index_fingerprint()
    resolved.content_key()
    known.detect("src/a.h", b"#import <x.h>")
