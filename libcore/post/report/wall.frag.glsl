in vec3 v_world;
in vec3 v_normal;
in vec3 v_own;
uniform vec4 u_colour;
uniform float u_grid; // side of the squares drawn on it
out vec4 o_colour;

void main() {
  vec3 normal = normalize(gl_FrontFacing ? v_normal : -v_normal);
  vec3 at = v_own / u_grid, pixel = fwidth(at), off = abs(fract(at + 0.5) - 0.5);
  vec3 lines = (1.0 - smoothstep(0.5 * pixel, 1.5 * pixel, off)) * step(pixel, vec3(0.2)) * step(1e-5, pixel);
  float line = max(lines.x, max(lines.y, lines.z));
  o_colour = vec4(lit(u_colour.rgb * (1.0 - 0.25 * line), v_world, normal), u_colour.a + 0.25 * line * (1.0 - u_colour.a));
}
