"""
PyTorch: drivers in a loop of your own
======================================

A driver is asked for its weights before a step, and told the class sums after it. All else is the loop's.
"""

import numpy as np
import torch

from aesara_nondecomp import data, metrics
from aesara_nondecomp.drivers import DAME, DUPLE
from aesara_nondecomp.metrics import class_sums


def train_qmean(net, X, y, steps=300):  # X (n, d); y (n,), -1 or +1
    p = float((y > 0).float().mean())
    driver, optimiser = DUPLE("qmean", p), torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(steps):
        rows = torch.randint(len(y), (512,))
        f, s = net(X[rows])[:, 0], y[rows]
        sums = class_sums(f.detach(), s)
        if driver.needs_refresh():
            driver.refresh(sums)
        w = driver.weights()
        weight = torch.where(s > 0, w.sigmoid_pos / p, w.sigmoid_neg / (1 - p))
        optimiser.zero_grad()
        (-weight * torch.sigmoid(s * f)).mean().backward()
        optimiser.step()
        driver.observe(sums)


# %%
# DAME asks for a new level v now and then, here from all rows every 25 steps.


def train_f1(net, X, y, steps=300):
    p = float((y > 0).float().mean())
    driver = DAME("f1", p, reward="logistic", counts=True, inner_steps=25)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(steps):
        if driver.needs_refresh():
            driver.refresh(class_sums(net(X)[:, 0].detach(), y))
        rows = torch.randint(len(y), (512,))
        f, s = net(X[rows])[:, 0], y[rows]
        w = driver.weights()
        weight = torch.where(s > 0, w.logistic_pos / p, w.logistic_neg / (1 - p))
        optimiser.zero_grad()
        (-weight * torch.nn.functional.logsigmoid(s * f)).mean().backward()
        optimiser.step()
        driver.observe(class_sums(f.detach(), s))


# %%
# Both on the letter N against the others.

if __name__ == "__main__":
    letter = data.load("letter")
    scaling = data.Standardiser.fit(letter.X_train)
    X, X_test = (torch.from_numpy(scaling.transform(rows)) for rows in (letter.X_train, letter.X_test))
    y = torch.from_numpy(2.0 * letter.y_train - 1.0).float()
    for measure, train in (("qmean", train_qmean), ("f1", train_f1)):
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
        train(net, X, y)
        scores = net(X_test)[:, 0].detach().numpy()
        confusion = metrics.confusion_at_threshold(scores, np.where(letter.y_test > 0, 1, -1))
        print(measure, metrics.score(measure, confusion))
