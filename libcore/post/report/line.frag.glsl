in vec3 v_world;
uniform vec4 u_colour;
uniform vec4 u_cut;
out vec4 o_colour;
void main() {
#ifdef CUT
  if (dot(u_cut.xyz, v_world) + u_cut.w > 0.0) discard;
#endif
  o_colour = u_colour;
}
