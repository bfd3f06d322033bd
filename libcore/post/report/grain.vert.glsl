// Grains: one draw a shape and level, a pose and a colour an instance.
layout(location = 0) in vec3 a_place;
layout(location = 1) in vec4 a_normal;
layout(location = 2) in vec4 a_pose; // place, scale
layout(location = 3) in vec4 a_turn; // x, y, z, w
layout(location = 4) in vec4 a_colour;
uniform mat4 u_view;
out vec3 v_world;
out vec3 v_normal;
out vec3 v_colour;
out float v_reach;

vec3 turned(vec4 q, vec3 v) {
  vec3 t = 2.0 * cross(q.xyz, v);
  return v + q.w * t + cross(q.xyz, t);
}

void main() {
  v_world = a_pose.xyz + a_pose.w * turned(a_turn, a_place);
  v_normal = turned(a_turn, a_normal.xyz);
  v_colour = a_colour.rgb;
  v_reach = a_pose.w * length(a_place);
  gl_Position = u_view * vec4(v_world, 1.0);
}
