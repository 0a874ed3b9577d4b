/*
 * SHA-256 (FIPS 180-4) of many short texts, four at a time: a first decision needs a million of them, which take JavaScript
 * three times as long. Only the first word of each is told, by which nodes are ranked (src/election/rank-hash.ts).
 */
#include "addon.h"

#include <string.h>

enum {
  LANES = 4, /* as many words as the vectors of every processor hold that Node runs on */
  BLOCK_BYTES = 64,
  BLOCK_WORDS = 16,
  MAX_BLOCKS = 2,
  TEXT_BYTES = MAX_BLOCKS * BLOCK_BYTES,
  END_BYTES = 9, /* behind a text: the end mark and the length */
  END_MARK = 0x80,
  MAX_END_BYTES = 39, /* an IPv6 address in text */
  START_BYTES = TEXT_BYTES - END_BYTES - MAX_END_BYTES,
};

typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));

/* The first 32 bits of the fractional parts of the square roots of the first 8 primes, and of the cube roots of the first 64. */
static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline lanes rotate(lanes x, int bits) {
  return (x >> bits) | (x << (32 - bits));
}

/* FIPS 180-4 section 6.2.2 for one block a lane; `words` is used up. */
static void take_block(lanes state[8], lanes words[BLOCK_WORDS]) {
  lanes a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
  for (size_t t = 0; t < 64; t++) {
    if (t >= BLOCK_WORDS) {
      const lanes x = words[(t + 1) % BLOCK_WORDS], y = words[(t + 14) % BLOCK_WORDS];
      const lanes s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >> 3);
      const lanes s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >> 10);
      words[t % BLOCK_WORDS] += s0 + words[(t + 9) % BLOCK_WORDS] + s1;
    }
    const lanes s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const lanes one = h + s1 + (g ^ (e & (f ^ g))) + constants[t] + words[t % BLOCK_WORDS];
    const lanes s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const lanes two = s0 + ((a & b) | (c & (a | b)));
    h = g;
    g = f;
    f = e;
    e = d + one;
    d = c;
    c = b;
    b = a;
    a = one + two;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

/* Texts that are worked out together: all have the same number of blocks. */
typedef struct batch {
  lanes words[MAX_BLOCKS][BLOCK_WORDS];
  uint32_t *heads[LANES]; /* where each lane's goes */
  size_t blocks;
  size_t filled;
} batch;

static void finish(batch *self) {
  const lanes zero = {0};
  lanes state[8];
  for (size_t word = 0; word < 8; word++) state[word] = zero + initial[word];
  for (size_t block = 0; block < self->blocks; block++) take_block(state, self->words[block]);
  for (size_t lane = 0; lane < self->filled; lane++) *self->heads[lane] = state[0][lane];
  self->filled = 0;
}

/* `text` has zeros behind its `length` bytes, as far as its blocks go. */
static void put_text(batch *self, uint8_t text[TEXT_BYTES], size_t length, uint32_t *head) {
  const size_t lane = self->filled;
  text[length] = END_MARK;
  for (size_t word = 0; word < self->blocks * BLOCK_WORDS; word++) {
    const uint8_t *bytes = text + 4 * word;
    self->words[word / BLOCK_WORDS][word % BLOCK_WORDS][lane] =
        (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[3];
  }
  self->words[self->blocks - 1][BLOCK_WORDS - 1][lane] = (uint32_t)(8 * length);
  self->heads[lane] = head;
  if (++self->filled == LANES) finish(self);
}

static bool read_heads(napi_env env, napi_value value, uint32_t **data, size_t *length) {
  bool is_typed_array = false;
  napi_typedarray_type type = napi_int8_array;
  void *start = NULL;
  if (napi_is_typedarray(env, value, &is_typed_array) != napi_ok || !is_typed_array ||
      napi_get_typedarray_info(env, value, &type, length, &start, NULL, NULL) != napi_ok ||
      type != napi_uint32_array) {
    throw_argument(env, "heads");
    return false;
  }
  *data = start;
  return true;
}

/*
 * rankHeads(starts, lengths, end, heads): the head of every text that is a start and the end, into `heads`. The starts have
 * START_BYTES each, of which `lengths` says how many count.
 */
static napi_value rank_heads(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  uint8_t *starts = NULL, *lengths = NULL;
  char end[MAX_END_BYTES + 2] = {0}; /* a byte more, to see what is too long, and the zero that ends it */
  uint32_t *heads = NULL;
  size_t starts_bytes = 0, count = 0, end_bytes = 0, room = 0;
  if (!read_arguments(env, info, 4, arguments, NULL) ||
      !read_bytes(env, arguments[0], "starts", &starts, &starts_bytes) ||
      !read_bytes(env, arguments[1], "lengths", &lengths, &count) ||
      !check(env, napi_get_value_string_utf8(env, arguments[2], end, sizeof end, &end_bytes), "end") ||
      !read_heads(env, arguments[3], &heads, &room)) {
    return NULL;
  }
  if (starts_bytes / START_BYTES < count || room < count || end_bytes > MAX_END_BYTES) {
    throw_argument(env, "as many starts and heads as lengths, and an end that is an address");
    return NULL;
  }
  batch all = {0};
  for (all.blocks = 1; all.blocks <= MAX_BLOCKS; all.blocks++) {
    for (size_t index = 0; index < count; index++) {
      const size_t start_bytes = lengths[index] < START_BYTES ? lengths[index] : START_BYTES;
      const size_t length = start_bytes + end_bytes;
      if ((length + END_BYTES + BLOCK_BYTES - 1) / BLOCK_BYTES != all.blocks) continue;
      uint8_t text[TEXT_BYTES] = {0};
      memcpy(text, starts + START_BYTES * index, start_bytes);
      memcpy(text + start_bytes, end, end_bytes);
      put_text(&all, text, length, heads + index);
    }
    if (all.filled > 0) finish(&all);
  }
  return NULL;
}

bool init_rank(napi_env env, napi_value exports) {
  napi_value function = NULL;
  return check(env, napi_create_function(env, "rankHeads", NAPI_AUTO_LENGTH, rank_heads, NULL, &function),
               "napi_create_function") &&
         check(env, napi_set_named_property(env, exports, "rankHeads", function), "napi_set_named_property");
}
