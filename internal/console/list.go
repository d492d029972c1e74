package console

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// page is where a list stands.
type page struct {
	Total      int  `json:"total"`
	AtLeast    bool `json:"total_is_lower_bound"`
	Offset     int  `json:"offset"`
	NextOffset *int `json:"next_offset"`
}

// paged adds the part of a list that the address asks for.
func (v *visit) paged(in fields) fields {
	in["limit"] = 50
	if offset := v.r.URL.Query().Get("offset"); offset != "" {
		in["offset"] = numberOf(offset)
	}
	return in
}

// numberOf returns the number that a text shows, or the text, which the operation then refuses with
// the name of its field.
func numberOf(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return text
}

// world is a world that the person may enter.
type world struct {
	ID   string `json:"id"`
	Slug string `json:"slug"`
	Name string `json:"name"`
	Role string `json:"role"`
}

// showHome lists the person's worlds. A person with one world enters it at once.
func (s *server) showHome(v *visit) error {
	worlds, err := v.listWorlds()
	if err != nil {
		return err
	}
	if len(worlds) == 1 {
		return v.redirect(addressOf("home", worlds[0].Slug))
	}
	return v.write(http.StatusOK, homePage(v.frame("Worlds"), worlds))
}

// overview tells a person what goes on in a world.
type overview struct {
	Changes changeList
	Waiting proposalList
	Next    *playSession // the next session of play; nil if none is planned
	Games   []game       // that are not over
	Runs    []run        // that have not ended
}

// shownChanges is the number of changes on the overview of a world.
const shownChanges = 8

// showOverview shows what goes on in a world, and searches it.
func (s *server) showOverview(v *visit) error {
	title, err := v.worldTitle()
	if err != nil {
		return err
	}
	var o overview
	changes, err := call[changeList](v, "recent_changes", fields{"limit": shownChanges, "uncounted": true})
	if err != nil {
		return err
	}
	o.Changes = changes
	if o.Waiting, err = call[proposalList](v, "list-proposals", fields{"status": "pending_review", "limit": 5}); err != nil {
		return err
	}
	sessions, err := call[sessionList](v, "session_list", v.campaign(fields{"status": "PLANNED", "limit": 1}))
	if err != nil {
		return err
	}
	if len(sessions.Sessions) > 0 {
		o.Next = &sessions.Sessions[0]
	}
	games, err := call[gameList](v, "list_games", nil)
	if err != nil {
		return err
	}
	o.Games = slices.DeleteFunc(games.Games, func(g game) bool { return g.Phase == "GAME_OVER" })
	runs, err := call[struct {
		Runs []run `json:"runs"`
	}](v, "list_runs", fields{"limit": runsOnAPage})
	o.Runs = slices.DeleteFunc(runs.Runs, func(r run) bool { return !r.Ended.IsZero() })
	if err != nil {
		return err
	}
	return v.write(http.StatusOK, overviewPage(v.frame(title), o))
}

// listWorlds lists the worlds that the person may enter.
func (v *visit) listWorlds() ([]world, error) {
	list, err := call[struct {
		Campaigns []world `json:"campaigns"`
	}](v, "campaign_list", nil)
	return list.Campaigns, err
}

// worldTitle returns the title of the page's world.
func (v *visit) worldTitle() (string, error) {
	w, err := v.findWorld()
	return w.Name, err
}

// findWorld returns the page's world, with the role of the person there.
func (v *visit) findWorld() (world, error) {
	worlds, err := v.listWorlds()
	i := slices.IndexFunc(worlds, func(w world) bool { return w.Slug == v.world || w.ID == v.world })
	if i < 0 {
		return world{Name: v.world}, err
	}
	return worlds[i], nil
}

// cardList is a page of cards, and how it was asked for.
type cardList struct {
	Cards  []card `json:"cards"`
	Ranked bool   `json:"ranked"`
	page
	Query, Type, Tag, Level string `json:"-"`
	Types                   []cardType
	Levels                  bool // the person is shown levels
	Manages                 bool // the person may see the trash
}

// cardType is a type that cards can have.
type cardType struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"` // of the fields; only from get_type
}

// showCards lists or searches cards.
func (s *server) showCards(v *visit) error {
	q := v.r.URL.Query()
	in := v.paged(fields{}).with("type", q.Get("type")).with("tag", q.Get("tag")).with("level", q.Get("level"))
	if words := q.Get("q"); words != "" {
		in["q"], in["search_in"], in["highlight"], in["limit"] = words, "both", true, 30
	} else {
		in["sort"] = "updated_at"
	}
	list, err := call[cardList](v, "search_cards", in)
	if err != nil {
		return err
	}
	list.Query, list.Type, list.Tag, list.Level = q.Get("q"), q.Get("type"), q.Get("tag"), q.Get("level")
	list.Manages = v.may("list_trash")
	title := v.world
	if v.r.Header.Get("HX-Request") == "" { // while a person types, only the cards are replaced
		if list.Types, err = v.listTypes(); err != nil {
			return err
		}
		at, err := v.findWorld()
		if err != nil {
			return err
		}
		title, list.Levels = at.Name, at.Role == access.RoleGM.String() || at.Role == access.RoleAdmin.String()
	}
	for i, c := range list.Cards {
		list.Cards[i].Snippet = showSnippet(v.r.Context(), c.Snippet)
	}
	return v.write(http.StatusOK, cardsPage(v.frame(title), list))
}

// wantedList is a page of the names that texts link to and that have no card.
type wantedList struct {
	Wanted []struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
	} `json:"wanted"`
	page
}

