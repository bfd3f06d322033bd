"""A catalog by sqlite3, zlib and libzstd alone, as docs/reference/catalog.md describes it.

    catalog.py check FILE LIST    what LIST says must stand in FILE; what differs is printed, exit 1
    catalog.py write FILE LIST    put what LIST says into the rows that are there

Lines of LIST:  number TABLE KEY ID COLUMN VALUE
                text   TABLE KEY ID COLUMN VALUE
                blob   TABLE KEY ID KIND BYTES_OF_AN_ELEMENT FILE_OF_RAW_VALUES
where KEY is the column that names the row.
"""
import ctypes
import sqlite3
import sys
import zlib


def zstd():
    lib = ctypes.CDLL('libzstd.so.1')
    for name in ('ZSTD_compress', 'ZSTD_decompress', 'ZSTD_compressBound'):
        getattr(lib, name).restype = ctypes.c_size_t
    return lib


def unpack(data, raw_bytes, width):
    raw = ctypes.create_string_buffer(raw_bytes)
    size = zstd().ZSTD_decompress(raw, ctypes.c_size_t(raw_bytes), data, ctypes.c_size_t(len(data)))
    assert size == raw_bytes, 'not a zstd frame of %d bytes' % raw_bytes
    count, mixed = raw_bytes // width, raw.raw
    return b''.join(bytes(mixed[b * count + i] for b in range(width)) for i in range(count))


def pack(raw, width):
    mixed = b''.join(raw[b::width] for b in range(width))
    bound = zstd().ZSTD_compressBound(ctypes.c_size_t(len(mixed)))
    data = ctypes.create_string_buffer(bound)
    size = zstd().ZSTD_compress(data, ctypes.c_size_t(bound), mixed, ctypes.c_size_t(len(mixed)), 5)
    return data.raw[:size]


def entries(path):
    for line in open(path):
        kind, table, key, number, rest = line.rstrip('\n').split(' ', 4)
        yield kind, table, key, int(number), rest


def check(path, wanted):
    base, wrong = sqlite3.connect('file:%s?mode=ro' % path, uri=True), []
    for kind, table, key, number, rest in entries(wanted):
        if kind == 'blob':
            name, width, file = rest.split(' ')
            raw = open(file, 'rb').read()
            rows = base.execute('SELECT part, raw_bytes, crc32, data FROM %s WHERE %s = ? AND kind = ?'
                                % (table, key), (number, name)).fetchall()
            if len(rows) != 1 or rows[0][0] != 0 or rows[0][1] != len(raw):
                wrong.append('%s %s: parts and sizes are %s' % (table, name, [r[:2] for r in rows]))
            elif unpack(rows[0][3], rows[0][1], int(width)) != raw or zlib.crc32(raw) != rows[0][2]:
                wrong.append('%s %s: other values or another CRC' % (table, name))
            continue
        column, value = rest.split(' ', 1)
        found = base.execute('SELECT %s FROM %s WHERE %s = ?' % (column, table, key), (number,)).fetchone()
        found = found and found[0]
        same = found == value if kind == 'text' else found == float(value)
        if not same:
            wrong.append('%s.%s is %r, not %s' % (table, column, found, value))
    print('\n'.join(wrong))
    return 1 if wrong else 0


def write(path, wanted):
    base = sqlite3.connect(path)
    for kind, table, key, number, rest in entries(wanted):
        if kind == 'blob':
            name, width, file = rest.split(' ')
            raw = open(file, 'rb').read()
            done = base.execute('UPDATE %s SET raw_bytes = ?, crc32 = ?, data = ? WHERE %s = ? AND kind = ?'
                                % (table, key), (len(raw), zlib.crc32(raw), pack(raw, int(width)), number, name))
        else:
            column, value = rest.split(' ', 1)
            done = base.execute('UPDATE %s SET %s = ? WHERE %s = ?' % (table, column, key),
                                (value if kind == 'text' else float(value), number))
        assert done.rowcount == 1, rest
    base.commit()
    return 0


if __name__ == '__main__':
    sys.exit({'check': check, 'write': write}[sys.argv[1]](*sys.argv[2:]))
