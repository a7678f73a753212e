"""What programs print when they fail, as they print it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.search.query.analyze import analyze_query
from dowse.search.query.error_message import MAX_MESSAGE_CHARS, find_error_message
from dowse.search.query.stack_traces import MAX_FRAMES, find_frames, looks_like_output
from dowse.types.queries import Frame, ParsedQuery
from dowse.types.stored import NO_FILTER

PYTHON = """\
2024-05-01 12:30:45,123 ERROR worker: job failed
Traceback (most recent call last):
  File "/srv/app/cli.py", line 40, in <module>
    main()
  File "/srv/app/jobs.py", line 12, in run
    client.get(url)
  File "/srv/venv/lib/python3.11/site-packages/httpx/_client.py", line 1041, in get
    return self.request()
           ^^^^^^^^^^^^^^
  File "<frozen importlib._bootstrap>", line 1176, in _find_and_load
httpx.ConnectTimeout: timed out after 3 s
"""

PYTHON_CHAINED = """\
Traceback (most recent call last):
  File "/srv/src/app.py", line 6, in run
    Client().load("x")
  File "/srv/src/app.py", line 3, in load
    return {}[key]
           ~~^^^^^
KeyError: 'x'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/main.py", line 3, in <module>
  File "/srv/src/app.py", line 8, in run
    raise ValueError("no such key: x") from e
ValueError: no such key: x
"""

PYTHON_GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/srv/main.py", line 3, in <module>
  |   File "/srv/src/app.py", line 14, in group
  |     raise ExceptionGroup("two went wrong", errs)
  | ExceptionGroup: two went wrong (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/srv/src/app.py", line 12, in group
    |     try: f()
    |          ^^^
    |   File "/srv/src/app.py", line 8, in run
    |     raise ValueError("no such key: x") from e
    | ValueError: no such key: x
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "/srv/src/app.py", line 12, in group
    |     try: f()
    |          ^^^
    |   File "/srv/src/maths.py", line 11, in <lambda>
    |     for f in (run, lambda: 1/0):
    |                            ~^~
    | ZeroDivisionError: division by zero
    +------------------------------------
"""

FAULTHANDLER = """\
Current thread 0x00007fe695c8cb80 (most recent call first):
  File "/srv/inner.py", line 4 in f
  File "/srv/outer.py", line 5 in g
"""

IPYTHON = """\
ValueError                                Traceback (most recent call last)
Cell In[3], line 1
----> 1 load("x")

File ~/project/loader.py:12, in load(name, mode)
     11 def load(name, mode="r"):
---> 12     return parse(name)

File ~/project/parser.py:7, in parse(name)
      6 def parse(name):
----> 7     raise ValueError(name)

ValueError: x
"""

PYTEST = """\
============================= test session starts ==============================
collected 2 items

tests/test_app.py \x1b[31mF\x1b[0m\x1b[31mF\x1b[0m                                             [100%]

=================================== FAILURES ===================================
\x1b[31m\x1b[1m_________________________________ TestA.test_b _________________________________\x1b[0m

    def test_b(self):
>       app.run()

\x1b[1m\x1b[31mtests/test_app.py\x1b[0m:5:\x20
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _\x20

    def run():
>           raise ValueError("no such key: x") from e
\x1b[1m\x1b[31mE           ValueError: no such key: x\x1b[0m

\x1b[1m\x1b[31msrc/app.py\x1b[0m:8: ValueError
\x1b[31m\x1b[1m____________________________________ test_c ____________________________________\x1b[0m

    def test_c():
>       assert 1 == 2, "numbers"
\x1b[1m\x1b[31mE       AssertionError: numbers\x1b[0m
\x1b[1m\x1b[31mE       assert 1 == 2\x1b[0m

\x1b[1m\x1b[31mtests/test_app.py\x1b[0m:7: AssertionError
\x1b[36m\x1b[1m=========================== short test summary info ============================\x1b[0m
\x1b[31mFAILED\x1b[0m tests/test_app.py::\x1b[1mTestA::test_b\x1b[0m - ValueError: no such key: x
\x1b[31mFAILED\x1b[0m tests/test_app.py::\x1b[1mtest_c\x1b[0m - AssertionError: numbers
\x1b[31m============================== \x1b[31m\x1b[1m2 failed\x1b[0m in 1.48s ===============================\x1b[0m
"""

