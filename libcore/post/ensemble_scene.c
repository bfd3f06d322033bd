#include "post/ensemble_scene.h"

#include "conf/param.h"
#include "conf/yaml_tree.h"

#include <string.h>

double tl_scene_number(const TlScene *scene, const char *section, const char *key) {
  TlYamlNode root = {0};
  double value = 0;
  const char *text = scene->study ? scene->study : "";
  if (tl_yaml_parse("study", text, strlen(text), &root) == TL_OK && root.kind == TL_YAML_MAP) {
    const TlYamlNode *in = tl_yaml_find(&root, section),
                     *of = in && in->kind == TL_YAML_MAP ? tl_yaml_find(in, key) : NULL;
    if (of && of->text && tl_parse_real(of->text, &value) != TL_OK) value = 0;
  }
  tl_yaml_free(&root);
  return value;
}

bool tl_scene_has_joints(const TlScene *scene) {
  TlYamlNode root = {0};
  const char *text = scene->study ? scene->study : "";
  bool has = false;
  if (tl_yaml_parse("study", text, strlen(text), &root) == TL_OK && root.kind == TL_YAML_MAP) {
    const TlYamlNode *joints = tl_yaml_find(&root, "joints");
    has = joints && joints->kind == TL_YAML_LIST && joints->count > 0;
  }
  tl_yaml_free(&root);
  return has;
}

bool tl_scene_is_ensemble(const TlScene *scene) {
  return tl_scene_number(scene, "ensemble", "count") > 0;
}

bool tl_scene_other_grounds(const TlScene *scene) {
  return tl_scene_is_ensemble(scene) && tl_scene_number(scene, "ensemble", "grounds") > 1 &&
         tl_scene_number(scene, "terrain", "roughness_m") > 0;
}

int64_t tl_scene_blocks_together(const TlScene *scene) {
  double together = tl_scene_number(scene, "ensemble", "blocks_together");
  return tl_scene_is_ensemble(scene) && together >= 1 ? (int64_t)together : 1;
}
