"""Writes rollout files shaped like real ones, for measuring only.

Rows are made here from a seeded generator and a list of common words: nothing in them comes from a model. `short` rows
are about 7 KB (a tool-using assistant), `medium` rows about 35 KB, `long` rows about 340 KB (a coding agent). They are
as full of structure as the rows that NeMo Gym 0.5.1 publishes, mostly keys and nulls around texts of a few KB:

| | strings per KB | objects and lists per KB | escapes in 100 bytes | rows beyond ASCII | beyond 16 bits |
|---|---|---|---|---|---|
| published, 2 to 15 KB (377 rows) | 23.4 | 4.4 | 1.9 | 17 % | 1 % |
| `short` | 26.6 | 5.0 | 2.1 | 18 % | 1 % |
| published, above 60 KB (46 rows) | 9.3 | 1.6 | 3.6 | 57 % | 9 % |
| `long` | 9.6 | 1.7 | 3.7 | 60 % | 8 % |
"""

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

WORDS = (
    "the", "of", "and", "to", "in", "is", "that", "for", "it", "as", "was", "with", "be", "by", "on", "not", "this",
    "are", "or", "from", "at", "which", "but", "have", "an", "had", "they", "you", "were", "their", "one", "all", "we",
    "can", "has", "there", "been", "if", "more", "when", "will", "would", "who", "so", "no", "said", "what", "up",
    "about", "into", "them", "than", "time", "only", "some", "could", "these", "two", "may", "then", "do", "first",
    "any", "now", "such", "like", "our", "over", "even", "most", "made", "after", "also", "did", "many", "before",
    "must", "through", "back", "years", "where", "much", "your", "way", "well", "down", "should", "because", "each",
    "just", "error", "value", "file", "search", "result", "order", "account", "meeting", "path/to/file.py", "42",
)  # fmt: skip
TOOLS = ("search", "open_file", "run_command", "send_mail", "list_events", "update_record", "finish", "lookup")
ACCENTED = ("café", "naïve", "“so”", "—", "→", "✓", "…", "数据", "über", "±0.5", "°C", "señor")
EMOJI = ("🙂", "🚀", "✅", "🔧")
REPEATS = 4

REQUEST = (
    "background", "include", "instructions", "max_output_tokens", "max_tool_calls", "metadata", "model",
    "previous_response_id", "prompt", "reasoning", "service_tier", "store", "text", "top_logprobs", "top_p",
    "truncation", "user", "stream",
)  # fmt: skip
"""Fields of a request that are echoed though nobody set them."""
RESPONSE = (
    "instructions", "metadata", "temperature", "top_p", "background", "conversation", "max_output_tokens",
    "max_tool_calls", "previous_response_id", "prompt", "prompt_cache_key", "reasoning", "safety_identifier",
    "service_tier", "text", "top_logprobs", "truncation", "user",
)  # fmt: skip
"""The same of a response."""


class Shape(NamedTuple):
    """What the rows of a file are like."""

    size: int
    """Characters of what tools say, on average; the agent thinks a quarter of that."""
    calls: int
    """How many tools are called."""
    step: int
    """Every how many words one is quoted or ends a line."""
    accented: float
    """Share of rows with characters beyond ASCII."""
    emoji: float
    """Share of rows with characters beyond 16 bits."""


SHAPES = {
    "short": Shape(3000, 2, 10, 0.16, 0.01),
    "medium": Shape(19_000, 18, 8, 0.3, 0.04),
    "long": Shape(220_000, 110, 7, 0.48, 0.09),
}


def text(rng: random.Random, size: int, pool: list[str]) -> str:
    """About `size` characters of prose: paragraphs drawn from a fixed pool, cut to length."""
    parts: list[str] = []
    total = 0
    while total < size:
        part = pool[rng.randrange(len(pool))]
        parts.append(part)
        total += len(part)
    return "".join(parts)[:size]


def paragraphs(rng: random.Random, step: int, special: tuple[str, ...] = ()) -> list[str]:
    """Texts in which every `step`-th word is quoted or ends a line, with one of some special words in each."""
    pool = []
    for _ in range(400):
        words = rng.choices(WORDS, k=rng.randint(20, 120))
        if special:
            words[rng.randrange(len(words))] = rng.choice(special)
        for count, index in enumerate(range(0, len(words), step)):
            words[index] += "\n" if count % 3 else ' "quoted"'
        pool.append(" ".join(words) + ".\n")
    return pool


