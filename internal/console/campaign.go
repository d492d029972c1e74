package console

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"loregate/internal/fault"
)

// entityTypes are the types of entities, as entity_search knows them.
var entityTypes = []string{"npc", "location", "item", "faction", "clue", "creature", "organization", "event",
	"document", "other"}

// entity is a person, thing or other subject of the campaign.
type entity struct {
	ID            string                     `json:"id"`
	Name          string                     `json:"name"`
	Type          string                     `json:"type"`
	Depth         int                        `json:"depth"`
	Description   string                     `json:"description"`
	Attributes    map[string]json.RawMessage `json:"attributes"`
	Aliases       []string                   `json:"aliases"`
	Tags          []string                   `json:"tags"`
	Relationships []relationship             `json:"relationships"`
	Hidden        []string                   `json:"secret_attributes"`
	GMNotes       string                     `json:"gm_notes"`
	KnownTo       json.RawMessage            `json:"known_to"` // nil for players, who know of no levels
	SecretsKnown  json.RawMessage            `json:"secrets_known_to"`
}

// relationship is one of an entity, as seen from it, or one of a map.
type relationship struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Inverse  string          `json:"inverse"`
	Entity   entity          `json:"entity"`
	SourceID string          `json:"source_id"`
	TargetID string          `json:"target_id"`
	Tone     string          `json:"tone"`
	Strength int             `json:"strength"`
	KnownTo  json.RawMessage `json:"known_to"`
}

// knownLevel returns the level of something that the game master sees the audience of: "gm" if nobody
// knows it but game masters, else "".
func knownLevel(knownTo json.RawMessage) string {
	if string(knownTo) == `"gm"` {
		return "gm"
	}
	return ""
}

// knownText names those who know something.
func knownText(knownTo json.RawMessage) string {
	switch text := readable(knownTo); text {
	case "all":
		return "all players"
	case "gm", "":
		return "game masters only"
	default:
		return text
	}
}

// listAttributes returns the attributes by name, as people read them, with the level of the secret ones.
func (e entity) listAttributes() (list []attribute) {
	for _, name := range slices.Sorted(maps.Keys(e.Attributes)) {
		a := attribute{Name: strings.ReplaceAll(name, "_", " "), Value: readable(e.Attributes[name])}
		if slices.Contains(e.Hidden, name) {
			a.Level = knownLevel(e.SecretsKnown)
			if e.SecretsKnown == nil {
				a.Level = "gm"
			}
		}
		list = append(list, a)
	}
	return list
}

type attribute struct{ Name, Value, Level string }

// entityList is a page of entities, and how it was asked for.
type entityList struct {
	Entities []entity `json:"entities"`
	page
	Query, Type string `json:"-"`
}

// campaign adds the visit's campaign to the input of an operation. A campaign is a world.
func (v *visit) campaign(in fields) fields {
	in["campaign_id"] = v.world
	return in
}

// campaignFrame is the frame of a page of the campaign, on which its game masters find more.
func (v *visit) campaignFrame(title string) (frame, error) {
	f := v.frame(title)
	about, err := call[world](v, "campaign_get", v.campaign(fields{}))
	f.GM = v.as == "" && (about.Role == "gm" || about.Role == "admin")
	return f, err
}

// showEntities lists or searches the entities.
func (s *server) showEntities(v *visit) error {
	q := v.r.URL.Query()
	list, err := call[entityList](v, "entity_search",
		v.campaign(v.paged(fields{})).with("query", q.Get("q")).with("entity_type", q.Get("type")))
	if err != nil {
		return err
	}
	list.Query, list.Type = q.Get("q"), q.Get("type")
	f, err := v.campaignFrame("Campaign")
	if err != nil {
		return err
	}
	return v.write(http.StatusOK, entitiesPage(f, list))
}

// showEntity shows one entity.
func (s *server) showEntity(v *visit) error { return v.writeEntity(http.StatusOK, "") }

func (v *visit) writeEntity(status int, problem string) error {
	e, err := call[entity](v, "entity_get", v.campaign(fields{"entity_id": v.r.PathValue("id")}))
	if err != nil {
		return err
	}
	f := v.frame(e.Name)
	texts := map[string]string{}
	for name, text := range map[string]string{"description": e.Description, "notes": e.GMNotes} {
		if texts[name], err = v.showMarkdown(text, e.Name, f); err != nil {
			return err
		}
	}
	var sessions sessionList
	if e.KnownTo != nil && v.as == "" { // for the form that reveals
		if sessions, err = call[sessionList](v, "session_list", v.campaign(fields{"limit": 100})); err != nil {
			return err
		}
	}
	return v.write(status, entityPage(f, e, texts, sessions.Sessions, problem))
}

// showMarkdown renders a text of an operation that returns Markdown.
func (v *visit) showMarkdown(text, self string, f frame) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	out, err := call[struct {
		HTML string `json:"html"`
	}](v, "render_markdown", fields{"markdown": text})
	if err != nil {
		return "", err
	}
	return showText(out.HTML, self, f, func(string) bool { return false })
}

