"""Which tests belong to which source files."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.code.file_roles import classify_role
from dowse.code.test_pairing import MAX_PARTNERS, Pairs, suite_folders
from dowse.types.source import Role


def partners(path: str, paths: list[str]) -> list[str]:
    return [partner.path for partner in Pairs(paths).find_partners(path)]


BOTH_WAYS = [
    ("src/shop/cart.py", "tests/test_cart.py"),
    ("src/shop/cart.py", "tests/shop/test_cart.py"),
    ("src/shop/cart.py", "src/shop/cart_test.py"),
    ("src/shop/_cart.py", "tests/test_cart.py"),
    ("shop/cart.py", "tests/cart.py"),
    ("shop/cart/__init__.py", "tests/test_cart.py"),
    ("shop/views/__init__.py", "tests/test_views.py"),
    ("shop/auth/views.py", "tests/auth_tests/test_views.py"),
    ("shop/cart.py", "shop/tests/test_cart.py"),
    ("cart/cart.go", "cart/cart_test.go"),
    ("src/cart.ts", "src/cart.spec.ts"),
    ("src/Cart.tsx", "src/Cart.test.tsx"),
    ("src/cart.js", "src/__tests__/cart.js"),
    ("src/cart.ts", "test/cart.test.js"),
    ("src/Cart/index.tsx", "src/Cart/Cart.test.tsx"),
    ("src/Cart/index.tsx", "src/Cart/index.test.tsx"),
    ("src/main/java/org/shop/Cart.java", "src/test/java/org/shop/CartTest.java"),
    ("src/main/java/org/shop/Cart.java", "src/test/kotlin/org/shop/CartTests.kt"),
    ("src/main/java/org/shop/Cart.java", "src/test/java/org/shop/TestCart.java"),
    ("Shop/Cart.cs", "Shop.Tests/CartTests.cs"),
    ("src/main/scala/shop/Cart.scala", "src/test/scala/shop/CartSpec.scala"),
    ("lib/shop/cart.rb", "spec/shop/cart_spec.rb"),
    ("lib/shop/cart.rb", "test/spec_cart.rb"),
    ("lib/shop/auth/basic.rb", "test/spec_auth_basic.rb"),
    ("lib/shop/cart.ex", "test/shop/cart_test.exs"),
    ("src/Shop/Cart.php", "tests/Shop/CartTest.php"),
    ("include/shop/cart.h", "test/cart-test.cc"),
    ("src/unix/process.c", "test/test-process-title.c"),
    ("src/cart.rs", "tests/cart.rs"),
    ("src/cart/mod.rs", "tests/cart_test.rs"),
    ("lua/shop/cart.lua", "tests/cart_spec.lua"),
    ("lib/cart.sh", "test/cart.bats"),
    ("examples/todo/list.js", "examples/todo/list.test.js"),
    ("shop/_cart.py", "tests/cart/test_total.py"),
    ("app/models/user.rb", "spec/models/user/login_spec.rb"),
    ("lib/router.js", "test/router/params.js"),
]


@pytest.mark.parametrize(("source", "test"), BOTH_WAYS)
def test_pairs_are_found_in_both_directions(source: str, test: str) -> None:
    paths = [
        source,
        test,
        "README.md",
        "src/shop/other.py",
        "tests/test_other.py",
        "lib/other.rb",
        "src/other.ts",
    ]
    assert partners(test, paths) == [source]
    assert partners(source, paths) == [test]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/cart.py", "tests/test_latest.py"),
        ("src/cart.py", "src/cart.go"),
        ("src/cart.py", "tests/test_cart.rb"),
        ("src/cart.py", "tests/fixtures/cart.json"),
        ("src/cart.py", "docs/cart.md"),
        ("src/app.py", "tests/apps/one/app.py"),
        ("src/shop/__init__.py", "tests/shop/__init__.py"),
        ("src/total.py", "tests/test_cart_total.py"),
        ("locale/de/messages.po", "tests/locale/de/messages.po"),
        ("shop/web/api/v2/cart.py", "tests/mail/cart/test_total.py"),
        ("lib/cart.rb", "tests/cart/test_total.py"),
    ],
)
def test_what_is_not_a_pair(one: str, other: str) -> None:
    assert partners(one, [one, other]) == []
    assert partners(other, [one, other]) == []


def test_the_place_decides_between_files_of_one_name() -> None:
    paths = [f"shop/{app}/models.py" for app in ("cart", "user", "auth", "mail", "stock", "price")]
    paths += ["tests/cart/test_models.py", "shop/user/tests/test_models.py", "tests/test_models.py"]
    assert partners("tests/cart/test_models.py", paths) == ["shop/cart/models.py"]
    assert partners("shop/user/tests/test_models.py", paths) == ["shop/user/models.py"]
    assert partners("shop/cart/models.py", paths)[0] == "tests/cart/test_models.py"
    assert partners("shop/user/models.py", paths)[0] == "shop/user/tests/test_models.py"


def test_a_common_name_far_away_is_no_pair() -> None:
    paths = [f"shop/{app}/models.py" for app in ("cart", "user", "auth", "mail", "stock", "price")]
    assert partners("plugins/export/tests/test_models.py", paths) == []


def test_the_nearest_name_wins() -> None:
    paths = ["src/cart.py", "src/cart_total.py", "tests/test_cart.py", "tests/test_cart_total.py"]
    assert partners("tests/test_cart_total.py", paths) == ["src/cart_total.py"]
    assert partners("src/cart.py", paths) == ["tests/test_cart.py"]
    without = ["src/cart.py", "tests/test_cart_total.py"]
    assert partners("tests/test_cart_total.py", without) == ["src/cart.py"]


def test_several_tests_of_one_source_best_first() -> None:
    paths = ["src/cart.py", "tests/test_cart.py", "src/cart_test.py", "tests/integration/test_cart.py"]
    found = Pairs(paths).find_partners("src/cart.py")
    assert found[0].path == "src/cart_test.py"
    assert found[0].reason == "same name, same folder"
    assert {partner.path for partner in found} == set(paths[1:])
    assert [partner.score for partner in found] == sorted((p.score for p in found), reverse=True)
    assert all(0 < partner.score <= 1 for partner in found)


def test_a_suite_is_for_a_source_without_a_test_of_its_name_and_for_tests_without_a_source_of_theirs() -> (
    None
):
    paths = ["shop/cart.py", "shop/total.py", "tests/cart/test_total.py", "tests/cart/test_vat.py"]
    assert partners("shop/cart.py", paths) == ["tests/cart/test_vat.py"]
    assert partners("tests/cart/test_total.py", paths) == ["shop/total.py"]
    paths.append("tests/cart/test_cart.py")
    assert partners("shop/cart.py", paths) == ["tests/cart/test_cart.py"]
    assert partners("tests/cart/test_vat.py", paths) == ["shop/cart.py"]


def test_suites_are_called_as_the_file() -> None:
    assert {"cart", "test_cart", "cart_tests"} <= set(suite_folders("shop/_cart.py", Role.SOURCE))
    assert {"shop_cart", "shopcart"} <= set(suite_folders("lib/ShopCart.ts", Role.SOURCE))
    assert suite_folders("tests/test_cart.py", Role.TEST) == ()
    assert suite_folders("README.md", Role.DOCS) == ()


def test_a_file_that_is_not_there_can_be_asked_for() -> None:
    assert partners("tests/test_cart.py", ["src/cart.py"]) == ["src/cart.py"]


def test_roles_that_are_known_are_not_judged_again() -> None:
    paths = [path for pair in BOTH_WAYS for path in pair]
    known, judged = Pairs({path: classify_role(path) for path in paths}), Pairs(paths)
    assert all(known.find_partners(path) == judged.find_partners(path) for path in paths)


def test_a_large_tree_is_fast() -> None:
    paths = [f"src/package{i % 97}/module{i}.py" for i in range(20_000)]
    paths += [f"tests/package{i % 97}/test_module{i}.py" for i in range(20_000)]
    started = time.perf_counter()
    pairs = Pairs(paths)
    assert pairs.find_partners("src/package1/module98.py")[0].path == "tests/package1/test_module98.py"
    assert all(pairs.find_partners(path) for path in paths[::100])
    assert (
        time.perf_counter() - started < 20
    )  # seconds on a slow, busy machine; comparing all with all takes hours


PARTS = st.sampled_from(["src", "tests", "test", "lib", "cart", "auth", "__tests__", "spec", "a_b", ""])
NAMES = st.sampled_from(
    ["cart", "test_cart", "cart_test", "CartTest", "__init__", "index", "test", "", ".x", "cart.spec"]
)
PATHS = st.builds(
    lambda parts, name, extension: "/".join([*filter(None, parts), name + extension]),
    st.lists(PARTS, max_size=4),
    NAMES,
    st.sampled_from([".py", ".ts", ".go", "", ".md"]),
)


@given(st.lists(PATHS, max_size=30), PATHS)
def test_partners_are_other_files_of_the_other_kind(paths: list[str], path: str) -> None:
    found = Pairs(paths).find_partners(path)
    assert len(found) <= MAX_PARTNERS
    assert len({partner.path for partner in found}) == len(found)
    for partner in found:
        assert partner.path in paths
        assert partner.path != path
        assert (classify_role(partner.path) == "test") is not (classify_role(path) == "test")
        assert 0 < partner.score <= 1
