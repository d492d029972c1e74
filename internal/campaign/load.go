package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// A campaign on file is a folder of YAML files, each a list. Entities are referred to by
// name, timeline events by key, relationships as "source > type > target".
//
//	types.yaml         relationship types: name, inverse, symmetric
//	entities/*.yaml    entities
//	relationships.yaml relationships
//	timeline.yaml      timeline events
//	sessions.yaml      sessions, each with what was revealed in it and to whom
//	conflicts.yaml     what other sources say of entities: entity, source, says
type onFile struct {
	types     []tie
	entities  []fileEntity
	relations []fileRelation
	events    []fileEvent
	sessions  []fileSession
	conflicts []fileConflict
}

type fileEntity struct {
	Name, Type, Description, Notes, Source, Confidence string
	Aliases, Tags                                      []string
	Attributes                                         map[string]any
	Open                                               bool // known to the players from the start
}

type fileRelation struct {
	Source, Type, Target, Tone string
	Strength                   int
	Secret                     bool
}

type fileEvent struct {
	Key, Date, Precision, Text string
	Entities                   []string
	Known                      bool
	Sort                       *int64
}

type fileSession struct {
	Number                                         int
	Date, Status, Stage, Prep, Play, Actual, Recap string
	Reveals                                        []fileReveal
}

type fileReveal struct {
	Entity, Secret, Relationship, Event string
	To                                  []access.Subject
}

type fileConflict struct {
	Entity, Source string
	Says           map[string]any
}

// readFiles reads a campaign on file.
func readFiles(files fs.FS) (c onFile, err error) {
	for name, into := range map[string]any{"types.yaml": &c.types, "relationships.yaml": &c.relations, "timeline.yaml": &c.events,
		"sessions.yaml": &c.sessions, "conflicts.yaml": &c.conflicts} {
		if err := decode(files, name, into); err != nil {
			return c, err
		}
	}
	names, err := fs.Glob(files, "entities/*.yaml")
	if err != nil {
		return c, err
	}
	for _, name := range names {
		var part []fileEntity
		if err := decode(files, name, &part); err != nil {
			return c, err
		}
		c.entities = append(c.entities, part...)
	}
	return c, nil
}

func decode(files fs.FS, name string, into any) error {
	f, err := files.Open(name)
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	defer f.Close()
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("campaign: %s: %w", name, err)
	}
	return nil
}

// Load puts a campaign on file into an empty world, in the order in which it would have
// been played: what there was at first, then session by session what was revealed.
func Load(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS) (err error) {
	defer fault.Wrap(&err, "campaign: load")
	read, err := readFiles(files)
	if err != nil {
		return err
	}
	l := loader{ctx: ctx, file: read, entities: map[string]ref{}, events: map[string]ref{}}
	steps := []func(*canon.Plan) error{l.putEntities, l.putRelations, l.putEvents}
	for i := range read.sessions {
		steps = append(steps, l.session(i)...)
	}
	for i := range read.conflicts {
		steps = append(steps, l.conflict(i))
	}
	for n, step := range steps {
		if _, err := c.Update(ctx, g.Part(fmt.Sprint(n), [32]byte{}), step); err != nil {
			return fmt.Errorf("step %d: %w", n+1, err)
		}
	}
	return nil
}

// loader puts parts of a campaign into a world, and knows what is there by name.
type loader struct {
	ctx      context.Context
	file     onFile
	entities map[string]ref
	events   map[string]ref
}

func given[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func (l *loader) putEntities(p *canon.Plan) error {
	for _, t := range l.file.types {
		checked, err := tieIn{Name: t.Name, Inverse: t.Inverse, Symmetric: t.Symmetric}.check()
		if err == nil {
			_, err = newTie(l.ctx, p, checked)
		}
		if err != nil {
			return fmt.Errorf("type %s: %w", t.Name, err)
		}
	}
	for _, e := range l.file.entities {
		d, err := e.draft()
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		c, err := d.create(l.ctx, p, e.Open)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		l.entities[e.Name] = ref(c.ID.String())
	}
	return nil
}

func (e fileEntity) draft() (draftOf, error) {
	if typesOf(e.Type)[0] == every[0] && e.Type != kinds[0].name {
		return draftOf{}, fmt.Errorf("%q is no entity type", e.Type)
	}
	d := draftOf{name: &e.Name, kind: &e.Type, description: &e.Description, source: given(e.Source), confidence: given(e.Confidence),
		notes: notesEdit{text: given(e.Notes)}}
	if len(e.Aliases) > 0 {
		d.aliases = &e.Aliases
	}
	if len(e.Tags) > 0 {
		d.tags = &e.Tags
	}
	var err error
	d.attributes, err = attributesFrom(e.Attributes)
	return d, err
}

func attributesFrom(values map[string]any) (attributes, error) {
	out := attributes{}
	for k, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		out[k] = b
	}
	return out, nil
}

// entity is the id of an entity by name.
func (l *loader) entity(name string) (ref, error) {
	id, ok := l.entities[name]
	if !ok {
		return "", fmt.Errorf("there is no entity %q on file", name)
	}
	return id, nil
}

