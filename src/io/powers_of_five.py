#!/usr/bin/env python3
"""Writes powers_of_five.h: 5^q for q = -342 ... 308 as 128 bits, the highest of which is set.

Positive powers are truncated, reciprocals are rounded up, as D. Lemire asks for in "Number parsing at a gigabyte per
second" (Software: Practice and Experience 51, 2021), section 5.2.
"""

LEAST, MOST = -342, 308


def bits_of(q):
    if q >= 0:
        power, size = 5**q, (5**q).bit_length()
        return power << 128 - size if size <= 128 else power >> size - 128
    power = 5**-q
    shift = 2 * power.bit_length() + 128
    value = (1 << shift) // power + 1
    if q >= -27:  # exact enough for the test of ties: one above the truncated 128 bits
        shift = (power - 1).bit_length() + 127
        return (1 << shift) // power + 1
    return value >> value.bit_length() - 128


print("/* powers_of_five.h: made by powers_of_five.py: 5^q for q from %d, as two words of 64 bits, the higher one first. */" % LEAST)
print("#ifndef DAMO_IO_POWERS_OF_FIVE_H")
print("#define DAMO_IO_POWERS_OF_FIVE_H")
print()
print("#include <stdint.h>")
print()
print("#define FIVE_LEAST (%d)" % LEAST)
print("#define FIVE_MOST %d" % MOST)
print()
print("/* clang-format off */")
print("static const uint64_t power_of_five[][2] = {")
for q in range(LEAST, MOST + 1):
    bits = bits_of(q)
    assert bits.bit_length() == 128, q
    print("  {0x%016xu, 0x%016xu}," % (bits >> 64, bits & (1 << 64) - 1))
print("};")
print("/* clang-format on */")
print()
print("#endif")
