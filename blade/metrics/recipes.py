"""How servers turn the fields of a row into the scores they publish pass@k of.

A recipe names scores, the field an answer is voted by, and the fields tasks are grouped by. A server's recipe is known
by its name, which an agent's name usually holds; rows of other servers are scored by their reward.
"""

import re
from collections.abc import Collection

import msgspec


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """One score and where it comes from."""

    name: str
    """What it is published as."""
    field: str = "reward"
    """Field of the row it is made of."""
    above: float | None = None
    """When given, the score is 1 where the field is above this, and 0 elsewhere."""
    needs: str | None = None
    """A field without which a row has no such score."""

    def of(self, value: float) -> float:
        """The score of a row whose field has this value."""
        return value if self.above is None else float(value > self.above)


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of one server's rows."""

    name: str
    """The server."""
    scores: tuple[Score, ...] = (Score(name="accuracy"),)
    """What pass@k is computed of."""
    answer: str | None = None
    """Field with the answer: rollouts vote by it, and rows without it count as `no_answer`."""
    votes: bool = True
    """Whether the server publishes the majority's score."""
    subsets: list[str] = []
    """Fields by whose values the same numbers are given for some of the tasks."""
    spreads: bool = False
    """Whether the server publishes the mean deviation of a task's scores."""
    means: dict[str, str] = {}
    """Published rates in percent, and the field each is the mean of."""
    corpus: "Corpus | None" = None
    """An error rate over all words together."""

    def fields(self) -> set[str]:
        """Fields that must be read although they are not numbers."""
        needed = [score.needs for score in self.scores]
        texts = [self.answer, *needed, *self.subsets]
        return {field for field in texts if field is not None}


class Corpus(msgspec.Struct, frozen=True, kw_only=True):
    """Errors of all tasks by the words of all tasks, from each task's own rate."""

    name: str
    """What it is published as."""
    rate: str
    """Field with errors per word."""
    text: str
    """Field with the words."""


POSITIVE = (Score(name="accuracy", above=0.0),)
ANSWERS = ("extracted_answer", "pred_text", "extracted_sql", "extracted_model_code", "extracted_judgement")
"""Fields servers keep the answer in."""

RECIPES = {
    recipe.name: recipe
    for recipe in [
        Recipe(name="mcqa", answer="extracted_answer"),
        Recipe(name="simpleqa", answer="extracted_answer"),
        Recipe(name="omniscience", answer="extracted_answer"),
        Recipe(
            name="math_with_judge",
            scores=(
                Score(name="symbolic_accuracy", field="library_reward"),
                Score(name="judge_accuracy", needs="judge_evaluations"),
            ),
            answer="extracted_answer",
        ),
        Recipe(name="math_proof_judgement", answer="extracted_judgement"),
        Recipe(name="code_gen", scores=POSITIVE, answer="extracted_model_code", subsets=["difficulty"], spreads=True),
        Recipe(name="bigcodebench", scores=POSITIVE, answer="extracted_model_code", subsets=["difficulty"]),
        Recipe(name="bird_sql", scores=POSITIVE, answer="extracted_sql"),
        Recipe(
            name="evalplus",
            scores=(
                Score(name="passing_base_tests", field="is_correct"),
                Score(name="passing_plus_tests", field="is_correct_plus"),
            ),
        ),
        Recipe(name="mrcr", subsets=["n_needles"]),
        Recipe(name="graphwalks", subsets=["problem_type"]),
        Recipe(name="ruler2", subsets=["task"]),
        Recipe(name="arena_judge", answer="verdict_gen_base", subsets=["category"]),
        Recipe(
            name="asr_with_pc",
            scores=(Score(name="accuracy"), Score(name="per", field="per")),
            answer="pred_text",
            votes=False,
            means={"wer_c": "wer_c", "wer_pc": "wer_pc", "per": "per"},
            corpus=Corpus(name="corpus_wer", rate="wer", text="text"),
        ),
    ]
}
"""By server, as each publishes its metrics."""

SCORE_FIELDS = {score.name: score.field for recipe in RECIPES.values() for score in recipe.scores}
"""Names scores are published under, and the field each is made of."""


SUBSET_FIELDS = sorted({field for recipe in RECIPES.values() for field in recipe.subsets})
"""Fields that servers group tasks by."""


def recipe_for(agent: str | None, fields: Collection[str]) -> Recipe:
    """The recipe of the server an agent is named after; else the reward, with whatever field holds an answer."""
    words = f"_{agent or ''}_"
    named = [name for name in RECIPES if re.search(rf"[_/-]{re.escape(name)}[_/-]", words)]
    if named:
        return RECIPES[max(named, key=len)]
    return Recipe(name="reward", answer=next((field for field in ANSWERS if field in fields), None))
