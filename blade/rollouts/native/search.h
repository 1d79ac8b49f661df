/* Finds many short texts in data at once, without regard to case.
 *
 * Two or three bytes of every text are its fingerprint. Texts are in eight groups, and for each byte of a fingerprint
 * two tables say, by the halves of a byte, which groups may have it there; 32 places of data are looked up together.
 * Where a group is left, its texts are compared. Hyperscan calls this "Teddy".
 */

#ifndef BLADE_SEARCH_H
#define BLADE_SEARCH_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

enum { GROUPS = 8, FINGERPRINT = 3, STRIDE = 32 };

typedef struct {
    uint32_t text, length; /* in Search.texts, in lower case */
    uint32_t before;       /* bytes before its fingerprint */
    int32_t code;
} Needle;

typedef struct {
    const uint8_t *texts;
    const Needle *needles;        /* group after group */
    const uint32_t *groups;       /* where each group begins, and where the last ends */
    const uint8_t (*halves)[2][16]; /* per byte of a fingerprint: groups by its lower, and by its upper half */
    int32_t *codes; /* the result: what was found, and where it ends */
    int64_t *ends;
    uint64_t room, count;
} Search;

static inline uint8_t lowered(uint8_t c) { return (uint8_t)(c - 'A') < 26 ? c | 32 : c; }

static inline int is_there(const uint8_t *at, const uint8_t *text, uint32_t length) {
    for (uint32_t i = 0; i < length; i++)
        if (lowered(at[i]) != text[i]) return 0;
    return 1;
}

static void compare(Search *search, const uint8_t *data, uint64_t size, uint64_t place, uint32_t groups) {
    for (; groups; groups &= groups - 1) {
        uint32_t group = (uint32_t)_tzcnt_u32(groups);
        for (uint32_t i = search->groups[group]; i < search->groups[group + 1]; i++) {
            const Needle *needle = search->needles + i;
            if (place < needle->before || place - needle->before + needle->length > size) continue;
            uint64_t start = place - needle->before;
            if (!is_there(data + start, search->texts + needle->text, needle->length)) continue;
            if (search->count < search->room) {
                search->codes[search->count] = needle->code;
                search->ends[search->count] = (int64_t)(start + needle->length);
            }
            search->count++;
        }
    }
}

/* The groups that may have byte number `which` of a fingerprint at each of 32 places. */
static inline __m256i groups_at(const Search *search, const uint8_t *at, int which) {
    const __m256i half = _mm256_set1_epi8(15);
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(at + which));
    __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)search->halves[which][0]));
    __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)search->halves[which][1]));
    return _mm256_and_si256(_mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half)),
                            _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half)));
}

/* Looks at 32 places; two bytes behind them are read as well. */
static inline void search_stride(Search *search, const uint8_t *at, const uint8_t *data, uint64_t size,
                                 uint64_t place) {
    __m256i found = _mm256_and_si256(_mm256_and_si256(groups_at(search, at, 0), groups_at(search, at, 1)),
                                     groups_at(search, at, 2));
    if (_mm256_testz_si256(found, found)) return;
    uint8_t groups[STRIDE];
    _mm256_storeu_si256((__m256i *)groups, found);
    uint32_t places = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(found, _mm256_setzero_si256()));
    for (; places; places &= places - 1) {
        uint32_t i = (uint32_t)_tzcnt_u32(places);
        compare(search, data, size, place + i, groups[i]);
    }
}

/* Everything that is found in data; beyond the room for it, it is only counted. */
static void search_all(Search *search, const uint8_t *data, uint64_t size) {
    uint64_t place = 0;
    search->count = 0;
    for (; size - place >= STRIDE + FINGERPRINT - 1; place += STRIDE)
        search_stride(search, data + place, data, size, place);
    uint8_t rest[2 * (STRIDE + FINGERPRINT)] = {0};
    memcpy(rest, data + place, size - place);
    for (uint64_t i = 0; place + i < size; i += STRIDE) search_stride(search, rest + i, data, size, place + i);
}

#endif
