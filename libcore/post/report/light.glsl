// Sun with shadows, light of the sky from above and of the ground from below; in the order of
// talus-render's pictures. Colours are squared for light and brought back by a root: gamma 2.
uniform vec3 u_sun;
#ifdef SHADOW
uniform mat4 u_shadowView;
uniform highp sampler2DShadow u_shadow;
#endif

float sunlight(vec3 world, vec3 normal) {
  float facing = dot(normal, u_sun);
  if (facing <= 0.0) return 0.0;
#ifdef SHADOW
  vec3 at = (u_shadowView * vec4(world, 1.0)).xyz * 0.5 + 0.5;
  if (all(greaterThan(at, vec3(0.0))) && all(lessThan(at, vec3(1.0))))
    facing *= texture(u_shadow, vec3(at.xy, at.z - 0.0015));
#endif
  return facing;
}

vec3 lit(vec3 colour, vec3 world, vec3 normal) {
  vec3 light = sunlight(world, normal) * vec3(2.15, 2.02, 1.80) +
               (0.5 + 0.5 * normal.z) * vec3(0.46, 0.54, 0.68) + (0.5 - 0.5 * normal.z) * vec3(0.36, 0.33, 0.29);
  vec3 c = 0.62 * colour * colour * light;
  return sqrt(c / (1.0 + 0.18 * c));
}