PYTEST_SHORT = """\
_________________________________ TestA.test_b _________________________________
src/app.py:6: in run
    Client().load("x")
src/app.py:3: in load
    return {}[key]
           ^^^^^^^
E   KeyError: 'x'

The above exception was the direct cause of the following exception:
tests/test_app.py:5: in test_b
    app.run()
src/app.py:8: in run
    raise ValueError("no such key: x") from e
E   ValueError: no such key: x
=========================== short test summary info ============================
FAILED tests/test_app.py::TestA::test_b[a b-1] - ValueError: no such key: x
"""

NODE = """\
/srv/app/x.js:1
class A { go(){ throw new TypeError("bad thing"); } }
                      ^

TypeError: bad thing
    at A.go (/srv/app/src/a.js:1:23)
    at Object.<anonymous> (/srv/app/node_modules/lib/index.js:9:1)
    at async Object.load [as read] (file:///srv/app/src/loader.mjs:20:5)
    at new Store (webpack-internal:///./src/store.ts:33:11)
    at /srv/app/src/main.js:2:44
    at eval (eval at compile (/srv/app/src/tpl.js:7:9), <anonymous>:3:4)
    at Module._compile (node:internal/modules/cjs/loader:1521:14)
    at Object.Module._load (internal/modules/cjs/loader.js:527:27)

Node.js v20.20.2
"""

FIREFOX = """\
render@http://localhost:3000/src/view.js?v=12:10:5
@http://localhost:3000/src/main.js:3:1
"""

JAVA = """\
Exception in thread "main" java.lang.IllegalStateException: bad state
\tat a.b.Main.main(Main.java:6)
\tat app//org.acme.Boot.<init>(Boot.kt:9) ~[boot.jar:1.0]
Caused by: java.lang.ArithmeticException: / by zero
\tat a.b.Main$Inner.lambda$get$0(Main.java:4)
\tat java.base/java.util.stream.ReferencePipeline$3$1.accept(ReferencePipeline.java:197)
\tat java.base/jdk.internal.reflect.NativeMethodAccessorImpl.invoke0(Native Method)
\tat a.b.Main$Inner.get(Main.java:14)
\t... 1 more
"""

GO = """\
panic: runtime error: index out of range [3] with length 0 [recovered]

goroutine 1 [running]:
runtime.goPanicIndex(0x3, 0x0)
\t/usr/local/go/src/runtime/panic.go:113 +0x7f
github.com/acme/shop/cart.(*Cart).Total.func1({0xc000012018, 0x1})
\t/home/ann/go/src/github.com/acme/shop/cart/cart.go:42 +0x1d
main.main()
\t/home/ann/shop/main.go:12 +0x39
created by main.serve in goroutine 1
\t/home/ann/shop/serve.go:20 +0x25
exit status 2
"""

GO_TEST = """\
--- FAIL: TestTotal (0.00s)
    cart_test.go:25: got 1, want 2
FAIL
FAIL\tgithub.com/acme/shop/cart\t0.004s
"""

RUST = """\
thread 'main' (30488) panicked at src/store.rs:2:68:
index out of bounds: the len is 0 but the index is 3
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/std/src/panicking.rs:689:5
   5: <alloc::vec::Vec<T,A> as core::ops::index::Index<I>>::index
             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/alloc/src/vec/mod.rs:3804:9
   6: m::Store::get::{{closure}}::h0123456789abcdef
             at ./src/store.rs:2:68
  13: m::main
             at ./src/main.rs:3:44
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.
"""

RUSTC = """\
warning: unused variable: `y`
 --> src/a.rs:9:5
  |
error[E0308]: mismatched types
 --> src/e.rs:1:26
  |
1 | fn main() { let x: i32 = "a"; foo(); let y = 1; }
  |                    ---   ^^^ expected `i32`, found `&str`

error: aborting due to 1 previous error
"""

