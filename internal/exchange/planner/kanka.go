package planner

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"io/fs"
	"path"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/lazyregexp"
	"loregate/internal/secrecy"
)

// Rules of Kanka that hide.
const (
	rulePrivate    = "is_private"
	ruleVisibility = "visibility"
	ruleRoles      = "permissions of roles are not exported"
	publicEntities = "public entities"
)

// kankaPublic are the visibilities that players have: 1 is all, 5 the members of the campaign.
var kankaPublic = []int{1, 5}

// kanka is the import of one export.
type kanka struct {
	*book
	files      fs.FS
	children   map[string]string // id of an entity, by module and id of the child model
	later      []func()          // links, added when all pages are known
	first      string            // id of the calendar that dates the timeline, as a child model
	happenings []kankaHappening
}

// ImportKanka imports the export of a campaign of Kanka: a zip file of JSON files, one for each entity.
func ImportKanka(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o exchange.Options) (exchange.Summary, error) {
	x := &kanka{book: newBook(nil), files: files, children: map[string]string{}}
	return record.Walk{Format: "kanka", Suffixes: []string{".json"}, Empty: "no file holds an entity of Kanka",
		Open: func(s *record.Source, files fs.FS, name string) ([]byte, bool) {
			if module := path.Base(path.Dir(name)); module == "settings" || module == "gallery" {
				return nil, false
			}
			return s.ReadFile(files, name)
		},
		Add: func(_ context.Context, s *record.Source, name string, data []byte) error {
			x.s = s
			m, err := exchange.DecodeObject(name, data)
			switch {
			case err != nil:
				return err
			case path.Base(name) == "campaign.json":
				if id := decoded.TextOf(m["id"]); id != "" {
					s.Relabel("campaign " + id)
				}
			case m["entity"] != nil:
				x.addEntity(name, path.Base(path.Dir(name)), m)
			case path.Base(name) != "info.json":
				s.AddProblem(name, 0, "is not an entity; left out")
			}
			return nil
		},
		Finish: func(ctx context.Context, _ *record.Source) error {
			if err := x.write(ctx); err != nil {
				return err
			}
			for _, add := range x.later {
				add()
			}
			if err := x.addHappenings(ctx); err != nil {
				return err
			}
			return x.addPictures(ctx)
		}}.Import(ctx, c, g, files, o)
}

// kankaMention matches mentions such as [character:12|the ferrywoman].
var kankaMention = lazyregexp.New(`\[([a-z_]+):(\d+)(?:\|([^\]]*))?\]`)

func kankaText(v any) string {
	text, _ := v.(string)
	return kankaMention.ReplaceAllStringFunc(text, func(m string) string {
		parts := kankaMention.FindStringSubmatch(m)
		label, _, _ := strings.Cut(parts[3], "|")
		return mark(parts[2], label)
	})
}

// addEntity adds an entity with its posts.
func (x *kanka) addEntity(file, module string, m map[string]any) {
	e, _ := m["entity"].(map[string]any)
	id := decoded.TextOf(e["id"])
	if id == "" {
		x.s.AddProblem(file, 0, "its entity has no id; left out. Export the campaign again, or add the id")
		return
	}
	p := &page{id: id, file: file, name: cmp.Or(decoded.TextOf(m["name"]), decoded.TextOf(e["name"])),
		word: strings.TrimRight(module, "0123456789_"), fields: map[string]any{}}
	p.write("", kankaText(first(m["entry"], e["entry"])))
	if kind := decoded.TextOf(first(m["type"], e["type"])); kind != "" {
		p.fields["kankaType"] = kind
	}
	x.children[module+" "+decoded.TextOf(m["id"])] = id
	switch {
	case isTrue(m["is_private"]) || isTrue(e["is_private"]):
		p.marks = []secrecy.Mark{{Rule: rulePrivate}}
	default:
		p.marks = []secrecy.Mark{{Rule: ruleRoles, What: publicEntities, Doubt: true}}
	}
	x.addAttributes(p, e)
	if module == "calendars" {
		p.calendar = kankaCalendar(m)
		x.first = cmp.Or(x.first, decoded.TextOf(m["id"]))
	}
	x.noteReminders(p, e)
	if at, ok := record.ParseDate(decoded.TextOf(m["date"])); ok && module == "events" {
		x.happenings = append(x.happenings, kankaHappening{page: p, at: at, name: p.name, key: "event " + id})
	}
	x.add(p)
	x.later = append(x.later, func() { x.addLinks(file, module, id, m, e) })
	for _, post := range decoded.ObjectsOf(e["posts"]) {
		x.addPost(p, post)
	}
}

