/* special_airy: Airy's functions and their derivatives (DLMF 9.2). nan gives nan. Pure. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_AIRY_H
#define DAMO_KERNEL_ELEM_SPECIAL_AIRY_H

double special_airy_ai(double x);
double special_airy_ai_prime(double x);
double special_airy_bi(double x);
double special_airy_bi_prime(double x);

#endif
