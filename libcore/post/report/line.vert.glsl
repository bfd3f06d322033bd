// Paths of grains, bonds of sheets.
layout(location = 0) in vec3 a_place;
uniform mat4 u_view;
out vec3 v_world;
void main() {
  v_world = a_place;
  gl_Position = u_view * vec4(a_place, 1.0);
}
