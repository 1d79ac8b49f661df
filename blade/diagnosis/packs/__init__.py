"""Taxonomy packs: a benchmark family's funnel and error patterns, written as data.

    name: multiple-choice
    matches:                          # how a run is recognised; one entry is enough
      - all_fields: [extracted_answer, expected_answer]
    stages:                           # the funnel between `started` and `passed`
      - name: answered in the required form
        definition: the verifier could read an answer
        when: {field: extracted_answer, is_known: true}
    patterns:                         # tried in order; a failing rollout belongs to the first that holds
      - code: no_answer
        title: gave no answer that could be read
        cause: BI                     # left out where only the task's other rollouts can tell
        confidence: high
        intervention: sft
        when:
          all: [{field: extracted_answer, is_null: true}, {not: {status: truncated}}]

The whole language is `schemas/taxonomy.schema.json`; a pack from a stranger is checked against it and cannot run
anything.
"""

from blade.diagnosis.packs.apply import PackResult, PatternHits, apply_pack
from blade.diagnosis.packs.choose import Choice, choose_pack
from blade.diagnosis.packs.load import check_pack, load_pack, shipped_names
from blade.diagnosis.packs.pack import Pack, PatternRule, StageRule

__all__ = [
    "Choice",
    "Pack",
    "PackResult",
    "PatternHits",
    "PatternRule",
    "StageRule",
    "apply_pack",
    "check_pack",
    "choose_pack",
    "load_pack",
    "shipped_names",
]
