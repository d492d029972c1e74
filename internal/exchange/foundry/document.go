package foundry

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
)

// document is a document with its embedded documents.
type document struct {
	collection string // journal, actors, items, scenes, tables, folders, adventures
	id         string
	file       string
	data       map[string]any
	kids       map[string][]*document // by the member that lists them
	sight      sight
	gone       bool // a later line of its file deletes it
}

// wanted are the collections that are read. Others hold passwords (users), keys (settings), programs
// (macros) or the state of a session.
var wanted = []string{"adventures", "folders", "journal", "actors", "items", "scenes", "tables"}

// embedded are the members of documents that hold other documents.
var embedded = []string{"pages", "items", "results", "notes", "tokens"}

// parts are the members of an adventure that hold whole documents, by collection.
var parts = map[string]string{"journal": "journal", "actors": "actors", "items": "items", "scenes": "scenes",
	"tables": "tables", "folders": "folders"}

// reader reads all documents of a source.
type reader struct {
	s       *record.Source
	files   fs.FS
	docs    []*document
	byKey   map[string]*document // by collection and id
	packs   map[string]string    // what the manifest grants to players, by the path of a pack
	world   string               // id of the world, "" for packs and exported files
	skipped map[string]int
	sheets  map[string]*exchange.Sheet // by id
	broken  int                        // number of links to documents that the source does not contain
}

// readSource reads every database and file of the source.
func (x *reader) readSource() {
	x.readManifests()
	dirs := map[string][]string{}
	names := []string{x.s.Options.File}
	if names[0] == "" {
		names = exchange.NewPeek(x.files, "").Paths()
	}
	for _, name := range names {
		dirs[path.Dir(name)] = append(dirs[path.Dir(name)], path.Base(name))
	}
	for _, dir := range decoded.SortedKeys(dirs) {
		if isLevelFolder(dirs[dir]) {
			x.readDatabase(dir)
			continue
		}
		for _, base := range dirs[dir] {
			name := path.Join(dir, base)
			switch path.Ext(base) {
			case ".db":
				x.readLines(name)
			case ".json":
				x.readJSON(name)
			}
		}
	}
	x.resolveKids()
}

// readManifests reads the id of a world, and what the manifest of a module or system grants.
func (x *reader) readManifests() {
	if m := x.readObject("world.json"); m != nil {
		x.world = decoded.TextOf(m["id"])
		if x.world == "" {
			x.world = decoded.TextOf(m["name"])
		}
	}
	for _, name := range []string{"module.json", "system.json", "world.json"} {
		for _, p := range decoded.ObjectsOf(x.readObject(name)["packs"]) {
			own, _ := p["ownership"].(map[string]any)
			at := strings.TrimPrefix(decoded.TextOf(p["path"]), "./")
			if at == "" {
				at = "packs/" + decoded.TextOf(p["name"])
			}
			x.packs[path.Clean(at)] = decoded.TextOf(own["PLAYER"])
		}
	}
}

// readObject returns the object in a JSON file, or nil.
func (x *reader) readObject(name string) map[string]any {
	if info, err := fs.Stat(x.files, name); err != nil || info.Size() > 1<<20 {
		return nil
	}
	data, err := fs.ReadFile(x.files, name)
	if err != nil {
		return nil
	}
	return decoded.ParseObject(string(bytes.TrimPrefix(data, []byte("\ufeff"))))
}

// isWorldData reports whether a path belongs to the data of the world and not to a pack.
func (x *reader) isWorldData(name string) bool {
	return x.world != "" && strings.HasPrefix(name, "data/")
}

// isWanted reports whether the collection of a database of the world is read.
func (x *reader) isWanted(collection string) bool {
	if slices.Contains(wanted, collection) {
		return true
	}
	x.skipped[collection]++
	return false
}

// readDatabase reads a LevelDB folder.
func (x *reader) readDatabase(dir string) {
	if x.isWorldData(dir) && !x.isWanted(path.Base(dir)) {
		return
	}
	pack := dir
	if dir == "." {
		pack = x.s.Options.Label
	}
	found := []*document{}
	recovered, err := readLevel(x.files, dir, func(key string, value []byte) error {
		rest, ok := strings.CutPrefix(key, "!")
		collection, id, ok2 := strings.Cut(rest, "!")
		if !ok || !ok2 || !slices.Contains(wanted, strings.Split(collection, ".")[0]) {
			x.skipped[strings.Split(collection, ".")[0]]++
			return nil
		}
		data := decoded.ParseObject(string(value))
		if data == nil {
			x.s.AddProblem(pack, 0, "the record %s is not JSON; left out", key)
			return nil
		}
		found = append(found, x.addDocument(collection, id, pack, data))
		return nil
	})
	if err != nil {
		x.s.AddProblem(pack, 0, "%s; records after the damaged part are left out", err)
	}
	if recovered {
		x.s.AddProblem(pack, 0, "has no list of its files and was recovered: deleted documents may have come back, "+
			"and parts may be missing")
		for _, d := range found {
			d.sight.recovered = true
		}
	}
	x.s.Files++
}

// addDocument adds a document, or replaces the one of the same key.
func (x *reader) addDocument(collection, id, file string, data map[string]any) *document {
	d := &document{collection: collection, id: id[strings.LastIndexByte(id, '.')+1:], file: file, data: data,
		kids: map[string][]*document{}}
	d.sight = sight{world: x.isWorldData(file), pack: x.packs[file]}
	if old := x.byKey[collection+"!"+id]; old != nil {
		*old = *d
		return old
	}
	x.byKey[collection+"!"+id] = d
	if !strings.Contains(collection, ".") {
		x.docs = append(x.docs, d)
	}
	return d
}

