"""
Texts, and where the network looks
==================================

A network with attention on raw tweets, trained for Q-mean, so that neither class is neglected (extra ``text``).
"""

import matplotlib.pyplot as plt

import aesara_nondecomp as an
from aesara_nondecomp import data

tweets = data.load("vader_tweets")
model = an.fit(
    tweets.X_train, tweets.y_train, "qmean", network="attention", steps=400, batch_size=128, validation=0.2, seed=0
)
confusion = model.confusion_matrix(tweets.X_test, tweets.y_test)
print(f"Q-mean {model.value(tweets.X_test, tweets.y_test):.3f}   TPR {confusion.tpr:.3f}   TNR {confusion.tnr:.3f}")

# %%
# `models.attention` gives each token with its weight; this is its picture.

texts = ["what a lovely day :)", "I love it!", "this movie was terrible and so boring", "the worst service ever"]
figure = an.models.plot_attention(model, texts)
plt.figure(figure)  # shown here; `plot_attention(model, texts, "attention.png")` writes a file
