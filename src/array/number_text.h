/* number_text: one number as text with NumPy's digits: the shortest that read back as the same number, cut at a
 * precision, with columns padded to widths found in a first pass. */
#ifndef DAMO_ARRAY_NUMBER_TEXT_H
#define DAMO_ARRAY_NUMBER_TEXT_H

#include "array.h"

/* How the numbers of one column set are written; made by number_column_begin, number_column_scale
 * and number_column_measure in this order. */
typedef struct number_column {
  bool single; /* digits of float32 */
  bool plus;   /* + before positive numbers */
  int64_t n, n_finite;
  bool has_neg_inf;
  double max, min; /* of the absolute values that are finite and not 0; max is 0 when there is none */
  bool exponent;   /* 1.5e+10 */
  int precision;   /* digits after the point at most */
  int left, right; /* widths before and after the point */
  int exp_digits;
} number_column;

void number_column_begin(number_column *c, bool single, bool plus);
/* First pass: every number. */
void number_column_scale(number_column *c, double x);
/* Between the passes: chooses the form. */
void number_column_choose(number_column *c);
/* Second pass: every number again. */
void number_column_measure(number_column *c, double x);
/* After the second pass. */
void number_column_end(number_column *c);
/* The padded text of a number; returns its length. dst has NUMBER_TEXT_MAX bytes. */
int number_column_text(const number_column *c, double x, char *dst);

/* A number that stands alone: "2.0", "1e+16", "nan". Whole numbers lose ".0" when bare. */
int number_text(double x, bool single, bool bare, char *dst);

#endif