func (l *loader) putRelations(p *canon.Plan) error {
	for _, r := range l.file.relations {
		in, err := l.relation(r.Source, r.Type, r.Target)
		if err != nil {
			return err
		}
		in.Tone, in.Strength, in.Secret = r.Tone, r.Strength, r.Secret
		if err := relate(l.ctx, p, in); err != nil {
			return fmt.Errorf("%s > %s > %s: %w", r.Source, r.Type, r.Target, err)
		}
	}
	return nil
}

func (l *loader) relation(source, typ, target string) (in relateIn, err error) {
	if in.SourceID, err = l.entity(source); err != nil {
		return in, err
	}
	in.TargetID, err = l.entity(target)
	in.Type = typ
	return in, err
}

func (l *loader) putEvents(p *canon.Plan) error {
	cal, err := calendarOf(l.ctx, p.Snapshot)
	if err != nil {
		return err
	}
	for _, e := range l.file.events {
		h := happening{dated: dated{Date: e.Date, Precision: e.Precision}, description: e.Text, known: e.Known}
		for _, name := range e.Entities {
			id, err := l.entity(name)
			if err != nil {
				return err
			}
			h.entities = append(h.entities, id)
		}
		if err := h.at(cal, e.Sort); err != nil {
			return fmt.Errorf("%s: %w", e.Date, err)
		}
		c, err := h.add(l.ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Date, err)
		}
		if e.Key != "" {
			l.events[e.Key] = ref(c.ID.String())
		}
	}
	return nil
}

// session is one session: planned with its preparation, then over, then what was revealed
// in its name, first to all, then to each that was told more.
func (l *loader) session(i int) (steps []func(*canon.Plan) error) {
	s := l.file.sessions[i]
	var id ref
	in := sessionIn{Number: &s.Number, Date: given(s.Date), PrepNotes: given(s.Prep)}
	steps = append(steps, func(p *canon.Plan) error {
		c, err := in.create(l.ctx, p)
		id = ref(c.ID.String())
		return err
	})
	steps = append(steps, func(p *canon.Plan) error {
		c, err := sessionByID(l.ctx, p.Snapshot, "session", id)
		if err != nil {
			return err
		}
		return sessionIn{Status: given(s.Status), Stage: given(s.Stage), PlayNotes: given(s.Play), ActualNotes: given(s.Actual), Recap: given(s.Recap)}.update(l.ctx, p, c)
	})
	for _, group := range byAudience(s.Reveals) {
		steps = append(steps, func(p *canon.Plan) error { return l.reveal(p, id, group) })
	}
	return steps
}

// byAudience parts revelations by whom they are for.
func byAudience(all []fileReveal) (groups [][]fileReveal) {
	for _, r := range all {
		i := slices.IndexFunc(groups, func(g []fileReveal) bool { return slices.Equal(g[0].To, r.To) })
		if i < 0 {
			groups, i = append(groups, nil), len(groups)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

func (l *loader) reveal(p *canon.Plan, session ref, group []fileReveal) error {
	in := revealIn{SessionID: session, To: audience{names: group[0].To}}
	for _, r := range group {
		it, err := l.item(p, r)
		if err != nil {
			return err
		}
		in.Items = append(in.Items, it)
	}
	if err := in.check(); err != nil {
		return err
	}
	return in.plan(l.ctx, p, opening)
}

// item is a thing on file as it is revealed.
func (l *loader) item(p *canon.Plan, r fileReveal) (it item, err error) {
	switch {
	case r.Entity != "":
		it.EntityID, err = l.entity(r.Entity)
	case r.Secret != "":
		it.SecretOf, err = l.entity(r.Secret)
	case r.Event != "":
		ok := false
		if it.EventID, ok = l.events[r.Event]; !ok {
			err = fmt.Errorf("there is no timeline event %q on file", r.Event)
		}
	default:
		it.RelationshipID, err = l.relationship(p, r.Relationship)
	}
	return it, err
}

func (l *loader) relationship(p *canon.Plan, text string) (ref, error) {
	parts := strings.Split(text, " > ")
	if len(parts) != 3 {
		return "", fmt.Errorf("%q is not source > type > target", text)
	}
	in, err := l.relation(parts[0], parts[1], parts[2])
	if err != nil {
		return "", err
	}
	at, err := placeOf(l.ctx, p.Snapshot, in)
	if err != nil {
		return "", err
	}
	k, ok, err := at.find(l.ctx, p.Snapshot)
	if err == nil && !ok {
		err = fmt.Errorf("there is no relationship %q on file", text)
	}
	return ref(k.ID.String()), err
}

// conflict is what another source says of an entity.
func (l *loader) conflict(i int) func(*canon.Plan) error {
	k := l.file.conflicts[i]
	return func(p *canon.Plan) error {
		id, err := l.entity(k.Entity)
		if err != nil {
			return err
		}
		c, err := entityOf(l.ctx, p.Snapshot, id)
		if err != nil {
			return err
		}
		d := draftOf{source: &k.Source}
		says := maps.Clone(k.Says) // the plan may run again
		if text, ok := says["description"].(string); ok {
			d.description = &text
			delete(says, "description")
		}
		if d.attributes, err = attributesFrom(says); err != nil {
			return err
		}
		_, err = d.update(l.ctx, p, c)
		return err
	}
}
