/* special_kummer: Kummer's confluent hypergeometric function M(a; b; x) (DLMF 13.2.2) and its derivatives in a and b. nan
 * gives nan; other edges are those of SciPy. Pure. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_KUMMER_H
#define DAMO_KERNEL_ELEM_SPECIAL_KUMMER_H

double special_hyp1f1(double a, double b, double x);
double special_hyp1f1_grad_a(double a, double b, double x);
double special_hyp1f1_grad_b(double a, double b, double x);

#endif
