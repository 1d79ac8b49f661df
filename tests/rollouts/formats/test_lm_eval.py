"""lm-evaluation-harness: the samples in tests/data were written by lm_eval itself (see the README beside them)."""

import gzip
import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from blade.cli.main import app
from blade.errors import InputError
from blade.rollouts.formats import lm_eval
from blade.rollouts.formats.reader import Note, Probe
from blade.rollouts.formats.registry import passed_over, reader_for
from blade.rollouts.values import BadLine, Ending, Rollout

SAMPLES = Path(__file__).parents[2] / "data" / "formats" / "lm-eval"
DATE = "2026-11-18T15-54-19.454688"
RESULTS = SAMPLES / f"results_{DATE}.json"


def samples(task: str) -> Path:
    return SAMPLES / f"samples_{task}_{DATE}.jsonl"


def rollouts(path: Path, variant: str | None = None) -> list[Rollout]:
    found = [one for one in lm_eval.READER.read(path, None) if isinstance(one, Rollout)]
    return [one for one in found if variant in (None, one.variant)]


def notes(path: Path) -> list[str]:
    return [one.text for one in lm_eval.READER.read(path, None) if isinstance(one, Note)]


def test_means_equal_those_that_lm_eval_wrote() -> None:
    printed = json.loads(RESULTS.read_text())["results"]
    means: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in rollouts(SAMPLES):
        for metric, value in one.scores.items():
            if value is not None and metric != "perplexity":
                means[one.fields["task_name"], f"{metric},{one.settings['filter']}"][one.task].append(value)
    found = {
        key: sum(sum(values) / len(values) for values in tasks.values()) / len(tasks) for key, tasks in means.items()
    }
    expected = {
        (task, key): value
        for task, metrics in printed.items()
        if task != "toy_group"
        for key, value in metrics.items()
        if "," in key and "stderr" not in key and "perplexity" not in key
    }
    assert found == expected


def test_a_filter_is_a_variant_and_responses_are_repeats() -> None:
    strict = rollouts(samples("toy_gen"), "strict-match")
    assert [(one.task, one.repeat) for one in strict] == [(f"toy_gen/{doc}", n) for doc in range(4) for n in range(3)]
    assert {one.variant for one in rollouts(samples("toy_gen"))} == {"strict-match", "flexible-extract", "vote"}


def test_only_the_response_that_was_scored_and_its_copies_have_a_score() -> None:
    strict = rollouts(samples("toy_gen"), "strict-match")
    assert [one.reward for one in strict[:3]] == [0.0, None, 0.0]  # "The answer is 4", "#### 4", "The answer is 4"
    assert [one.reward for one in strict[3:6]] == [1.0, 1.0, 1.0]
    assert notes(samples("toy_gen")) == [
        "only the first response to each document was scored; others with the same text have its score"
    ]


def test_responses_that_are_voted_on_are_one_attempt() -> None:
    vote = rollouts(samples("toy_gen"), "vote")
    assert [(one.task, one.reward, one.answer) for one in vote] == [
        ("toy_gen/0", 1.0, "4"), ("toy_gen/1", 1.0, "9"), ("toy_gen/2", 0.0, None), ("toy_gen/3", 1.0, "2"),
    ]  # fmt: skip
    assert [item.text for item in vote[3].items if not item.prompt] == ["#### 3", "#### 2", "#### 2"]


def test_a_missed_extraction_is_typed_and_its_response_is_whole() -> None:
    missed = rollouts(samples("toy_gen"), "strict-match")[0]
    assert missed.ending == Ending(origin="verifier", name="no_answer_extracted")
    assert (missed.answer, missed.fields["extraction_successful"]) == (None, False)
    assert missed.expected is not None and missed.expected.answers == ["4"]
    assert missed.items[-1].text == "The answer is 4"


def test_an_empty_generation_is_not_a_missed_extraction() -> None:
    empty = rollouts(samples("toy_gen"), "strict-match")[6]
    assert (empty.task, empty.items[-1].text, empty.answer) == ("toy_gen/2", "", None)
    assert empty.ending == Ending() and "extraction_successful" not in empty.fields


def test_an_answer_is_expected_without_what_the_metric_ignores() -> None:
    first = rollouts(samples("toy_solution"))[0]
    assert first.expected is not None and first.expected.answers == ["4", "because\n#### 4"]


