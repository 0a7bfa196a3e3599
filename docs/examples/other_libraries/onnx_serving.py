"""
ONNX: a model served without this package
=========================================

`export_onnx` writes the network with its scaling, its threshold and its calibration; onnxruntime needs the file alone
(extra ``onnx``). ``aesara-nondecomp export-onnx letter.model letter.onnx`` does it for a model file.
"""

import numpy as np
import onnxruntime

import aesara_nondecomp as an
from aesara_nondecomp import data, models

letter = data.load("letter")
model = an.fit(letter.X_train, letter.y_train, "f1", steps=300, validation=0.2, seed=0)
models.export_onnx(model, "letter.onnx")

# %%
# On the machine that serves:

session = onnxruntime.InferenceSession("letter.onnx")
[given] = session.get_inputs()
[labels, probabilities] = session.run(["label", "probabilities"], {given.name: letter.X_test.astype(np.float32)})
print("same predictions", np.mean(labels == model.predict(letter.X_test)))
print("probabilities differ by at most", np.abs(probabilities - model.predict_proba(letter.X_test)).max().round(5))
