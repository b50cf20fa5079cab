/* types: the value body for every element type. Included with I (index type) and IX (its name). */
#define T uint8_t
#define TX b8
#include "value_body.h"
#undef T
#undef TX
#define T int8_t
#define TX i8
#include "value_body.h"
#undef T
#undef TX
#define T int16_t
#define TX i16
#include "value_body.h"
#undef T
#undef TX
#define T int32_t
#define TX i32
#include "value_body.h"
#undef T
#undef TX
#define T int64_t
#define TX i64
#include "value_body.h"
#undef T
#undef TX
#define T uint8_t
#define TX u8
#include "value_body.h"
#undef T
#undef TX
#define T uint16_t
#define TX u16
#include "value_body.h"
#undef T
#undef TX
#define T uint32_t
#define TX u32
#include "value_body.h"
#undef T
#undef TX
#define T uint64_t
#define TX u64
#include "value_body.h"
#undef T
#undef TX
#define T float
#define TX f32
#include "value_body.h"
#undef T
#undef TX
#define T double
#define TX f64
#include "value_body.h"
#undef T
#undef TX
#define T damo_c64
#define TX c64
#include "value_body.h"
#undef T
#undef TX
#define T damo_c128
#define TX c128
#include "value_body.h"
#undef T
#undef TX
