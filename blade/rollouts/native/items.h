/* The items of a trajectory: what steps.py does, for bytes. */

#ifndef BLADE_ITEMS_H
#define BLADE_ITEMS_H

#include <stddef.h>

#include "job.h"
#include "values.h"

typedef struct {
    Index *index;
    Job *job;
    uint32_t row;
    uint32_t no_room;
} Reader;

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

/* A tool call inside of a chat message. */
typedef struct {
    Span id, name, arguments;
} ChatCall;

enum { MAX_CALLS = 64 };

/* What one item says, in the Responses or the chat dialect. Spans without length are absent or null. */
typedef struct {
    Span type, role, name, call_id, tool_call_id;
    Span arguments, content, output, summary;
    ChatCall calls[MAX_CALLS];
    uint32_t calls_count;
} Said;

/* Reads a text or null. */
static int read_text(Index *index, uint32_t place, Span *text) {
    uint32_t end = scalar_end(index, place);
    int given = index->data[place] == '"';
    *text = given ? span(place, end) : span(0, 0);
    return end && (given || index->data[place] == 'n');
}

/* Reads a text that is compared as it stands, so it must be written as it is. */
static int read_plain_text(Index *index, uint32_t place, Span *text) {
    return read_text(index, place, text) && !memchr(index->data + text->start, '\\', text->length);
}

static int read_raw(Index *index, uint32_t place, Span *raw) {
    uint32_t end = value_end(index, place);
    *raw = span(place, end);
    return end != 0;
}

/* Goes past the value of a key that is of no use; a key with escapes may be any. */
static int pass_over(Index *index, const Cursor *cursor) {
    return value_end(index, cursor->place) && !memchr(cursor->key, '\\', cursor->key_length);
}

/* The function that a call names, or the call itself where it names none. */
static int read_function(Index *index, Span *name, Span *arguments) {
    Cursor cursor = {0};
    int more, good = 1;
    *name = *arguments = span(0, 0);
    while (good && (more = next_field(index, &cursor)) == MORE) {
        if (is_key(&cursor, "name"))
            good = read_plain_text(index, cursor.place, name);
        else if (is_key(&cursor, "arguments"))
            good = read_raw(index, cursor.place, arguments);
        else
            good = pass_over(index, &cursor);
    }
    return good && more == NO_MORE;
}

static int read_call(Index *index, ChatCall *call) {
    Cursor cursor = {0};
    Span name = {0, 0}, arguments = {0, 0};
    int more, good = 1, has_function = 0;
    memset(call, 0, sizeof *call);
    while (good && (more = next_field(index, &cursor)) == MORE) {
        if (is_key(&cursor, "id"))
            good = read_text(index, cursor.place, &call->id);
        else if (is_key(&cursor, "name"))
            good = read_plain_text(index, cursor.place, &name);
        else if (is_key(&cursor, "arguments"))
            good = read_raw(index, cursor.place, &arguments);
        else if (is_key(&cursor, "function")) {
            has_function = index->data[cursor.place] == '{';
            good = has_function ? read_function(index, &call->name, &call->arguments)
                                : index->data[cursor.place] == 'n' && scalar_end(index, cursor.place);
        } else
            good = pass_over(index, &cursor);
    }
    if (!has_function) {
        call->name = name;
        call->arguments = arguments;
    }
    return good && more == NO_MORE;
}

