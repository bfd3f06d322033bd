in vec3 v_world;
in vec3 v_normal;
in vec3 v_colour;
uniform vec4 u_cut; // what lies where dot(u_cut, place) > 0 is left out
uniform vec3 u_eye;
uniform mat4 u_view;
out vec4 o_colour;

void main() {
#ifdef CUT
  if (dot(u_cut.xyz, v_world) + u_cut.w > 0.0) discard;
  gl_FragDepth = gl_FragCoord.z;
  if (!gl_FrontFacing) {
    // The inside of a grain is seen through the cut: draw its section, which lies in the plane.
    vec3 ray = v_world - u_eye;
    float along = dot(u_cut.xyz, ray), before = dot(u_cut.xyz, u_eye) + u_cut.w;
    if (before > 0.0 && along < 0.0) {
      vec4 clip = u_view * vec4(u_eye - before / along * ray, 1.0);
      gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
    }
    o_colour = vec4(0.82 * v_colour, 1.0);
    return;
  }
#endif
  o_colour = vec4(lit(v_colour, v_world, normalize(v_normal)), 1.0);
}
