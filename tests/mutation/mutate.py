#!/usr/bin/env python3
"""Mutation rounds: does a test notice when one line of the program is wrong?

A mutant is the program with one small fault put in. Each is built in a copy of the tree below
build/mutation/ (a broken mutant never stays in the tree itself), and the tests that reach the changed
line are run, the quickest first, until one fails. Read tests/mutation/README.md first.

    mutate.py draw --count 240 --seed 17      write drawn.txt: mutants over all modules
    mutate.py map --minutes 10                which test executes which line (coverage); restartable
    mutate.py run --minutes 10                build and test mutants that have no verdict; restartable
    mutate.py table                           verdicts by module, and the survivors
"""
import argparse
import csv
import fcntl
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(ROOT, 'build', 'mutation')
TREE = os.environ.get('TALUS_MUTATION_TREE', os.path.join(WORK, 'tree'))
MAP = os.path.join(WORK, 'map')
RESULTS = os.path.join(WORK, 'results.csv')
LISTS = ('named.txt', 'drawn.txt', 'more.txt')
JOBS = str(os.cpu_count())


# ---- mutants: lists of text -----------------------------------------------------------------------
# == name
# path [@n]          the n-th place (from 1) where the old lines stand in the file
# - old line
# + new line         none: the lines are dropped

class Mutant:
    def __init__(self, name):
        self.name = name
        self.edits = []  # [path, n, old lines, new lines]

    def files(self):
        return [edit[0] for edit in self.edits]


def read_list(path):
    mutants = []
    if not os.path.exists(path):
        return mutants
    for number, line in enumerate(open(path), 1):
        line = line.rstrip('\n')
        if line.startswith('== '):
            mutants.append(Mutant(line[3:].strip()))
        elif line.startswith('- '):
            mutants[-1].edits[-1][2].append(line[2:].strip())
        elif line.startswith('+ '):
            mutants[-1].edits[-1][3].append(line[2:].strip())
        elif line and not line.startswith('#'):
            path_and_place = line.split(' @')
            mutants[-1].edits.append([path_and_place[0], int((path_and_place + ['1'])[1]), [], []])
    return mutants


def all_mutants():
    mutants = [m for name in LISTS for m in read_list(os.path.join(HERE, name))]
    names = [m.name for m in mutants]
    for name in set(names):
        if names.count(name) > 1:
            sys.exit('two mutants are called ' + name)
    return mutants


def find_lines(text, old, n):
    """Index of the first of the n-th run of lines that are old, however they are spaced."""
    plain, wanted = [' '.join(line.split()) for line in text], [' '.join(line.split()) for line in old]
    for i in range(len(text) - len(old) + 1):
        if plain[i:i + len(old)] == wanted:
            n -= 1
            if n == 0:
                return i
    return -1


def apply(mutant):
    """Change the files of the copy; {path: changed line numbers (from 1)}, or None: a line is gone."""
    changed = {}
    for path, n, old, new in mutant.edits:
        full = os.path.join(TREE, path)
        text = open(full).read().split('\n')
        at = find_lines(text, old, n)
        if at < 0:
            return None
        text[at:at + len(old)] = new
        with open(full, 'w') as file:
            file.write('\n'.join(text))
        changed.setdefault(path, []).extend(range(at + 1, at + 1 + len(old)))
    return changed


def line_numbers(mutant):
    """Lines of the tree's own files that a mutant changes."""
    lines = {}
    for path, n, old, _ in mutant.edits:
        full = os.path.join(ROOT, path)
        at = find_lines(open(full).read().split('\n'), old, n) if os.path.exists(full) else -1
        if at < 0:
            return None
        lines.setdefault(path, []).extend(range(at + 1, at + 1 + len(old)))
    return lines


# ---- the copy -------------------------------------------------------------------------------------

