/* Reads rows of JSON, one per line, straight into columns: the fast half of the reader.
 *
 * It takes rows only when every byte of them is right and every field is one it was told of; otherwise it takes none,
 * and the Python half reads them. So it never has to explain an error, and it may refuse whatever it likes: refusing
 * costs time, accepting wrongly would cost the truth.
 *
 * Bytes are looked at in two steps, window by window: places.h finds the places that matter, values.h, items.h and this
 * file walk from place to place and check the grammar.
 *
 * Nothing is allocated here and nothing is read or written outside of the arrays of a `Job`. The last byte of its data
 * must be a line break: it ends every loop over bytes.
 */

#include "items.h"

static int read_branch(Reader *reader, int32_t node);

/* The cell of a slot in the row that is being read. */
static inline size_t cell_of(const Reader *reader, int32_t slot) {
    return (size_t)slot * reader->job->rows_room + reader->row;
}

static int no_room(Reader *reader) {
    reader->no_room = 1;
    return 0;
}

/* Keeps a value as it was written. */
static int keep_level(Reader *reader, int32_t slot, uint8_t tag, Span value) {
    Job *job = reader->job;
    const uint8_t *text = reader->index->data + value.start;
    uint32_t mask = job->levels_hash_room - 1;
    uint32_t at = (uint32_t)hash(text, value.length, job->seed + (uint64_t)slot) & mask;
    for (; job->levels_hash[at]; at = (at + 1) & mask) {
        const Level *level = &job->levels[job->levels_hash[at] - 1];
        if (level->slot == (uint32_t)slot && level->text.length == value.length &&
            !memcmp(job->texts + level->text.start, text, value.length))
            break;
    }
    if (!job->levels_hash[at]) {
        if (job->levels_count == job->levels_room || job->texts_room - job->texts_size <= value.length)
            return no_room(reader);
        Level *level = &job->levels[job->levels_count];
        level->slot = (uint32_t)slot;
        level->at = at;
        level->text = span(job->texts_size, job->texts_size + value.length);
        memcpy(job->texts + job->texts_size, text, value.length);
        job->texts_size += value.length;
        job->texts[job->texts_size++] = ',';
        job->levels_hash[at] = ++job->levels_count;
    }
    size_t cell = cell_of(reader, slot);
    job->tags[cell] = tag;
    job->codes[cell] = (int32_t)job->levels_hash[at] - 1;
    return 1;
}

static int keep_text(Reader *reader, const Field *field, Span text) {
    if (text.length <= field->limit) return keep_level(reader, field->slot, IS_TEXT, text);
    if (field->whole) return 0;
    size_t cell = cell_of(reader, field->slot);
    reader->job->tags[cell] = IS_TEXT;
    reader->job->codes[cell] = -1;
    return 1;
}

static int keep_raw(Reader *reader, const Field *field, Span raw) {
    return raw.length <= field->limit && keep_level(reader, field->slot, IS_RAW, raw);
}

static int keep_number(Reader *reader, const Field *field, Span number) {
    const uint8_t *at = reader->index->data + number.start;
    double value;
    if (!number_value(at, at + number.length, &value)) return 0;
    if (value >= 9007199254740992.0 || value <= -9007199254740992.0)
        return keep_level(reader, field->slot, IS_RAW, number);
    size_t cell = cell_of(reader, field->slot);
    reader->job->tags[cell] = IS_NUMBER;
    reader->job->numbers[cell] = value;
    return 1;
}

static int keep_flag(Reader *reader, const Field *field, int value) {
    size_t cell = cell_of(reader, field->slot);
    reader->job->tags[cell] = IS_FLAG;
    reader->job->numbers[cell] = value;
    return 1;
}

static int keep_scalar(Reader *reader, const Field *field, uint32_t place, uint32_t end) {
    int any = field->action == SCALAR || field->action == BRANCH;
    switch (reader->index->data[place]) {
        case 'n': return 1;
        case '"': return (any || field->action == WORD) && keep_text(reader, field, span(place, end));
        case 't': return (any || field->action == FLAG) && keep_flag(reader, field, 1);
        case 'f': return (any || field->action == FLAG) && keep_flag(reader, field, 0);
        default: return (any || field->action == NUMBER) && keep_number(reader, field, span(place, end));
    }
}

static int read_field(Reader *reader, const Field *field, uint32_t place) {
    Index *index = reader->index;
    const uint8_t *data = index->data;
    uint32_t end;
    switch (field->action) {
        case SKIP: return value_end(index, place) != 0;
        case NOTHING: return data[place] == 'n' && scalar_end(index, place);
        case LIST:
            end = list_end(index, place);
            return end && keep_raw(reader, field, span(place, end));
        case RAW:
            end = data[place] == '{' || data[place] == '[' ? value_end(index, place) : readable_end(index, place);
            return end && keep_raw(reader, field, span(place, end));
        case PRESENCE:
            end = value_end(index, place);
            return end && keep_flag(reader, field, !is_blank(data, span(place, end)));
        case PROMPT:
            end = read_items(reader, place, 0);
            return end && (field->slot < 0 || keep_raw(reader, field, span(place, end)));
        case OUTPUT: return read_items(reader, place, 1) != 0;
        case BRANCH:
            if (data[place] == '{') {
                reader->job->tags[cell_of(reader, field->slot)] = IS_BRANCH;
                return read_branch(reader, field->node);
            }
            end = scalar_end(index, place);
            return end && (field->limit ? keep_scalar(reader, field, place, end) : data[place] == 'n');
        default: end = scalar_end(index, place); return end && keep_scalar(reader, field, place, end);
    }
}

