/* The report of a scan: slices before and after each stage, grey histograms, grading, shape
 * descriptors, residuals of the avatars, the grains in 3-D where they lay in the scan. */
#ifndef TL_POST_REPORT_SCAN_H
#define TL_POST_REPORT_SCAN_H

#include "post/report.h"

/* A file, and one of SQLite's. */
bool tl_scan_is_catalog(const char *path);

/* path: a catalog, or the folder of a pipeline that holds catalog.tals. */
TlStatus tl_report_scan(const char *path, const TlReportOptions *options, TlHtml *page,
                        TlReportSize *size);

#endif
