"""
QuaPy: a network inside a quantifier
====================================

`MeasureClassifier` is a classifier of scikit-learn, so QuaPy's aggregative quantifiers take it as their learner.
"""

import quapy

from aesara_nondecomp import MeasureClassifier, data

letter = data.load("letter")
classifier = MeasureClassifier("qmean", steps=300, validation=0.2, random_state=0)
quantifier = quapy.method.aggregative.PACC(classifier, val_split=3)
quantifier.fit(letter.X_train[:4000], letter.y_train[:4000])
print("estimated", quantifier.predict(letter.X_test), "true", letter.y_test.mean())
