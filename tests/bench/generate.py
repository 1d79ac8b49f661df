"""Writes rollout files shaped like real ones, for measuring only.

Rows are made here from a seeded generator and a list of common English words: nothing in them comes from a model.
`short` rows are about 7 KB (a tool-using assistant), `long` rows about 340 KB (a coding agent). Their texts hold as
many quotes and line breaks as such rows do: about 2 and 4 escapes in 100 bytes.
"""

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
REPEATS = 4


def text(rng: random.Random, size: int, pool: list[str]) -> str:
    """About `size` characters of prose: paragraphs drawn from a fixed pool, cut to length."""
    parts: list[str] = []
    total = 0
    while total < size:
        part = pool[rng.randrange(len(pool))]
        parts.append(part)
        total += len(part)
    return "".join(parts)[:size]


def paragraphs(rng: random.Random, step: int) -> list[str]:
    """Texts in which every `step`-th word is quoted or ends a line."""
    pool = []
    for _ in range(400):
        words = rng.choices(WORDS, k=rng.randint(20, 120))
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
        for name in TOOLS[:4]
    ]
    question = [
        {"role": "system", "content": pool[0]},
        {"role": "user", "content": pool[task % len(pool)], "type": "message"},
    ]
    return {
        "responses_create_params": {
            "input": question, "tools": tools, "temperature": 1.0, "top_p": None, "max_output_tokens": None,
            "metadata": None,
        },
        "response": {
            "id": f"resp_{task}_{repeat}", "created_at": 1.7e9 + task, "model": "bench-model", "object": "response",
            "error": None, "status": None, "output": items(rng, calls, size, pool),
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


def rows(shape: str, seed: int) -> Iterator[bytes]:
    rng = random.Random(seed)
    size, calls, step = (3000, 2, 9) if shape == "short" else (240_000, 24, 6)
    pool = paragraphs(rng, step)
    task = 0
    while True:
        for repeat in range(REPEATS):
            length = int(size * (0.5 + rng.random()))
            yield json.dumps(row(rng, task, repeat, size=length, calls=calls, pool=pool)).encode() + b"\n"
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
    parser.add_argument("--shape", choices=["short", "long"], default="short")
    parser.add_argument("--megabytes", type=int, default=300)
    args = parser.parse_args()
    print(write(args.path, shape=args.shape, megabytes=args.megabytes))