def lock():
    """One round at a time works in a copy."""
    os.makedirs(TREE, exist_ok=True)
    file = open(TREE + '.lock', 'w')
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def sync():
    """Make the copy what the tree is; files that are the same keep their times."""
    listed = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE, check=True).stdout.split('\n')
    wanted = {p for p in listed if p and os.path.isfile(os.path.join(ROOT, p))}
    for folder, folders, files in os.walk(TREE):
        folders[:] = [f for f in folders if os.path.join(folder, f) != os.path.join(TREE, 'build')]
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), TREE)
            if path not in wanted:
                os.remove(os.path.join(folder, name))
    for path in sorted(wanted):
        restore(path)


def restore(path):
    source, target = os.path.join(ROOT, path), os.path.join(TREE, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.exists(target) and open(source, 'rb').read() == open(target, 'rb').read():
        return
    shutil.copyfile(source, target)
    shutil.copymode(source, target)


def limits():
    """A mutant may want all memory there is."""
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))


def call(command, seconds, environment=None, limited=False):
    """(exit code, output); 124: out of time."""
    env = dict(os.environ, **(environment or {}))
    process = subprocess.Popen(command, cwd=TREE, env=env, text=True, errors='replace',
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True, preexec_fn=limits if limited else None)
    try:
        output = process.communicate(timeout=seconds)[0]
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output = process.communicate()[0]
        return 124, output


# ---- tests ----------------------------------------------------------------------------------------

def tests():
    """unit/test_X, mpi/test_X, cli/test_X of the tree."""
    found = []
    for kind, end in (('unit', '.c'), ('mpi', '.c'), ('cli', '.sh')):
        for name in sorted(os.listdir(os.path.join(ROOT, 'tests', kind))):
            if name.startswith('test_') and name.endswith(end):
                found.append(kind + '/' + name[:-len(end)])
    return found


def targets_of(names, test_folder):
    """What make must build for these tests. A script may run tools and some unit tests' programs."""
    targets = set()
    for name in names:
        kind, program = name.split('/')
        if kind == 'cli':
            targets.add('tools')
            text = open(os.path.join(ROOT, 'tests', name + '.sh')).read()
            targets.update(test_folder + '/' + t
                           for t in re.findall(r'TESTBIN[}"]*/([\w-]+)', text))
        else:
            targets.add(test_folder + '/' + program)
            if kind == 'mpi':
                targets.add(test_folder.replace('/test', '/bin/talus-mpirun'))
    return sorted(targets)


# ---- map: which test executes which line ------------------------------------------------------------

COVERAGE = ['CC=gcc', 'CXX=g++', 'OPT=-O1 -g0 --coverage -fprofile-update=atomic',
            'BIN=build/coverage/bin', 'TESTBIN=build/coverage/test']


def coverage_objects():
    found = []
    for folder, _, files in os.walk(os.path.join(TREE, 'build')):
        found += [os.path.join(folder, f) for f in files if f.endswith('.gcda')]
    return found