def test_several_right_answers_are_told_by_the_document() -> None:
    first = rollouts(samples("toy_several"))[0]
    assert first.expected is not None and first.expected.answers == ["4", "four"]


def test_an_answer_that_looks_like_a_list_is_one_answer(tmp_path: Path) -> None:
    row = json.loads(samples("toy_several").read_text().splitlines()[0]) | {"target": "[1, 2]"}
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps(row) + "\n")
    (one,) = rollouts(path)
    assert one.expected is not None and one.expected.answers == ["[1, 2]"]


def test_a_target_that_numbers_choices_is_the_choice(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES, tmp_path / "run")
    summary = json.loads(RESULTS.read_text())
    summary["configs"]["toy_gen"]["doc_to_choice"] = "alts"
    (tmp_path / "run" / RESULTS.name).write_text(json.dumps(summary))
    rows = [json.loads(line) | {"target": "1"} for line in samples("toy_gen").read_text().splitlines()]
    (tmp_path / "run" / samples("toy_gen").name).write_text("\n".join(map(json.dumps, rows)))
    first = rollouts(tmp_path / "run" / samples("toy_gen").name)[0]
    assert first.expected is not None and first.expected.answers == ["four"]


def test_the_likeliest_choice_is_the_answer() -> None:
    chosen = rollouts(samples("toy_choice"))
    assert [one.answer for one in chosen] == ["4", "2 or so", "2 or so", "9"]
    assert [one.expected.answers for one in chosen if one.expected] == [["4"], ["9"], ["4"], ["2 or so"]]
    assert [one.scores for one in chosen][3] == {"acc": 0.0, "acc_norm": 1.0}
    assert notes(samples("toy_choice")) == ["acc counts as the score; --score also takes acc_norm"]


def test_a_metric_of_which_less_is_better_does_not_count_beside_another() -> None:
    found = rollouts(samples("toy_likelihood"))
    assert [one.reward for one in found] == [1.0, 0.0, 0.0, 1.0]
    assert [(one.answer, one.items[-1].text) for one in found] == [("4", "4"), (None, "…"), (None, "…"), ("2", "2")]


def test_a_perplexity_over_a_corpus_is_no_score_of_a_document() -> None:
    assert {one.reward for one in rollouts(samples("toy_rolling"))} == {None}


def test_model_sampling_shots_version_and_group_come_from_the_results_file() -> None:
    one = rollouts(samples("toy_solution"))[0]
    assert one.model == "acme/Scripted-7B"
    assert one.settings == {
        "num_fewshot": 1, "task_version": "3.0", "output_type": "generate_until", "seed": 0,
        "lm_eval_version": "0.4.13", "temperature": 0.0, "do_sample": False, "max_gen_toks": 256,
        "until": '["\\n\\n"]', "filter": "strict-match",
    }  # fmt: skip
    assert one.fields["task_name"] == "toy_solution" and one.fields["group"] == "toy_group"
    assert one.fields["doc"] == {"q": "2+2?", "a": "4", "category": "add"}


def test_without_a_results_file_nothing_is_claimed_about_filters(tmp_path: Path) -> None:
    alone = tmp_path / samples("toy_gen").name
    shutil.copy(samples("toy_gen"), alone)
    found = rollouts(alone, "strict-match")
    assert [(one.task, one.repeat) for one in found] == [
        ("toy_gen/0", 0), ("toy_gen/1", 0), ("toy_gen/1", 1), ("toy_gen/1", 2), ("toy_gen/2", 0), ("toy_gen/3", 0),
    ]  # fmt: skip
    assert sum(one.reward or 0 for one in found if one.repeat == 0) == 1.0


def test_places_find_rollouts_again() -> None:
    every = rollouts(SAMPLES)
    places = [one.source.offset for one in every if one.source]
    assert len(set(places)) == len(every)
    wanted = places[1::7]
    again = [one for one in lm_eval.READER.read(SAMPLES, wanted) if isinstance(one, Rollout)]
    assert [one for one in again if one.source and one.source.offset in set(wanted)] == every[1::7]


def test_the_results_file_stands_for_its_samples_and_is_passed_over_in_a_folder() -> None:
    assert passed_over(RESULTS)
    assert len(rollouts(RESULTS)) == len(rollouts(SAMPLES))
    assert RESULTS in lm_eval.READER.files(SAMPLES)


