// For the shadow map: depth alone.
in vec3 v_world;
uniform vec4 u_cut;
void main() {
#ifdef CUT
  if (dot(u_cut.xyz, v_world) + u_cut.w > 0.0) discard;
#endif
}
