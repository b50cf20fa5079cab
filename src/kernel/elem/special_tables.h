/* special_tables: constants of the special functions, which special_tables.py derives. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_TABLES_H
#define DAMO_KERNEL_ELEM_SPECIAL_TABLES_H

#define SPECIAL_LOG_FIRST 90
#define SPECIAL_LOGS 93
#define SPECIAL_RGAMMAS 30
#define SPECIAL_TEMME_K 12
#define SPECIAL_TEMME_ETA 22
#define SPECIAL_LEGENDRE 10
#define SPECIAL_DEBYE 14
#define SPECIAL_LAMBERTS 30
#define SPECIAL_EXPI_PARTS 3
#define SPECIAL_EXPI 26

extern const double special_log_table[SPECIAL_LOGS][2];
extern const double special_rgamma[SPECIAL_RGAMMAS];
extern const double special_temme[SPECIAL_TEMME_K][SPECIAL_TEMME_ETA];
extern const double special_legendre[SPECIAL_LEGENDRE][2];
extern const double special_debye[SPECIAL_DEBYE][SPECIAL_DEBYE];
extern const double special_lambert[SPECIAL_LAMBERTS];
extern const double special_expi_series[SPECIAL_EXPI_PARTS][SPECIAL_EXPI];

#endif
