// Planes and walls of the study; a driven wall has a place of its own in each frame.
layout(location = 0) in vec3 a_place;
layout(location = 1) in vec4 a_normal;
uniform mat4 u_view;
uniform mat4 u_part;
out vec3 v_world;
out vec3 v_normal;
out vec3 v_own;

void main() {
  vec4 world = u_part * vec4(a_place, 1.0);
  v_world = world.xyz;
  v_normal = mat3(u_part) * a_normal.xyz;
  v_own = a_place;
  gl_Position = u_view * world;
}