GCC = """\
In file included from src/y.c:3:
src/x.c: In function 'main':
src/x.c:2:20: warning: implicit declaration of function 'foo' [-Wimplicit-function-declaration]
    2 | int main(){ int y; foo(); return x; }
      |                    ^~~
src/x.c:2:34: error: 'x' undeclared (first use in this function)
src/z.c:1:10: fatal error: foo.h: No such file or directory
"""

TSC = """\
src/app.ts(12,3): error TS2304: Cannot find name 'foo'.
src/view.tsx:7:1 - error TS2322: Type 'string' is not assignable to type 'number'.
C:\\work\\Program.cs(3): warning CS0168: The variable 'x' is declared but never used [C:\\work\\a.csproj]
"""

RUBY = """\
app/models/user.rb:12:in 'User#name': undefined method 'strip' for nil (NoMethodError)
\tfrom app/views/show.rb:3:in 'block in render'
\tfrom /usr/lib/ruby/gems/3.4.0/gems/rack-3.0/lib/rack.rb:9:in 'call'
\tfrom bin/run:5:in '<main>'
"""

RUBY_OLD = """\
Traceback (most recent call last):
\t2: from bin/run.rb:5:in `<main>'
\t1: from app/views/show.rb:3:in `render'
app/models/user.rb:12:in `name': undefined method `strip' for nil:NilClass (NoMethodError)
"""

PHP = """\
PHP Fatal error:  Uncaught InvalidArgumentException: no user in /srv/app/src/Repo.php:31
Stack trace:
#0 /srv/app/src/Service.php(14): App\\Repo->find(7)
#1 /srv/app/public/index.php(5): App\\Service::run()
#2 {main}
  thrown in /srv/app/src/Repo.php on line 31
"""

DOTNET = """\
Unhandled exception. System.InvalidOperationException: Sequence contains no elements
   at System.Linq.ThrowHelper.ThrowNoElementsException()
   at Shop.Cart.<TotalAsync>d__3.MoveNext() in C:\\src\\Shop\\Cart.cs:line 42
   at Shop.Program.Main(String[] args) in /src/Shop/Program.cs:line 9
"""

ASAN = """\
==30573==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000038
    #0 0x555760ad11bf in boom /srv/src/boom.c:2:9
    #1 0x555760ad11ea in main /srv/src/main.c:3
    #2 0x7f3603645249 in __libc_start_call_main /usr/include/libc_start_call_main.h:58
"""

ELIXIR = """\
** (FunctionClauseError) no function clause matching in Shop.Cart.total/1
    (shop 0.1.0) lib/shop/cart.ex:12: Shop.Cart.total/1
    (shop 0.1.0) lib/shop.ex:3: Shop.run!/0
"""

JEST = """\
FAIL src/cart.test.ts
  ● total › adds up
    expect(received).toBe(expected)
      at Object.<anonymous> (src/cart.test.ts:9:17)
"""

