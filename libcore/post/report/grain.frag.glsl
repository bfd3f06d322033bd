in vec3 v_world;
in vec3 v_normal;
in vec3 v_colour;
in float v_reach; // distance from the grain's centre
uniform vec4 u_cut; // what lies where dot(u_cut, place) > 0 is left out
uniform vec3 u_eye;
uniform mat4 u_view;
out vec4 o_colour;

void main() {
#ifdef CUT
  if (dot(u_cut.xyz, v_world) + u_cut.w > 0.0) discard;
  gl_FragDepth = gl_FragCoord.z;
  if (!gl_FrontFacing) {
    // The inside of a grain is seen through the cut and stands for its section. It is moved towards
    // the eye a little: grains that overlap there would show through each other.
    vec4 clip = u_view * vec4(v_world - 0.06 * v_reach * normalize(v_world - u_eye), 1.0);
    gl_FragDepth = clip.z / clip.w * 0.5 + 0.5;
    o_colour = vec4(0.82 * v_colour, 1.0);
    return;
  }
#endif
  o_colour = vec4(lit(v_colour, v_world, normalize(v_normal)), 1.0);
}
