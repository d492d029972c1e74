package mapgen

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/exchange/unpack"
	"loregate/internal/fault"
)

// maxMap is the maximum size of a map without gzip and base64, in bytes.
const maxMap = 256 << 20

// azgaarMap is a map of any version and form.
type azgaarMap struct {
	file, version, id, name string
	unit                    string  // of distance
	scale                   float64 // units for one pixel
	people                  float64 // inhabitants for one point of population

	states, provinces, cultures, religions, burgs, rivers, markers, routes, notes []map[string]any
	noteByID                                                                      map[string]map[string]any
	provinceAt                                                                    func(cell int) int // 0 if unknown
	svg                                                                           []byte
	options                                                                       map[string]any // of the program
}

// The records of a .map file that are read. The first number is the line.
const (
	recordHead      = 0
	recordSettings  = 1
	recordNotes     = 4
	recordPicture   = 5
	recordCultures  = 13
	recordStates    = 14
	recordBurgs     = 15
	recordProvince  = 27 // of each cell
	recordReligions = 29
	recordProvinces = 30
	recordRivers    = 32
	recordMarkers   = 35
	recordRoutes    = 37 // from version 1.99 on
	fewestRecords   = 31
)

// ImportAzgaar imports maps of Azgaar's Fantasy Map Generator: .map files, also in gzip or base64, the
// full JSON export, and folders with the lists states.json and burgs.json.
func ImportAzgaar(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o exchange.Options) (exchange.Summary, error) {
	return record.Import(ctx, c, g, "azgaar", o, func(s *record.Source) error {
		p := exchange.NewPeek(files, o.File)
		if hasLists(p) {
			return importAzgaarMap(ctx, s, readLists(s, files, p))
		}
		for _, name := range p.WithSuffix(".map", ".gz", ".json", ".txt") {
			data, ok := s.ReadBytes(files, name)
			if !ok {
				continue
			}
			m, err := parseAzgaar(name, data)
			if err != nil && (o.File != "" || len(p.Paths()) == 1) {
				return err
			}
			if err != nil {
				s.AddProblem(name, 0, "%s; left out", err)
				continue
			}
			if err := importAzgaarMap(ctx, s, m); err != nil {
				return err
			}
		}
		if !s.HasCards() {
			return s.EmptyError("no file is a map of Azgaar's generator")
		}
		return nil
	})
}

// parseAzgaar reads a .map file or a full JSON export.
func parseAzgaar(name string, data []byte) (*azgaarMap, error) {
	data, err := unpack.Decode(data, maxMap)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) > 0 && bytes.TrimSpace(data)[0] == '{' {
		return parseAzgaarJSON(name, data)
	}
	return parseAzgaarRecords(name, data)
}

// parseAzgaarRecords reads a .map file. The picture contains line ends of its own, and editors change
// those of the file, so the picture is cut out first.
func parseAzgaarRecords(name string, data []byte) (*azgaarMap, error) {
	var svg []byte
	if from, to := bytes.Index(data, []byte("<svg")), bytes.LastIndex(data, []byte("</svg>")); from >= 0 && to > from {
		svg = data[from : to+len("</svg>")]
		data = append(append([]byte{}, data[:from]...), data[to+len("</svg>"):]...)
	}
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if len(lines) < fewestRecords || !strings.Contains(lines[recordHead], "|") {
		return nil, fault.New(fault.Invalid, "%s is not a map of Azgaar's generator, or is cut off", path.Base(name))
	}
	m := &azgaarMap{file: name, svg: svg, people: 1000, scale: 1}
	head := strings.Split(lines[recordHead], "|")
	m.version = head[0]
	m.id = head[len(head)-1]
	m.readSettings(lines[recordSettings])
	for _, r := range []struct {
		record int
		list   *[]map[string]any
	}{{recordNotes, &m.notes}, {recordCultures, &m.cultures}, {recordStates, &m.states}, {recordBurgs, &m.burgs},
		{recordReligions, &m.religions}, {recordProvinces, &m.provinces}, {recordRivers, &m.rivers},
		{recordMarkers, &m.markers}, {recordRoutes, &m.routes}} {
		if r.record >= len(lines) || strings.TrimSpace(lines[r.record]) == "" {
			continue
		}
		list, ok := parseList(lines[r.record])
		if !ok {
			return nil, fault.New(fault.Invalid, "%s: record %d of the map is not a list; the file is damaged",
				path.Base(name), r.record)
		}
		*r.list = list
	}
	if recordProvince < len(lines) {
		cells := strings.Split(lines[recordProvince], ",")
		m.provinceAt = func(cell int) int {
			if cell < 0 || cell >= len(cells) {
				return 0
			}
			n, _ := strconv.Atoi(cells[cell]) // not a number: no province
			return n
		}
	}
	return m, nil
}

// parseList returns the objects of a list that exist: item 0 is a placeholder, and removed items stay.
func parseList(text string) (list []map[string]any, ok bool) {
	v, _ := exchange.DecodeValue("a list of the map", []byte(text)) // an error leaves v without a list
	all, ok := v.([]any)
	return livingOf(all), ok
}