CASES = {
    "python": (
        PYTHON,
        [
            ("/srv/app/jobs.py", 12, "run"),
            ("/srv/app/cli.py", 40, ""),
            ("/srv/venv/lib/python3.11/site-packages/httpx/_client.py", 1041, "get"),
        ],
        "httpx.ConnectTimeout: timed out after 3 s",
    ),
    "python chained": (
        PYTHON_CHAINED,
        [
            ("/srv/src/app.py", 8, "run"),
            ("/srv/src/app.py", 3, "load"),
            ("/srv/main.py", 3, ""),
            ("/srv/src/app.py", 6, "run"),
        ],
        "ValueError: no such key: x",
    ),
    "python group": (
        PYTHON_GROUP,
        [
            ("/srv/src/maths.py", 11, ""),
            ("/srv/src/app.py", 8, "run"),
            ("/srv/src/app.py", 14, "group"),
            ("/srv/src/app.py", 12, "group"),
            ("/srv/main.py", 3, ""),
        ],
        "ZeroDivisionError: division by zero",
    ),
    "faulthandler": (FAULTHANDLER, [("/srv/inner.py", 4, "f"), ("/srv/outer.py", 5, "g")], None),
    "ipython": (
        IPYTHON,
        [("~/project/parser.py", 7, "parse"), ("~/project/loader.py", 12, "load")],
        "ValueError: x",
    ),
    "pytest": (
        PYTEST,
        [
            ("src/app.py", 8, ""),
            ("tests/test_app.py", 7, ""),
            ("tests/test_app.py", 5, ""),
            ("tests/test_app.py", 0, "TestA.test_b"),
        ],
        "AssertionError: numbers",
    ),
    "pytest short": (
        PYTEST_SHORT,
        [
            ("src/app.py", 8, "run"),
            ("src/app.py", 3, "load"),
            ("tests/test_app.py", 5, "test_b"),
            ("src/app.py", 6, "run"),
            ("tests/test_app.py", 0, "TestA.test_b"),
        ],
        "ValueError: no such key: x",
    ),
    "pytest summary": (
        "FAILED tests/test_x.py::TestA::test_b - assert 1 == 2\nERROR tests/test_y.py - ImportError: no\n",
        [("tests/test_x.py", 0, "TestA.test_b"), ("tests/test_y.py", 0, "")],
        "assert 1 == 2",
    ),
    "pytest verbose": (
        "tests/test_x.py::test_a PASSED [ 50%]\ntests/test_x.py::test_b[1-x y] FAILED [100%]\n",
        [("tests/test_x.py", 0, "test_b")],
        None,
    ),
    "node": (
        NODE,
        [
            ("/srv/app/src/a.js", 1, "A.go"),
            ("/srv/app/src/loader.mjs", 20, "load"),
            ("src/store.ts", 33, "Store"),
            ("/srv/app/src/main.js", 2, ""),
            ("/srv/app/src/tpl.js", 7, ""),
            ("/srv/app/x.js", 1, ""),
            ("/srv/app/node_modules/lib/index.js", 9, ""),
            ("internal/modules/cjs/loader.js", 527, "Object.Module._load"),
        ],
        "TypeError: bad thing",
    ),
    "firefox": (FIREFOX, [("/src/view.js", 10, "render"), ("/src/main.js", 3, "")], None),
    "java": (
        JAVA,
        [
            ("a/b/Main.java", 4, "Main.Inner.get"),
            ("a/b/Main.java", 6, "Main.main"),
            ("a/b/Main.java", 14, "Main.Inner.get"),
            ("org/acme/Boot.kt", 9, "Boot"),
            ("java/util/stream/ReferencePipeline.java", 197, "ReferencePipeline.accept"),
        ],
        "java.lang.ArithmeticException: / by zero",
    ),
    "go": (
        GO,
        [
            ("/home/ann/go/src/github.com/acme/shop/cart/cart.go", 42, "Cart.Total"),
            ("/home/ann/shop/main.go", 12, "main"),
            ("/home/ann/shop/serve.go", 20, "serve"),
            ("/usr/local/go/src/runtime/panic.go", 113, "goPanicIndex"),
        ],
        "runtime error: index out of range [3] with length 0 [recovered]",
    ),
    "rust": (
        RUST,
        [
            ("src/store.rs", 2, "Store::get"),
            ("src/main.rs", 3, "main"),
            ("/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/std/src/panicking.rs", 689, "rust_begin_unwind"),
            ("/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/alloc/src/vec/mod.rs", 3804, "index"),
        ],
        "index out of bounds: the len is 0 but the index is 3",
    ),
    "rust before 2021": (
        "thread 'main' panicked at 'no such file', src/main.rs:4:10\n",
        [("src/main.rs", 4, "")],
        "no such file",
    ),
    "rustc": (RUSTC, [("src/e.rs", 1, ""), ("src/a.rs", 9, "")], "mismatched types"),
    "gcc": (
        GCC,
        [("src/x.c", 2, ""), ("src/z.c", 1, ""), ("src/y.c", 3, "")],
        "'x' undeclared (first use in this function)",
    ),
    "tsc": (
        TSC,
        [("src/app.ts", 12, ""), ("src/view.tsx", 7, ""), ("C:/work/Program.cs", 3, "")],
        "Cannot find name 'foo'.",
    ),
    "javac": (
        "a/b/Bad.java:1: error: incompatible types: String cannot be converted to int\n",
        [("a/b/Bad.java", 1, "")],
        "incompatible types: String cannot be converted to int",
    ),
    "ruby": (
        RUBY,
        [
            ("app/models/user.rb", 12, "User.name"),
            ("app/views/show.rb", 3, "render"),
            ("bin/run", 5, ""),
            ("/usr/lib/ruby/gems/3.4.0/gems/rack-3.0/lib/rack.rb", 9, "call"),
        ],
        "undefined method 'strip' for nil (NoMethodError)",
    ),
    "ruby before 3": (
        RUBY_OLD,
        [("app/models/user.rb", 12, "name"), ("app/views/show.rb", 3, "render"), ("bin/run.rb", 5, "")],
        "undefined method `strip' for nil:NilClass (NoMethodError)",
    ),
    "php": (
        PHP,
        [
            ("/srv/app/src/Repo.php", 31, "Repo.find"),
            ("/srv/app/src/Service.php", 14, "Service.run"),
            ("/srv/app/public/index.php", 5, ""),
        ],
        "InvalidArgumentException: no user in /srv/app/src/Repo.php:31",
    ),
    "dotnet": (
        DOTNET,
        [("C:/src/Shop/Cart.cs", 42, "Cart.TotalAsync"), ("/src/Shop/Program.cs", 9, "Program.Main")],
        "System.InvalidOperationException: Sequence contains no elements",
    ),
    "asan": (
        ASAN,
        [
            ("/srv/src/boom.c", 2, "boom"),
            ("/srv/src/main.c", 3, "main"),
            ("/usr/include/libc_start_call_main.h", 58, "__libc_start_call_main"),
        ],
        None,
    ),
    "elixir": (
        ELIXIR,
        [("lib/shop/cart.ex", 12, "Shop.Cart.total"), ("lib/shop.ex", 3, "Shop.run!")],
        None,
    ),
    "jest": (JEST, [("src/cart.test.ts", 9, ""), ("src/cart.test.ts", 0, "")], None),
    "mypy": (
        'src/a.py:12: error: Incompatible return value type (got "int", expected "str")  [return-value]\n'
        "src/a.py:14: note: See the documentation\n",
        [("src/a.py", 12, ""), ("src/a.py", 14, "")],
        'Incompatible return value type (got "int", expected "str") [return-value]',
    ),
    "sbt": (
        "[error] /srv/src/Cart.scala:12:3: type mismatch;\n",
        [("/srv/src/Cart.scala", 12, "")],
        None,
    ),
    "kotlinc": (
        "e: file:///srv/src/Cart.kt:12:3 Unresolved reference: total\n",
        [("/srv/src/Cart.kt", 12, "")],
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_frames(name: str) -> None:
    text, expected, _ = CASES[name]
    assert find_frames(text) == [Frame(*frame) for frame in expected]


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][2]])
def test_message(name: str) -> None:
    text, _, expected = CASES[name]
    assert find_error_message(text) == expected


