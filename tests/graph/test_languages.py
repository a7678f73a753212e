"""Every other language and format: imports, calls and inheritance across files."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dowse.types.graph_values import Certainty, Relation

from .trees import calls, edges, imports

JS = {
    "src/index.js": "export { Pool as default } from './pool';\nexport * from './util.js';\n",
    "src/pool.js": "import { aid } from './util';\nexport class Pool extends Base {\n  get() { return this.open(); }\n"
    "  open() { aid(); return new Conn(); }\n}\nclass Base {}\nclass Conn { send() {} }\n",
    "src/util.ts": "export function aid(): void {}\nexport default function main() {}\n",
    "lib/old.js": "const { aid } = require('../src/util');\nconst pool = require('./legacy');\naid();\npool.make();\n",
    "lib/legacy.js": "function make() {}\nmodule.exports = { make: make };\n",
    "app/use.ts": "import Pool, { aid as help } from '@lib/index';\nimport start from '@lib/util';\n"
    "const p = new Pool();\np.get().send();\nhelp();\nstart();\n"
    "class A { constructor(private pool: Pool) {}\n  run() { this.pool.get(); } }\n",
    "tsconfig.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@lib/*": ["src/*"]}}}\n',
}
GO = {
    "go.mod": "module example.com/app\n",
    "main.go": 'package main\n\nimport (\n\t"fmt"\n\t"example.com/app/server"\n)\n\n'
    "func main() {\n\ts := server.New()\n\ts.Listen()\n\tfmt.Println()\n}\n",
    "server/server.go": "package server\n\ntype Base struct{}\n\ntype Server struct {\n\tBase\n}\n\n"
    "func New() *Server {\n\treturn &Server{}\n}\n",
    "server/listen.go": "package server\n\nfunc (s *Server) Listen() {\n\ts.open()\n\thelp()\n}\n\n"
    "func (s *Server) open() {}\n\nfunc help() {}\n",
}
RUST = {
    "src/main.rs": "mod pool;\nuse crate::pool::Pool;\n\nfn main() {\n    let p = Pool::new();\n    p.get();\n}\n",
    "src/pool.rs": "pub trait Store {}\npub struct Pool {}\n\nimpl Store for Pool {}\nimpl Pool {\n"
    "    pub fn new() -> Pool {\n        Pool {}\n    }\n    pub fn get(&self) {\n        self.open();\n    }\n"
    "    fn open(&self) {}\n}\n",
}
JAVA = {
    "src/com/a/Pool.java": "package com.a;\n\npublic class Pool extends Base {\n"
    "  public Conn get() { return open(); }\n  private Conn open() { return new Conn(); }\n}\n",
    "src/com/a/Base.java": "package com.a;\n\nclass Base {}\n",
    "src/com/a/Conn.java": "package com.a;\n\npublic class Conn {\n  public void send() {}\n}\n",
    "src/com/b/Use.java": "package com.b;\n\nimport com.a.Pool;\n\nclass Use {\n  private Pool pool;\n"
    "  void run(Pool other) {\n    pool.get().send();\n    other.get();\n  }\n}\n",
}
KOTLIN = {
    "a/Pool.kt": "package a\n\nopen class Base\n\nclass Pool : Base() {\n    fun get() = open()\n    fun open() {}\n}\n"
    "\nfun make(): Pool = Pool()\n",
    "b/Use.kt": "package b\n\nimport a.Pool\nimport a.make\n\nclass Use(val pool: Pool) {\n"
    "    fun run() {\n        pool.get()\n        make()\n    }\n}\n",
}
CSHARP = {
    "Pool.cs": "namespace A {\n  class Base {}\n  class Pool : Base {\n    public void Get() { Open(); }\n"
    "    void Open() {}\n  }\n}\n",
    "Use.cs": "using A;\n\nclass Use {\n  private Pool pool = new Pool();\n  void Run() { this.pool.Get(); }\n}\n",
}
C = {
    "include/pool.h": "int pool_get(int x);\n",
    "src/main.c": '#include "pool.h"\n\nint help(int x) { return x; }\n\n'
    "int main(void) {\n  return help(pool_get(1));\n}\n",
}
CPP = {
    "pool.hpp": "class Base {};\nclass Pool : public Base {\n public:\n"
    "  void get() { open(); }\n  void open() {}\n};\n",
    "main.cpp": '#include "pool.hpp"\n\nint main() {\n  Pool* p = new Pool();\n}\n',
}
RUBY = {
    "lib/pool.rb": "class Base\nend\n\nclass Pool < Base\n  def get\n    open_one()\n  end\n\n"
    "  def open_one\n  end\nend\n",
    "lib/use.rb": "require_relative 'pool'\n\ndef run\n  p = Pool.new\n  p.get\nend\n",
}
PHP = {
    "src/A/Pool.php": "<?php\nnamespace A;\n\nclass Base {}\n\nclass Pool extends Base {\n"
    "  public function get() { return $this->open(); }\n  private function open() {}\n}\n",
    "src/B/Use.php": "<?php\nnamespace B;\n\nuse A\\Pool;\n\nclass User {\n  private Pool $pool;\n"
    "  function run() { $p = new Pool(); $p->get(); $this->pool->get(); }\n}\n",
}


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (
            JS,
            {
                ("src/pool.js:Pool.get", "src/pool.js:Pool.open"),
                ("src/pool.js:Pool.open", "src/util.ts:aid"),
                ("lib/old.js", "src/util.ts:aid"),
                ("lib/old.js", "lib/legacy.js:make"),
                ("app/use.ts", "src/pool.js:Pool"),
                ("app/use.ts", "src/pool.js:Conn.send"),
                ("app/use.ts", "src/util.ts:aid"),
                ("app/use.ts", "src/util.ts:main"),
                ("app/use.ts:A.run", "src/pool.js:Pool.get"),
            },
        ),
        (
            GO,
            {
                ("main.go:main", "server/server.go:New"),
                ("main.go:main", "server/listen.go:Server.Listen"),
                ("server/listen.go:Server.Listen", "server/listen.go:Server.open"),
                ("server/listen.go:Server.Listen", "server/listen.go:help"),
            },
        ),
        (
            RUST,
            {
                ("src/main.rs:main", "src/pool.rs:Pool.new"),
                ("src/main.rs:main", "src/pool.rs:Pool.get"),
                ("src/pool.rs:Pool.get", "src/pool.rs:Pool.open"),
            },
        ),
        (
            JAVA,
            {
                ("src/com/a/Pool.java:Pool.get", "src/com/a/Pool.java:Pool.open"),
                ("src/com/a/Pool.java:Pool.open", "src/com/a/Conn.java:Conn"),
                ("src/com/b/Use.java:Use.run", "src/com/a/Pool.java:Pool.get"),
                ("src/com/b/Use.java:Use.run", "src/com/a/Conn.java:Conn.send"),
            },
        ),
        (
            KOTLIN,
            {
                ("a/Pool.kt:Pool.get", "a/Pool.kt:Pool.open"),
                ("a/Pool.kt:make", "a/Pool.kt:Pool"),
                ("b/Use.kt:Use.run", "a/Pool.kt:Pool.get"),
                ("b/Use.kt:Use.run", "a/Pool.kt:make"),
            },
        ),
        (
            CSHARP,
            {
                ("Pool.cs:A.Pool.Get", "Pool.cs:A.Pool.Open"),
                ("Use.cs:Use.Run", "Pool.cs:A.Pool.Get"),
            },
        ),
        (C, {("src/main.c:main", "src/main.c:help"), ("src/main.c:main", "include/pool.h:pool_get")}),
        (CPP, {("pool.hpp:Pool.get", "pool.hpp:Pool.open"), ("main.cpp:main", "pool.hpp:Pool")}),
        (
            RUBY,
            {
                ("lib/pool.rb:Pool.get", "lib/pool.rb:Pool.open_one"),
                ("lib/use.rb:run", "lib/pool.rb:Pool"),
                ("lib/use.rb:run", "lib/pool.rb:Pool.get"),
            },
        ),
        (
            PHP,
            {
                ("src/A/Pool.php:Pool.get", "src/A/Pool.php:Pool.open"),
                ("src/B/Use.php:User.run", "src/A/Pool.php:Pool.get"),
            },
        ),
    ],
    ids=["javascript", "go", "rust", "java", "kotlin", "csharp", "c", "cpp", "ruby", "php"],
)
def test_calls(tree: Mapping[str, str], expected: set[tuple[str, str]]) -> None:
    assert expected <= calls(tree)


@pytest.mark.parametrize(
    ("tree", "edge"),
    [
        (JS, ("src/pool.js:Pool", "src/pool.js:Base")),
        (GO, ("server/server.go:Server", "server/server.go:Base")),
        (RUST, ("src/pool.rs:Pool", "src/pool.rs:Store")),
        (JAVA, ("src/com/a/Pool.java:Pool", "src/com/a/Base.java:Base")),
        (KOTLIN, ("a/Pool.kt:Pool", "a/Pool.kt:Base")),
        (CSHARP, ("Pool.cs:A.Pool", "Pool.cs:A.Base")),
        (CPP, ("pool.hpp:Pool", "pool.hpp:Base")),
        (RUBY, ("lib/pool.rb:Pool", "lib/pool.rb:Base")),
        (PHP, ("src/A/Pool.php:Pool", "src/A/Pool.php:Base")),
    ],
    ids=["javascript", "go", "rust", "java", "kotlin", "csharp", "cpp", "ruby", "php"],
)
def test_inheritance(tree: Mapping[str, str], edge: tuple[str, str]) -> None:
    assert edge in edges(tree, Relation.INHERITS)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (
            JS,
            {
                ("src/index.js", "src/pool.js"),
                ("src/index.js", "src/util.ts"),
                ("src/pool.js", "src/util.ts"),
                ("lib/old.js", "lib/legacy.js"),
                ("app/use.ts", "src/index.js"),
                ("app/use.ts", "src/util.ts"),
            },
        ),
        (RUST, {("src/main.rs", "src/pool.rs"), ("src/main.rs", "src/pool.rs:Pool")}),
        (JAVA, {("src/com/b/Use.java", "src/com/a/Pool.java:Pool")}),
        (KOTLIN, {("b/Use.kt", "a/Pool.kt:Pool"), ("b/Use.kt", "a/Pool.kt:make")}),
        (C, {("src/main.c", "include/pool.h")}),
        (RUBY, {("lib/use.rb", "lib/pool.rb")}),
        (PHP, {("src/B/Use.php", "src/A/Pool.php:Pool")}),
    ],
    ids=["javascript", "rust", "java", "kotlin", "c", "ruby", "php"],
)
def test_imports(tree: Mapping[str, str], expected: set[tuple[str, str]]) -> None:
    assert expected <= imports(tree)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (
            {
                "src/com/a/Pool.java": "package com.a;\n\npublic class Pool {\n  public void get() {}\n}\n",
                "src/com/b/Timed.java": "package com.b;\n\ninterface Timed {\n  void tick();\n}\n",
                "src/com/b/Use.java": "package com.b;\n\nimport com.a.Pool;\n\n"
                "class Use implements Runnable, Timed {\n  private Pool pool;\n  public void run() {\n"
                "    pool.get();\n    new Pool().get();\n  }\n  void twice() {\n    tick();\n  }\n}\n",
            },
            {
                ("src/com/b/Use.java:Use.run", "src/com/a/Pool.java:Pool"),
                ("src/com/b/Use.java:Use.run", "src/com/a/Pool.java:Pool.get"),
                ("src/com/b/Use.java:Use.twice", "src/com/b/Timed.java:Timed.tick"),
            },
        ),
        (
            {
                "a/Pool.kt": "package a\n\nclass Pool {\n    fun get() {}\n}\n\nfun aid() {}\n",
                "a/Use.kt": "package a\n\nclass Use(val pool: Pool) : Runnable {\n    override fun run() {\n"
                "        pool.get()\n        aid()\n    }\n}\n",
            },
            {("a/Use.kt:Use.run", "a/Pool.kt:Pool.get"), ("a/Use.kt:Use.run", "a/Pool.kt:aid")},
        ),
        (
            {
                "Pool.cs": "namespace A {\n  class Pool {\n    public void Get() {}\n  }\n}\n",
                "b/Use.cs": "namespace B {\n  class Use : IDisposable {\n    private Pool pool;\n"
                "    void Run() {\n      pool.Get();\n    }\n  }\n}\n",
            },
            {("b/Use.cs:B.Use.Run", "Pool.cs:A.Pool.Get")},
        ),
        (
            {
                "aid.h": "int aid();\n",
                "use.cpp": '#include "aid.h"\n\nclass Use : public Outside {\n'
                "  int run() {\n    return aid();\n  }\n};\n",
            },
            {("use.cpp:Use.run", "aid.h:aid")},
        ),
    ],
    ids=["java", "kotlin", "csharp", "cpp"],
)
def test_what_the_tree_defines_is_not_taken_for_a_member_of_a_base_outside(
    tree: Mapping[str, str], expected: set[tuple[str, str]]
) -> None:
    assert calls(tree) == expected


def test_what_the_tree_does_not_define_may_be_inherited_from_outside() -> None:
    tree = {
        "Use.java": "import java.io.Reader;\n\nclass Use extends Reader {\n  void run() {\n    skip();\n"
        '    String.format("");\n  }\n}\n',
        "aid.cpp": "void refresh() {}\n",
        "use.cpp": "class View : public Outside {\n  void run() {\n    refresh();\n  }\n};\n",
    }
    assert edges(tree, Relation.INVOKES, Certainty.EXTERNAL) == {
        ("Use.java:Use.run", "java.io.Reader.skip"),
        ("Use.java:Use.run", "String.format"),
        ("use.cpp:View.run", "Outside.refresh"),
    }
    assert calls(tree) == set()


def test_a_method_may_stand_before_its_type() -> None:
    tree = {
        "a.go": "package a\n\nfunc (s *S) F() {\n\ts.G()\n}\n\nfunc (s *S) G() {}\n\ntype S struct{}\n",
        "b.js": "Foo.prototype.f = function () { this.g(); };\nFoo.prototype.g = function () {};\nfunction Foo() {}\n",
    }
    assert ("a.go:S.F", "a.go:S.G") in calls(tree)


def test_scripts_refer_to_what_they_source() -> None:
    tree = {
        "bin/run.sh": '. ./lib.sh\nsource "$HERE/../etc/env.sh"\n. "$(dirname "$0")/lib.sh"\necho ./no.sh\n',
        "bin/lib.sh": "run() { :; }\n",
        "etc/env.sh": "A=1\n",
        "flake.nix": "{\n  imports = [ ./nix/host.nix ];\n}\n",
        "nix/host.nix": "{ }\n",
    }
    assert edges(tree, Relation.REFERENCES) == {
        ("bin/run.sh", "bin/lib.sh"),
        ("bin/run.sh", "etc/env.sh"),
        ("flake.nix", "nix/host.nix"),
    }


def test_formats_refer_to_files() -> None:
    tree = {
        "README.md": "See [the guide](docs/guide.md#start) and [site](https://example.org) and [gone](docs/no.md).\n",
        "docs/guide.md": "# Guide\n\nBack to [home](../README.md).\n",
        "compose.yaml": "services:\n  web:\n    build: ./web\n    env_file: web/settings.env\n",
        "web/Dockerfile": "FROM python:3\nCOPY start.sh /start.sh\n",
        "web/start.sh": "echo\n",
        "web/settings.env": "A=1\n",
        ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - uses: ./.github/actions/setup\n"
        "      - run: python tools/check.py --all\n",
        ".github/actions/setup/action.yml": "name: setup\n",
        "tools/check.py": "print()\n",
        ".gitlab-ci.yml": "include:\n  - local: ci/build.yml\n",
        "ci/build.yml": "a: 1\n",
        "infra/main.tf": 'module "net" {\n  source = "./net"\n}\n',
        "infra/net/main.tf": 'variable "x" {}\n',
    }
    assert edges(tree, Relation.REFERENCES) == {
        ("README.md", "docs/guide.md"),
        ("docs/guide.md", "README.md"),
        ("compose.yaml:service/web", "web/Dockerfile"),
        ("compose.yaml:service/web", "web/settings.env"),
        ("web/Dockerfile:stage/0", "web/start.sh"),
        (".github/workflows/ci.yml:job/a/./.github/actions/setup", ".github/actions/setup/action.yml"),
        (".github/workflows/ci.yml:job/a/python tools/check.py --all", "tools/check.py"),
        (".gitlab-ci.yml", "ci/build.yml"),
        ("infra/main.tf:module.net", "infra/net/main.tf"),
    }


WORKSPACE = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
    "crates/walk/Cargo.toml": '[package]\nversion = "1.0"\nname = "tree-walk"\n\n[dependencies]\nname = "no"\n',
    "crates/walk/src/lib.rs": "mod builder;\npub mod inner;\npub use crate::builder::{Builder, Walk as Walker};\n",
    "crates/walk/src/inner/mod.rs": "pub mod deep;\npub const LIMIT: u8 = 1;\n",
    "crates/walk/src/inner/deep.rs": "use super::super::Builder;\n\npub fn made() -> Builder {\n"
    "    Builder::new()\n}\n",
    "crates/walk/src/builder.rs": "pub struct Walk {}\n\nimpl Walk {\n    pub fn run(&self) {}\n}\n\n"
    "pub struct Builder {}\n\nimpl Builder {\n    pub fn new() -> Self {\n        Self::from(1)\n    }\n"
    "    fn from(_: u8) -> Builder {\n        Builder {}\n    }\n"
    "    pub fn threads(&mut self, n: usize) -> &mut Builder {\n        check(n);\n        self\n    }\n"
    "    pub fn check(&self) {}\n    pub fn build(&self) -> Walk {\n        assert!(self.check());\n        Walk {}\n"
    "    }\n}\n\nfn check(n: usize) {}\n\n"
    "mod tests {\n    use super::{Builder, Walk};\n    use super::*;\n\n"
    "    fn borrowed(b: &mut Builder) {\n        b.build();\n    }\n}\n",
    "crates/core/Cargo.toml": '[package]\nname = "core"\n',
    "crates/core/main.rs": "mod args;\n\nuse crate::{args::{Args, Other}};\nuse tree_walk::inner::LIMIT;\n"
    "use tree_walk::inner::deep;\n\n"
    "fn main() {\n    let mut b = tree_walk::Builder::new();\n    b.threads(2).build().run();\n}\n\n"
    "fn asked(args: &Args) -> Result<(), Error> {\n    args.builder()?.build();\n"
    "    args.builder().unwrap().threads(1);\n    args.builder().build();\n    args.lists()?.build();\n}\n\n"
    'fn far(first: Option<&\'static Other>) {\n    deep::made().build();\n    first.expect("").go::<u8>();\n}\n',
    "crates/core/args.rs": "use std::sync::Arc;\nuse tree_walk as walk;\n\npub struct Args {}\n\nimpl Args {\n"
    "    pub fn builder(&self) -> anyhow::Result<Arc<walk::Builder>> {\n        todo!()\n    }\n"
    "    pub fn lists(&self) -> Option<Vec<walk::Builder>> {\n        None\n    }\n}\n\n"
    "pub struct Other {}\n\nimpl Other {\n    pub fn go<T>(&self) {}\n}\n\nfn go() {}\n",
}


def test_rust_is_followed_through_crates_modules_and_chains() -> None:
    builder, core = "crates/walk/src/builder.rs", "crates/core"
    assert calls(WORKSPACE) == {
        ("crates/walk/src/inner/deep.rs:made", f"{builder}:Builder.new"),
        (f"{builder}:Builder.new", f"{builder}:Builder.from"),
        (f"{builder}:Builder.threads", f"{builder}:check"),
        (f"{builder}:Builder.build", f"{builder}:Builder.check"),
        (f"{builder}:Builder.build", f"{builder}:check"),  # a macro's arguments are no expressions
        (f"{builder}:tests.borrowed", f"{builder}:Builder.build"),
        (f"{core}/main.rs:main", f"{builder}:Builder.new"),
        (f"{core}/main.rs:main", f"{builder}:Builder.threads"),
        (f"{core}/main.rs:main", f"{builder}:Builder.build"),
        (f"{core}/main.rs:main", f"{builder}:Walk.run"),
        (f"{core}/main.rs:asked", f"{core}/args.rs:Args.builder"),
        (f"{core}/main.rs:asked", f"{core}/args.rs:Args.lists"),
        (f"{core}/main.rs:asked", f"{builder}:Builder.build"),
        (f"{core}/main.rs:asked", f"{builder}:Builder.threads"),
        (f"{core}/main.rs:far", "crates/walk/src/inner/deep.rs:made"),
        (f"{core}/main.rs:far", f"{builder}:Builder.build"),
        (f"{core}/main.rs:far", f"{core}/args.rs:Other.go"),
    }
    assert (builder, "super::Builder") not in edges(WORKSPACE, Relation.IMPORTS, Certainty.EXTERNAL)
    assert imports(WORKSPACE) == {
        ("crates/walk/src/lib.rs", builder),
        ("crates/walk/src/lib.rs", "crates/walk/src/inner/mod.rs"),
        ("crates/walk/src/lib.rs", f"{builder}:Builder"),
        ("crates/walk/src/lib.rs", f"{builder}:Walk"),
        ("crates/walk/src/inner/mod.rs", "crates/walk/src/inner/deep.rs"),
        ("crates/walk/src/inner/deep.rs", f"{builder}:Builder"),
        (f"{core}/main.rs", f"{core}/args.rs"),
        (f"{core}/main.rs", f"{core}/args.rs:Args"),
        (f"{core}/main.rs", f"{core}/args.rs:Other"),
        (f"{core}/main.rs", "crates/walk/src/inner/mod.rs"),
        (f"{core}/main.rs", "crates/walk/src/inner/deep.rs"),
        (f"{core}/args.rs", "crates/walk/src/lib.rs"),
    }
