"""Makes the multiple-choice tasks from `questions.yaml`: which letter an option gets is drawn from a seed.

Run it to write `data/trap_questions.jsonl`; it writes the same bytes every time.
"""

from pathlib import Path
from typing import Any

import yaml

from blade.benchmarks.making import Dice, taking_turns, write_tasks
from blade.environments.choice.verifier import lettered, letters

SEED = "trap-questions-1"
OPTIONS = 5
HERE = Path(__file__).parent


def task(number: int, question: dict[str, Any], right_place: int) -> dict[str, Any]:
    options = Dice(SEED, question["id"]).shuffled("order", [question["lure"], *question["others"]])
    options.insert(right_place, question["right"])
    place = dict(zip(options, letters(options), strict=True))
    return {
        "task_id": f"tq{number:02d}-{question['id']}",
        "kind": question["kind"],
        "difficulty": question["difficulty"],
        "question": question["question"],
        "options": options,
        "choices": lettered(options),
        "expected_answer": place[question["right"]],
        "lure": place[question["lure"]],
        "why": question["why"],
    }


def prepare(output_dir: Path = HERE / "data") -> Path:
    questions = taking_turns(yaml.safe_load((HERE / "questions.yaml").read_text(encoding="utf-8")), "kind")
    # Every letter is right equally often, so that a model that always says the same one gains nothing.
    places = Dice(SEED).shuffled("places", [number % OPTIONS for number in range(len(questions))])
    numbered = enumerate(zip(questions, places, strict=True), start=1)
    tasks = [task(number, question, place) for number, (question, place) in numbered]
    return write_tasks(Path(output_dir) / "trap_questions.jsonl", tasks)


if __name__ == "__main__":
    print(prepare())
