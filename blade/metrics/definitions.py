"""What each number means, said once and printed beside the number wherever it appears.

The sentences are part of the output format: reports and `analysis.json` repeat them word for word.
"""

from typing import Final

PASS_AT_1: Final = "mean over tasks of the task's success rate"
PASS_AT_1_MICRO: Final = "successful rollouts / scored rollouts, so tasks with more rollouts weigh more"
PASS_AT_K: Final = (
    "unbiased chance that at least one of k rollouts succeeds, 1 − C(n−c, k)/C(n, k), over tasks with n ≥ k"
)
PASS_POW_K: Final = "unbiased chance that all of k rollouts succeed, C(c, k)/C(n, k), over tasks with n ≥ k"
CONSISTENCY: Final = "share of tasks whose every rollout succeeds"
COVERAGE: Final = "rollouts present / rollouts expected"
RETRY_VALUE: Final = "pass@k − pass@1 over tasks with n ≥ k, at k = the most common number of rollouts per task"
MEAN_REWARD: Final = "mean over tasks of the task's mean reward"
UNCERTAINTY: Final = (
    "tasks are the sampling unit: SE = SD of task means / √tasks; "
    "when tasks come in clusters, the spread of cluster totals takes its place"
)
