// The terrain: colour by slope and height as in talus-render's pictures; a picture may be draped.
// COARSE: lit at the vertices, which costs a fraction where all is drawn by software.
layout(location = 0) in vec3 a_place;
layout(location = 1) in vec4 a_normal;
uniform mat4 u_view;
uniform vec2 u_heights; // lowest, and one over the range
uniform vec4 u_drape;   // west and south border of the picture, one over its width and height
out vec3 v_world;
out vec3 v_normal;
out vec3 v_colour;
out vec2 v_drape;
out float v_side; // 1: of the block, not of the ground

void main() {
  v_world = a_place;
  v_normal = a_normal.xyz;
  float steep = (degrees(acos(clamp(a_normal.z, 0.0, 1.0))) - 8.0) / 20.0;
  float part = (a_place.z - u_heights.x) * u_heights.y;
  vec3 meadow = vec3(150, 152, 112), earth = vec3(164, 150, 126), rock = vec3(150, 147, 143);
  v_colour = mix(mix(meadow, earth, clamp(steep, 0.0, 1.0)), rock, clamp(steep - 1.0, 0.0, 1.0)) / 255.0;
  v_colour *= 0.94 + 0.12 * part;
  v_side = a_normal.w < 0.0 ? 1.0 : 0.0;
  if (v_side > 0.5) v_colour = vec3(132, 122, 110) / 255.0; // side of the block
#ifdef COARSE
  v_colour = lit(v_colour, a_place, a_normal.xyz);
#endif
  v_drape = (a_place.xy - u_drape.xy) * u_drape.zw;
  gl_Position = u_view * vec4(a_place, 1.0);
}
