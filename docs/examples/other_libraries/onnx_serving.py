"""
ONNX: a model served without this package
=========================================

`export_onnx` writes the network with its scaling; onnxruntime needs the file alone (extra ``onnx``). The threshold
belongs to the model and not to the graph: pass it along.
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
[scores, *_] = session.run(None, {given.name: letter.X_test.astype(np.float32)})
served = scores.ravel() > model.threshold
print("same predictions", np.mean(served == (model.predict(letter.X_test) == 1)))
