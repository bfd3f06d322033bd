/* Short forms for the rows of a table of parameters (conf/param.h), for the modules that own rows.
 */
#ifndef TL_CONF_KEYS_H
#define TL_CONF_KEYS_H

#include "conf/param.h"

#define REAL(s, key, unit, def, min, max, help)                                                    \
  { #key, TL_P_REAL, offsetof(s, key), unit, def, min, max, NULL, help, NULL }
#define OLD_REAL(s, key, unit, def, min, max, help)                                                \
  { #key, TL_P_REAL, offsetof(s, key), unit, def, min, max, NULL, help, NULL, .old_form = true }
#define INT(s, key, def, min, max, help)                                                           \
  { #key, TL_P_INT, offsetof(s, key), "", def, min, max, NULL, help, NULL }
/* A number for which a word may stand, which the program then chooses: 0. */
#define INT_OR(s, key, word, def, min, max, help)                                                  \
  { #key, TL_P_INT, offsetof(s, key), "", def, min, max, NULL, help, NULL, .zero = word }
#define FLAG(s, key, def, help)                                                                    \
  { #key, TL_P_FLAG, offsetof(s, key), "", def, 0, 0, NULL, help, NULL }
#define TEXT(s, key, def, help)                                                                    \
  { #key, TL_P_TEXT, offsetof(s, key), "", def, 0, 0, NULL, help, NULL }
#define CHOICE(s, key, def, choices, help)                                                         \
  { #key, TL_P_CHOICE, offsetof(s, key), "", def, 0, 0, choices, help, NULL }
/* A choice whose key was called otherwise in the version before. */
#define RENAMED_CHOICE(s, key, former, def, choices, help)                                         \
  { #key, TL_P_CHOICE, offsetof(s, key), "", def, 0, 0, choices, help, NULL, .was = former }
#define VEC3(s, key, unit, def, min, max, help)                                                    \
  { #key, TL_P_VEC3, offsetof(s, key), unit, def, min, max, NULL, help, NULL }
#define TEXTS(s, key, help)                                                                        \
  { #key, TL_P_TEXTS, offsetof(s, key), "", "", 0, 0, NULL, help, NULL }
#define COUNT(a) (sizeof(a) / sizeof *(a))

#endif