def test_results_without_samples_say_how_to_get_some(tmp_path: Path) -> None:
    shutil.copy(RESULTS, tmp_path)
    with pytest.raises(InputError, match="--log_samples"):
        list(lm_eval.READER.read(tmp_path / RESULTS.name, None))


def test_a_task_evaluated_twice_makes_two_runs(tmp_path: Path) -> None:
    later = DATE.replace("15-54", "16-00")
    for task, date in (("toy_gen", DATE), ("toy_gen", later), ("toy_several", later)):
        shutil.copy(samples(task), tmp_path / f"samples_{task}_{date}.jsonl")
    assert {(one.task.split("/")[0], one.run) for one in rollouts(tmp_path)} == {
        ("toy_gen", f"toy_gen {DATE}"), ("toy_gen", f"toy_gen {later}"), ("toy_several", f"toy_several {later}"),
    }  # fmt: skip


def test_tasks_that_the_harness_sums_up_are_one_run_and_others_are_apart(tmp_path: Path) -> None:
    for task in ("toy_gen", "toy_several", "toy_choice"):
        shutil.copy(samples(task), tmp_path)
    summary = json.loads(RESULTS.read_text())
    summary["group_subtasks"] = {"all": ["inner"], "inner": ["toy_gen", "toy_several"], "toy_choice": []}
    (tmp_path / RESULTS.name).write_text(json.dumps(summary), encoding="utf-8")
    assert {(one.task.split("/")[0], one.run) for one in rollouts(tmp_path)} == {
        ("toy_gen", "all"), ("toy_several", "all"), ("toy_choice", "toy_choice"),
    }  # fmt: skip


def test_broken_lines_are_records_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = samples("toy_choice").read_text().splitlines()
    path = tmp_path / f"samples_toy_choice_{DATE}.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join([lines[0], lines[1][:50], '{"doc_id": 1}', lines[3]]).encode()))
    found = list(lm_eval.READER.read(path, None))
    assert [one.reason for one in found if isinstance(one, BadLine)] == ["is not JSON", "is not a sample of lm-eval"]
    assert len(rollouts(path)) == 2


def test_old_samples_with_lists_of_arguments_and_nan_are_read(tmp_path: Path) -> None:
    row: dict[str, Any] = {
        "doc_id": 7, "doc": {"q": "?"}, "target": "x", "arguments": [["Q", {"until": []}]], "resps": [["x"]],
        "filtered_resps": ["x"], "exact_match": 1.0, "f1": float("nan"),
    }  # fmt: skip
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(row) + "\n")
    assert lm_eval.recognises(Probe(path))
    (one,) = rollouts(path)
    assert (one.task, one.reward, one.scores, one.answer) == ("7", 1.0, {"exact_match": 1.0, "f1": None}, "x")


def test_a_chat_is_the_prompt_of_a_sample(tmp_path: Path) -> None:
    chat = [
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "1+1?"},
        {"role": "assistant", "content": "2"}, {"role": "user", "content": "2+2?"},
    ]  # fmt: skip
    row = json.loads(samples("toy_several").read_text().splitlines()[0])
    row["arguments"]["gen_args_0"]["arg_0"] = [json.dumps(chat)]
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps(row) + "\n")
    (one,) = rollouts(path)
    assert [(item.role, item.kind, item.prompt) for item in one.items] == [
        ("system", "message", True), ("user", "message", True), ("assistant", "message", True),
        ("user", "message", True), ("assistant", "message", False),
    ]  # fmt: skip


@pytest.mark.parametrize("line", ['{"doc_id": 1, "doc": {}, "reward": 1}', '[{"results": {}}]', "", "{", "\0"])
def test_other_files_are_not_samples(tmp_path: Path, line: str) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(line)
    assert not lm_eval.recognises(Probe(path))


def test_diagnose_and_show_read_samples(tmp_path: Path) -> None:
    assert reader_for(SAMPLES) is lm_eval.READER
    run = CliRunner().invoke(app, ["diagnose", str(samples("toy_choice")), "--out", str(tmp_path), "--json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["metrics"]["pass_at_1"]["value"] == 0.25
    shown = CliRunner().invoke(app, ["show", str(tmp_path), "toy_choice/3:0"])
    assert "Wie viel ist 1+1? ✓" in shown.output