// revelation lists everything that players will see of an entity if the game master reveals it.
type revelation struct {
	Items         []map[string]string
	Secrets       bool
	To            []string // named players; nil is all
	Session       string
	Now           entity // as a player sees it today; zero if none does
	Gains         []gain
	Audience      string
	Relationships []relationship
}

// gain is one thing that players will see and do not see today.
type gain struct{ What, Text string }

// reveal lists the gains of a revelation, or carries it out.
func (s *server) reveal(v *visit) error {
	form, id := v.r.PostForm, v.r.PathValue("id")
	r := revelation{Session: form.Get("session"), Secrets: form.Get("secrets") != "", Audience: "all players"}
	r.To = strings.FieldsFunc(form.Get("to"), func(c rune) bool { return c == ',' || c == ' ' })
	if len(r.To) > 0 {
		r.Audience = strings.Join(r.To, ", ")
	}
	if form.Get("entity") != "" {
		r.Items = append(r.Items, map[string]string{"entity_id": id})
	}
	if r.Secrets {
		r.Items = append(r.Items, map[string]string{"secret_of": id})
	}
	for _, rel := range form["relationship"] {
		r.Items = append(r.Items, map[string]string{"relationship_id": rel})
	}
	if len(r.Items) == 0 {
		return v.writeEntity(http.StatusUnprocessableEntity, "Choose the parts to reveal.")
	}
	in := v.campaign(fields{"items": r.Items, "dry_run": form.Get("do") != "reveal"}).with("session_id", r.Session)
	if len(r.To) > 0 {
		in["to"] = r.To
	}
	if v.r.PathValue("do") == "hide" {
		in["dry_run"] = false
		if _, err := call[struct{}](v, "unreveal", in); err != nil {
			return v.entityProblem(err)
		}
		return v.redirect(addressOf("campaign", v.world, id))
	}
	if _, err := call[struct{}](v, "reveal", in); err != nil {
		return v.entityProblem(err)
	}
	if form.Get("do") == "reveal" {
		return v.redirect(addressOf("campaign", v.world, id))
	}
	if err := v.findGains(id, form.Get("entity") != "", form["relationship"], &r); err != nil {
		return err
	}
	return v.write(http.StatusOK, revealPage(v.frame("Reveal"), id, r))
}

// entityProblem shows an error of a form on the entity's page.
func (v *visit) entityProblem(err error) error {
	if problem, _ := problemOf(err); problem != "" {
		return v.writeEntity(statusOf(err), problem)
	}
	return err
}

// findGains compares what the game master is about to reveal with what a player sees today.
func (v *visit) findGains(id string, whole bool, relationships []string, r *revelation) error {
	e, err := call[entity](v, "entity_get", v.campaign(fields{"entity_id": id}))
	if err != nil {
		return err
	}
	ask := v.campaign(fields{"tool": "entity_get", "arguments": fields{"entity_id": id}})
	if len(r.To) == 1 {
		ask["subject"] = r.To[0]
	}
	seen, err := call[struct {
		Result entity `json:"result"`
	}](v, "preview_as", ask)
	if err != nil && !errors.Is(err, fault.Invalid) { // a player to whom nothing was ever revealed has no view of their own
		return err
	}
	r.Now = seen.Result
	if whole && r.Now.ID == "" {
		r.Gains = append(r.Gains, gain{e.Type, e.Name}, gain{"description", e.Description})
		for _, a := range e.listAttributes() {
			if a.Level == "" {
				r.Gains = append(r.Gains, gain{a.Name, a.Value})
			}
		}
	}
	if r.Secrets {
		for _, name := range e.Hidden {
			if _, known := r.Now.Attributes[name]; !known && e.Attributes[name] != nil {
				r.Gains = append(r.Gains, gain{strings.ReplaceAll(name, "_", " "), readable(e.Attributes[name])})
			}
		}
	}
	for _, rel := range e.Relationships {
		known := slices.ContainsFunc(r.Now.Relationships, func(k relationship) bool { return k.ID == rel.ID })
		if slices.Contains(relationships, rel.ID) && !known {
			r.Gains = append(r.Gains, gain{rel.Type, rel.Entity.Name})
			r.Relationships = append(r.Relationships, rel)
		}
	}
	r.Now.Name = e.Name
	return nil
}

// eventList is a page of the timeline.
type eventList struct {
	Events []timelineEvent `json:"events"`
	page
	From, To string `json:"-"`
}

type timelineEvent struct {
	ID          string          `json:"id"`
	Date        string          `json:"date"`
	Precision   string          `json:"precision"`
	Description string          `json:"description"`
	Entities    []entity        `json:"entities"`
	KnownTo     json.RawMessage `json:"known_to"`
}

// showTimeline lists the events of the campaign in order.
func (s *server) showTimeline(v *visit) error { return v.writeTimeline(nil) }

