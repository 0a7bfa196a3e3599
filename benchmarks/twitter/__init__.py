"""The paper's case study: prevalence of positive tweets, estimated by networks trained end to end on raw text.

An LSTM and an attention network are trained on the same 80 % of the training tweets: by DENIM and DENIM-NS on KLD and
on BAKLD, by cross-entropy, and by class-weighted cross-entropy (ANN-p). One more run of DENIM-NS on BAKLD takes the
default recipe for tables, whose anchor is cross-entropy; the recipe for text has the class-weighted anchor.

The prevalence is estimated by counting labels, by counting above a threshold tuned on the other 20 %, by counts
adjusted with the rates measured there, and (for comparison) by expectation maximisation. The reference is the training
prior. All are compared on many resampled test sets: at the prevalence of the test set, and at prevalences from 5 % to
95 %. With --data-dir the tweets are those of SemEval-2016, subtasks B and D, and the test set of 2017 is a natural
shift; without it they are the embedded ones.

Reading order: `types`, `objectives`, `loading`, `evaluation`, `training`, `report`, `plots`, `command`.
"""

from benchmarks.twitter.command import add_arguments, main

__all__ = ["add_arguments", "main"]
