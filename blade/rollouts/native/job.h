/* What goes between the two halves of the reader; library.py and program.py say the same in Python. */

#ifndef BLADE_JOB_H
#define BLADE_JOB_H

#include <stdint.h>

/* How the value of a field is read. */
enum { SKIP, NOTHING, NUMBER, FLAG, WORD, SCALAR, LIST, RAW, PRESENCE, BRANCH, PROMPT, OUTPUT };

/* What a value was. ABSENT is null, too; IS_RAW is a value as it was written, as are numbers too large for a double. */
enum { ABSENT, IS_NUMBER, IS_FLAG, IS_TEXT, IS_RAW, IS_BRANCH };

/* What an item of a trajectory is, as in steps.py; and whether with it the prompt of a conversation is over. */
enum { MESSAGE, REASONING, CALL, RESULT, ENVIRONMENT, ACTING = 256 };

/* How reading ended. */
enum { ALL_READ, REFUSED, NO_ROOM };

typedef struct {
    uint32_t start, length;
} Span;

typedef struct {
    uint32_t key, key_length; /* in Job.keys */
    int32_t action;
    int32_t slot;   /* where the value goes; -1 for nowhere */
    int32_t node;   /* the fields of a BRANCH */
    uint32_t limit; /* bytes of a text or another value that is kept as it was written */
    uint32_t whole; /* whether a row with a longer text is refused; otherwise the text is left out */
} Field;

typedef struct {
    int32_t first, count;
} Node;

typedef struct {
    uint32_t row, kind;
    Span payload, name, type, call_id;
    uint64_t digest; /* of the name and the arguments of a call */
} Item;

/* A text or another value that is kept as it was written, once for each slot that has it. */
typedef struct {
    uint32_t slot;
    Span text;   /* in Job.texts */
    uint32_t at; /* in Job.levels_hash */
} Level;

/* Rows are added to what the arrays hold already, up to their room; only items are those of the last call alone. */
typedef struct {
    const uint8_t *data;
    uint64_t size, offset, line; /* of the data in the file; of its first line, counted from 1 */
    uint64_t seed;               /* nobody knows it beforehand, so nobody can make texts that all have one hash */
    const Field *fields;
    const Node *nodes;
    const uint8_t *keys;
    double *numbers; /* these three: slot after slot, `rows_room` values each */
    int32_t *codes;  /* indices of levels */
    uint8_t *tags;
    int64_t *places; /* line, offset and length: `rows_room` values each */
    int64_t *prompt_steps;
    uint32_t *seen; /* per field: `tries` when a row had it last */
    Item *items;
    Level *levels;
    uint8_t *texts;        /* of the levels, each with a comma behind it */
    uint32_t *levels_hash; /* `levels_hash_room`, a power of two, of numbers of levels, counted from 1 */
    Span *refused;         /* lines of the last call */
    uint32_t rows_room, items_room, levels_room, texts_room, levels_hash_room, refused_room;
    uint32_t rows, items_count, levels_count, texts_size, refused_count;
    uint32_t tries; /* how many rows were begun */
    uint32_t lines; /* of the data of the last call, if all was read */
} Job;

#endif
