/* The report's scripts, shaders, styles and markup: the files of libcore/post/report, which the
 * build turns into the arrays behind this table (see the Makefile). */
#ifndef TL_POST_REPORT_ASSETS_H
#define TL_POST_REPORT_ASSETS_H

typedef struct TlReportAsset {
  const char *name; /* of the file: "page.css" */
  const char *text; /* ends with 0 */
} TlReportAsset;

/* By name; the last one has the name NULL. */
extern const TlReportAsset tl_report_assets[];

#endif
