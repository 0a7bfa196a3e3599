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
# `read_out` gives the weight of each token.

texts = ["what a lovely day :)", "I love it!", "this movie was terrible and so boring", "the worst service ever"]
vocabulary = model.encoder.vocabulary
words = [vocabulary.tokens(text) for text in texts]
weights = model.read_out("attention_weights", texts)

figure, axes = plt.subplots(len(texts), 1, figsize=(8, 4), layout="constrained")
for axis, tokens, row, label in zip(axes, words, weights, model.predict(texts)):
    shown = row[: len(tokens)]
    axis.imshow(shown[None], cmap="Blues", aspect="auto", vmin=0, vmax=1)
    for k, (token, weight) in enumerate(zip(tokens, shown)):
        axis.text(k, 0, f"{token}\n{weight:.2f}", ha="center", va="center", color="white" if weight > 0.6 else "black")
    axis.set(xticks=[], yticks=[])
    axis.set_ylabel("positive" if label else "negative", rotation=0, ha="right", va="center")
figure.suptitle("Attention to each token, and the prediction")