def items(rng: random.Random, calls: int, size: int, pool: list[str]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for index in range(calls):
        name = TOOLS[rng.randrange(len(TOOLS))]
        body = text(rng, size // (calls + 1), pool)
        if rng.random() < 0.02:
            body = "Error: connection timed out\n" + body
        out.append(
            {
                "type": "reasoning",
                "id": f"rs_{index}",
                "summary": [{"type": "summary_text", "text": text(rng, size // (4 * calls + 4), pool)}],
            }
        )
        out.append(
            {
                "type": "function_call",
                "name": name,
                "arguments": json.dumps({"q": text(rng, 60, pool), "n": index}),
                "call_id": f"c{index}",
                "id": None,
                "status": "completed",
            }
        )
        out.append(
            {
                "type": "function_call_output",
                "call_id": f"c{index}",
                "output": body,
                "id": None,
                "status": None,
            }
        )
    out.append(
        {
            "type": "message",
            "id": "msg",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text(rng, size // (calls + 1), pool), "annotations": []}],
            "generation_token_ids": rng.choices(range(100_000), k=5 * calls),
        }
    )
    return out


def row(rng: random.Random, task: int, repeat: int, *, size: int, calls: int, pool: list[str]) -> dict[str, Any]:
    reward = float(rng.random() < (task % 11) / 10)
    tokens = size // 4
    tools = [
        {
            "type": "function",
            "name": name,
            "description": "A tool.",
            "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
            "strict": True,
        }
        for name in TOOLS[:1]
    ]
    question = [
        {"role": "system", "content": pool[0]},
        {"role": "user", "content": pool[task % len(pool)], "type": "message"},
    ]
    return {
        "responses_create_params": {
            **dict.fromkeys(REQUEST), "input": question, "tools": tools, "temperature": 1.0, "tool_choice": "auto",
            "parallel_tool_calls": True,
        },
        "response": {
            "id": f"resp_{task}_{repeat}", "created_at": 1.7e9 + task, "model": "bench-model", "object": "response",
            "error": None, "status": None, "output": items(rng, calls, size, pool), **dict.fromkeys(RESPONSE),
            "parallel_tool_calls": True, "tool_choice": "auto", "tools": tools,
            "incomplete_details": {"reason": "max_output_tokens"} if rng.random() < 0.01 else None,
            "usage": {
                "input_tokens": tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": tokens // 3,
                "output_tokens_details": {"reasoning_tokens": 9}, "total_tokens": tokens + tokens // 3,
            },
        },
        "reward": reward, "is_correct": bool(reward), "extracted_answer": str(rng.randrange(99)),
        "expected_answer": "17", "difficulty": ("easy", "medium", "hard")[task % 3], "category": f"kind_{task % 7}",
        "num_turns": calls, "similarity": rng.random(), "agent_run_time": rng.random() * 100,
        "verifier_metadata": {"source": "bench", "level": task % 5}, "_ng_task_index": task,
        "_ng_rollout_index": repeat, "agent_ref": {"name": "bench_agent"},
    }  # fmt: skip


def rows(name: str, seed: int) -> Iterator[bytes]:
    rng = random.Random(seed)
    shape = SHAPES[name]
    plain, *others = (paragraphs(rng, shape.step, special) for special in ((), ACCENTED, (*ACCENTED, *EMOJI)))
    shares = [1 - shape.accented - shape.emoji, shape.accented, shape.emoji]
    task = 0
    while True:
        for repeat in range(REPEATS):
            size = int(shape.size * (0.5 + rng.random()))
            [pool] = rng.choices([plain, *others], shares)
            line = row(rng, task, repeat, size=size, calls=shape.calls, pool=pool)
            yield json.dumps(line, ensure_ascii=False).encode() + b"\n"
        task += 1


def write(path: Path, *, shape: str, megabytes: int, seed: int = 0) -> Path:
    """Writes about `megabytes` of rows of one shape and returns the path."""
    total = 0
    with path.open("wb") as out:
        for line in rows(shape, seed):
            out.write(line)
            total += len(line)
            if total >= megabytes * 1_000_000:
                return path
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--shape", choices=list(SHAPES), default="short")
    parser.add_argument("--megabytes", type=int, default=300)
    args = parser.parse_args()
    print(write(args.path, shape=args.shape, megabytes=args.megabytes))