def executed_lines():
    """{file: [lines]} that ran since the counters were removed, and {file: [lines that can run]}."""
    ran, can = {}, {}
    objects = coverage_objects()
    for first in range(0, len(objects), 40):
        part = subprocess.run(['gcov', '--json-format', '--stdout', *objects[first:first + 40]],
                              cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for document in part.stdout.split('\n'):
            if not document.startswith('{'):
                continue
            for file in json.loads(document)['files']:
                if not file['file'].startswith(('libcore/', 'tools/')):
                    continue
                for line in file['lines']:
                    (ran if line['count'] else can).setdefault(file['file'], set()).add(
                        line['line_number'])
    return {f: sorted(lines) for f, lines in ran.items()}


def map_tests(minutes):
    end = time.time() + 60 * minutes
    os.makedirs(MAP, exist_ok=True)
    held = lock()
    sync()
    missing = [t for t in tests() if not os.path.exists(map_file(t))]
    if missing:
        code, output = call(['make', '-j' + JOBS, *COVERAGE, 'tools',
                             *targets_of(missing, 'build/coverage/test')], 3600)
        if code:
            sys.exit(output[-3000:])
    for test in missing:
        if time.time() > end:
            print('%d tests are not in the map yet' % len([t for t in missing if not os.path.exists(map_file(t))]))
            return
        for path in coverage_objects():
            os.remove(path)
        start = time.time()
        code, output = call(['tests/run.sh', test], 1800,
                            {'BIN': 'build/coverage/bin', 'TESTBIN': 'build/coverage/test',
                             'TALUS_TEST_LIMIT': '1500'})
        spent = time.time() - start
        record = {'ok': code == 0, 'seconds': spent, 'lines': executed_lines()}
        with open(map_file(test) + '.new', 'w') as file:
            json.dump(record, file)
        os.replace(map_file(test) + '.new', map_file(test))
        print('%-36s %6.1f s %s' % (test, spent, 'ok' if code == 0 else 'FAILED\n' + output[-600:]),
              flush=True)


def map_file(test):
    return os.path.join(MAP, test.replace('/', '-') + '.json')


class Reach:
    """Which tests execute a line. A test without a map (a new one) counts as reaching every line."""

    def __init__(self):
        self.maps = {}
        for test in tests():
            if os.path.exists(map_file(test)):
                record = json.load(open(map_file(test)))
                self.maps[test] = (record['seconds'],
                                   {f: set(lines) for f, lines in record['lines'].items()})

    def seconds(self, test):
        return self.maps[test][0] if test in self.maps else 5.0

    def of(self, lines):
        """Tests that reach lines ({file: numbers}), the quickest first, and whether they are known
        to execute them (else: all that execute anything in the file)."""
        exact = [t for t in tests() if t not in self.maps or self.executes(t, lines)]
        known = [t for t in exact if t in self.maps]
        if not known:
            exact = [t for t in tests() if t not in self.maps or any(
                file in self.maps[t][1] for file in lines)]
        return sorted(exact, key=self.seconds), bool(known)

    def executes(self, test, lines):
        ran = self.maps[test][1]
        return any(n in ran.get(file, ()) for file, numbers in lines.items()
                   for number in numbers for n in (number - 1, number, number + 1))


# ---- a round --------------------------------------------------------------------------------------

def read_results():
    if not os.path.exists(RESULTS):
        return {}
    return {row['name']: row for row in csv.DictReader(open(RESULTS))}


def write_result(row):
    """Other rounds, in copies of their own, may write too."""
    held = open(RESULTS + '.lock', 'w')
    fcntl.flock(held, fcntl.LOCK_EX)
    results = read_results()
    results[row['name']] = row
    with open(RESULTS + '.new', 'w', newline='') as file:
        writer = csv.DictWriter(file, ['name', 'files', 'verdict', 'by', 'seconds'])
        writer.writeheader()
        writer.writerows(results[name] for name in sorted(results))
    os.replace(RESULTS + '.new', RESULTS)


def claim(name):
    """A file that is locked while this round tries the mutant; None: another round does."""
    os.makedirs(os.path.join(WORK, 'claims'), exist_ok=True)
    file = open(os.path.join(WORK, 'claims', name), 'w')
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    return file


def batches(names, reach):
    """The quick tests first: most mutants die there, and the others need not be linked."""
    batch, spent, limit = [], 0, 12
    for name in names:
        batch.append(name)
        spent += reach.seconds(name)
        if spent > limit:
            yield batch
            batch, spent, limit = [], 0, 120
    if batch:
        yield batch


def in_turns(mutants):
    """One of each module, then the next of each: a round that ends early has tried all of them."""
    turn, count = {}, {}
    for mutant in mutants:
        module = module_of(mutant.files()[0])
        count[module] = turn[mutant.name] = count.get(module, 0) + 1
    return sorted(mutants, key=lambda m: turn[m.name])


def try_mutant(mutant, reach, only=None, most=0):
    """(verdict, test that failed). most: seconds after which no further tests are begun, 0: none."""
    start = time.time()
    lines = apply(mutant)
    if lines is None:
        return 'gone', ''
    names, _ = reach.of(lines)
    if only:
        names = only
    for batch in batches(names, reach):
        if most and time.time() - start > most:
            return 'survived', 'from %s on not run' % batch[0]
        code, output = call(['make', '-j' + JOBS, *targets_of(batch, 'build/test')], 1200)
        if code == 124:
            return 'timeout', 'make'
        if code:
            return ('nocompile' if 'error:' in output or 'undefined' in output else 'nobuild'), ''
        limit = 60 + 8 * max(reach.seconds(name) for name in batch)
        code, output = call(['tests/run.sh', *batch], 3600,
                            {'BIN': 'build/bin', 'TESTBIN': 'build/test', 'TALUS_TEST_STOP': '1',
                             'TALUS_TEST_LIMIT': str(int(limit))}, limited=True)
        if code:
            failed = re.findall(r'^(\S+) .*FAILED \(exit (\d+)\)', output, re.M)
            if failed and failed[0][1] in ('124', '137'):
                return 'timeout', failed[0][0]
            return 'killed', failed[0][0] if failed else 'tests/run.sh'
    return 'survived', ''


def run(minutes, names, again, only, most):
    end = time.time() + 60 * minutes
    held = lock()
    sync()
    reach = Reach()
    chosen = [m for m in all_mutants() if not names or any(re.fullmatch(n, m.name) for n in names)]
    for mutant in in_turns(chosen):
        claimed = claim(mutant.name)
        verdict = read_results().get(mutant.name, {}).get('verdict')
        if not claimed or (verdict and verdict not in again and not names):
            continue
        if time.time() > end:
            print('more is left to do')
            return 3
        start = time.time()
        try:
            verdict, by = try_mutant(mutant, reach, only, most)
        finally:
            for path in mutant.files():
                restore(path)
        spent = time.time() - start
        if not only or verdict in ('killed', 'timeout'):
            write_result({'name': mutant.name, 'files': ' '.join(mutant.files()), 'verdict': verdict,
                          'by': by, 'seconds': '%.0f' % spent})
        print('%-44s %-10s %-30s %5.0f s' % (mutant.name, verdict, by, spent), flush=True)
    return 0


# ---- drawing --------------------------------------------------------------------------------------

def module_of(path):
    parts = path.split('/')
    return parts[1] if parts[0] == 'libcore' else 'tools'


def blank(text):
    """The text with comments, strings and directives blanked out, line for line as long."""
    def spaces(match):
        return re.sub(r'[^\n]', ' ', match.group(0))
    text = re.sub(r'/\*.*?\*/|//[^\n]*', spaces, text, flags=re.S)
    text = re.sub(r'"(\\.|[^"\\\n])*"|\'(\\.|[^\'\\\n])+\'', spaces, text)
    lines, continued = text.split('\n'), False
    for i, line in enumerate(lines):
        directive = continued or line.lstrip().startswith('#')
        continued = directive and line.endswith('\\')
        if directive:
            lines[i] = ' ' * len(line)
    return lines


NUMBER = r'(?<![\w.])(\d+\.\d*(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?|\.\d+)(?![\w.])'


def other_number(match):
    text = match.group(1)
    if re.fullmatch(r'\d+', text):
        return str(int(text) + 1)
    return '%g' % (1.5 * float(text)) if float(text) else '1.0'


def field_of(match):
    turn = {'x': 'y', 'y': 'z', 'z': 'x'}
    return match.group(1) + turn[match.group(2)]


def negated(match):
    """if (a) b: if (!(a)) b, where the condition ends on the line."""
    depth = 0
    for i, c in enumerate(match.group(1)):
        depth += (c == '(') - (c == ')')
        if depth < 0:
            return '!(' + match.group(1)[:i] + ')' + match.group(1)[i:]
    return match.group(1)


# operator: list of (regexp on a blanked line, replacement of the match)
OPERATORS = {
    'sign': [(r'(?<=[\w)\]]) \+ (?=[\w(])', ' - '), (r'(?<=[\w)\]]) - (?=[\w(])', ' + '),
             (r'\+=', '-='), (r'-=', '+='), (r'(?<=[(,=] )-(?=[\w(])|(?<=\()-(?=\w)', '')],
    'factor': [(r'(?<=[\w)\]]) \* (?=[\w(])', ' / '), (r'(?<=[\w)\]]) / (?=[\w(])', ' * ')],
    'comparison': [(r' < ', ' <= '), (r' > ', ' >= '), (r' <= ', ' < '), (r' >= ', ' > '),
                   (r' == ', ' != '), (r' != ', ' == '), (r' < ', ' > '), (r' > ', ' < ')],
    'logic': [(r' && ', ' || '), (r' \|\| ', ' && '), (r'(?<=\bif \()(.*)$', negated),
              (r'(?<![\w)] )!(?=[\w(])', '')],
    'constant': [(NUMBER, other_number)],
    'arguments': [(r'(?<!tl_add)(?<!tl_dot)(?<!fmin)(?<!fmax)(?<!hypot)(?<!tl_min)(?<!tl_max)(?<=\w)'
                   r'\(([\w.>\-\[\]]+), ([\w.>\-\[\]]+)\)',
                   lambda m: '(%s, %s)' % (m.group(2), m.group(1)))],
    'dropped': [(r'^\s+(?!return|break|continue|else|case|goto|const|static|struct|enum)'
                 r'[\w.>\-\[\]*+()]+(?:\+\+|--|\(.*\)| [-+*/|&^]?= .*);$', ';')],
    'off_by_one': [(r'(?<= = )0(?=;)', '1'), (r'(?<= < )([\w.>\-]+)(?=;)', lambda m: m.group(1) + ' - 1'),
                   (r'(?<=[\w)\]]) - 1\b', ''), (r'(?<=[\w)\]]) \+ 1\b', ''),
                   (r'\[(\w+)\]', lambda m: '[%s + 1]' % m.group(1))],
    'field': [(r'(\.)([xyz])\b', field_of), (r'\bfmin\b', 'fmax'), (r'\bfmax\b', 'fmin'),
              (r'\bsin\b', 'cos'), (r'\bcos\b', 'sin'),
              (r'\bn([xyz])\b', lambda m: field_of(re.match(r'(n)(.)', m.group(0))))],
}
# Not drawn, in any line of a statement: what frees memory (make check-asan finds leaks), logs, words of
# errors, what passes a status on, and heads of functions and arrays.
UNWANTED = re.compile(r'\b(tl_free|\w+_free|\w+_close|\w+_abort|tl_log_\w+|tl_\w*fail\w*|tl_context|assert'
                      r'|static_assert|\w*printf|tl_progress\w*|tl_arena_\w+|free|omp)\b|status [=!]=')
HEAD = re.compile(r'^(static|typedef|extern|enum|struct|TlStatus|const)\b|^\S.*\)\s*\{?$'
                  r'|^\s*(char|float|double|int|bool|u?int\d+_t|size_t|Tl\w+) [^=;]*\[[^=;]*;$'
                  r'|^\s*(char|double|float) \w+\[\w+\]')


def places(path):
    """All (operator, line number, new line) of a file, in a fixed order."""
    text = open(os.path.join(ROOT, path)).read()
    raw, lines = text.split('\n'), blank(text)
    inside, found, statement, start = False, [], '', 0
    wanted = [False] * len(lines)
    for i, line in enumerate(lines):
        if re.match(r'^\}', line):
            inside = False
        if inside:
            if not statement:
                start = i
            statement += line + '\n'
            if re.search(r'[;{}]\s*$', line) or not line.strip():
                for k in range(start, i + 1):
                    wanted[k] = not UNWANTED.search(statement)
                statement = ''
        elif re.search(r'\)\s*\{\s*$', line) and not line.startswith((' ', '}')):
            inside = True
            statement = ''
        if line.rstrip() == '{':
            inside = True
    for i, line in enumerate(lines):
        if not wanted[i] or not line.strip() or HEAD.search(line):
            continue
        for operator in sorted(OPERATORS):
            for pattern, replacement in OPERATORS[operator]:
                for match in re.finditer(pattern, line):
                    new = replacement(match) if callable(replacement) else replacement
                    whole = raw[i][:match.start()] + new + raw[i][match.end():]
                    if operator == 'dropped':
                        whole = re.match(r'\s*', raw[i]).group(0) + ';'
                    if blank(whole)[0] != line and whole.strip() != raw[i].strip():
                        found.append((operator, i, whole))
    return raw, found


def compiles(path, raw, i, new):
    """Is the mutant a program? (So that arguments of two types are not drawn.)"""
    if not path.endswith('.c'):
        return True
    flags = subprocess.run('pkg-config --cflags hdf5-serial libtiff-4 gdal ompi-c libpng yaml-0.1 check', shell=True,
                           text=True, stdout=subprocess.PIPE).stdout.split()
    work = os.path.join(WORK, 'draw', os.path.dirname(path))
    os.makedirs(work, exist_ok=True)
    file = os.path.join(work, os.path.basename(path))
    with open(file, 'w') as out:
        out.write('\n'.join(raw[:i] + [new] + raw[i + 1:]))
    version = os.path.join(WORK, 'draw', 'version.h')
    with open(version, 'w') as out:
        out.write('#define TL_VERSION ""\n#define TL_COMMIT ""\n#define TL_BUILD_FLAGS ""\n')
    return subprocess.run(
        ['gcc', '-std=c17', '-fsyntax-only', '-Werror=int-conversion', '-Werror=incompatible-pointer-types',
         '-Werror=discarded-qualifiers', '-fopenmp', '-D_DEFAULT_SOURCE', '-D_XOPEN_SOURCE=700',
         '-Ilibcore', '-Itools', '-I' + os.path.join(WORK, 'draw'), *flags, file],
        cwd=ROOT, stderr=subprocess.DEVNULL).returncode == 0


def draw(count, seed):
    """Modules by the root of their number of places, at least eight of each; in a module first an operator,
    then a place of it, each with the same chance; at most two mutants of a file, one of a line."""
    generator = random.Random(seed)
    files = sorted(subprocess.run(['git', 'ls-files', 'libcore/*.c', 'libcore/*.cpp', 'tools/*.c', 'tools/*.h',
                                   'libcore/num/*.h', 'libcore/base/*.h', 'libcore/model/*.h', 'libcore/contact/*.h',
                                   'libcore/solve/*.h'],
                                  cwd=ROOT, text=True, stdout=subprocess.PIPE).stdout.split())
    by_module = {}
    for path in files:
        raw, found = places(path)
        for operator, i, new in found:
            by_module.setdefault(module_of(path), {}).setdefault(operator, []).append(
                (path, i, raw, new))
    modules, used_files, used_lines, drawn = sorted(by_module), {}, set(), []
    weight = {m: sum(map(len, by_module[m].values())) ** 0.5 for m in modules}
    wanted = {m: max(8, round(count * weight[m] / sum(weight.values()))) for m in modules}
    for module in modules:
        tries = 0
        while sum(d[0] == module for d in drawn) < wanted[module] and tries < 1000:
            tries += 1
            operator = generator.choice(sorted(by_module[module]))
            path, i, raw, new = generator.choice(by_module[module][operator])
            if used_files.get(path, 0) >= 2 or (path, i) in used_lines or not compiles(path, raw, i, new):
                continue
            used_files[path] = used_files.get(path, 0) + 1
            used_lines.add((path, i))
            drawn.append((module, operator, path, i, raw, new))
    with open(os.path.join(HERE, 'drawn.txt'), 'w') as file:
        file.write('# Drawn by: mutate.py draw --count %d --seed %d\n' % (count, seed))
        for k, (module, operator, path, i, raw, new) in enumerate(drawn, 1):
            old = raw[i].strip()
            n = sum(line.strip() == old for line in raw[:i + 1])
            file.write('\n== %s-%03d-%s\n%s%s\n- %s\n+ %s\n' % (
                module, k, operator, path, ' @%d' % n if n > 1 else '', old, new.strip()))
    print('%d mutants' % len(drawn))


# ---- table ----------------------------------------------------------------------------------------

def reasons():
    """name: why, of mutants that are equivalent, and of survivors that are known."""
    found = {'equivalent': {}, 'known': {}}
    path = os.path.join(HERE, 'judged.txt')
    for line in open(path) if os.path.exists(path) else ():
        if line.strip() and not line.startswith('#'):
            name, kind, why = line.strip().split(None, 2)
            found[kind][name] = why
    return found


def table():
    results, judged = read_results(), reasons()
    rows, survivors = {}, []
    for mutant in all_mutants():
        result = results.get(mutant.name)
        verdict = result['verdict'] if result else 'not tried'
        if verdict in ('survived',) and mutant.name in judged['equivalent']:
            verdict = 'equivalent'
        elif verdict == 'survived':
            survivors.append(mutant)
        row = rows.setdefault(module_of(mutant.files()[0]), {})
        row[verdict] = row.get(verdict, 0) + 1
    columns = ['killed', 'timeout', 'survived', 'equivalent', 'nocompile', 'nobuild', 'gone', 'not tried']
    columns = [c for c in columns if any(c in row for row in rows.values())]
    print('| module | mutants | ' + ' | '.join(columns) + ' |')
    print('|---|' + '---|' * (len(columns) + 1))
    total = {}
    for module in sorted(rows):
        row = rows[module]
        print('| %s | %d | %s |' % (module, sum(row.values()),
                                    ' | '.join(str(row.get(c, 0)) for c in columns)))
        for c in columns:
            total[c] = total.get(c, 0) + row.get(c, 0)
    print('| all | %d | %s |' % (sum(total.values()), ' | '.join(str(total[c]) for c in columns)))
    for mutant in survivors:
        print('\n%s  %s' % (mutant.name, judged['known'].get(mutant.name, '')))
        for path, n, old, new in mutant.edits:
            numbers = line_numbers(mutant)
            print('  %s:%s' % (path, numbers[path][0] if numbers else '?'))
            for line in old:
                print('  - ' + line)
            for line in new:
                print('  + ' + line)


def reached(names):
    """Which tests execute the lines of mutants."""
    reach = Reach()
    for mutant in all_mutants():
        if any(re.fullmatch(n, mutant.name) for n in names):
            lines = line_numbers(mutant)
            found, known = reach.of(lines) if lines else ([], False)
            print(mutant.name, 'executed by' if known else 'not known to be executed; file reached by',
                  ' '.join(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    p = commands.add_parser('draw')
    p.add_argument('--count', type=int, default=240)
    p.add_argument('--seed', type=int, default=17)
    p = commands.add_parser('map')
    p.add_argument('--minutes', type=float, default=10)
    p = commands.add_parser('run')
    p.add_argument('--minutes', type=float, default=10)
    p.add_argument('--again', nargs='*', default=[], help='verdicts to try again, such as survived')
    p.add_argument('--only', nargs='*', default=None, help='run these tests only; a verdict is kept where one of them fails')
    p.add_argument('--most', type=float, default=0, metavar='SECONDS',
                   help='a mutant that so many seconds of tests let live survives, whatever is left')
    p.add_argument('names', nargs='*', help='regular expressions of names; default: all')
    p = commands.add_parser('reached')
    p.add_argument('names', nargs='+')
    commands.add_parser('table')
    o = parser.parse_args()
    if o.command == 'draw':
        draw(o.count, o.seed)
    elif o.command == 'map':
        map_tests(o.minutes)
    elif o.command == 'run':
        sys.exit(run(o.minutes, o.names, o.again, o.only, o.most))
    elif o.command == 'reached':
        reached(o.names)
    else:
        table()


if __name__ == '__main__':
    main()
