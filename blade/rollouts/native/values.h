/* Values, from place to place: where one ends, whether it is right, and what a number is. */

#ifndef BLADE_VALUES_H
#define BLADE_VALUES_H

#include <stdlib.h>

#include "places.h"

static inline int is_digit(uint8_t c) { return (uint8_t)(c - '0') < 10; }

static inline int ends_scalar(uint8_t c) {
    return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Where the number that begins at `p` ends; NULL when it is none. */
static const uint8_t *number_end(const uint8_t *p) {
    p += *p == '-';
    if (!is_digit(*p)) return NULL;
    if (*p == '0')
        p++;
    else
        while (is_digit(*p)) p++;
    if (*p == '.') {
        if (!is_digit(*++p)) return NULL;
        while (is_digit(*p)) p++;
    }
    if ((*p | 32) == 'e') {
        p++;
        p += *p == '+' || *p == '-';
        if (!is_digit(*p)) return NULL;
        while (is_digit(*p)) p++;
    }
    return ends_scalar(*p) ? p : NULL;
}

/* `digits / 10^places`, rounded once: the quotient is taken to 55 bits or more, what is left makes its last bit odd. */
static double quotient(uint64_t digits, uint32_t places) {
    static const uint64_t powers[] = {
        1ULL, 10ULL, 100ULL, 1000ULL, 10000ULL, 100000ULL, 1000000ULL, 10000000ULL, 100000000ULL, 1000000000ULL,
        10000000000ULL, 100000000000ULL, 1000000000000ULL, 10000000000000ULL, 100000000000000ULL,
        1000000000000000ULL, 10000000000000000ULL, 100000000000000000ULL, 1000000000000000000ULL,
        10000000000000000000ULL,
    };
    uint64_t power = powers[places];
    if ((digits < 1ULL << 53 && power < 1ULL << 53) || !digits) return (double)digits / (double)power;
    int shift = 55 + __builtin_clzll(digits) - __builtin_clzll(power);
    if (shift < 0) shift = 0;
    unsigned __int128 dividend = (unsigned __int128)digits << shift;
    uint64_t whole = (uint64_t)(dividend / power);
    whole |= dividend % power != 0;
    double scale;
    uint64_t scale_bits = (uint64_t)(1023 - shift) << 52; /* 2^-shift */
    memcpy(&scale, &scale_bits, 8);
    return (double)whole * scale;
}

/* The value of a number; 0 when it is better left to others. */
static int number_value(const uint8_t *p, const uint8_t *end, double *value) {
    const uint8_t *begin = p;
    uint64_t digits = 0;
    uint32_t places = 0, negative = *p == '-', point = 0;
    for (p += negative; p < end; p++) {
        if (is_digit(*p)) {
            digits = digits * 10 + (uint64_t)(*p - '0');
            places += point;
        } else if (*p == '.')
            point = 1;
        else
            break;
    }
    if (p == end && end - begin <= 19 + negative + point) {
        *value = places ? quotient(digits, places) : (double)digits;
        if (negative && (digits || point)) *value = -*value; /* -0 is a whole number, and those have no sign of zero */
        return 1;
    }
    char copy[64], *read;
    if (end - begin >= (ptrdiff_t)sizeof copy) return 0;
    memcpy(copy, begin, (size_t)(end - begin));
    copy[end - begin] = 0;
    *value = strtod(copy, &read);
    return read == copy + (end - begin) && *value - *value == 0;
}

static inline int has_word(const Index *index, uint32_t place, const char *word, uint32_t length) {
    return index->size - place > length && !memcmp(index->data + place, word, length) &&
           ends_scalar(index->data[place + length]);
}

/* Where the value that `place` begins ends, if it is no object or list; 0 when it is wrong. A string ends before the
 * next place, and nothing but blanks can be between them: anything else would be a place. (Where one does not end, the
 * answer means nothing; the row is refused for what stands next, or for its line break inside of a string.) */
static inline uint32_t scalar_end(Index *index, uint32_t place) {
    const uint8_t *data = index->data;
    switch (data[place]) {
        case '"': {
            uint32_t end = peek(index);
            while (end > place && data[end - 1] != '"') end--;
            return end > place + 1 ? end : 0;
        }
        case 't': return has_word(index, place, "true", 4) ? place + 4 : 0;
        case 'f': return has_word(index, place, "false", 5) ? place + 5 : 0;
        case 'n': return has_word(index, place, "null", 4) ? place + 4 : 0;
        case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9': {
            const uint8_t *end = number_end(data + place);
            return end ? (uint32_t)(end - data) : 0;
        }
        default: return 0;
    }
}

