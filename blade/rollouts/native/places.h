/* The places of JSON that matter: brackets, commas, colons, where strings and other scalars begin, ends of lines.
 *
 * They are found 64 bytes at a time, by the method of Langdale and Lemire, "Parsing gigabytes of JSON per second"
 * (2019); escapes, control characters and UTF-8 are checked on the way.
 */

#ifndef BLADE_PLACES_H
#define BLADE_PLACES_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK = 64, WINDOW = 1 << 15 };
#define NOWHERE UINT32_MAX

typedef struct {
    const uint8_t *data;
    uint32_t size;
    uint32_t at;         /* the next byte to be looked at */
    uint32_t utf8_until; /* what was checked */
    uint32_t broken;     /* the first byte that is known to be wrong */
    uint32_t second_half; /* where the second half of a character must stand, in escapes */
    uint64_t escaped, in_string, in_scalar; /* what the next block begins with: a bit, all bits, a bit */
    uint32_t next, count;
    uint32_t places[WINDOW + BLOCK];
} Index;

typedef struct {
    __m256i low, high;
} Bytes;

static inline uint64_t bits_of(__m256i low, __m256i high) {
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

static inline uint64_t equal(Bytes bytes, char wanted) {
    __m256i all = _mm256_set1_epi8(wanted);
    return bits_of(_mm256_cmpeq_epi8(bytes.low, all), _mm256_cmpeq_epi8(bytes.high, all));
}

static inline uint64_t at_most(Bytes bytes, uint8_t limit) {
    __m256i all = _mm256_set1_epi8((char)limit);
    return bits_of(_mm256_cmpeq_epi8(_mm256_min_epu8(bytes.low, all), bytes.low),
                   _mm256_cmpeq_epi8(_mm256_min_epu8(bytes.high, all), bytes.high));
}

static inline __m256i table(char a0, char a1, char a2, char a3, char a4, char a5, char a6, char a7, char a8, char a9,
                            char aa, char ab, char ac, char ad, char ae, char af) {
    return _mm256_broadcastsi128_si256(
        _mm_setr_epi8(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, aa, ab, ac, ad, ae, af));
}

/* 1 comma, 2 colon, 4 brackets; 8 tab and ends of lines, 16 space; and what may follow a backslash, but for another one:
 * 32 quote and slash, 64 b f n, 128 r t u */
enum { OPERATOR = 1 | 2 | 4, BLANK = 8 | 16, ESCAPABLE = 32 | 64 | 128 };
#define LOW_HALF table(16, 0, (char)(32 | 64 | 128), 0, (char)128, (char)128, 64, 0, 0, 8, 2 | 8, 4, 1, 4 | 8, 64, 32)
#define HIGH_HALF table(8, 0, 1 | 16 | 32, 2, 0, 4, 64, (char)(4 | 128), 0, 0, 0, 0, 0, 0, 0, 0)

/* A byte is in a class when the tables of its two halves share a bit. Bytes beyond ASCII are in none. */
static inline __m256i classes(__m256i bytes) {
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    return _mm256_and_si256(_mm256_shuffle_epi8(LOW_HALF, bytes), _mm256_shuffle_epi8(HIGH_HALF, high));
}

static inline uint64_t with_any(Bytes kinds, int wanted) {
    __m256i all = _mm256_set1_epi8((char)wanted), zero = _mm256_setzero_si256();
    return ~bits_of(_mm256_cmpeq_epi8(_mm256_and_si256(kinds.low, all), zero),
                    _mm256_cmpeq_epi8(_mm256_and_si256(kinds.high, all), zero));
}

static void break_at(Index *index, uint32_t place) {
    if (place < index->broken) index->broken = place;
}

static int hex_value(const uint8_t *digits) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t c = digits[i], letter = c | 32;
        if (c >= '0' && c <= '9')
            value = value << 4 | (c - '0');
        else if (letter >= 'a' && letter <= 'f')
            value = value << 4 | (letter - 'a' + 10);
        else
            return -1;
    }
    return value;
}

/* Whether the `\uXXXX` whose u stands at `place` is a character, or half of one whose other half is there. */
static int is_character(Index *index, uint32_t place) {
    const uint8_t *at = index->data + place;
    int value = index->size - place < 5 ? -1 : hex_value(at + 1);
    if (value < 0xD800 || value > 0xDFFF) return value >= 0;
    if (place == index->second_half) return 1;
    if (value > 0xDBFF || index->size - place < 11 || at[5] != '\\' || at[6] != 'u') return 0;
    int second = hex_value(at + 7);
    index->second_half = place + 6;
    return second >= 0xDC00 && second <= 0xDFFF;
}

static void check_characters(Index *index, uint64_t escaped_us) {
    for (; escaped_us; escaped_us &= escaped_us - 1) {
        uint32_t place = index->at + (uint32_t)_tzcnt_u64(escaped_us);
        if (!is_character(index, place)) break_at(index, place);
    }
}