/* The calls of a chat message; a list of calls, or nothing. */
static int read_calls(Index *index, uint32_t place, Said *said) {
    const uint8_t *data = index->data;
    said->calls_count = 0;
    if (data[place] != '[') {
        uint32_t end = scalar_end(index, place);
        return end && (data[place] == 'n' || (data[place] == '"' && end == place + 2));
    }
    Cursor cursor = {0};
    int more;
    while ((more = next_value(index, &cursor)) == MORE)
        if (data[cursor.place] != '{' || said->calls_count == MAX_CALLS ||
            !read_call(index, &said->calls[said->calls_count++]))
            return 0;
    return more == NO_MORE;
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

static int read_said_field(Index *index, const Cursor *cursor, Said *said) {
    uint32_t place = cursor->place;
    switch (cursor->key_length) {
        case 4:
            if (is_key(cursor, "type")) return read_plain_text(index, place, &said->type);
            if (is_key(cursor, "role")) return read_plain_text(index, place, &said->role);
            if (is_key(cursor, "name")) return read_plain_text(index, place, &said->name);
            break;
        case 6:
            if (is_key(cursor, "output")) return read_raw(index, place, &said->output);
            break;
        case 7:
            if (is_key(cursor, "content")) return read_raw(index, place, &said->content);
            if (is_key(cursor, "summary")) return read_raw(index, place, &said->summary);
            if (is_key(cursor, "call_id")) return read_text(index, place, &said->call_id);
            break;
        case 9:
            if (is_key(cursor, "arguments")) return read_raw(index, place, &said->arguments);
            break;
        case 10:
            if (is_key(cursor, "tool_calls")) return read_calls(index, place, said);
            break;
        case 12:
            if (is_key(cursor, "tool_call_id")) return read_text(index, place, &said->tool_call_id);
            break;
    }
    return pass_over(index, cursor);
}

/* The fields of the item that opened at the last place taken. */
static int read_said(Index *index, Said *said) {
    Cursor cursor = {0};
    int more;
    memset(said, 0, offsetof(Said, calls));
    said->calls_count = 0;
    while ((more = next_field(index, &cursor)) == MORE)
        if (!read_said_field(index, &cursor, said)) return 0;
    return more == NO_MORE;
}

/* Whether an item is something the agent did, or was told by a tool: with it a conversation's prompt is over. */
static int is_acting(const uint8_t *data, const Said *said, uint32_t kind) {
    return kind != ENVIRONMENT || (said->type.length && !is_text(data, said->type, "message"));
}

static Item *add_item(Reader *reader, uint32_t kind, Span payload, Span name) {
    Job *job = reader->job;
    const uint8_t *data = reader->index->data;
    if (job->items_count == job->items_room) {
        reader->no_room = 1;
        return NULL;
    }
    Item *item = &job->items[job->items_count++];
    memset(item, 0, sizeof *item);
    item->row = reader->row;
    item->kind = kind;
    item->payload = payload;
    item->name = name;
    if (kind % ACTING == CALL)
        item->digest = hash(data + payload.start, payload.length, hash(data + name.start, name.length, 1));
    return item;
}

static int add_said(Reader *reader, const Said *said, uint32_t kind) {
    const uint8_t *data = reader->index->data;
    uint32_t acting = is_acting(data, said, kind) ? ACTING : 0;
    Item *item = add_item(reader, kind | acting, payload(data, said, kind), said->name);
    if (!item) return 0;
    item->type = said->type;
    item->call_id = said->call_id.length > 2 ? said->call_id : said->tool_call_id;
    return 1;
}

/* One item per step: a chat message with calls is the message, unless it is nothing but its calls, and the calls. How
 * many there are, or -1 when there is no room. */
static int32_t add_steps(Reader *reader, const Said *said, int keep) {
    uint32_t kind = kind_of(reader->index->data, said), calls = kind == MESSAGE ? said->calls_count : 0;
    int speaks = !calls || !is_blank(reader->index->data, said->content);
    if (!keep) return (int32_t)(speaks + calls);
    if (speaks && !add_said(reader, said, kind)) return -1;
    for (uint32_t i = 0; i < calls; i++) {
        Item *item = add_item(reader, CALL | ACTING, said->calls[i].arguments, said->calls[i].name);
        if (!item) return -1;
        item->call_id = said->calls[i].id;
    }
    return (int32_t)(speaks + calls);
}

/* A plain text in place of items, which is a message. Python would write it anew to keep it: one that would come out
 * otherwise is left to it. */
static uint32_t read_message(Reader *reader, uint32_t place, int keep) {
    const uint8_t *data = reader->index->data;
    uint32_t end = scalar_end(reader->index, place);
    if (!end) return 0;
    if (!keep) {
        reader->job->prompt_steps[reader->row]++;
        return end;
    }
    for (uint32_t i = place; i < end; i++)
        if (data[i] == '\\' && (data[++i] == 'u' || data[i] == '/')) return 0;
    return add_item(reader, MESSAGE | ACTING, span(place, end), span(0, 0)) ? end : 0;
}

/* The items of a prompt, which are counted, or of an output, which are kept; where they end, or 0 when refused. */
static uint32_t read_items(Reader *reader, uint32_t place, int keep) {
    Index *index = reader->index;
    if (index->data[place] == 'n') return scalar_end(index, place);
    if (index->data[place] == '"') return read_message(reader, place, keep);
    if (index->data[place] != '[') return 0;
    Cursor cursor = {0};
    Said said;
    int more;
    while ((more = next_value(index, &cursor)) == MORE) {
        if (index->data[cursor.place] != '{' || !read_said(index, &said)) return 0;
        int32_t steps = add_steps(reader, &said, keep);
        if (steps < 0) return 0;
        if (!keep) reader->job->prompt_steps[reader->row] += steps;
    }
    return more == NO_MORE ? cursor.place + 1 : 0;
}

#endif
