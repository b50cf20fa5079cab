/* cast_body: conversions of one source type to all thirteen. Included with FROM and SUFFIX, and with cast_at_bool,
 * cast_at_real and cast_at_im (an element as a bool, as a real number, its imaginary part) defined for the suffix;
 * INTEGER(to, x) is the conversion to an integer type. All three macros are undefined at the end. */

CAST(bool, uint8_t, NAME(cast_at_bool)(s[i]))
CAST(i8, int8_t, INTEGER(i8, NAME(cast_at_real)(s[i])))
CAST(i16, int16_t, INTEGER(i16, NAME(cast_at_real)(s[i])))
CAST(i32, int32_t, INTEGER(i32, NAME(cast_at_real)(s[i])))
CAST(i64, int64_t, INTEGER(i64, NAME(cast_at_real)(s[i])))
CAST(u8, uint8_t, INTEGER(u8, NAME(cast_at_real)(s[i])))
CAST(u16, uint16_t, INTEGER(u16, NAME(cast_at_real)(s[i])))
CAST(u32, uint32_t, INTEGER(u32, NAME(cast_at_real)(s[i])))
CAST(u64, uint64_t, INTEGER(u64, NAME(cast_at_real)(s[i])))
CAST(f32, float, (float)NAME(cast_at_real)(s[i]))
CAST(f64, double, (double)NAME(cast_at_real)(s[i]))
CAST(c64, damo_c64, ((damo_c64){(float)NAME(cast_at_real)(s[i]), (float)NAME(cast_at_im)(s[i])}))
CAST(c128, damo_c128, ((damo_c128){(double)NAME(cast_at_real)(s[i]), (double)NAME(cast_at_im)(s[i])}))

#undef FROM
#undef SUFFIX
#undef INTEGER
