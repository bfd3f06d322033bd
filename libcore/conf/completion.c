#include "conf/completion.h"

#include "conf/study.h"

#include <stdio.h>
#include <string.h>

/* ---- what the tables say of a value ---- */

/* What may stand as the value of an option or of a key of a study. */
typedef struct Offer {
  const char *words; /* "a|b|C", or NULL */
  bool all;          /* all of them; else those without capitals, which stand for something */
  bool files;
} Offer;

/* The next word that can be typed as it stands; NULL: none is left. */
static const char *next_word(const Offer *offer, const char **rest, int *length) {
  while (*rest && **rest) {
    const char *word = *rest;
    size_t size = strcspn(word, "|");
    *rest = word + size + (word[size] == '|');
    *length = (int)size;
    if (offer->all || strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789._-") >= size) return word;
  }
  return NULL;
}

static bool names_file(const char *arg) {
  static const char *const names[] = {"FILE", "STACK", "RUN", "RASTER"};
  for (const char *part = arg; part; part = strchr(part, '|') ? strchr(part, '|') + 1 : NULL)
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      if (strncmp(part, names[i], strlen(names[i])) == 0) return true;
  return false;
}

static Offer offer_of(const TlParam *param) {
  switch (param->type) {
  case TL_P_FLAG:
    return (Offer){.words = "true|false", .all = true};
  case TL_P_CHOICE:
    return (Offer){.words = param->choices, .all = true};
  case TL_P_TEXT:
    return (Offer){.words = param->arg, .files = !param->arg || names_file(param->arg)};
  case TL_P_TEXTS:
    return (Offer){.words = param->arg, .files = names_file(param->arg)};
  default:
    return (Offer){.words = param->zero, .all = true};
  }
}

/* Flags are on or off by default: the other one is worth a name. Progress depends on stderr. */
static bool has_negation(const TlParam *param) {
  return param->type == TL_P_FLAG &&
         (strcmp(param->def, "true") == 0 || strcmp(param->key, "progress") == 0);
}

static bool takes_keys(const TlTool *tool, const TlParam *option) {
  return tool->study && strcmp(option->key, "set") == 0;
}

static const char *verb_name(const TlTool *verb) {
  return strchr(verb->name, ' ') + 1;
}

/* Every key that has a path without numbers, "section.key". */
static void each_key(const TlStudySection *section, const char *path,
                     void (*visit)(const char *path, const TlParam *param)) {
  char full[256];
  for (size_t i = 0; i < section->param_count; i++) {
    if (section->params[i].type == TL_P_HEADING) continue;
    snprintf(full, sizeof full, "%s%s", path, section->params[i].key);
    visit(full, &section->params[i]);
  }
  for (size_t i = 0; i < section->section_count; i++) {
    if (section->sections[i].list) continue;
    snprintf(full, sizeof full, "%s%s.", path, section->sections[i].key);
    each_key(&section->sections[i], full, visit);
  }
}

/* The words of an offer, with a blank in front of each but the first. */
static void print_words(const Offer *offer) {
  const char *rest = offer->words, *word, *blank = "";
  for (int length; (word = next_word(offer, &rest, &length)); blank = " ")
    printf("%s%.*s", blank, length, word);
}

static bool has_words(const Offer *offer) {
  const char *rest = offer->words;
  int length;
  return next_word(offer, &rest, &length) != NULL;
}

/* Name of the tool as a function of bash has it. */
static void print_underscored(const char *name) {
  for (; *name; name++) putchar(*name == '-' ? '_' : *name);
}

/* ---- bash ---- */

static void bash_items(const Offer *offer) {
  if (!has_words(offer)) return;
  printf(" items=(");
  print_words(offer);
  putchar(')');
}

static void bash_key(const char *path, const TlParam *param) {
  (void)param;
  printf("        %s=\n", path);
}

static void bash_key_value(const char *path, const TlParam *param) {
  Offer offer = offer_of(param);
  if (!offer.files && !has_words(&offer)) return;
  printf("      %s=*) value=${value#*=}", path);
  if (offer.files) printf(" files=yes");
  bash_items(&offer);
  printf(" ;;\n");
}

static void bash_keys(const TlStudySection *study) {
  printf("      files=no\n      case $value in\n");
  each_key(study, "", bash_key_value);
  printf("      *=*) ;;\n      *) items=(\n");
  each_key(study, "", bash_key);
  printf("      ) ;;\n      esac ;;\n");
}

static void bash_options(const TlTool *tool) {
  const TlParam *option;
  printf("    options=(\n");
  for (size_t i = 0; (option = tl_cli_option(tool, i)); i++) {
    printf("      --%s%s\n", option->key, option->type == TL_P_FLAG ? "" : "=");
    if (has_negation(option)) printf("      --no-%s\n", option->key);
  }
  printf("    )\n    case $option in\n");
  for (size_t i = 0; (option = tl_cli_option(tool, i)); i++) {
    if (option->type == TL_P_FLAG) continue;
    char letter = tl_cli_letter(option);
    printf("    --%s", option->key);
    if (letter) printf(" | -%c", letter);
    if (letter == '@') printf(" | @"); /* bash parts words there, too */
    putchar(')');
    if (takes_keys(tool, option)) {
      putchar('\n');
      bash_keys(tool->study);
      continue;
    }
    Offer offer = offer_of(option);
    if (!offer.files) printf(" files=no");
    bash_items(&offer);
    printf(" ;;\n");
  }
  printf("    *) option='' ;;\n    esac\n");
}

static void bash_verbs(const TlTool *tool) {
  printf("  local verb=''\n  verbs=(");
  for (const TlTool *const *verb = tool->verbs; *verb; verb++)
    printf("%s%s", verb == tool->verbs ? "" : " ", verb_name(*verb));
  printf(")\n  ((first > 1)) && verb=${COMP_WORDS[1]}\n  case $verb in\n");
  for (const TlTool *const *verb = tool->verbs; *verb; verb++) {
    printf("  %s)\n", verb_name(*verb));
    bash_options(*verb);
    printf("    ;;\n");
  }
  printf("  *)\n");
  bash_options(tool);
  printf("    ;;\n  esac\n");
}

/* `word` is what is completed, from the word `first` on; `value` the end of it that is. */
static const char bash_start[] =
    "() {\n"
    "  local word=${COMP_WORDS[COMP_CWORD]} first=$COMP_CWORD files=yes option value head item\n"
    "  local -a options=() verbs=() items=()\n"
    "  COMPREPLY=()\n"
    "  # bash parts words at \"=\": --option=value is one again\n"
    "  while ((first > 1)) && [[ ${COMP_WORDS[first]} == =* || ${COMP_WORDS[first - 1]} == = ]]; "
    "do\n"
    "    first=$((first - 1))\n"
    "    word=${COMP_WORDS[first]}$word\n"
    "  done\n"
    "  # after -- there are names of files only\n"
    "  for item in \"${COMP_WORDS[@]:1:first-1}\"; do [[ $item != -- ]] || return 0; done\n"
    "  case $word in\n"
    "  --*=*) option=${word%%=*} value=${word#*=} ;;\n"
    "  *) option=${COMP_WORDS[first - 1]} value=$word ;;\n"
    "  esac\n";

static const char bash_end[] =
    "  if [[ -z $option ]]; then\n"
    "    value=$word\n"
    "    if [[ $word == -* ]]; then\n"
    "      items=(\"${options[@]}\") files=no\n"
    "    elif ((first == 1 && ${#verbs[@]} > 0)); then\n"
    "      items=(\"${verbs[@]}\") files=no\n"
    "    fi\n"
    "  fi\n"
    "  # What stands before the value is kept by bash where it parts words at \"=\".\n"
    "  head=${word%\"$value\"}\n"
    "  [[ $COMP_WORDBREAKS != *=* ]] || head=''\n"
    "  for item in \"${items[@]}\"; do [[ $item != \"$value\"* ]] || COMPREPLY+=(\"$head$item\"); "
    "done\n"
    "  if [[ $files == no ]]; then\n"
    "    compopt +o default 2>/dev/null\n"
    "    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null\n"
    "  elif [[ -n $head ]]; then\n"
    "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -P \"$head\" -- \"$value\")\n"
    "  fi\n"
    "  return 0\n"
    "}\n";

static void print_bash(const TlTool *tool) {
  putchar('_');
  print_underscored(tool->name);
  fputs(bash_start, stdout);
  if (tool->verbs)
    bash_verbs(tool);
  else
    bash_options(tool);
  fputs(bash_end, stdout);
  printf("complete -o default -F _");
  print_underscored(tool->name);
  printf(" %s\n", tool->name);
}

/* ---- zsh ---- */

/* Text inside a specification in single quotes; a backslash in front of those in special. */
static void zsh_text(const char *text, const char *special) {
  for (; *text; text++) {
    if (*text == '\'') {
      fputs("'\\''", stdout);
      continue;
    }
    if (strchr(special, *text)) putchar('\\');
    putchar(*text);
  }
}

static void zsh_key(const char *path, const TlParam *param) {
  printf("    '%s=:", path);
  zsh_text(param->help, "\\");
  printf("'\n");
}

static void zsh_key_value(const char *path, const TlParam *param) {
  Offer offer = offer_of(param);
  if (!offer.files && !has_words(&offer)) return;
  printf("    (%s=) ", path);
  if (offer.files) {
    printf("_files");
  } else {
    printf("compadd -- ");
    print_words(&offer);
  }
  printf(" ;;\n");
}

static void zsh_keys(const TlTool *tool) {
  printf("_%s_keys() {\n  local -a keys\n  if compset -P 1 '*='; then\n"
         "    case ${IPREFIX#--set=} in\n",
         tool->name);
  each_key(tool->study, "", zsh_key_value);
  printf("    (*) _message value ;;\n    esac\n    return\n  fi\n  keys=(\n");
  each_key(tool->study, "", zsh_key);
  printf("  )\n  _describe -t keys 'key of the study' keys -S ''\n}\n");
}

/* One option in one of its spellings; other: the same one in the other, or NULL. */
static void zsh_option(const TlTool *tool, const TlParam *option, const char *spelling,
                       const char *other) {
  bool flag = option->type == TL_P_FLAG;
  printf("      '");
  if (option->type == TL_P_TEXTS)
    putchar('*');
  else if (other)
    printf("(%s)", other);
  printf("%s%s[", spelling, flag ? "" : spelling[1] == '-' ? "=" : "+");
  zsh_text(option->help, "[]\\");
  putchar(']');
  if (!flag) {
    Offer offer = offer_of(option);
    putchar(':');
    zsh_text(tl_param_value_name(option), ":\\");
    putchar(':');
    if (takes_keys(tool, option)) {
      printf("_%s_keys", tool->name);
    } else if (offer.files && has_words(&offer)) {
      /* after a blank zsh adds no arguments of its own */
      printf(" _alternative \"words\\:word\\:(");
      print_words(&offer);
      printf(")\" \"files\\:file\\:_files\"");
    } else if (offer.files) {
      printf("_files");
    } else if (has_words(&offer)) {
      putchar('(');
      print_words(&offer);
      putchar(')');
    } else {
      putchar(' ');
    }
  }
  printf("' \\\n");
}

static void zsh_options(const TlTool *tool) {
  const TlParam *option;
  printf("    _arguments -S \\\n");
  for (size_t i = 0; (option = tl_cli_option(tool, i)); i++) {
    char spelling[80], letter[3] = {'-', tl_cli_letter(option)};
    snprintf(spelling, sizeof spelling, "--%s", option->key);
    zsh_option(tool, option, spelling, letter[1] ? letter : NULL);
    if (letter[1]) zsh_option(tool, option, letter, spelling);
    if (!has_negation(option)) continue;
    printf("      '(--%s)--no-%s[not: ", option->key, option->key);
    zsh_text(option->help, "[]\\");
    printf("]' \\\n");
  }
  if (tool->verbs) printf("      '1:verb:_%s_verbs' \\\n", tool->name);
  printf("      '*:file:_files'\n");
}

static void zsh_verbs(const TlTool *tool) {
  printf("_%s_verbs() {\n  local -a verbs\n  verbs=(\n", tool->name);
  for (const TlTool *const *verb = tool->verbs; *verb; verb++) {
    printf("    '%s:", verb_name(*verb));
    zsh_text((*verb)->purpose, "\\");
    printf("'\n");
  }
  printf("  )\n  _describe -t verbs verb verbs\n}\n");
}

static void print_zsh(const TlTool *tool) {
  if (tool->study) zsh_keys(tool);
  if (tool->verbs) zsh_verbs(tool);
  printf("_%s() {\n", tool->name);
  if (tool->verbs) {
    /* The verb leaves the line, so that its first argument is the first. */
    printf("  local verb=''\n  if (( CURRENT > 2 )); then\n    verb=$words[2]\n  fi\n"
           "  case $verb in\n");
    for (const TlTool *const *verb = tool->verbs; *verb; verb++) {
      printf("  (%s)\n    words[2]=()\n    (( CURRENT-- ))\n", verb_name(*verb));
      zsh_options(*verb);
      printf("    ;;\n");
    }
    printf("  (*)\n");
    zsh_options(tool);
    printf("    ;;\n  esac\n");
  } else {
    zsh_options(tool);
  }
  /* From a folder of completions the file is the body of the function, else it is sourced. */
  printf("}\nif [[ $funcstack[1] == _%s ]]; then\n  _%s \"$@\"\nelse\n  compdef _%s %s\nfi\n",
         tool->name, tool->name, tool->name, tool->name);
}

void tl_completion_print(const TlTool *tool, TlShell shell) {
  const char *name = shell == TL_SHELL_BASH ? "bash" : "zsh";
  if (shell == TL_SHELL_ZSH) printf("#compdef %s\n", tool->name);
  printf("# Completion of %s in %s, printed by %s --completion=%s\n", tool->name, name, tool->name,
         name);
  if (shell == TL_SHELL_BASH)
    print_bash(tool);
  else
    print_zsh(tool);
}
