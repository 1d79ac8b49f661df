"""Writes the rollouts that evals of skills speak of: `python tests/skills/make_eval_files.py`.

Families get rows that are made up. Our own benchmarks get made-up replies that their real verifiers judge, so that each
file holds what its skill is about. The same bytes every time; a test holds the files to this script.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "tests"), str(ROOT / "tests" / "diagnosis")]

from eval_rows_actions import (  # noqa: E402
    conversational,
    rtl,
    software_engineering,
    speech,
    tau,
    tool_assistant,
    translation,
)
from eval_rows_answers import (  # noqa: E402
    factual_recall,
    function_code,
    instruction_following,
    math_with_judge,
    multiple_choice,
    over_refusal,
    text_to_sql,
    unknown_benchmark,
)
from eval_rows_benchmarks import (  # noqa: E402
    careful_instructions,
    desk_before,
    desk_now,
    fact_forms,
    office_desk,
    small_functions,
    trap_questions,
    word_math,
)
from rollout_rows import Row  # noqa: E402

FILES: dict[str, Callable[[], list[Row]]] = {
    "blade-analysis/evals/files/before.jsonl": desk_before,
    "blade-analysis/evals/files/now.jsonl": desk_now,
    "careful-instructions/evals/files/rollouts.jsonl": careful_instructions,
    "conversational-tool-use/evals/files/rollouts.jsonl": conversational,
    "fact-forms/evals/files/rollouts.jsonl": fact_forms,
    "factual-recall/evals/files/rollouts.jsonl": factual_recall,
    "function-code/evals/files/rollouts.jsonl": function_code,
    "instruction-following/evals/files/rollouts.jsonl": instruction_following,
    "math-with-judge/evals/files/rollouts.jsonl": math_with_judge,
    "multiple-choice/evals/files/rollouts.jsonl": multiple_choice,
    "office-desk/evals/files/rollouts.jsonl": office_desk,
    "over-refusal/evals/files/rollouts.jsonl": over_refusal,
    "rtl/evals/files/rollouts.jsonl": rtl,
    "skill-authoring/evals/files/rollouts.jsonl": unknown_benchmark,
    "small-functions/evals/files/rollouts.jsonl": small_functions,
    "software-engineering/evals/files/rollouts.jsonl": software_engineering,
    "speech/evals/files/rollouts.jsonl": speech,
    "tau/evals/files/rollouts.json": tau,
    "text-to-sql/evals/files/rollouts.jsonl": text_to_sql,
    "tool-assistant/evals/files/rollouts.jsonl": tool_assistant,
    "translation/evals/files/rollouts.jsonl": translation,
    "trap-questions/evals/files/rollouts.jsonl": trap_questions,
    "word-math/evals/files/rollouts.jsonl": word_math,
}
"""File below `skills/` -> what is in it."""


def content_of(name: str) -> str:
    """The text of a file: an array where its name says so, lines otherwise."""
    rows = FILES[name]()
    if name.endswith(".json"):
        return json.dumps(rows, indent=1, sort_keys=True) + "\n"
    return "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows)


def main() -> None:
    """Writes every file."""
    for name in FILES:
        path = ROOT / "skills" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content_of(name), encoding="utf-8")


if __name__ == "__main__":
    main()
