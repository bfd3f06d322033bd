#include "solve/methods.h"

const char tl_method_names[] =
#define M(id, name, kind) "|" name
    TL_METHODS(M);
#undef M

const char *tl_method_name(TlMethod method) {
  static const char *const names[] = {
#define M(id, name, kind) name,
      TL_METHODS(M)
#undef M
  };
  return names[method];
}

const TlMethodKind *tl_method(TlMethod method) {
  static const TlMethodKind *const kinds[] = {
#define M(id, name, kind) &kind,
      TL_METHODS(M)
#undef M
  };
  return kinds[method];
}