func first(list ...any) any {
	for _, v := range list {
		if v != nil && v != "" {
			return v
		}
	}
	return nil
}

func isTrue(v any) bool { return v == true || decoded.TextOf(v) == "1" }

// addAttributes adds the attributes: public ones as fields, private and hidden ones as text for the GM.
func (x *kanka) addAttributes(p *page, e map[string]any) {
	public := map[string]any{}
	for _, a := range decoded.ObjectsOf(first(e["entityAttributes"], e["attributes"])) {
		name, value := decoded.TextOf(a["name"]), decoded.TextOf(a["value"])
		if name == "" {
			continue
		}
		if isTrue(a["is_private"]) || isTrue(a["is_hidden"]) || isTrue(e["is_attributes_private"]) {
			x.s.Choices.Decide(secrecy.Mark{Rule: rulePrivate, What: "attributes"}, p.file, true)
			p.writeGM("", "<p>"+html.EscapeString(name+": "+value)+"</p>\n")
			continue
		}
		public[name] = value
	}
	if len(public) > 0 {
		p.fields["attributes"] = public
	}
}

// addPost adds a post as a card below its entity.
func (x *kanka) addPost(above *page, post map[string]any) {
	text := kankaText(post["entry"])
	if strings.TrimSpace(text) == "" {
		return
	}
	id := "post " + decoded.TextOf(post["id"])
	title := decoded.TextOf(post["name"])
	name, secret := x.s.Hide(above.file, record.Markdown, title)
	name = cmp.Or(record.CardName(name), "Post")
	heading := "<h2>" + html.EscapeString(name) + "</h2>\n"
	above.writeGM("", html.EscapeString(secret))
	if slices.Contains(kankaPublic, decoded.IntOf(post["visibility_id"])) && !isTrue(post["is_private"]) {
		above.writeSection(title, "\n"+heading, text)
		return
	}
	x.s.Choices.Decide(secrecy.Mark{Rule: ruleVisibility, What: "posts"}, above.file+" "+id, true)
	above.writeGM(heading, text+"\n")
}

// addLinks adds the links of an entity: its relations, its place, its parent and its pins.
func (x *kanka) addLinks(file, module, id string, m, e map[string]any) {
	for _, r := range decoded.ObjectsOf(e["relationships"]) {
		hidden := !slices.Contains(kankaPublic, decoded.IntOf(r["visibility_id"]))
		x.link(file, "relationship", id, decoded.TextOf(r["target_id"]),
			map[string]any{"type": decoded.TextOf(r["relation"])}, hidden)
	}
	if at := x.children["locations "+decoded.TextOf(m["location_id"])]; at != "" {
		kind := "within"
		if module == "characters" || module == "creatures" {
			kind = "at"
		}
		x.link(file, kind, id, at, nil, false)
	}
	if up := decoded.TextOf(e["parent_id"]); up != "" {
		x.link(file, "within", id, up, nil, false)
	}
	for _, t := range decoded.ObjectsOf(first(e["entityTags"], e["tags"])) {
		x.link(file, "tagged", id, x.children["tags "+decoded.TextOf(t["tag_id"])], nil, false)
	}
	for _, pin := range decoded.ObjectsOf(first(m["map_markers"], m["markers"])) {
		hidden := !slices.Contains(kankaPublic, decoded.IntOf(pin["visibility_id"]))
		x.link(file, "pin", id, decoded.TextOf(pin["entity_id"]), map[string]any{"x": pin["longitude"],
			"y": pin["latitude"]}, hidden)
	}
	if image := decoded.TextOf(e["image_uuid"]); image != "" {
		x.byID[id].fields["image_uuid"] = image
	}
}

// addPictures attaches the pictures of the gallery to the entities that name them.
func (x *kanka) addPictures(ctx context.Context) error {
	held := map[string]string{}
	for _, name := range exchange.NewPeek(x.files, "").Paths() {
		if exchange.IsPicture(name) {
			held[strings.TrimSuffix(path.Base(name), path.Ext(name))] = name
		}
	}
	for _, p := range x.pages {
		image, _ := p.fields["image_uuid"].(string)
		file := held[image]
		if file == "" {
			continue
		}
		if _, err := x.s.Add(ctx, record.Card{Key: []string{"picture", p.id}, File: file, Name: "picture", Above: p.sheet,
			Type: canon.TypeImage, Data: exchange.FileData(x.files, file),
			Fields: map[string]any{"file_name": path.Base(file)}}); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}