@pytest.mark.parametrize("name", CASES)
def test_output_is_told_from_questions(name: str) -> None:
    assert looks_like_output(CASES[name][0])


@pytest.mark.parametrize("name", CASES)
def test_each_line_of_output_is_analyzed_as_output(name: str) -> None:
    for line in CASES[name][0].splitlines():
        query = analyze_query(ParsedQuery(text=line), NO_FILTER, lambda suffix: False)
        assert (query.type == "output") == looks_like_output(line), line


@pytest.mark.parametrize("name", CASES)
def test_windows_line_ends_change_nothing(name: str) -> None:
    text, expected, _ = CASES[name]
    assert find_frames(text.replace("\n", "\r\n")) == [Frame(*frame) for frame in expected]


@pytest.mark.parametrize(
    "text",
    [
        "where do we refresh the token",
        "src/dowse/engine.py:12",
        "why does src/a.py:12 call close twice?",
        "TypeError: x is not a function",
        "std::vector<int> at index 3",
        "meet at 12:30:45 on localhost:8080 or example.com:443",
        "def f(x: int) -> str:\n    return str(x)\n",
        "",
    ],
)
def test_questions_are_not_output(text: str) -> None:
    assert not looks_like_output(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see src/a.py:12 and lib/b.go:3", [("src/a.py", 12, ""), ("lib/b.go", 3, "")]),
        (GO_TEST, [("cart_test.go", 25, "")]),
        ("Makefile:12: *** missing separator.  Stop.", [("Makefile", 12, "")]),
        ("died at lib/x.pl line 12.", [("lib/x.pl", 12, "")]),
        ("Fatal error: oops: file Cart/Total.swift, line 12", [("Cart/Total.swift", 12, "")]),
        ("lua: main.lua:3: attempt to index a nil value", [("main.lua", 3, "")]),
        ("\tmain.lua:3: in function 'total'", [("main.lua", 3, "total")]),
        ("#1  0x0000 in total (x=1) at src/cart.c:12", [("src/cart.c", 12, "total")]),
        ("12:30:45 localhost:8080 10.0.0.1:80 example.com:443 a::b x:1", []),
        ("http://localhost:8080/x", []),
        (r"C:\src\a b\x.py:12: error: no", [("b/x.py", 12, "")]),
        ("no places here", []),
        ("", []),
    ],
)
def test_places_anywhere(text: str, expected: list[tuple[str, int, str]]) -> None:
    assert find_frames(text) == [Frame(*frame) for frame in expected]


