"""
Dask: one fit for each seed
===========================

Models pickle, so any scheduler can train them: here the workers of Dask, of which a real cluster has more (extra
``dask``).
"""

import aesara_nondecomp as an
from aesara_nondecomp import data


def trained(seed):
    """One model; a worker loads the data itself."""
    letter = data.load("letter")
    return an.fit(letter.X_train, letter.y_train, "f1", steps=200, validation=0.2, seed=seed)


if __name__ == "__main__":
    from distributed import Client, LocalCluster

    letter = data.load("letter")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        found = client.gather(client.map(trained, range(3)))
    vote = an.SoftVote(found)
    print([model.value(letter.X_test, letter.y_test) for model in found], vote.value(letter.X_test, letter.y_test))