static inline int is_named(const Reader *reader, const Field *field, uint32_t place) {
    const Index *index = reader->index;
    const uint8_t *at = index->data + place + 1;
    return index->size - place > field->key_length + 2 && at[field->key_length] == '"' &&
           !memcmp(at, reader->job->keys + field->key, field->key_length);
}

/* The field that a key names: most often the one behind the last, else whichever; NULL for one nobody told of. */
static inline const Field *field_of(const Reader *reader, const Node *node, int32_t guess, uint32_t place) {
    const Field *fields = reader->job->fields + node->first;
    if (guess < node->count && is_named(reader, fields + guess, place)) return fields + guess;
    for (int32_t i = 0; i < node->count; i++)
        if (is_named(reader, fields + i, place)) return fields + i;
    return NULL;
}

/* The fields of the object that opened at the last place taken. */
static int read_branch(Reader *reader, int32_t number) {
    Index *index = reader->index;
    const uint8_t *data = index->data;
    const Node *node = reader->job->nodes + number;
    int32_t guess = 0;
    uint32_t place = take(index);
    if (data[place] == '}') return 1;
    for (;;) {
        if (data[place] != '"') return 0;
        const Field *field = field_of(reader, node, guess, place);
        if (!field || data[take(index)] != ':') return 0;
        uint32_t *seen = reader->job->seen + (field - reader->job->fields);
        if (*seen == reader->job->tries) return 0; /* twice in one object */
        *seen = reader->job->tries;
        guess = (int32_t)(field - reader->job->fields) - node->first + 1;
        if (!read_field(reader, field, take(index))) return 0;
        place = take(index);
        if (data[place] == '}') return 1;
        if (data[place] != ',') return 0;
        place = take(index);
    }
}

/* The row that begins at `place`; where its line ends, or 0 when it is refused. */
static uint32_t read_row(Reader *reader, uint32_t place) {
    Index *index = reader->index;
    reader->job->tries++;
    reader->job->prompt_steps[reader->row] = 0;
    if (index->data[place] != '{' || !read_branch(reader, 0)) return 0;
    uint32_t end = take(index);
    return index->data[end] == '\n' && end < index->broken ? end : 0;
}

/* The version of this source, or -1 on a processor that cannot run it. */
__attribute__((target("arch=x86-64"))) int32_t blade_version(void) {
    __builtin_cpu_init();
    int able = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt") &&
               __builtin_cpu_supports("pclmul");
    return able ? VERSION : -1;
}

/* Forgets rows from number `before->rows` on, and the one that was not read to its end. The last levels go first, so
 * that none is lost on the way to another in the hash. */
static void drop_rows(Job *job, const Job *before, uint32_t slots) {
    uint32_t count = job->rows - before->rows + (job->rows < job->rows_room);
    for (uint32_t slot = 0; slot < slots; slot++)
        memset(job->tags + (size_t)slot * job->rows_room + before->rows, ABSENT, count);
    while (job->levels_count > before->levels_count) job->levels_hash[job->levels[--job->levels_count].at] = 0;
    job->texts_size = before->texts_size;
    job->rows = before->rows;
}

static void add_place(Job *job, uint32_t start, uint32_t end) {
    job->places[job->rows] = (int64_t)(job->line + job->lines);
    job->places[job->rows_room + job->rows] = (int64_t)(job->offset + start);
    job->places[2 * (size_t)job->rows_room + job->rows] = end - start;
    job->rows++;
}

/* Notes the line that begins at `line`, and goes on behind it as if nothing was; where it ends. */
static uint32_t refuse_line(Job *job, Index *index, uint32_t line) {
    const uint8_t *end = memchr(job->data + line, '\n', job->size - line);
    Span where = span(line, (uint32_t)(end - job->data));
    if (job->refused_count < job->refused_room) job->refused[job->refused_count] = where;
    job->refused_count++;
    start_index(index, job->data, (uint32_t)job->size, where.start + where.length + 1);
    return where.start + where.length;
}

static int32_t read_rows(Reader *reader) {
    Job *job = reader->job;
    Index *index = reader->index;
    for (uint32_t line = 0, end; line < job->size; line = end + 1, job->lines++) {
        uint32_t place = take(index);
        end = place;
        if (job->data[place] == '\n' && place < index->broken) continue;
        if (job->rows == job->rows_room) return NO_ROOM;
        reader->row = job->rows;
        end = read_row(reader, place);
        if (end)
            add_place(job, line, end);
        else if (reader->no_room)
            return NO_ROOM;
        else
            end = refuse_line(job, index, line);
        if (job->refused_count > job->refused_room) return REFUSED; /* too many to be worth a look */
    }
    return job->refused_count ? REFUSED : ALL_READ;
}

/* Reads all rows; or none when there is no room, or when some are refused, which are noted as far as there is room.
 * The tags of rows to come must be ABSENT. */
int32_t blade_read_rows(Job *job, uint32_t slots) {
    Index index;
    start_index(&index, job->data, (uint32_t)job->size, 0);
    Reader reader = {&index, job, 0, 0};
    Job before = *job;
    job->items_count = job->lines = job->refused_count = 0;
    int32_t outcome = read_rows(&reader);
    if (outcome != ALL_READ) drop_rows(job, &before, slots);
    return outcome;
}

/* Copies pieces of data end to end, with a separator behind each. */
void blade_gather(const uint8_t *data, const int64_t *starts, const int64_t *lengths, uint64_t count, uint8_t separator,
                  uint8_t *out) {
    for (uint64_t i = 0; i < count; i++) {
        memcpy(out, data + starts[i], (size_t)lengths[i]);
        out += lengths[i];
        *out++ = separator;
    }
}
