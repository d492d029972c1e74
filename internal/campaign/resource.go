package campaign

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/surface"
)

// resourcePage is the number of entries in one page of a resource.
const resourcePage = 100

const baseURI = "imagineer://campaigns/"

// newResources returns the resources of a campaign: its lists, which continue at "next", and its
// entities.
func newResources(d *deps) []*op.Resource {
	all := []*op.Resource{
		d.newResource(baseURI+"{id}/entities/{entity_id}", "campaign-entity", "Entity",
			"One entity of a campaign, as far as you may see it.",
			func(ctx context.Context, l *canon.Snapshot, vars map[string]string) (any, time.Time, error) {
				c, err := entityOf(ctx, l, ref(vars["entity_id"]))
				if err != nil {
					return nil, time.Time{}, err
				}
				e, err := describeEntity(ctx, l, c)
				return e, c.UpdatedAt, err
			}),
		{
			Template: "imagineer://systems/{system_code}", Name: "game-system", Title: "Game system",
			Doc:  "JSON Schema of the character sheet of a game system: coc-7e, gurps-4e, fitd or dnd-5e-2024.",
			MIME: "application/schema+json", Surfaces: []string{Surface}, NoWorld: true,
			Read: readSystem, List: listSystems, Complete: completeSystem,
		},
	}
	all[0].List, all[0].Complete = d.listEntities, d.completeEntity
	for _, list := range []struct {
		name, title, doc string
		read             listPager
	}{
		{"entities", "Entities", "The entities of a campaign that you may see, by name.", listEntitiesPage},
		{"timeline", "Timeline", "The timeline of a campaign as far as you may see it, earliest first.", listEventsPage},
		{"sessions", "Sessions", "The sessions of a campaign, by number.", listSessionsPage},
	} {
		first := d.newResource(baseURI+"{id}/"+list.name, "campaign-"+list.name, list.title, list.doc, list.read.readPage)
		first.List = d.listFirstPage(list.name, list.title)
		all = append(all, first,
			d.newResource(baseURI+"{id}/"+list.name+"?cursor={cursor}", "campaign-"+list.name+"-page", list.title+
				", a further page",
				list.doc+" The cursor is in next of the previous page.", list.read.readPage))
	}
	return all
}

// resourceReader returns the content of a resource and, if it is a single card, the time of its last
// change.
type resourceReader func(ctx context.Context, l *canon.Snapshot, vars map[string]string) (any, time.Time, error)

func (d *deps) newResource(template, name, title, doc string, read resourceReader) *op.Resource {
	return &op.Resource{
		Template: template, Name: name, Title: title, Doc: doc, MIME: "application/json",
		Surfaces: []string{Surface}, MinRole: access.RoleUser, WorldVar: "id",
		Read: func(ctx context.Context, c *op.Call, vars map[string]string) (op.Content, error) {
			return surface.Read(ctx, d.Kit, c, func(l *canon.Snapshot) (op.Content, error) {
				v, modified, err := read(ctx, l, vars)
				if err != nil {
					return op.Content{}, err
				}
				b, err := json.Marshal(v)
				return op.Content{Text: string(b), Modified: modified}, err
			})
		},
	}
}

// listPager returns a page of a list, its position and the name of the list.
type listPager func(ctx context.Context, l *canon.Snapshot, p page) (rows any, pg paged, name string, err error)

// readPage reads the page that begins at the cursor.
func (list listPager) readPage(ctx context.Context, l *canon.Snapshot, vars map[string]string) (any, time.Time, error) {
	p := page{Limit: resourcePage}
	if cursor, ok := vars["cursor"]; ok {
		n, err := strconv.Atoi(cursor)
		if err != nil || n < 0 || n > 1_000_000 {
			return nil, time.Time{}, fault.New(fault.NotFound, "there is no such page")
		}
		p.Offset = n
	}
	rows, pg, name, err := list(ctx, l, p)
	out := map[string]any{name: rows, "total": pg.Total, "next": nil}
	if pg.NextOffset != nil {
		out["next"] = baseURI + l.World().Slug + "/" + name + "?cursor=" + strconv.Itoa(*pg.NextOffset)
	}
	return out, time.Time{}, err
}

func listEntitiesPage(ctx context.Context, l *canon.Snapshot, p page) (any, paged, string, error) {
	out, err := entitySearch(ctx, l, nil, entitySearchIn{page: p})
	return out.Entities, out.paged, "entities", err
}

func listEventsPage(ctx context.Context, l *canon.Snapshot, p page) (any, paged, string, error) {
	out, err := timelineQuery(ctx, l, nil, timelineIn{page: p})
	return out.Events, out.paged, "timeline", err
}

func listSessionsPage(ctx context.Context, l *canon.Snapshot, p page) (any, paged, string, error) {
	out, err := sessionList(ctx, l, nil, sessionListIn{page: p})
	return out.Sessions, out.paged, "sessions", err
}

// listFirstPage returns a function that lists the first page of one of the campaign's lists.
func (d *deps) listFirstPage(name, title string) func(context.Context, *op.Call) ([]op.Listed, error) {
	return func(ctx context.Context, c *op.Call) ([]op.Listed, error) {
		return surface.Read(ctx, d.Kit, c, func(l *canon.Snapshot) ([]op.Listed, error) {
			slug := l.World().Slug
			return []op.Listed{{URI: baseURI + slug + "/" + name, Name: slug + " " + name, Title: title}}, nil
		})
	}
}

// maxListedEntities is the highest number of entities in the resource list.
const maxListedEntities = 10

// listEntities lists the entities that changed lately.
func (d *deps) listEntities(ctx context.Context, c *op.Call) ([]op.Listed, error) {
	return surface.Read(ctx, d.Kit, c, func(l *canon.Snapshot) (items []op.Listed, err error) {
		recent, err := l.Recent(ctx)
		for _, e := range recent {
			if kindOf(e) != "" && len(items) < maxListedEntities {
				items = append(items, op.Listed{URI: baseURI + l.World().Slug + "/entities/" + url.PathEscape(e.ID.String()),
					Name: e.Name, Title: e.Name,
					Modified: e.UpdatedAt, Thing: e.ID.String(), Recent: true})
			}
		}
		return items, err
	})
}

// completeEntity completes ids of entities from the beginning of a name or of an id; other
// variables are not completed.
func (d *deps) completeEntity(ctx context.Context, c *op.Call, variable, prefix string) (values []string, err error) {
	if variable != "entity_id" {
		return nil, nil
	}
	entities, err := d.namedEntities(ctx, c, prefix, 20)
	for _, e := range entities {
		values = append(values, e.ID.String())
	}
	return values, err
}

func readSystem(_ context.Context, _ *op.Call, vars map[string]string) (op.Content, error) {
	schema, err := systemSchema(vars["system_code"])
	return op.Content{Text: string(schema)}, err
}

func listSystems(context.Context, *op.Call) ([]op.Listed, error) {
	var items []op.Listed
	for _, code := range systemCodes {
		items = append(items, op.Listed{URI: "imagineer://systems/" + code, Name: code, Title: "Character sheet of " + code})
	}
	return items, nil
}

func completeSystem(_ context.Context, _ *op.Call, _, prefix string) ([]string, error) {
	return slices.DeleteFunc(slices.Clone(systemCodes),
		func(code string) bool { return !strings.HasPrefix(code, strings.ToLower(prefix)) }), nil
}