enum { MAX_DEPTH = 64 };

/* Goes past any value and checks it; where it ends, or 0 when it is wrong. */
static uint32_t value_end(Index *index, uint32_t place) {
    const uint8_t *data = index->data;
    uint64_t objects = 0; /* one bit per bracket that is open: whether it is a brace */
    uint32_t depth = 0, end;
    uint8_t c;
value:
    c = data[place];
    if (c == '{' || c == '[') {
        if (depth == MAX_DEPTH) return 0;
        objects = objects << 1 | (c == '{');
        depth++;
        place = take(index);
        if (data[place] == c + 2) goto closed; /* } and ] stand two behind { and [ */
        if (c == '{') goto key;
        goto value;
    }
    end = scalar_end(index, place);
    if (!end) return 0;
after:
    if (!depth) return end;
    place = take(index);
    c = data[place];
    if (c == ',') {
        place = take(index);
        if (!(objects & 1)) goto value;
        goto key;
    }
    if (c != (objects & 1 ? '}' : ']')) return 0;
closed:
    objects >>= 1;
    depth--;
    end = place + 1;
    goto after;
key:
    if (data[place] != '"') return 0;
    if (data[take(index)] != ':') return 0;
    place = take(index);
    goto value;
}

/* Where a scalar ends whose number, if it is one, has a value; 0 when it is wrong. */
static uint32_t readable_end(Index *index, uint32_t place) {
    double value;
    uint32_t end = scalar_end(index, place);
    uint8_t c = index->data[place];
    if (!end || (c != '-' && !is_digit(c))) return end;
    return number_value(index->data + place, index->data + end, &value) ? end : 0;
}

/* What comes next in a list or an object that is open. */
enum { WRONG = -1, NO_MORE, MORE };

typedef struct {
    int any;        /* whether something came before */
    uint32_t place; /* of the value, or of the closing bracket */
    const uint8_t *key;
    uint32_t key_length;
} Cursor;

static inline int next_value(Index *index, Cursor *cursor) {
    cursor->place = take(index);
    if (index->data[cursor->place] == ']') return NO_MORE;
    if (cursor->any) {
        if (index->data[cursor->place] != ',') return WRONG;
        cursor->place = take(index);
    }
    cursor->any = 1;
    return MORE;
}

static inline int next_field(Index *index, Cursor *cursor) {
    const uint8_t *data = index->data;
    uint32_t place = take(index);
    if (data[place] == '}') return NO_MORE;
    if (cursor->any) {
        if (data[place] != ',') return WRONG;
        place = take(index);
    }
    cursor->any = 1;
    uint32_t end = data[place] == '"' ? scalar_end(index, place) : 0;
    if (!end || data[take(index)] != ':') return WRONG;
    cursor->key = data + place + 1;
    cursor->key_length = end - place - 2;
    cursor->place = take(index);
    return MORE;
}

static inline int is_key(const Cursor *cursor, const char *key) {
    return cursor->key_length == strlen(key) && !memcmp(cursor->key, key, cursor->key_length);
}

/* Where a list of scalars, or null, ends; 0 when it is none. */
static uint32_t list_end(Index *index, uint32_t place) {
    if (index->data[place] != '[') return index->data[place] == 'n' ? scalar_end(index, place) : 0;
    Cursor cursor = {0};
    int more;
    while ((more = next_value(index, &cursor)) == MORE)
        if (!readable_end(index, cursor.place)) return 0;
    return more == NO_MORE ? cursor.place + 1 : 0;
}

#endif
