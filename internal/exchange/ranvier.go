package exchange

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// ImportRanvier imports areas of the Ranvier engine: folders of YAML files with a manifest, rooms,
// npcs, items and quests. An area becomes a Realm, a room a Location within it. A room gets the
// exits that it lists and, as in the engine, exits to adjacent rooms on the area's grid. A door
// applies to the exits in both directions. An npc definition becomes a Character in each room that
// lists it; an item definition becomes one Item, held by rooms, containers and npcs. YAML anchors
// and merge keys are followed.
func ImportRanvier(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o Options) (Summary, error) {
	return importSource(ctx, c, g, "ranvier", o, func(s *source) error {
		x := &ranvierReader{s: s, rooms: map[string]*ranvierRoom{}, npcs: map[string]*ranvierNPC{},
			items: map[string]*ranvierItem{}, directions: usedDirections{}}
		if err := x.readAreas(files); err != nil {
			return err
		}
		return x.buildCards(ctx)
	})
}

// ranvierReader reads all areas before it makes cards, because areas refer to each other.
type ranvierReader struct {
	s     *source
	areas []*ranvierArea

	rooms      map[string]*ranvierRoom // by reference (area:id)
	npcs       map[string]*ranvierNPC
	items      map[string]*ranvierItem
	directions usedDirections
}

type ranvierArea struct {
	name, file string
	Title      string         `yaml:"title"`
	Rest       map[string]any `yaml:",inline"`

	sheet  *sheet
	rooms  []*ranvierRoom
	npcs   []*ranvierNPC
	items  []*ranvierItem
	quests []*ranvierQuest
}

// ranvierEntity holds the common members of rooms, npcs, items and quests.
type ranvierEntity struct {
	ID          string         `yaml:"id"`
	Title       string         `yaml:"title"`
	Name        string         `yaml:"name"`
	Description string         `yaml:"description"`
	Keywords    []string       `yaml:"keywords"`
	Rest        map[string]any `yaml:",inline"`

	ref   string // area:id
	file  string
	line  int
	sheet *sheet
}

type ranvierRoom struct {
	ranvierEntity `yaml:",inline"`
	Coordinates   []int                  `yaml:"coordinates"`
	NPCs          []placement            `yaml:"npcs"`
	Items         []placement            `yaml:"items"`
	Exits         []ranvierExit          `yaml:"exits"`
	Doors         map[string]ranvierDoor `yaml:"doors"`

	area *ranvierArea
}

type ranvierExit struct {
	Room      string `yaml:"roomId"`
	Direction string `yaml:"direction"`
	Leave     string `yaml:"leaveMessage"`
}

type ranvierDoor struct {
	Closed   bool   `yaml:"closed"`
	Locked   bool   `yaml:"locked"`
	LockedBy string `yaml:"lockedBy"`
}

type ranvierNPC struct {
	ranvierEntity `yaml:",inline"`
	Items         []placement `yaml:"items"`
	Quests        []string    `yaml:"quests"`
}

type ranvierItem struct {
	ranvierEntity `yaml:",inline"`
	RoomDesc      string      `yaml:"roomDesc"`
	Items         []placement `yaml:"items"`
	Meta          struct {
		NoPickup bool           `yaml:"noPickup"`
		Rest     map[string]any `yaml:",inline"`
	} `yaml:"metadata"`
}

type ranvierQuest struct {
	ranvierEntity `yaml:",inline"`
	Completion    string   `yaml:"completionMessage"`
	Requires      []string `yaml:"requires"`
}

// readAreas reads every folder with a manifest.
func (x *ranvierReader) readAreas(files fs.FS) error {
	var folders []string
	err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && p == ".":
			return x.s.emptyError("the folder cannot be read")
		case err != nil:
			x.s.addProblem(p, 0, "cannot be read; left out")
		case d.Type().IsRegular() && d.Name() == "manifest.yml":
			folders = append(folders, path.Dir(p))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, dir := range folders {
		x.readArea(files, dir)
	}
	if len(x.areas) == 0 {
		return x.s.emptyError("no folder holds the manifest.yml of an area")
	}
	return nil
}

// readArea reads one folder. The area has the folder's name.
func (x *ranvierReader) readArea(files fs.FS, dir string) {
	a := &ranvierArea{name: path.Base(dir), file: path.Join(dir, "manifest.yml")}
	if dir == "." {
		a.name = x.s.o.Label
	}
	if !x.readManifest(files, a) {
		return
	}
	x.areas = append(x.areas, a)
	for _, kind := range []struct {
		file string
		take func(*ranvierList)
	}{
		{"rooms.yml", func(l *ranvierList) { a.rooms = readEntities(l, x.rooms, a) }},
		{"npcs.yml", func(l *ranvierList) { a.npcs = readEntities(l, x.npcs, a) }},
		{"items.yml", func(l *ranvierList) { a.items = readEntities(l, x.items, a) }},
		{"quests.yml", func(l *ranvierList) { a.quests = readEntities(l, map[string]*ranvierQuest{}, a) }},
	} {
		if l := x.readList(files, path.Join(dir, kind.file)); l != nil {
			kind.take(l)
		}
	}
	for _, r := range a.rooms {
		r.area = a
	}
	if pools := path.Join(dir, "loot-pools.yml"); fileExists(files, pools) {
		x.s.addProblem(pools, 0, "what defeated foes leave behind is the engine's matter; left out")
	}
}

func fileExists(files fs.FS, name string) bool {
	_, err := fs.Stat(files, name)
	return err == nil
}

// colourTag matches the colour tags in the engine's texts.
var colourTag = regexp.MustCompile(`</?[a-z]+>`)

// stripColours removes the colour tags from a text.
func stripColours(text string) string { return strings.TrimSpace(colourTag.ReplaceAllString(text, "")) }

// displayName returns an entity's title or name, or its id if both are empty.
func (t *ranvierEntity) displayName() string {
	for _, name := range []string{t.Title, t.Name} {
		if recordName(stripColours(name)) != "" {
			return stripColours(name)
		}
	}
	return t.ID
}

// toRecord describes an entity as a card.
func (t *ranvierEntity) toRecord(kind, typ string, more map[string]any, blocks ...string) record {
	fields := map[string]any{"ranvier": withField(jsonMap(t.Rest), "ref", t.ref)}
	for k, v := range more {
		fields[k] = v
	}
	if len(t.Keywords) > 0 {
		fields["keywords"] = t.Keywords
	}
	area, id, _ := strings.Cut(t.ref, ":")
	text := append([]string{stripColours(t.Description)}, blocks...)
	return record{key: []string{kind, t.ref}, file: fmt.Sprintf("%s:%d", t.file, t.line), name: t.displayName(),
		suffixes: []string{area, area + " " + id},
		typ:      typ, codename: "ranvier-" + area + "-" + id, fields: fields,
		body: func(context.Context) string { return paragraphsHTML(text...) }}
}