// readLines reads a file of version 10 and before: JSON lines, of which the last one of an id counts.
func (x *reader) readLines(name string) {
	collection := strings.TrimSuffix(path.Base(name), ".db")
	if x.isWorldData(name) && !x.isWanted(collection) {
		return
	}
	data, ok := x.s.ReadFile(x.files, name)
	if !ok {
		return
	}
	n, mine := 0, map[string][]*document{}
	for line := range strings.Lines(string(data)) {
		if n++; strings.TrimSpace(line) == "" {
			continue
		}
		m := decoded.ParseObject(line)
		id := decoded.TextOf(m["_id"])
		if id == "" {
			x.s.AddProblem(name, n, "is not a document; left out")
			continue
		}
		kind := collection
		if !slices.Contains(wanted, kind) {
			kind = guessCollection(name, m)
		}
		if m["$$deleted"] == true {
			for _, d := range mine[id] {
				d.gone = true
				delete(x.byKey, d.collection+"!"+id)
			}
			delete(mine, id)
			continue
		}
		if kind != "" {
			mine[id] = append(mine[id], x.addDocument(kind, id, name, m))
		}
	}
	x.docs = slices.DeleteFunc(x.docs, func(d *document) bool { return d.gone })
}

// readJSON reads a document that was exported or unpacked as JSON.
func (x *reader) readJSON(name string) {
	base := path.Base(name)
	if base == "world.json" || base == "module.json" || base == "system.json" || strings.Contains(name, "lang/") {
		return
	}
	data, ok := x.s.ReadFile(x.files, name)
	if !ok {
		return
	}
	m, err := exchange.DecodeObject(name, data)
	if err != nil {
		x.s.AddProblem(name, 0, "%s; left out", exchange.ErrorText(err))
		return
	}
	collection, id := guessCollection(name, m), decoded.TextOf(m["_id"])
	if id == "" {
		id = base
	}
	switch {
	case m == nil || collection == "":
		x.s.AddProblem(name, 0, "is not a document of Foundry; left out")
	case !slices.Contains(wanted, collection):
		x.skipped[collection]++
	default:
		x.addDocument(collection, id, name, m)
	}
}

// fileKinds are the words in the names of exported files, by collection.
var fileKinds = map[string]string{"fvtt-Actor-": "actors", "fvtt-Item-": "items", "fvtt-JournalEntry-": "journal",
	"fvtt-Scene-": "scenes", "fvtt-RollTable-": "tables", "fvtt-Adventure-": "adventures", "fvtt-Macro-": "macros",
	"fvtt-Playlist-": "playlists", "fvtt-Cards-": "cards"}

// guessCollection returns the collection of a document by its key, its file's name or its members.
func guessCollection(name string, m map[string]any) string {
	if rest, ok := strings.CutPrefix(decoded.TextOf(m["_key"]), "!"); ok {
		collection, _, _ := strings.Cut(rest, "!")
		return collection
	}
	for word, collection := range fileKinds {
		if strings.HasPrefix(path.Base(name), word) {
			return collection
		}
	}
	has := func(k string) bool { return m[k] != nil }
	switch {
	case m["name"] == nil:
		return ""
	case has("journal") && has("scenes"):
		return "adventures"
	case has("pages"), has("content") && has("permission"):
		return "journal"
	case has("results") && has("formula"):
		return "tables"
	case has("tokens") || has("walls"):
		return "scenes"
	case has("prototypeToken") || has("token"):
		return "actors"
	case (has("system") || has("data")) && has("type") && has("img"):
		return "items"
	}
	return ""
}

// resolveKids finds the embedded documents: by their ids in a database, or as objects in a list. It then
// adds the documents of adventures.
func (x *reader) resolveKids() {
	all := slices.Clone(x.docs)
	for i := 0; i < len(all); i++ {
		d := all[i]
		for _, member := range embedded {
			for _, v := range listOf(d.data[member]) {
				if kid := x.kidOf(d, member, v); kid != nil {
					d.kids[member] = append(d.kids[member], kid)
				}
			}
			slices.SortStableFunc(d.kids[member], func(a,
				b *document) int {
				return decoded.IntOf(a.data["sort"]) - decoded.IntOf(b.data["sort"])
			})
		}
		if d.collection == "adventures" {
			for _, member := range decoded.SortedKeys(parts) {
				for _, m := range decoded.ObjectsOf(d.data[member]) {
					if id := decoded.TextOf(m["_id"]); id != "" && x.byKey[parts[member]+"!"+id] == nil {
						inner := x.addDocument(parts[member], id, d.file, m)
						inner.sight = sight{pack: d.sight.pack, recovered: d.sight.recovered}
						all = append(all, inner)
					}
				}
			}
		}
	}
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

// kidOf returns one embedded document.
func (x *reader) kidOf(d *document, member string, v any) *document {
	if m, ok := v.(map[string]any); ok {
		return &document{collection: member, id: decoded.TextOf(m["_id"]), file: d.file, data: m, sight: d.sight}
	}
	return x.byKey[d.collection+"."+member+"!"+d.id+"."+decoded.TextOf(v)]
}

// at returns the value at a path of members.
func at(m map[string]any, dotted string) any {
	var v any = m
	for _, member := range strings.Split(dotted, ".") {
		inner, _ := v.(map[string]any)
		v = inner[member]
	}
	return v
}

// textAt returns the text at a path of members, or "".
func textAt(m map[string]any, dotted string) string {
	s, _ := at(m, dotted).(string)
	return s
}
