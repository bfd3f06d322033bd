/* A program with one fault of each sort that inject.c tells apart, to show that it does:
 *   test_fault_control clean|crash|hang|silent|untidy|left
 * It copies the file `in` into the file `out`, and handles an allocation that fails in the way that
 * its argument names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int give_up(const char *mode) {
  if (strcmp(mode, "crash") == 0) abort();
  if (strcmp(mode, "hang") == 0)
    for (volatile int on = 1; on;) {
    }
  if (strcmp(mode, "silent") == 0) return 0;
  if (strcmp(mode, "left") == 0) {
    FILE *file = fopen("out.tmp", "wb");
    if (file) fclose(file);
  }
  if (strcmp(mode, "untidy") != 0) fprintf(stderr, "control: out of memory\n");
  return 1;
}

int main(int argc, char **argv) {
  char *text = malloc(100);
  if (argc != 2 || !text) return give_up(argc == 2 ? argv[1] : "");
  FILE *in = fopen("in", "rb"), *out = fopen("out", "wb");
  if (!in || !out) return give_up("");
  size_t size = fread(text, 1, 100, in);
  if (fwrite(text, 1, size, out) != size) return give_up("");
  fclose(in);
  fclose(out);
  free(text);
  return 0;
}
