/* Orders for qsort, rising. */
#ifndef TL_NUM_SORT_H
#define TL_NUM_SORT_H

int tl_by_real(const void *one, const void *other); /* double; no NaN among them */
int tl_by_int(const void *one, const void *other);  /* int64_t */
int tl_by_int32(const void *one, const void *other);

#endif
