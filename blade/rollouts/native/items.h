/* The items of a trajectory: what steps.py does, for bytes. */

#ifndef BLADE_ITEMS_H
#define BLADE_ITEMS_H

#include "job.h"
#include "values.h"

typedef struct {
    Index *index;
    Job *job;
    uint32_t row;
    uint32_t no_room;
} Reader;

static int no_room(Reader *reader) {
    reader->no_room = 1;
    return 0;
}

static inline Span span(uint32_t start, uint32_t end) {
    Span span = {start, end - start};
    return span;
}

static uint64_t hash(const uint8_t *bytes, uint32_t length, uint64_t seed) {
    uint64_t value = seed ^ length, word;
    for (; length >= 8; bytes += 8, length -= 8) {
        memcpy(&word, bytes, 8);
        value = (value ^ word) * 0x9E3779B97F4A7C15ULL;
        value ^= value >> 32;
    }
    word = 0;
    memcpy(&word, bytes, length);
    value = (value ^ word) * 0x9E3779B97F4A7C15ULL;
    return value ^ value >> 29;
}

/* What one item says, in the Responses or the chat dialect. Spans without length are absent or null. */
typedef struct {
    Span type, role, name, call_id, tool_call_id;
    Span arguments, content, output, summary, tool_calls;
} Said;

static Span *text_of(Said *said, const uint8_t *key, uint32_t length) {
    switch (length) {
        case 4:
            if (!memcmp(key, "type", 4)) return &said->type;
            if (!memcmp(key, "role", 4)) return &said->role;
            if (!memcmp(key, "name", 4)) return &said->name;
            return NULL;
        case 7: return memcmp(key, "call_id", 7) ? NULL : &said->call_id;
        case 12: return memcmp(key, "tool_call_id", 12) ? NULL : &said->tool_call_id;
        default: return NULL;
    }
}

static Span *payload_of(Said *said, const uint8_t *key, uint32_t length) {
    switch (length) {
        case 6: return memcmp(key, "output", 6) ? NULL : &said->output;
        case 7:
            if (!memcmp(key, "content", 7)) return &said->content;
            if (!memcmp(key, "summary", 7)) return &said->summary;
            return NULL;
        case 9: return memcmp(key, "arguments", 9) ? NULL : &said->arguments;
        case 10: return memcmp(key, "tool_calls", 10) ? NULL : &said->tool_calls;
        default: return NULL;
    }
}

static int is_blank(const uint8_t *data, Span raw) {
    const uint8_t *at = data + raw.start;
    return !raw.length || (raw.length == 4 && !memcmp(at, "null", 4)) ||
           (raw.length == 2 && (!memcmp(at, "\"\"", 2) || !memcmp(at, "[]", 2)));
}

static int is_text(const uint8_t *data, Span text, const char *wanted) {
    uint32_t length = (uint32_t)strlen(wanted);
    return text.length == length + 2 && !memcmp(data + text.start + 1, wanted, length);
}

static int ends_with(const uint8_t *data, Span text, const char *ending) {
    uint32_t length = (uint32_t)strlen(ending);
    return text.length >= length + 2 && !memcmp(data + text.start + text.length - 1 - length, ending, length);
}

/* `steps.kind_of` for an item of an output. */
static uint32_t kind_of(const uint8_t *data, const Said *said) {
    if (is_text(data, said->type, "function_call")) return CALL;
    if (is_text(data, said->type, "function_call_output")) return RESULT;
    if (is_text(data, said->type, "reasoning")) return REASONING;
    if (!said->type.length || is_text(data, said->type, "message")) {
        if (!said->role.length || is_text(data, said->role, "assistant")) return MESSAGE;
        if (is_text(data, said->role, "tool") || is_text(data, said->role, "function")) return RESULT;
    } else if (ends_with(data, said->type, "_output"))
        return RESULT;
    else if (ends_with(data, said->type, "_call"))
        return CALL;
    return ENVIRONMENT;
}

static Span payload(const uint8_t *data, const Said *said, uint32_t kind) {
    switch (kind) {
        case CALL: return said->arguments;
        case RESULT: return said->output.length ? said->output : said->content;
        case REASONING: return is_blank(data, said->summary) ? said->content : said->summary;
        default: return said->content;
    }
}

/* The fields of the item that opened at the last place taken. */
static int read_said(Index *index, Said *said) {
    const uint8_t *data = index->data;
    memset(said, 0, sizeof *said);
    uint32_t place = take(index);
    if (data[place] == '}') return 1;
    for (;;) {
        if (data[place] != '"') return 0;
        uint32_t key_end = scalar_end(index, place);
        if (!key_end || data[take(index)] != ':') return 0;
        const uint8_t *key = data + place + 1;
        uint32_t key_length = key_end - place - 2, value = take(index), end = value_end(index, value);
        if (!end) return 0;
        Span *text = text_of(said, key, key_length), *raw = payload_of(said, key, key_length);
        if (text) {
            int given = data[value] == '"';
            if (!given && data[value] != 'n') return 0;
            *text = given ? span(value, end) : span(0, 0);
            /* Kinds and roles are compared as they stand, so they must be written as they are. */
            if (given && (text == &said->type || text == &said->role) && memchr(data + value, '\\', end - value))
                return 0;
        } else if (raw)
            *raw = span(value, end);
        else if (memchr(key, '\\', key_length))
            return 0;
        place = take(index);
        if (data[place] == '}') return 1;
        if (data[place] != ',') return 0;
        place = take(index);
    }
}

static int add_item(Reader *reader, const Said *said, uint32_t kind) {
    Job *job = reader->job;
    const uint8_t *data = reader->index->data;
    if (job->items_count == job->items_room) return no_room(reader);
    Item *item = &job->items[job->items_count++];
    item->row = reader->row;
    item->kind = kind;
    item->payload = payload(data, said, kind);
    item->name = said->name;
    item->type = said->type;
    item->call_id = said->call_id.length > 2 ? said->call_id : said->tool_call_id;
    item->digest = 0;
    if (kind == CALL)
        item->digest = hash(data + item->payload.start, item->payload.length,
                            hash(data + item->name.start, item->name.length, 1));
    return 1;
}

/* The items of a prompt, which are counted, or of an output, which are kept. */
static int read_items(Reader *reader, uint32_t place, int keep) {
    Index *index = reader->index;
    const uint8_t *data = index->data;
    if (data[place] == 'n') return scalar_end(index, place) != 0;
    if (data[place] != '[') return 0;
    place = take(index);
    if (data[place] == ']') return 1;
    for (;;) {
        Said said;
        if (data[place] != '{' || !read_said(index, &said)) return 0;
        uint32_t kind = kind_of(data, &said);
        if (kind == MESSAGE && !is_blank(data, said.tool_calls)) return 0; /* several steps in one */
        if (!keep)
            reader->job->prompt_steps[reader->row]++;
        else if (!add_item(reader, &said, kind))
            return 0;
        place = take(index);
        if (data[place] == ']') return 1;
        if (data[place] != ',') return 0;
        place = take(index);
    }
}

#endif
