/* zip_test: io/zip_write.c: the bytes of each record, field by field as in APPNOTE 6.3, in archives whose sizes need
 * zip64 and in others; and that the reader finds what was written. */
#include <stdlib.h>
#include <unistd.h>

#include "io/zip.h"
#include "test.h"

static char dir[] = "damo_zip_XXXXXX";
static char path[64];

/* A field of a record: its bytes, little-endian, or `text` if that is given. */
typedef struct field {
  int bytes;
  uint64_t value;
  const char *text;
} field;

static unsigned char file[1 << 16];
static size_t file_size, at; /* the bytes read, and the position of the next check */

static void load(void) {
  FILE *f = fopen(path, "rb");
  file_size = f ? fread(file, 1, sizeof file, f) : 0;
  if (f) fclose(f);
  at = 0;
}

static void expect(const char *what, const field *list, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const field x = list[i];
    const size_t bytes = x.text ? strlen(x.text) : (size_t)x.bytes;
    if (!CHECK(at + bytes <= file_size)) return;
    bool same = !x.text || memcmp(file + at, x.text, bytes) == 0;
    for (size_t k = 0; !x.text && k < bytes; k++) same = same && file[at + k] == (unsigned char)(x.value >> 8 * k);
    if (!CHECK(same)) fprintf(stderr, "    %s, field %zu\n", what, i + 1);
    at += bytes;
  }
}
#define EXPECT(what, ...)                           \
  do {                                              \
    const field list[] = {__VA_ARGS__};             \
    expect(what, list, sizeof list / sizeof *list); \
  } while (0)

