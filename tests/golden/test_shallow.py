"""The shallow control keeps headings and totals and nothing that takes reading."""

from blade.golden.shallow import make_shallow

REPORT = """\
# A report

Some words about task_7.

## 1. Aggregate Metrics

Prose with a number, 12.

| metric | value |
|---|---|
| pass@1 | 40 % |

```text
| fenced | table |
```

### By task

| task | verdict |
|---|---|
| task_nested | failed |

## Workflow Funnel and Phase Distribution

- a bullet about task_8
| phase | rollouts |
|---|---|
| answered | 9 |

## Dominant Failure Modes

| mode | tasks |
|---|---|
| picks_the_wrong_tool | task_9 |

~~~json
{"call": "secret_evidence"}
~~~
"""


def test_headings_and_tables_of_totals_stay_and_everything_else_goes() -> None:
    assert make_shallow(REPORT).partition("evidence.\n")[2] == (
        "\n# A report\n"
        "\n## 1. Aggregate Metrics\n"
        "\n| metric | value |\n|---|---|\n| pass@1 | 40 % |\n"
        "\n## Workflow Funnel and Phase Distribution\n"
        "\n| phase | rollouts |\n|---|---|\n| answered | 9 |\n"
        "\n## Dominant Failure Modes\n"
    )


def test_a_table_at_the_very_end_is_kept() -> None:
    assert make_shallow("## Aggregate results\n| a |\n|---|\n| 1 |").endswith("| 1 |\n")


def test_a_heading_inside_a_code_block_is_none() -> None:
    assert "## Aggregate" not in make_shallow("```\n## Aggregate results\n```\n")


def test_a_control_of_a_control_keeps_its_tables() -> None:
    once = make_shallow(REPORT)

    assert [line for line in make_shallow(once).splitlines() if "|" in line] == [
        line for line in once.splitlines() if "|" in line
    ]
