"""Clojure."""

from dowse.code.languages.spec import Language

LANGUAGE = Language(
    name="clojure",
    extensions=(".clj", ".cljs", ".cljc", ".edn", ".bb"),
    aliases=("clojurescript",),
    interpreters=("bb", "clojure"),
    reader="definition_lines",
    lines=(
        ("module", r"\(ns\h+(?:\^\S+\h+)*(?P<name>[^\s()\[\]{}\"']+)"),
        ("macro", r"\(defmacro-?\h+(?:\^\S+\h+)*(?P<name>[^\s()\[\]{}\"']+)"),
        ("interface", r"\(defprotocol\h+(?P<name>[^\s()\[\]{}\"']+)"),
        ("struct", r"\((?:defrecord|deftype|s/defrecord)\h+(?P<name>[^\s()\[\]{}\"']+)"),
        (
            "function",
            r"\((?:s/)?(?:defn-?|defmulti|deftest)\h+(?:\^\S+\h+)*(?P<name>[^\s()\[\]{}\"']+)",
        ),
        ("method", r"\(defmethod\h+(?P<name>[^\s()\[\]{}\"']+)"),
        ("variable", r"\(def(?:once)?\h+(?:\^\S+\h+)*(?P<name>[^\s()\[\]{}\"']+)"),
    ),
)
