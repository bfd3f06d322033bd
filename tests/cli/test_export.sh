#!/usr/bin/env bash
# Surfaces, level sets and a run, read back by others: VTK's own reader where python3-vtk9 is
# installed, else the XML in front of the raw data by Python's parser.
# sanitized: writes every format
set -u
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0
fail() { echo "FAILED: $*"; bad=1; }
good() { "$@" >out.txt 2>err.txt || { fail "should work: $*"; cat err.txt; }; }
python=python3
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import vtkmodules.vtkIOXML' 2>/dev/null && { python=$candidate; break; }
done

cat >check.py <<'END'
import math, struct, sys, xml.etree.ElementTree as tree
try:
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLImageDataReader
    from vtkmodules.vtkFiltersCore import vtkMassProperties, vtkFeatureEdges
    vtk = True
except ImportError:
    vtk = False

def head(path):
    text = open(path, 'rb').read()
    cut = text.find(b'<AppendedData')
    if cut >= 0:
        assert text.rstrip().endswith(b'</AppendedData>\n</VTKFile>'), path
        text = text[:cut] + b'</VTKFile>'
    return tree.fromstring(text)

def read(path):
    root = head(path)
    if not vtk:
        return root, None
    reader = (vtkXMLImageDataReader if path.endswith('.vti') else vtkXMLPolyDataReader)()
    reader.SetFileName(path)
    reader.Update()
    assert reader.GetErrorCode() == 0, path
    return root, reader.GetOutput()

def stl_volume(path):
    data = open(path, 'rb').read()
    count = struct.unpack('<I', data[80:84])[0]
    assert len(data) == 84 + 50 * count, path
    volume, area, edges = 0, 0, {}
    for t in range(count):
        f = struct.unpack('<12f', data[84 + 50 * t:132 + 50 * t])
        a, b, c = f[3:6], f[6:9], f[9:12]
        n = [(b[(i+1)%3]-a[(i+1)%3])*(c[(i+2)%3]-a[(i+2)%3]) - (b[(i+2)%3]-a[(i+2)%3])*(c[(i+1)%3]-a[(i+1)%3]) for i in range(3)]
        volume += sum(a[i] * n[i] for i in range(3)) / 6
        area += math.sqrt(sum(x * x for x in n)) / 2
        for p, q in ((a, b), (b, c), (c, a)):
            edges[p, q] = edges.get((p, q), 0) + 1
    for (p, q), n in edges.items():
        assert p == q or (n == edges.get((q, p), 0)), 'open edge in ' + path
    return volume, area

def near(a, b, tolerance, what):
    assert abs(a - b) <= tolerance * abs(b), '%s: %r, not %r' % (what, a, b)

def grain():
    R = 10 * 0.1  # mm
    volume, area = stl_volume('g.stl')
    near(volume, 4 / 3 * math.pi * R**3, 1e-3, 'STL volume in mm3')
    near(area, 4 * math.pi * R**2, 5e-3, 'STL area in mm2')
    root, poly = read('g.vtp')
    assert root.get('type') == 'PolyData'
    if poly:
        mass = vtkMassProperties(); mass.SetInputData(poly); mass.Update()
        near(mass.GetVolume(), 4 / 3 * math.pi * (1e-3)**3, 1e-3, 'VTP volume in m3')
        edges = vtkFeatureEdges(); edges.SetInputData(poly); edges.FeatureEdgesOff(); edges.Update()
        assert edges.GetOutput().GetNumberOfCells() == 0, 'open or non-manifold edges'
    root, image = read('g.vti')
    assert root.find('ImageData').get('WholeExtent') == '0 26 0 26 0 26'
    if image:
        phi = image.GetPointData().GetArray('phi_m')
        near(phi.GetTuple1(image.FindPoint(0, 0, 0)), -1e-3, 1e-6, 'phi in the centre')
        near(phi.GetTuple1(image.FindPoint(1.3e-3, 0, 0)), 0.3e-3, 1e-5, 'phi outside, x fastest')

def walls(folder):
    sets = tree.parse(folder + '/walls.pvd').getroot().findall('Collection/DataSet')
    assert [float(s.get('timestep')) for s in sets] == [0, 0.25, 0.5]
    for at, s in enumerate(sets):
        root, poly = read(folder + '/' + s.get('file'))
        assert root.find('PolyData/Piece').get('NumberOfPolys') == ('0' if at == 2 else '12')
        if poly and at < 2:
            x = poly.GetBounds()
            near(x[0], 29.5, 1e-12, 'west side of the gate')
            near(x[5], 2 + 0.1 * at, 1e-12, 'top of the gate')
            mass = vtkMassProperties(); mass.SetInputData(poly); mass.Update()
            near(mass.GetVolume(), 8, 1e-9, 'volume of the gate')
            assert poly.GetCellData().GetArray('wall').GetTuple1(0) == 0

