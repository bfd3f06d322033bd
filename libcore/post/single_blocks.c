#include "post/single_blocks.h"

#include "conf/param.h"
#include "conf/yaml_tree.h"

#include <string.h>

bool tl_scene_single_blocks(const TlScene *scene) {
  TlYamlNode root = {0};
  double count = 0;
  const char *text = scene->study ? scene->study : "";
  if (tl_yaml_parse("study", text, strlen(text), &root) == TL_OK && root.kind == TL_YAML_MAP) {
    const TlYamlNode *section = tl_yaml_find(&root, "ensemble"),
                     *key = section && section->kind == TL_YAML_MAP ? tl_yaml_find(section, "count")
                                                                    : NULL;
    if (key && key->text && tl_parse_real(key->text, &count) != TL_OK) count = 0;
  }
  tl_yaml_free(&root);
  return count > 0;
}
