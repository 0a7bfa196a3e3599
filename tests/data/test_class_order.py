"""Whether labels are in the order of the classes, which measures of ordered classes compare."""

import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.data.class_order import check_class_order

LEVELS, SORTED = ["low", "mid", "high"], ("high", "low", "mid")
QWK, MACRO_F1 = (measures.multiclass.get(name) for name in ("qwk", "macro_f1"))


def test_an_ordered_measure_refuses_categories_that_are_not_in_the_order_of_their_text():
    pandas = pytest.importorskip("pandas", reason="categories of that library")
    for kind in (pandas.Categorical, lambda *given, **how: pandas.Series(pandas.Categorical(*given, **how))):
        for known in (LEVELS, [*LEVELS, "never seen"]):
            y = kind(LEVELS * 2, categories=known, ordered=True)
            with pytest.raises(ValueError, match=r"order, got categories in the order \['low', 'mid', 'high'\]. Give"):
                check_class_order(y, SORTED, QWK)
            check_class_order(y, SORTED, MACRO_F1)
        check_class_order(kind(list("abc"), categories=list("abc"), ordered=True), tuple("abc"), QWK)


def test_an_ordered_measure_says_which_order_of_texts_it_takes():
    with pytest.warns(UserWarning, match=r"text is taken in sorted order: \['high', 'low', 'mid'\]"):
        check_class_order(LEVELS, SORTED, QWK)
    check_class_order(LEVELS, SORTED, MACRO_F1)
    check_class_order([0, 1, 2], (0, 1, 2), QWK)
    check_class_order(["1", "2", "9"], ("1", "2", "9"), QWK)
    with pytest.warns(UserWarning, match="give it by hand"):
        check_class_order(["9", "10", "8"], ("10", "8", "9"), QWK, otherwise="give it by hand")


def test_two_classes_have_one_order_and_a_reversed_order_is_as_good():
    pandas = pytest.importorskip("pandas", reason="categories of that library")
    check_class_order(["low", "high"], ("high", "low"), QWK)
    check_class_order(pandas.Categorical(["low", "high"], ["low", "high"], ordered=True), ("high", "low"), QWK)
    sizes = ["small", "medium", "large"]
    check_class_order(pandas.Categorical(sizes, sizes, ordered=True), ("large", "medium", "small"), QWK)
