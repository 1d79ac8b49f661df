from pathlib import Path

from small_checkout import write_checkout

from blade.benchmarks.catalog import find_benchmark
from blade.benchmarks.listing import Has, describe, what_is_there


def test_parts_of_a_package_are_found_inside_its_folder_or_at_the_top(tmp_path: Path) -> None:
    root = write_checkout(tmp_path, {"benchmarks/sums/data/sums.jsonl": "", "benchmarks/sums/rollouts/m.jsonl": ""})
    assert what_is_there(find_benchmark("sums", root)) == Has(data=True, rollouts=True, skill=False, golden=False)
    write_checkout(tmp_path, {"skills/sums/SKILL.md": "", "golden_reports/sums/m_golden_report.md": ""})
    assert what_is_there(find_benchmark("sums", root)) == Has(data=True, rollouts=True, skill=True, golden=True)
    inside = {"benchmarks/live/v5/skill/SKILL.md": "", "benchmarks/live/v5/golden_reports/m_golden_report.md": ""}
    assert what_is_there(find_benchmark("live/v5", write_checkout(tmp_path, inside))) == Has(
        data=False, rollouts=False, skill=True, golden=True
    )


def test_a_second_config_does_not_claim_the_rollouts_of_the_first(tmp_path: Path) -> None:
    root = write_checkout(tmp_path, {"benchmarks/sums/rollouts/m.jsonl": ""})
    assert not what_is_there(find_benchmark("sums/config_hard", root)).rollouts


def test_paths_are_told_relative_to_the_checkout(tmp_path: Path) -> None:
    found = describe(find_benchmark("sums", write_checkout(tmp_path)))
    assert (found["config"], found["data"]) == ("benchmarks/sums/config.yaml", "benchmarks/sums/data/sums.jsonl")
    assert (found["includes"], found["prompt"]) == (
        ["resources_servers/checker/configs/checker.yaml"],
        "benchmarks/sums/prompt.yaml",
    )
