package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// campaignFile is a campaign read from a folder of YAML files, each of which is a list. Entities
// are referred to by name, timeline events by key, relationships as "source > type > target".
//
//	types.yaml         relationship types: name, inverse, symmetric
//	entities/*.yaml    entities
//	relationships.yaml relationships
//	timeline.yaml      timeline events
//	sessions.yaml      sessions, each with its reveals and their audiences
//	conflicts.yaml     statements of other sources about entities: entity, source, says
type campaignFile struct {
	types     []relationType
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

// readFiles parses the files of a campaign.
func readFiles(files fs.FS) (c campaignFile, err error) {
	for name, into := range map[string]any{"types.yaml": &c.types, "relationships.yaml": &c.relations,
		"timeline.yaml": &c.events,
		"sessions.yaml": &c.sessions, "conflicts.yaml": &c.conflicts} {
		if err := decodeYAML(files, name, into); err != nil {
			return c, err
		}
	}
	names, err := fs.Glob(files, "entities/*.yaml")
	if err != nil {
		return c, err
	}
	for _, name := range names {
		var part []fileEntity
		if err := decodeYAML(files, name, &part); err != nil {
			return c, err
		}
		c.entities = append(c.entities, part...)
	}
	return c, nil
}

func decodeYAML(files fs.FS, name string, into any) error {
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

// Load writes a campaign from files to an empty world, in the order of play: first the initial
// state, then session by session the reveals.
func Load(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS) (err error) {
	defer fault.Wrap(&err, "campaign: load")
	read, err := readFiles(files)
	if err != nil {
		return err
	}
	l := loader{ctx: ctx, file: read, entities: map[string]ref{}, events: map[string]ref{}}
	steps := []func(*canon.Plan) error{l.putEntities, l.putRelations, l.putEvents}
	for i := range read.sessions {
		steps = append(steps, l.sessionSteps(i)...)
	}
	for i := range read.conflicts {
		steps = append(steps, l.conflictStep(i))
	}
	for n, step := range steps {
		if _, err := c.Update(ctx, g.Part(fmt.Sprint(n), [32]byte{}), step); err != nil {
			return fmt.Errorf("step %d: %w", n+1, err)
		}
	}
	return nil
}

// loader writes a campaign to a world and keeps the ids of entities and events by name.
type loader struct {
	ctx      context.Context
	file     campaignFile
	entities map[string]ref
	events   map[string]ref
}

func nonZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func (l *loader) putEntities(p *canon.Plan) error {
	for _, t := range l.file.types {
		checked, err := relationTypeIn{Name: t.Name, Inverse: t.Inverse, Symmetric: t.Symmetric}.toRelationType()
		if err == nil {
			_, err = createRelationType(l.ctx, p, checked)
		}
		if err != nil {
			return fmt.Errorf("type %s: %w", t.Name, err)
		}
	}
	for _, e := range l.file.entities {
		d, err := e.toDraft()
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		c, err := d.createEntity(l.ctx, p, e.Open)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		l.entities[e.Name] = ref(c.ID.String())
	}
	return nil
}

func (e fileEntity) toDraft() (entityDraft, error) {
	if typesOf(e.Type)[0] == entityTypes[0] && e.Type != kinds[0].name {
		return entityDraft{}, fmt.Errorf("%q is not an entity type", e.Type)
	}
	d := entityDraft{name: &e.Name, kind: &e.Type, description: &e.Description, source: nonZero(e.Source),
		confidence: nonZero(e.Confidence),
		notes:      notesEdit{text: nonZero(e.Notes)}}
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

// entityRef returns the id of an entity by name.
func (l *loader) entityRef(name string) (ref, error) {
	id, ok := l.entities[name]
	if !ok {
		return "", fmt.Errorf("there is no entity %q on file", name)
	}
	return id, nil
}

func (l *loader) putRelations(p *canon.Plan) error {
	for _, r := range l.file.relations {
		in, err := l.relationInput(r.Source, r.Type, r.Target)
		if err != nil {
			return err
		}
		in.Tone, in.Strength, in.Secret = r.Tone, r.Strength, r.Secret
		if err := planRelationship(l.ctx, p, in); err != nil {
			return fmt.Errorf("%s > %s > %s: %w", r.Source, r.Type, r.Target, err)
		}
	}
	return nil
}

func (l *loader) relationInput(source, typ, target string) (in relateIn, err error) {
	if in.SourceID, err = l.entityRef(source); err != nil {
		return in, err
	}
	in.TargetID, err = l.entityRef(target)
	in.Type = typ
	return in, err
}

func (l *loader) putEvents(p *canon.Plan) error {
	cal, err := calendarOf(l.ctx, p.Snapshot)
	if err != nil {
		return err
	}
	for _, e := range l.file.events {
		draft := eventDraft{eventFields: eventFields{Date: e.Date, Precision: e.Precision}, description: e.Text, known: e.Known}
		for _, name := range e.Entities {
			id, err := l.entityRef(name)
			if err != nil {
				return err
			}
			draft.entities = append(draft.entities, id)
		}
		if err := draft.setDate(cal, e.Sort); err != nil {
			return fmt.Errorf("%s: %w", e.Date, err)
		}
		c, err := draft.createEvent(l.ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Date, err)
		}
		if e.Key != "" {
			l.events[e.Key] = ref(c.ID.String())
		}
	}
	return nil
}

// sessionSteps returns the steps of one session: create it with its preparation, complete it, and
// make its reveals, grouped by audience.
func (l *loader) sessionSteps(i int) (steps []func(*canon.Plan) error) {
	s := l.file.sessions[i]
	var id ref
	in := sessionIn{Number: &s.Number, Date: nonZero(s.Date), PrepNotes: nonZero(s.Prep)}
	steps = append(steps, func(p *canon.Plan) error {
		c, err := in.createSession(l.ctx, p)
		id = ref(c.ID.String())
		return err
	})
	steps = append(steps, func(p *canon.Plan) error {
		c, err := sessionByID(l.ctx, p.Snapshot, "session", id)
		if err != nil {
			return err
		}
		return sessionIn{Status: nonZero(s.Status), Stage: nonZero(s.Stage), PlayNotes: nonZero(s.Play),
			ActualNotes: nonZero(s.Actual), Recap: nonZero(s.Recap)}.updateSession(l.ctx, p, c)
	})
	for _, group := range groupByAudience(s.Reveals) {
		steps = append(steps, func(p *canon.Plan) error { return l.planGroup(p, id, group) })
	}
	return steps
}

// groupByAudience groups reveals by their audience.
func groupByAudience(all []fileReveal) (groups [][]fileReveal) {
	for _, r := range all {
		i := slices.IndexFunc(groups, func(g []fileReveal) bool { return slices.Equal(g[0].To, r.To) })
		if i < 0 {
			groups, i = append(groups, nil), len(groups)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

func (l *loader) planGroup(p *canon.Plan, session ref, group []fileReveal) error {
	in := revealIn{SessionID: session, To: audience{names: group[0].To}}
	for _, r := range group {
		it, err := l.toItem(p, r)
		if err != nil {
			return err
		}
		in.Items = append(in.Items, it)
	}
	if err := in.checkItems(); err != nil {
		return err
	}
	return in.planReveal(l.ctx, p, modeReveal)
}

// toItem converts a reveal from a file to an item.
func (l *loader) toItem(p *canon.Plan, r fileReveal) (it item, err error) {
	switch {
	case r.Entity != "":
		it.EntityID, err = l.entityRef(r.Entity)
	case r.Secret != "":
		it.SecretOf, err = l.entityRef(r.Secret)
	case r.Event != "":
		ok := false
		if it.EventID, ok = l.events[r.Event]; !ok {
			err = fmt.Errorf("there is no timeline event %q on file", r.Event)
		}
	default:
		it.RelationshipID, err = l.relationshipRef(p, r.Relationship)
	}
	return it, err
}

func (l *loader) relationshipRef(p *canon.Plan, text string) (ref, error) {
	parts := strings.Split(text, " > ")
	if len(parts) != 3 {
		return "", fmt.Errorf("%q is not source > type > target", text)
	}
	in, err := l.relationInput(parts[0], parts[1], parts[2])
	if err != nil {
		return "", err
	}
	at, err := relationKeyOf(l.ctx, p.Snapshot, in)
	if err != nil {
		return "", err
	}
	k, ok, err := at.findLink(l.ctx, p.Snapshot)
	if err == nil && !ok {
		err = fmt.Errorf("there is no relationship %q on file", text)
	}
	return ref(k.ID.String()), err
}

// conflictStep returns the step that writes another source's statements about an entity.
func (l *loader) conflictStep(i int) func(*canon.Plan) error {
	k := l.file.conflicts[i]
	return func(p *canon.Plan) error {
		id, err := l.entityRef(k.Entity)
		if err != nil {
			return err
		}
		c, err := entityOf(l.ctx, p.Snapshot, id)
		if err != nil {
			return err
		}
		d := entityDraft{source: &k.Source}
		says := maps.Clone(k.Says) // the plan may run again
		if text, ok := says["description"].(string); ok {
			d.description = &text
			delete(says, "description")
		}
		if d.attributes, err = attributesFrom(says); err != nil {
			return err
		}
		_, err = d.updateEntity(l.ctx, p, c)
		return err
	}
}