/* Writes the archive of the members; their contents are only counted, so that sizes can be huge. */
static damo_status write_archive(damo_ctx *ctx, zip_member *m, int64_t n) {
  io_sink s;
  damo_status status = sink_open(&s, ctx, IO_TO_FILE(path));
  if (status != DAMO_OK) return status;
  for (int64_t i = 0; i < n && status == DAMO_OK; i++) {
    status = zip_write_header(&s, &m[i]);
    s.written += m[i].size;
  }
  const zip_dir d = {.ctx = ctx, .at = m, .n = n};
  if (status == DAMO_OK) status = zip_write_end(&s, &d);
  return sink_close(&s, status);
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

enum { LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50, END64 = 0x06064b50, LOCATOR64 = 0x07064b50 };
#define ONES 0xFFFFFFFFu
#define U2(x) \
  { 2, (x), NULL }
#define U4(x) \
  { 4, (x), NULL }
#define U8(x) \
  { 8, (x), NULL }
#define TEXT(s) \
  { 0, 0, (s) }
/* Flags (names are UTF-8), method (stored), time, date (1 January 1980). */
#define USUAL U2(0x800), U2(0), U2(0), U2(0x21)

static void test_narrow(damo_ctx *ctx) {
  zip_member m[] = {{.name = (char[]){"x.npy"}, .crc = 0x12345678, .size = 300}, {.name = (char[]){"größe"}, .crc = 9}};
  CHECK_EQ_I(write_archive(ctx, m, 2), DAMO_OK);
  CHECK(m[0].offset == 0 && m[0].packed == 300 && m[1].offset == 335);
  load();
  EXPECT("local header", U4(LOCAL), U2(20), USUAL, U4(0x12345678), U4(300), U4(300), U2(5), U2(0), TEXT("x.npy"));
  EXPECT("second local header", U4(LOCAL), U2(20), USUAL, U4(9), U4(0), U4(0), U2(7), U2(0), TEXT("größe"));
  /* made by: unix 4.5; after the name's length: extra, comment, disk, internal and external attributes (rw for the
   * owner) */
  EXPECT("entry", U4(CENTRAL), U2(0x032D), U2(20), USUAL, U4(0x12345678), U4(300), U4(300), U2(5), U2(0), U2(0), U2(0),
         U2(0), U4(0600u << 16), U4(0), TEXT("x.npy"));
  EXPECT("second entry", U4(CENTRAL), U2(0x032D), U2(20), USUAL, U4(9), U4(0), U4(0), U2(7), U2(0), U2(0), U2(0), U2(0),
         U4(0600u << 16), U4(335), TEXT("größe"));
  EXPECT("end", U4(END), U2(0), U2(0), U2(2), U2(2), U4(2 * 46 + 12), U4(335 + 37), U2(0));
  CHECK_EQ_I(at, file_size);
}

/* The first member's size needs more than 32 bits, so the second's offset does too, and the directory's. */
static void test_wide(damo_ctx *ctx) {
  const uint64_t large = 5000000000u, second = large + 30 + 1 + 20, end = second + 30 + 1 + 7;
  zip_member m[] = {{.name = (char[]){"a"}, .crc = 1, .size = large}, {.name = (char[]){"b"}, .crc = 2, .size = 7}};
  CHECK_EQ_I(write_archive(ctx, m, 2), DAMO_OK);
  load();
  EXPECT("local header", U4(LOCAL), U2(45), USUAL, U4(1), U4(ONES), U4(ONES), U2(1), U2(20), TEXT("a"), U2(1), U2(16),
         U8(large), U8(large));
  EXPECT("second local header", U4(LOCAL), U2(20), USUAL, U4(2), U4(7), U4(7), U2(1), U2(0), TEXT("b"));
  EXPECT("entry", U4(CENTRAL), U2(0x032D), U2(45), USUAL, U4(1), U4(ONES), U4(ONES), U2(1), U2(20), U2(0), U2(0), U2(0),
         U4(0600u << 16), U4(0), TEXT("a"), U2(1), U2(16), U8(large), U8(large));
  EXPECT("second entry", U4(CENTRAL), U2(0x032D), U2(45), USUAL, U4(2), U4(7), U4(7), U2(1), U2(12), U2(0), U2(0),
         U2(0), U4(0600u << 16), U4(ONES), TEXT("b"), U2(1), U2(8), U8(second));
  const uint64_t size = 2 * 47 + 20 + 12;
  /* its length without the first 12 bytes; versions made by and needed; this disk and the directory's; both counts */
  EXPECT("zip64 end", U4(END64), U8(44), U2(0x032D), U2(45), U4(0), U4(0), U8(2), U8(2), U8(size), U8(end));
  EXPECT("zip64 locator", U4(LOCATOR64), U4(0), U8(end + size), U4(1));
  EXPECT("end", U4(END), U2(0), U2(0), U2(2), U2(2), U4(size), U4(ONES), U2(0));
  CHECK_EQ_I(at, file_size);
}

/* A large member at a large offset has both sizes and the offset in its extra field. */
static void test_both_wide(damo_ctx *ctx) {
  zip_member m[] = {{.name = (char[]){"a"}, .size = ONES}, {.name = (char[]){"b"}, .size = ONES}};
  CHECK_EQ_I(write_archive(ctx, m, 2), DAMO_OK);
  load();
  at = 2 * 51 + 47 + 20;
  const uint64_t second = 51 + (uint64_t)ONES;
  EXPECT("second entry", U4(CENTRAL), U2(0x032D), U2(45), USUAL, U4(0), U4(ONES), U4(ONES), U2(1), U2(28), U2(0), U2(0),
         U2(0), U4(0600u << 16), U4(ONES), TEXT("b"), U2(1), U2(24), U8(ONES), U8(ONES), U8(second));
}

/* 2^32 - 1 means "see the zip64 field", so it is the smallest size, and the smallest offset, that needs one. */
static void test_borders(damo_ctx *ctx) {
  zip_member m[] = {{.name = (char[]){"a"}, .size = ONES - 1 - 31}, {.name = (char[]){"b"}}};
  CHECK_EQ_I(write_archive(ctx, m, 2), DAMO_OK);
  CHECK_EQ_I(m[1].offset, ONES - 1);
  load();
  CHECK_EQ_I(file_size, 2 * 31 + 2 * 47 + 56 + 20 + 22); /* only the directory is past the limit */
  m[0].size++;
  CHECK_EQ_I(write_archive(ctx, m, 2), DAMO_OK);
  load();
  CHECK_EQ_I(file_size, 2 * 31 + 2 * 47 + 12 + 56 + 20 + 22);
  m[0].size = ONES - 1;
  CHECK_EQ_I(write_archive(ctx, m, 1), DAMO_OK);
  load();
  EXPECT("local header", U4(LOCAL), U2(20), USUAL, U4(0), U4(ONES - 1), U4(ONES - 1), U2(1), U2(0));
  m[0].size = ONES - 31; /* the directory exactly at the limit */
  CHECK_EQ_I(write_archive(ctx, m, 1), DAMO_OK);
  load();
  CHECK_EQ_I(file_size, 31 + 47 + 56 + 20 + 22);
  m[0].size--;
  CHECK_EQ_I(write_archive(ctx, m, 1), DAMO_OK);
  load();
  CHECK_EQ_I(file_size, 31 + 47 + 22);
}

/* 65535 members are too many for 16 bits; the reader finds them all. */
static void test_count(damo_ctx *ctx) {
  enum { MOST = 0xFFFF };
  zip_member *m = calloc(MOST, sizeof *m);
  char(*names)[16] = calloc(MOST, sizeof *names);
  for (int i = 0; i < MOST; i++) {
    snprintf(names[i], sizeof names[i], "m%d", i);
    m[i] = (zip_member){.name = names[i], .crc = (uint32_t)i};
  }
  for (int64_t n = MOST - 1; n <= MOST; n++) {
    CHECK_EQ_I(write_archive(ctx, m, n), DAMO_OK);
    io_input in;
    zip_dir d = {0};
    CHECK_EQ_I(input_open(&in, ctx, IO_FROM_FILE(path)), DAMO_OK);
    CHECK_EQ_I(zip_read(&in, &d), DAMO_OK);
    CHECK_EQ_I(d.n, n);
    bool same = d.n == n;
    for (int64_t i = 0; same && i < n; i++) {
      same = strcmp(d.at[i].name, names[i]) == 0 && d.at[i].crc == (uint32_t)i && d.at[i].offset == m[i].offset;
    }
    CHECK(same);
    unsigned char end64[4] = {0};
    CHECK(input_seek(&in, in.size - (22 + 20 + 56)));
    CHECK_EQ_I(input_read(&in, end64, 4), 4);
    CHECK_EQ_I(memcmp(end64, "PK\6\6", 4) == 0, n == MOST);
    input_close(&in);
    zip_clear(&d);
  }
  free(names);
  free(m);
}

static void test_names(damo_ctx *ctx) {
  static char name[0x10001];
  memset(name, 'n', 0xFFFF);
  zip_member m = {.name = name};
  CHECK_EQ_I(write_archive(ctx, &m, 1), DAMO_OK);
  name[0xFFFF] = 'n';
  CHECK_EQ_I(write_archive(ctx, &m, 1), DAMO_EIO);
  char text[128];
  snprintf(text, sizeof text, "%s: the name of a member is too long", path);
  CHECK_EQ_S(damo_error_message(ctx), text);
}

/* A disk that is full at any record is an error, and no file is left. */
static void test_full(damo_ctx *ctx) {
  zip_member m[] = {{.name = (char[]){"a"}, .size = ONES}, {.name = (char[]){"b"}}};
  io_sink s;
  for (int records = 1; records <= 3; records++) {
    if (sink_open(&s, ctx, IO_TO_FILE(path)) != DAMO_OK) return;
    FILE *whole = s.f;
    s.f = fopen("/dev/full", "wb");
    if (!s.f) {
      s.f = whole;
      sink_close(&s, DAMO_EIO);
      return; /* this system has no /dev/full */
    }
    setvbuf(s.f, NULL, _IONBF, 0);
    const zip_dir d = {.ctx = ctx, .at = m, .n = records - 1};
    damo_status status = records == 3 ? zip_write_header(&s, &m[0]) : zip_write_end(&s, &d);
    CHECK_EQ_I(status, DAMO_EIO);
    fclose(s.f);
    s.f = whole;
    CHECK_EQ_I(sink_close(&s, status), DAMO_EIO);
  }
}

int main(void) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  if (!mkdtemp(dir)) return 1;
  snprintf(path, sizeof path, "%s/a.zip", dir);
  test_narrow(ctx);
  test_wide(ctx);
  test_both_wide(ctx);
  test_borders(ctx);
  test_count(ctx);
  test_names(ctx);
  test_full(ctx);
  remove(path);
  CHECK_EQ_I(rmdir(dir), 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