def run(folder, surfaces):
    walls(folder)
    sets = tree.parse(folder + '/grains.pvd').getroot().findall('Collection/DataSet')
    assert [float(s.get('timestep')) for s in sets] == [0, 0.25, 0.5]
    for at, s in enumerate(sets):
        root, poly = read(folder + '/' + s.get('file'))
        piece = root.find('PolyData/Piece')
        assert (int(piece.get('NumberOfPolys')) > 100) == surfaces
        if not poly:
            continue
        near(poly.GetFieldData().GetArray('TimeValue').GetTuple1(0) + 1, 0.25 * at + 1, 1e-12, 'time')
        data = poly.GetCellData() if surfaces else poly.GetPointData()
        near(data.GetArray('speed_m_s').GetTuple1(0), math.sqrt(2), 1e-12, 'speed')
        if surfaces:
            x = poly.GetBounds()
            near(x[0], 10 + 0.25 * at - 0.5, 1e-2, 'left end')
            near(x[1], 22 + 0.25 * at + 0.5, 1e-2, 'right end')
        else:
            assert poly.GetNumberOfPoints() == 4 and poly.GetNumberOfVerts() == 4
            near(poly.GetPoint(3)[0], 22 + 0.25 * at, 1e-12, 'x of grain 3')
            assert [data.GetArray('id').GetTuple1(i) for i in range(4)] == [0, 1, 2, 3]
            near(data.GetArray('radius_m').GetTuple1(2), 0.5, 1e-6, 'radius')
    root, ground = read(folder + '/terrain.vtp')
    assert root.find('PolyData/Piece').get('NumberOfPolys') == '3200'
    if ground:
        height = ground.GetPointData().GetArray('elevation_m')
        near(height.GetTuple1(0), 1020, 1e-9, 'elevation at the south-west corner')
        near(height.GetTuple1(40), 980, 1e-9, 'elevation at the south-east corner')

grain() if sys.argv[1] == 'grain' else run(sys.argv[2], sys.argv[3] == 'surfaces')
END

# a sphere of radius 10 cells of 0.1 mm, by its closed form
awk -v R=10 'BEGIN {
  pi = 3.14159265358979; n = 27; c = 13; V = 4 / 3 * pi * R ^ 3
  printf "%.15g\n%.15g %.15g %.15g\n%g %g %g\n60\n", V, .4 * V * R * R, .4 * V * R * R, .4 * V * R * R, c, c, c
  for (i = 0; i < 60; i++) {z = -1 + (2 * i + 1) / 60; r = sqrt(1 - z * z); t = 2.399963 * i
    printf "%s%.9g %.9g %.9g", i ? " " : "", R * r * cos(t), R * r * sin(t), R * z}
  printf "\n%.15g\n%d %d %d\n", R * 1.001, n, n, n
  for (k = 0; k < n; k++) for (j = 0; j < n; j++) for (i = 0; i < n; i++)
    printf "%s%.9g", i + j + k ? " " : "", sqrt((i - c) ^ 2 + (j - c) ^ 2 + (k - c) ^ 2) - R
  print ""}' >sphere.txt
good "$BIN/talus-catalog" import c.tals sphere.txt --sample=s --spacing-um=100
good "$BIN/talus-catalog" export c.tals --grain=1 --format=stl -o g.stl
good "$BIN/talus-catalog" export c.tals --grain=1 --format=vtp -o g.vtp
good "$BIN/talus-catalog" export c.tals --grain=1 --format=vti -o g.vti
good "$python" check.py grain

# a run of four grains on a slope, written by the unit test of the measures
TALUS_KEEP_RUN=$dir/run good "$TESTBIN/test_measure"
good "$BIN/talus-export" run -o points
good "$python" check.py run points points
good "$BIN/talus-export" run -o surfaces --surfaces --cells=12
good "$python" check.py run surfaces surfaces
"$BIN/talus-export" run -o points >out.txt 2>err.txt
[ $? = 2 ] && grep -q -- --overwrite err.txt || fail "exported over an export"
good "$BIN/talus-export" run -o points --overwrite
"$BIN/talus-export" nowhere -o x >out.txt 2>err.txt
[ $? = 1 ] && grep -q nowhere/run.h5 err.txt || { fail "a run that is not there"; cat err.txt; }
[ ! -e x ] || fail "a folder for nothing"
exit $bad