func (s *server) showWanted(v *visit) error {
	list, err := call[wantedList](v, "wanted_cards", v.paged(fields{}))
	if err != nil {
		return err
	}
	return v.write(http.StatusOK, wantedPage(v.frame("Wanted cards"), list, v.may("list_trash")))
}

// trashList is a page of the cards in the trash.
type trashList struct {
	Cards []struct {
		card
		TrashedAt time.Time `json:"trashed_at"`
		By        string    `json:"by"`
		With      int       `json:"with"`
	} `json:"cards"`
	page
}

func (s *server) showTrash(v *visit) error {
	list, err := call[trashList](v, "list_trash", v.paged(fields{}))
	if err != nil {
		return err
	}
	return v.write(http.StatusOK, trashPage(v.frame("Trash"), list))
}

// restoreTrashed takes a card, and those below it, out of the trash.
func (s *server) restoreTrashed(v *visit) error {
	return v.doOpening(act{Title: "Take out of the trash", Button: "Restore", Operation: "restore_card",
		Input: fields{"name": "~" + v.r.PostFormValue("id"), "from_trash": true}, Back: addressOf("trash", v.world)},
		func(c card) error { return v.redirect(addressOf("w", v.world, addressName(c.Name, c.ID))) })
}

// changeList is a page of recent changes.
type changeList struct {
	Changes []change     `json:"changes"`
	Imports []importStep `json:"imports"` // none of players
	page
}

type change struct {
	ID        string    `json:"id"`
	CardID    string    `json:"card_id"`
	Name      string    `json:"name"`
	Type      string    `json:"type"`
	Version   int       `json:"version"`
	At        time.Time `json:"at"`
	By        string    `json:"by"`
	Operation string    `json:"operation"`
	Level     string    `json:"level"`
	Trashed   bool      `json:"trashed"`
}

func (s *server) showChanges(v *visit) error {
	list, err := call[changeList](v, "recent_changes", v.paged(fields{"uncounted": true}))
	if err != nil {
		return err
	}
	return v.write(http.StatusOK, changesPage(v.frame("Recent changes"), list))
}

// audit is a page of the changes of a world, with the filters that were asked for.
type audit struct {
	changeList
	Card     string
	Author   string
	Operator bool // may verify the chains
	Problem  string
	Problems []fault.Field
}

// auditEvent is an entry of the audit that is no change of a card.
type auditEvent struct {
	At     time.Time
	By     string
	Act    string
	About  string
	Link   templ.SafeURL
	Status string
}

// accessAudit is the audit of members, invitations, keys and grants of clients.
type accessAudit struct {
	Entries []struct {
		At        time.Time `json:"at"`
		By        string    `json:"by"`
		Operation string    `json:"operation"`
		About     string    `json:"about"`
		Detail    string    `json:"detail"`
	} `json:"entries"`
	Next int `json:"next"`
}

var errNoAudit = fault.New(fault.Denied, "only game masters and admins read the audit; ask one of them")

// showAuditEvents lists the proposals, or whom people let in.
func (s *server) showAuditEvents(v *visit, of string) error {
	if !managesWorlds(v.caller) {
		return errNoAudit
	}
	f := v.frame("Audit")
	var events []auditEvent
	more := ""
	switch of {
	case "proposals":
		list, err := call[proposalList](v, "list-proposals", fields{"limit": 50}.with("before",
			v.r.URL.Query().Get("before")))
		if err != nil {
			return err
		}
		for _, p := range list.Proposals {
			events = append(events, auditEvent{p.Created, p.Author, "proposed " + operationName(p.Kind),
				cmp.Or(p.What, "A proposal"), f.link("proposals", p.ID), operationName(p.Status)})
		}
		more = list.Next
	case "keys":
		q := v.r.URL.Query()
		in := fields{}.with("by", q.Get("by")).with("about", q.Get("about"))
		if q.Get("before") != "" {
			in["before"] = numberOf(q.Get("before"))
		}
		list, err := call[accessAudit](v, "audit_members", in)
		if err != nil {
			return err
		}
		for _, e := range list.Entries {
			events = append(events, auditEvent{e.At, e.By, operationName(e.Operation), e.About,
				auditTab(f, of) + templ.SafeURL("&"+url.Values{"about": {e.About}}.Encode()), e.Detail})
		}
		if list.Next > 0 {
			more = strconv.Itoa(list.Next)
		}
	default:
		return errNothingHere
	}
	return v.write(http.StatusOK, auditEventsPage(f, of, v.r.URL.Query(), events, more))
}

// showAudit lists who changed which card.
func (s *server) showAudit(v *visit) error {
	q := v.r.URL.Query()
	if of := q.Get("of"); of != "" {
		return s.showAuditEvents(v, of)
	}
	a := audit{Card: q.Get("card"), Author: q.Get("by"), Operator: v.caller.Operator}
	var err error
	a.changeList, err = call[changeList](v, "audit_changes", v.paged(fields{"uncounted": true}.with("card", a.Card).with("author",
		a.Author)))
	a.Problem, a.Problems = problemOf(err)
	if a.Card != "" && fault.KindOf(err) == fault.NotFound {
		a.Problem = fault.Show(err, "").Error.Message
	}
	if err != nil && a.Problem == "" {
		return err
	}
	return v.write(statusOf(err), auditPage(v.frame("Audit"), a))
}

func (s *server) undoChange(v *visit) error {
	return v.doOpening(act{Title: "Undo the change", Button: "Undo", Operation: "undo_change",
		Input: fields{"id": v.r.PathValue("id")}, Back: addressOf("changes", v.world)},
		func(card) error { return v.redirect(addressOf("changes", v.world)) })
}