/* Bytes of the UTF-8 character that begins at a byte beyond ASCII; 0 when there is none. */
static uint32_t utf8_length(const uint8_t *at, uint32_t room) {
    uint8_t c = at[0];
    uint32_t length = c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    if (!length || length > room) return 0;
    for (uint32_t i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    if ((c == 0xE0 && at[1] < 0xA0) || (c == 0xED && at[1] > 0x9F)) return 0;
    if ((c == 0xF0 && at[1] < 0x90) || (c == 0xF4 && at[1] > 0x8F)) return 0;
    return length;
}

static void check_utf8(Index *index, uint64_t beyond_ascii) {
    for (uint64_t left = beyond_ascii; left; left &= left - 1) {
        uint32_t place = index->at + (uint32_t)_tzcnt_u64(left);
        if (place < index->utf8_until) continue;
        uint32_t length = utf8_length(index->data + place, index->size - place);
        if (!length) break_at(index, place);
        index->utf8_until = place + (length ? length : 1);
    }
}

/* The bytes that a backslash escapes. A run of backslashes escapes every second byte from its beginning: adding its
 * first bit to the run carries to its end, whose parity tells which. */
static inline uint64_t escaped_bytes(Index *index, uint64_t backslashes) {
    if (!backslashes) {
        uint64_t escaped = index->escaped;
        index->escaped = 0;
        return escaped;
    }
    const uint64_t even = 0x5555555555555555ULL;
    backslashes &= ~index->escaped;
    uint64_t after = backslashes << 1 | index->escaped;
    uint64_t odd_starts = backslashes & ~even & ~after;
    unsigned long long even_runs;
    index->escaped = __builtin_uaddll_overflow(odd_starts, backslashes, &even_runs);
    return (even ^ even_runs << 1) & after;
}

/* Every bit says whether the number of bits up to it is odd: what stands between an opening and a closing quote. */
static inline uint64_t parity(uint64_t bits) {
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)bits), _mm_set1_epi8(-1), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

static inline void append(Index *index, uint64_t bits) {
    uint32_t count = (uint32_t)_mm_popcnt_u64(bits), *out = index->places + index->count;
    /* Eight at a time without asking: what is too much is written over. */
    for (uint32_t done = 0; done < count; done += 8, out += 8)
        for (int i = 0; i < 8; i++) {
            out[i] = index->at + (uint32_t)_tzcnt_u64(bits);
            bits &= bits - 1;
        }
    index->count += count;
}

static inline void index_block(Index *index, const uint8_t *block) {
    Bytes bytes = {_mm256_loadu_si256((const __m256i *)block), _mm256_loadu_si256((const __m256i *)(block + 32))};
    uint64_t backslashes = equal(bytes, '\\'), escaped = escaped_bytes(index, backslashes);
    uint64_t quotes = equal(bytes, '"') & ~escaped;
    uint64_t strings = parity(quotes) ^ index->in_string; /* with the opening, without the closing quote */
    index->in_string = (uint64_t)((int64_t)strings >> 63);

    Bytes kinds = {classes(bytes.low), classes(bytes.high)};
    uint64_t operators = with_any(kinds, OPERATOR), blanks = with_any(kinds, BLANK);
    uint64_t scalars = ~(operators | blanks), bare = scalars & ~quotes;
    uint64_t starts = scalars & ~(bare << 1 | index->in_scalar);
    index->in_scalar = bare >> 63;
    uint64_t inside = strings ^ quotes; /* with the closing, without the opening quote */
    append(index, ((operators | starts) & ~inside) | (equal(bytes, '\n') & ~strings));

    if (escaped) {
        uint64_t wrong = escaped & ~(with_any(kinds, ESCAPABLE) | backslashes), us = escaped & equal(bytes, 'u');
        if (wrong) break_at(index, index->at + (uint32_t)_tzcnt_u64(wrong));
        if (us) check_characters(index, us);
    }
    uint64_t control = at_most(bytes, 31) & strings, beyond_ascii = bits_of(bytes.low, bytes.high);
    if (control) break_at(index, index->at + (uint32_t)_tzcnt_u64(control));
    if (beyond_ascii) check_utf8(index, beyond_ascii);
}

/* Finds the places of the next window. Behind the end there is a line break for ever. */
static void index_window(Index *index) {
    index->next = index->count = 0;
    while (!index->count && index->at < index->size) {
        uint32_t end = index->size - index->at > WINDOW ? index->at + WINDOW : index->size;
        for (; end - index->at >= BLOCK; index->at += BLOCK) index_block(index, index->data + index->at);
        if (index->at < end) {
            uint8_t rest[BLOCK];
            memset(rest, ' ', BLOCK);
            memcpy(rest, index->data + index->at, end - index->at);
            index_block(index, rest);
            index->at = end;
        }
    }
    if (!index->count) index->places[index->count++] = index->size - 1;
}

/* Looks at data from the beginning of a line on. */
static void start_index(Index *index, const uint8_t *data, uint32_t size, uint32_t at) {
    index->data = data;
    index->size = size;
    index->at = index->utf8_until = at;
    index->next = index->count = 0;
    index->escaped = index->in_string = index->in_scalar = 0;
    index->broken = index->second_half = NOWHERE;
}

static inline uint32_t peek(Index *index) {
    if (index->next == index->count) index_window(index);
    return index->places[index->next];
}

static inline uint32_t take(Index *index) {
    uint32_t place = peek(index);
    index->next++;
    return place;
}

#endif
