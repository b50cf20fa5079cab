/* convolve_check: the definition of a convolution, term by term, in double. */
#include <math.h>

#include "calculus_int.h"
#include "graph/op_check.h"

static double judge_convolve(const op_exam *e) {
  const damo_array *a = exam_array(e, 0), *v = exam_array(e, 1), *got = (const damo_array *)e->results[0];
  const int64_t m = array_shape(a)[0], n = array_shape(v)[0], length = array_shape(got)[0];
  const int64_t start = array_int(exam_array(e, 2));
  double worst = 0;
  if (!dtype_is_float(array_dtype(a)) || (double)n * (double)length > 3e6) return -1;
  for (int64_t k = 0; k < length; k++) {
    double sum = 0, modulus = 0;
    for (int64_t j = 0; j < n; j++) {
      const int64_t i = k + start - j;
      if (i < 0 || i >= m) continue;
      const double term = scalar_to_double(array_get(a, &i)) * scalar_to_double(array_get(v, &j));
      sum += term;
      modulus += fabs(term);
    }
    const double apart = fabs(scalar_to_double(array_get(got, &k)) - sum) / (modulus > 0 ? modulus : 1);
    if (isfinite(sum) && !(apart <= worst)) worst = isnan(apart) ? INFINITY : apart;
  }
  return worst;
}

const op_check convolve_check = {.judge = judge_convolve, .judged = "an entry is apart from the sum of its terms"};