func (v *visit) writeTimeline(problem error) error {
	q := v.r.URL.Query()
	list, err := call[eventList](v, "timeline_query",
		v.campaign(v.paged(fields{})).with("start_date", q.Get("from")).with("end_date", q.Get("to")))
	if text, _ := problemOf(err); text != "" && problem == nil {
		problem = err
		list, err = call[eventList](v, "timeline_query", v.campaign(v.paged(fields{})))
	}
	if err != nil {
		return err
	}
	list.From, list.To = q.Get("from"), q.Get("to")
	f, err := v.campaignFrame("Timeline")
	if err != nil {
		return err
	}
	text, wrong := problemOf(problem)
	return v.write(statusOf(problem), timelinePage(f, list, text, wrong, v.r.PostForm))
}

// changeTimeline adds an event, or shows one to players or hides it.
func (s *server) changeTimeline(v *visit) error {
	form := v.r.PostForm
	var err error
	switch v.r.PathValue("do") {
	case "add":
		_, err = call[struct{}](v, "timeline_add", v.campaign(fields{"date": form.Get("date"),
			"precision": form.Get("precision"), "description": form.Get("description"),
			"is_player_known": form.Get("known") != ""}))
	case "reveal", "unreveal":
		_, err = call[struct{}](v, v.r.PathValue("do"), v.campaign(fields{"event_id": form.Get("id")}))
	default:
		return errNothingHere
	}
	if text, _ := problemOf(err); text != "" {
		return v.writeTimeline(err)
	}
	if err != nil {
		return err
	}
	return v.redirect(addressOf("timeline", v.world))
}

// sessionList is the list of the campaign's sessions of play.
type sessionList struct {
	Sessions []playSession `json:"sessions"`
	page
}

type playSession struct {
	ID        string `json:"id"`
	Number    int    `json:"number"`
	Date      string `json:"date"`
	Status    string `json:"status"`
	Stage     string `json:"stage"`
	Recap     string `json:"recap"`
	Prep      string `json:"prep_notes"`
	Notes     string `json:"play_notes"`
	Happened  string `json:"actual_notes"`
	Published bool   `json:"notes_published"`
}

// showSessions lists the sessions of play, latest first.
func (s *server) showSessions(v *visit) error { return v.writeSessions(nil) }

func (v *visit) writeSessions(problem error) error {
	list, err := call[sessionList](v, "session_list", v.campaign(fields{"limit": 100}))
	if err != nil {
		return err
	}
	slices.Reverse(list.Sessions)
	f, err := v.campaignFrame("Sessions")
	if err != nil {
		return err
	}
	text, wrong := problemOf(problem)
	return v.write(statusOf(problem), sessionsPage(f, list.Sessions, text, wrong))
}

// changeSessions makes the next session or changes one.
func (s *server) changeSessions(v *visit) error {
	form := v.r.PostForm
	in, operation := v.campaign(fields{}).with("date", form.Get("date")), "session_create"
	if id := v.r.PathValue("id"); id != "new" {
		operation, in["session_id"] = "session_update", id
		for _, name := range []string{"recap", "play_notes", "actual_notes"} {
			in[name] = form.Get(name)
		}
		in.with("status", form.Get("status")).with("stage", form.Get("stage"))
		in["publish_notes"] = form.Get("publish") != ""
	}
	in["prep_notes"] = form.Get("prep_notes")
	_, err := call[struct{}](v, operation, in)
	if text, _ := problemOf(err); text != "" {
		return v.writeSessions(err)
	}
	if err != nil {
		return err
	}
	return v.redirect(addressOf("sessions", v.world))
}

// conflict is a value of an entity that a source contradicts.
type conflict struct {
	ID       string `json:"id"`
	EntityID string `json:"entity_id"`
	Entity   string `json:"entity"`
	Field    string `json:"field"`
	Status   string `json:"status"`
	Values   []struct {
		Value    json.RawMessage `json:"value"`
		Source   string          `json:"source"`
		Standing string          `json:"standing"`
	} `json:"values"`
}

type conflictList struct {
	Conflicts []conflict `json:"conflicts"`
	page
}

// showConflicts lists the conflicts that a person must decide.
func (s *server) showConflicts(v *visit) error {
	list, err := call[conflictList](v, "canon_check", v.campaign(v.paged(fields{})))
	if err != nil {
		return err
	}
	f, err := v.campaignFrame("Conflicts")
	if err != nil {
		return err
	}
	return v.write(http.StatusOK, conflictsPage(f, list))
}

// decideConflict keeps the entity's value or takes the value of a source.
func (s *server) decideConflict(v *visit) error {
	in := v.campaign(fields{"conflict_id": v.r.PathValue("id")}).with("resolution", v.r.PostFormValue("resolution"))
	if chosen := v.r.PostFormValue("value"); chosen != "" {
		in["chosen_value"] = json.RawMessage(chosen)
		if !json.Valid([]byte(chosen)) {
			return fault.BadField("value", "must be JSON")
		}
	}
	if _, err := call[struct{}](v, "canon_resolve", in); err != nil {
		return err
	}
	return v.redirect(addressOf("conflicts", v.world))
}
