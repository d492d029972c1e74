package ranvier

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/lazyregexp"
)

// Import imports areas of the Ranvier engine: folders of YAML files with a manifest, rooms,
// npcs, items and quests. An area becomes a Realm, a room a Location within it. A room gets the
// exits that it lists and, as in the engine, exits to adjacent rooms on the area's grid. A door
// applies to the exits in both directions. An npc definition becomes a Character in each room that
// lists it; an item definition becomes one Item, held by rooms, containers and npcs. YAML anchors
// and merge keys are followed.
func Import(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o exchange.Options) (exchange.Summary,
	error) {
	return record.Import(ctx, c, g, "ranvier", o, func(s *record.Source) error {
		x := &reader{s: s, rooms: map[string]*room{}, npcs: map[string]*npc{},
			items: map[string]*item{}, directions: record.UsedDirections{}}
		if err := x.readAreas(files); err != nil {
			return err
		}
		return x.buildCards(ctx)
	})
}

// reader reads all areas before it makes cards, because areas refer to each other.
type reader struct {
	s     *record.Source
	areas []*area

	rooms      map[string]*room // by reference (area:id)
	npcs       map[string]*npc
	items      map[string]*item
	directions record.UsedDirections
}

type area struct {
	name, file string
	Title      string         `yaml:"title"`
	Rest       map[string]any `yaml:",inline"`

	sheet  *exchange.Sheet
	rooms  []*room
	npcs   []*npc
	items  []*item
	quests []*quest
}

// entity holds the common members of rooms, npcs, items and quests.
type entity struct {
	ID          string         `yaml:"id"`
	Title       string         `yaml:"title"`
	Name        string         `yaml:"name"`
	Description string         `yaml:"description"`
	Keywords    []string       `yaml:"keywords"`
	Rest        map[string]any `yaml:",inline"`

	ref   string // area:id
	file  string
	line  int
	sheet *exchange.Sheet
}

type room struct {
	entity      `yaml:",inline"`
	Coordinates []int           `yaml:"coordinates"`
	NPCs        []placement     `yaml:"npcs"`
	Items       []placement     `yaml:"items"`
	Exits       []exit          `yaml:"exits"`
	Doors       map[string]door `yaml:"doors"`

	area *area
}

type exit struct {
	Room      string `yaml:"roomId"`
	Direction string `yaml:"direction"`
	Leave     string `yaml:"leaveMessage"`
}

type door struct {
	Closed   bool   `yaml:"closed"`
	Locked   bool   `yaml:"locked"`
	LockedBy string `yaml:"lockedBy"`
}

type npc struct {
	entity `yaml:",inline"`
	Items  []placement `yaml:"items"`
	Quests []string    `yaml:"quests"`
}

type item struct {
	entity   `yaml:",inline"`
	RoomDesc string      `yaml:"roomDesc"`
	Items    []placement `yaml:"items"`
	Meta     struct {
		NoPickup bool           `yaml:"noPickup"`
		Rest     map[string]any `yaml:",inline"`
	} `yaml:"metadata"`
}

type quest struct {
	entity     `yaml:",inline"`
	Completion string   `yaml:"completionMessage"`
	Requires   []string `yaml:"requires"`
}

// readAreas reads every folder with a manifest.
func (x *reader) readAreas(files fs.FS) error {
	var folders []string
	err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && p == ".":
			return x.s.EmptyError("the folder cannot be read")
		case err != nil:
			x.s.AddProblem(p, 0, "cannot be read; left out")
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
		return x.s.EmptyError("no folder holds the manifest.yml of an area")
	}
	return nil
}

// readArea reads one folder. The area has the folder's name.
func (x *reader) readArea(files fs.FS, dir string) {
	a := &area{name: path.Base(dir), file: path.Join(dir, "manifest.yml")}
	if dir == "." {
		a.name = x.s.Options.Label
	}
	if !x.readManifest(files, a) {
		return
	}
	x.areas = append(x.areas, a)
	for _, kind := range []struct {
		file string
		take func(*list)
	}{
		{"rooms.yml", func(l *list) { a.rooms = readEntities(l, x.rooms, a) }},
		{"npcs.yml", func(l *list) { a.npcs = readEntities(l, x.npcs, a) }},
		{"items.yml", func(l *list) { a.items = readEntities(l, x.items, a) }},
		{"quests.yml", func(l *list) { a.quests = readEntities(l, map[string]*quest{}, a) }},
	} {
		if l := x.readList(files, path.Join(dir, kind.file)); l != nil {
			kind.take(l)
		}
	}
	for _, r := range a.rooms {
		r.area = a
	}
	if pools := path.Join(dir, "loot-pools.yml"); fileExists(files, pools) {
		x.s.AddProblem(pools, 0, "loot is not imported; left out")
	}
}

func fileExists(files fs.FS, name string) bool {
	_, err := fs.Stat(files, name)
	return err == nil
}

// colourTag matches the colour tags in the engine's texts.
var colourTag = lazyregexp.New(`</?[a-z]+>`)

// stripColours removes the colour tags from a text.
func stripColours(text string) string { return strings.TrimSpace(colourTag.ReplaceAllString(text, "")) }

// displayName returns an entity's title or name, or its id if both are empty.
func (t *entity) displayName() string {
	for _, name := range []string{t.Title, t.Name} {
		if record.CardName(stripColours(name)) != "" {
			return stripColours(name)
		}
	}
	return t.ID
}

// toRecord describes an entity as a card.
func (t *entity) toRecord(kind, typ string, more map[string]any, blocks ...string) record.Card {
	fields := map[string]any{"ranvier": record.WithField(jsonMap(t.Rest), "ref", t.ref)}
	for k, v := range more {
		fields[k] = v
	}
	if len(t.Keywords) > 0 {
		fields["keywords"] = t.Keywords
	}
	area, id, _ := strings.Cut(t.ref, ":")
	text := append([]string{stripColours(t.Description)}, blocks...)
	return record.Card{Key: []string{kind, t.ref}, File: fmt.Sprintf("%s:%d", t.file, t.line), Name: t.displayName(),
		Suffixes: []string{area, area + " " + id},
		Type:     typ, Codename: "ranvier-" + area + "-" + id, Fields: fields,
		Text:   record.Text(text...),
		Render: func(_ *exchange.Sheet, text string) string { return record.Paragraphs(text) }}
}
