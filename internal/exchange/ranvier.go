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

// ImportRanvier brings in areas of the Ranvier engine: folders of YAML with a manifest,
// rooms, npcs, items and quests. An area becomes a Realm, a room a Location within it.
// Exits are those written and, as in the engine, those to rooms that lie side by side on
// the area's grid; a door is on both of its ways. A kind of npc becomes a Character in
// each room that it is placed in, a kind of item one Item that rooms, containers and npcs
// hold. YAML anchors and merge keys are followed.
func ImportRanvier(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o SourceOptions) (Summary, error) {
	return importSource(ctx, c, g, "ranvier", o, func(s *source) error {
		x := &ranvier{s: s, rooms: map[string]*ranvierRoom{}, npcs: map[string]*ranvierNPC{}, items: map[string]*ranvierItem{}, ways: ways{}}
		if err := x.read(files); err != nil {
			return err
		}
		return x.build(ctx)
	})
}

// ranvier gathers areas, and then makes cards of them: what is in one refers to others.
type ranvier struct {
	s     *source
	areas []*ranvierArea

	rooms map[string]*ranvierRoom // by reference: area:id
	npcs  map[string]*ranvierNPC
	items map[string]*ranvierItem
	ways  ways
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

// ranvierThing is what rooms, npcs, items and quests have in common.
type ranvierThing struct {
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
	ranvierThing `yaml:",inline"`
	Coordinates  []int                  `yaml:"coordinates"`
	NPCs         []placing              `yaml:"npcs"`
	Items        []placing              `yaml:"items"`
	Exits        []ranvierExit          `yaml:"exits"`
	Doors        map[string]ranvierDoor `yaml:"doors"`

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
	ranvierThing `yaml:",inline"`
	Items        []placing `yaml:"items"`
	Quests       []string  `yaml:"quests"`
}

type ranvierItem struct {
	ranvierThing `yaml:",inline"`
	RoomDesc     string    `yaml:"roomDesc"`
	Items        []placing `yaml:"items"`
	Meta         struct {
		NoPickup bool           `yaml:"noPickup"`
		Rest     map[string]any `yaml:",inline"`
	} `yaml:"metadata"`
}

type ranvierQuest struct {
	ranvierThing `yaml:",inline"`
	Completion   string   `yaml:"completionMessage"`
	Requires     []string `yaml:"requires"`
}

// read reads every folder that holds a manifest.
func (x *ranvier) read(files fs.FS) error {
	var folders []string
	err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && p == ".":
			return x.s.none("the folder cannot be read")
		case err != nil:
			x.s.c.problem(p, 0, "cannot be read; left out")
		case d.Type().IsRegular() && d.Name() == "manifest.yml":
			folders = append(folders, path.Dir(p))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, dir := range folders {
		x.area(files, dir)
	}
	if len(x.areas) == 0 {
		return x.s.none("no folder holds the manifest.yml of an area")
	}
	return nil
}

// area reads one folder. The area is called what the folder is.
func (x *ranvier) area(files fs.FS, dir string) {
	a := &ranvierArea{name: path.Base(dir), file: path.Join(dir, "manifest.yml")}
	if dir == "." {
		a.name = x.s.o.Label
	}
	if !x.manifest(files, a) {
		return
	}
	x.areas = append(x.areas, a)
	for _, kind := range []struct {
		file string
		take func(*ranvierList)
	}{
		{"rooms.yml", func(l *ranvierList) { a.rooms = readThings(l, x.rooms, a) }},
		{"npcs.yml", func(l *ranvierList) { a.npcs = readThings(l, x.npcs, a) }},
		{"items.yml", func(l *ranvierList) { a.items = readThings(l, x.items, a) }},
		{"quests.yml", func(l *ranvierList) { a.quests = readThings(l, map[string]*ranvierQuest{}, a) }},
	} {
		if l := x.list(files, path.Join(dir, kind.file)); l != nil {
			kind.take(l)
		}
	}
	for _, r := range a.rooms {
		r.area = a
	}
	if pools := path.Join(dir, "loot-pools.yml"); exists(files, pools) {
		x.s.c.problem(pools, 0, "what defeated foes leave behind is the engine's matter; left out")
	}
}

func exists(files fs.FS, name string) bool {
	_, err := fs.Stat(files, name)
	return err == nil
}

// engineMarkup is how the engine's texts are coloured.
var engineMarkup = regexp.MustCompile(`</?[a-z]+>`)

// plain is a text without colours.
func plain(text string) string { return strings.TrimSpace(engineMarkup.ReplaceAllString(text, "")) }

// called is what a thing is called.
func (t *ranvierThing) called() string {
	for _, name := range []string{t.Title, t.Name} {
		if recordName(plain(name)) != "" {
			return plain(name)
		}
	}
	return t.ID
}

// record describes a thing as a card.
func (t *ranvierThing) record(kind, typ string, more map[string]any, blocks ...string) record {
	fields := map[string]any{"ranvier": with(jsonable(t.Rest), "ref", t.ref)}
	for k, v := range more {
		fields[k] = v
	}
	if len(t.Keywords) > 0 {
		fields["keywords"] = t.Keywords
	}
	area, id, _ := strings.Cut(t.ref, ":")
	text := append([]string{plain(t.Description)}, blocks...)
	return record{key: []string{kind, t.ref}, file: fmt.Sprintf("%s:%d", t.file, t.line), name: t.called(), or: []string{area, area + " " + id},
		typ: typ, codename: "ranvier-" + area + "-" + id, fields: fields, body: func(context.Context) string { return paragraphs(text...) }}
}
