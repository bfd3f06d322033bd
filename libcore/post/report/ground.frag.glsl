in vec3 v_world;
in vec3 v_normal;
in vec3 v_colour;
in vec2 v_drape;
in float v_side;
uniform float u_contour;  // height between two lines; 0: none
uniform float u_level;    // height of z = 0
uniform float u_draped;   // 1: the picture is laid over
uniform sampler2D u_picture;
out vec4 o_colour;

float line(float level, float step, float width) {
  float off = abs(fract(level / step + 0.5) - 0.5) * step, pixel = fwidth(level);
  return clamp((0.5 * width * pixel - off) / pixel + 0.5, 0.0, 1.0) * clamp(0.25 * step / pixel - 1.0, 0.0, 1.0);
}

void main() {
  vec3 colour = v_colour;
#ifdef LINES
  if (u_contour > 0.0 && v_side < 0.5) {
    float level = v_world.z + u_level;
    colour *= 1.0 - max(0.16 * line(level, u_contour, 1.2), 0.34 * line(level, 5.0 * u_contour, 1.6));
  }
#endif
  if (u_draped > 0.0 && v_side < 0.5) {
    vec4 over = texture(u_picture, v_drape);
    colour = mix(colour, over.rgb, over.a);
  }
#ifdef COARSE
  o_colour = vec4(colour, 1.0);
#else
  o_colour = vec4(lit(colour, v_world, normalize(v_normal)), 1.0);
#endif
}
