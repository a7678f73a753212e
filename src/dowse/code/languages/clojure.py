"""Clojure."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="clojure",
    extensions=(".clj", ".cljs", ".cljc", ".edn", ".bb"),
    aliases=("clojurescript",),
    interpreters=("bb", "clojure"),
)
