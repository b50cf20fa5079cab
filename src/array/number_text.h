/* number_text: numbers as text with NumPy's digits: the shortest that read back as the same number, limited to a
 * precision. Numbers of an array are padded to column widths that a first pass finds. */
#ifndef DAMO_ARRAY_NUMBER_TEXT_H
#define DAMO_ARRAY_NUMBER_TEXT_H

#include "array.h"

/* The format of the numbers of one array. Call number_column_begin, number_column_scale for each number,
 * number_column_choose, number_column_measure for each number, then number_column_end. */
typedef struct number_column {
  bool single; /* digits of float32 */
  bool plus;   /* + before positive numbers */
  int64_t n, n_finite;
  bool has_neg_inf;
  double max, min; /* of the finite nonzero absolute values; max is 0 if there are none */
  bool exponent;   /* 1.5e+10 */
  int precision;   /* digits after the point at most */
  int left, right; /* widths before and after the point */
  int exp_digits;
} number_column;

void number_column_begin(number_column *c, bool single, bool plus);
/* First pass, for every number. */
void number_column_scale(number_column *c, double x);
/* Between the passes: chooses the form. */
void number_column_choose(number_column *c);
/* Second pass, for every number again. */
void number_column_measure(number_column *c, double x);
/* After the second pass. */
void number_column_end(number_column *c);
/* The padded text of a number; returns its length. dst has NUMBER_TEXT_MAX bytes. */
int number_column_text(const number_column *c, double x, char *dst);

/* A single number: "2.0", "1e+16", "nan". With `bare`, an integral number has no ".0". */
int number_text(double x, bool single, bool bare, char *dst);

#endif