func livingOf(all []any) (list []map[string]any) {
	for _, v := range all {
		if m, ok := v.(map[string]any); ok && len(m) > 0 && m["removed"] != true {
			list = append(list, m)
		}
	}
	return list
}

// readSettings reads the unit and scale of distances, the scale of the population and the name.
func (m *azgaarMap) readSettings(line string) {
	fields := strings.Split(line, "|")
	m.unit = fields[0]
	if len(fields) > 1 {
		if f, err := strconv.ParseFloat(fields[1], 64); err == nil && f > 0 {
			m.scale = f
		}
	}
	if len(fields) > 12 {
		if f, err := strconv.ParseFloat(fields[12], 64); err == nil && f > 0 {
			m.people = f
		}
	}
	for i, f := range fields {
		if strings.HasPrefix(f, "{") && i+1 < len(fields) {
			m.options = decoded.ParseObject(f)
			m.name = strings.TrimSpace(fields[i+1])
			return
		}
	}
}

// parseAzgaarJSON reads the full JSON export.
func parseAzgaarJSON(name string, data []byte) (*azgaarMap, error) {
	all, err := exchange.DecodeObject(path.Base(name), data)
	if err != nil {
		return nil, err
	}
	pack, _ := all["pack"].(map[string]any)
	if pack == nil {
		return nil, fault.New(fault.Invalid, "%s is not a full JSON export of Azgaar's generator: it has no member pack",
			path.Base(name))
	}
	info, _ := all["info"].(map[string]any)
	settings, _ := all["settings"].(map[string]any)
	m := &azgaarMap{file: name, version: decoded.TextOf(info["version"]), id: decoded.TextOf(info["mapId"]),
		name: decoded.TextOf(info["mapName"]), unit: decoded.TextOf(settings["distanceUnit"]), scale: 1, people: 1000}
	m.options, _ = settings["options"].(map[string]any)
	if f := decoded.FloatOf(settings["distanceScale"]); f > 0 {
		m.scale = f
	}
	if f := decoded.FloatOf(settings["populationRate"]); f > 0 {
		m.people = f
	}
	for member, list := range map[string]*[]map[string]any{"cultures": &m.cultures, "states": &m.states,
		"burgs":     &m.burgs,
		"religions": &m.religions, "provinces": &m.provinces, "rivers": &m.rivers, "markers": &m.markers,
		"routes": &m.routes} {
		all, _ := pack[member].([]any)
		*list = livingOf(all)
	}
	notes, _ := all["notes"].([]any)
	m.notes = livingOf(notes)
	cells, _ := pack["cells"].([]any)
	m.provinceAt = func(cell int) int {
		if cell < 0 || cell >= len(cells) {
			return 0
		}
		c, _ := cells[cell].(map[string]any)
		return int(decoded.FloatOf(c["province"]))
	}
	return m, nil
}

// lists are the files of a folder with one list each.
var lists = []string{"states.json", "provinces.json", "cultures.json", "religions.json", "burgs.json"}

func hasLists(p *exchange.Peek) bool {
	return len(p.WithSuffix("burgs.json")) == 1 && len(p.WithSuffix("states.json")) == 1
}

// readLists reads a folder with one file for each list.
func readLists(s *record.Source, files fs.FS, p *exchange.Peek) *azgaarMap {
	m := &azgaarMap{file: s.Options.Label, name: s.Options.Label, scale: 1, people: 1000}
	for i, list := range []*[]map[string]any{&m.states, &m.provinces, &m.cultures, &m.religions, &m.burgs} {
		for _, name := range p.WithSuffix(lists[i]) {
			if data, ok := s.ReadFile(files, name); ok {
				if *list, ok = parseList(string(data)); !ok {
					s.AddProblem(name, 0, "is not a list; left out")
				}
			}
		}
	}
	return m
}

// kilometres returns the length of a distance on the map, which is in pixels.
func (m *azgaarMap) kilometres(pixels float64) float64 {
	unit := map[string]float64{"mi": 1.609344, "km": 1, "lg": 4.828, "vr": 1.0668, "nmi": 1.852, "nlg": 5.556}[m.unit]
	if unit == 0 {
		unit = 1
	}
	return pixels * m.scale * unit
}

// title returns the name of the map.
func (m *azgaarMap) title() string {
	if m.name != "" {
		return m.name
	}
	return strings.TrimSuffix(path.Base(m.file), path.Ext(m.file))
}

// indexNotes lets noteFor find the notes by their ids. Of several notes with one id the first counts.
func (m *azgaarMap) indexNotes() {
	m.noteByID = map[string]map[string]any{}
	for _, n := range slices.Backward(m.notes) {
		if id, ok := n["id"].(string); ok {
			m.noteByID[id] = n
		}
	}
}

// noteFor returns the text of a note, by the kind and number of the thing that it describes.
func (m *azgaarMap) noteFor(kind string, i int) (name, text string) {
	n := m.noteByID[fmt.Sprintf("%s%d", kind, i)]
	text, _ = n["legend"].(string)
	return decoded.TextOf(n["name"]), text
}