def test_traces_come_before_mentions_and_libraries() -> None:
    log = "INFO server.py:10 started\nINFO server.py:11 ready\n" + PYTHON
    assert [frame.path for frame in find_frames(log)] == [
        "/srv/app/jobs.py",
        "/srv/app/cli.py",
        "server.py",
        "server.py",
        "/srv/venv/lib/python3.11/site-packages/httpx/_client.py",
    ]


def test_a_message_is_one_short_line() -> None:
    assert (
        find_error_message("ValueError: " + "x " * 1000) == ("ValueError: " + "x " * 1000)[:MAX_MESSAGE_CHARS]
    )
    assert find_error_message("\n\n  something odd \n next") == "something odd"
    assert find_error_message("loading\nconnection failed: refused\nbye") == "connection failed: refused"
    assert find_error_message("") == ""


MEGABYTE = 1 << 20
ADVERSARIAL = {
    "one word": "a",
    "dots": "a.",
    "slashes": "a/",
    "colons": ":",
    "places": "a.py:1 ",
    "short places": ":1\n",
    "quotes": 'File "',
    "open frames": 'File "a", line 1, in ',
    "parentheses": "at (",
    "nested": "at a(b(c:1",
    "in": "at in in :line ",
    "worded": "in in at file ",
    "tests": "FAILED a.py::a::a",
    "brackets": "a(1,2",
    "escapes": "\x1b[",
    "escaped": "\x1b[0;0;0",
    "error": "error error: ",
    "exceptions": "a.b.c.ErrorException",
    "lines of exceptions": "ErrorErrorErrorErrorErrorErrorErrorError.x\n",
    "underscores": "___ ",
    "spaces": " ",
    "blank lines": "\n",
    "at signs": "a@http://",
    "addresses": "http://a/",
    "panics": "panicked at '",
    "ruby": "a.rb:1:in '",
    "timestamps": "2024-05-01 12:30:45,123 INFO worker: took 12:3 ms\n",
}  # fmt: skip


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_a_megabyte_of_anything_takes_seconds_at_most(name: str) -> None:
    text = ADVERSARIAL[name] * (MEGABYTE // len(ADVERSARIAL[name]))
    started = time.process_time()
    assert len(find_frames(text)) <= MAX_FRAMES
    assert len(find_error_message(text)) <= MAX_MESSAGE_CHARS
    looks_like_output(text)
    assert time.process_time() - started < 20  # a slow machine; a quadratic pattern takes hours


@given(
    st.lists(st.sampled_from([line for case in CASES.values() for line in case[0].split("\n")]), max_size=30)
)
def test_lines_in_any_order_are_read(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = find_frames(text)
    assert len({(frame.path, frame.line) for frame in found}) == len(found)
    assert all(frame.path and frame.line >= 0 for frame in found)
    assert find_error_message(text).strip() == find_error_message(text)
