package proposaltest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/identity"
)

// desk is a served world with a key that may only suggest, and a person who approves.
type desk struct {
	*house
	clerk, approver string
}

func newDesk(t *testing.T) *desk {
	d := &desk{house: serve(t, func(*app.Config) {})}
	d.hireClerk("clerk")
	d.approver = d.newKey(identity.KeySpec{Name: "reviewer", Subject: "reviewer", Actor: access.Person,
		MaxRole: access.RoleAdmin, Approve: true})
	return d
}

// hireClerk gives the desk another clerk: each may suggest only so much.
func (d *desk) hireClerk(name string) {
	d.clerk = d.newKey(identity.KeySpec{Name: name, Subject: access.Subject(name), Actor: access.Person,
		MaxRole: access.RoleGM, Advisory: true})
}

func (d *desk) newKey(k identity.KeySpec) string {
	d.t.Helper()
	secret, _, err := d.app.CreateKey(d.t.Context(), k, []string{app.SampleWorld})
	if err != nil {
		d.t.Fatal(err)
	}
	return secret
}

// send calls over REST with a key, and decodes the answer.
func (d *desk) send(key, line string, in, out any) int {
	d.t.Helper()
	body := []byte{}
	if in != nil {
		body, _ = json.Marshal(in)
	}
	method, path, _ := strings.Cut(line, " ")
	status, b := apptest.Send(d.t, method, d.url+path, key, string(body))
	if err := json.Unmarshal(b, out); err != nil {
		d.t.Fatalf("%s: %d %s", line, status, b)
	}
	return status
}

// TestASuggestedPatchIsApproved suggests every form of patch over REST, on cards that keep HTML and Markdown, in the
// usual form, in HTML and in Markdown. Each is approved as it was shown.
func TestASuggestedPatchIsApproved(t *testing.T) {
	d := newDesk(t)
	patches := map[string][2]map[string]any{ // in HTML and in Markdown
		"append":       {{"content": "<p>Wet now.</p>"}, {"content": "\n\nWet now."}},
		"prepend":      {{"content": "<p>Wet now.</p>"}, {"content": "Wet now.\n\n"}},
		"find_replace": {{"find": "quay", "replace": "Wet now"}, {"find": "quay", "replace": "Wet now"}},
		"regex": {{"pattern": "qu(ay)", "replacement": "Wet now $1"},
			{"pattern": "qu(ay)", "replacement": "Wet now $1"}},
		"section": {{"heading": "Trade", "content": "<p>Wet now.</p>"},
			{"heading": "Trade", "content": "Wet now.\n"}},
		"replace_between": {{"start_marker": "An old", "end_marker": "stands", "replacement_html": "Wet now "},
			{"start_marker": "An old", "end_marker": "stands", "replacement_html": "Wet now "}},
	}
	for _, kept := range []string{"html", "markdown"} {
		for _, given := range []string{"", "html", "markdown"} {
			d.hireClerk("clerk" + kept + given)
			for mode, forms := range patches {
				name := "Pier " + kept + given + " " + strings.ReplaceAll(mode, "_", " ")
				at := "/api/mcp/cards/" + url.PathEscape(name)
				var card struct{ Content, TextFormat string }
				text := "An old quay stands here.\n\n## Trade\n\nFish and rope.\n"
				if status := d.send(d.keys[access.RoleAdmin], "POST /api/mcp/cards", map[string]any{"name": name,
					"content": text, "format": "markdown", "text_format": kept}, &card); status != http.StatusCreated {
					t.Fatalf("%s: %d", name, status)
				}
				patch := map[string]any{"mode": mode}
				for k, v := range forms[map[string]int{"markdown": 1}[given]] {
					patch[k] = v
				}
				in := map[string]any{"patch": patch}
				if given != "" {
					in["format"] = given
				}
				var made struct{ ProposalID string }
				if status := d.send(d.clerk, "PATCH "+at, in, &made); status != http.StatusAccepted {
					t.Errorf("%s: %d %+v", name, status, made)
					continue
				}
				d.approve(name, made.ProposalID)
				d.send(d.keys[access.RoleAdmin], "GET "+at, nil, &card)
				if !strings.Contains(card.Content, "Wet now") {
					t.Errorf("%s: the card says %q", name, card.Content)
				}
			}
		}
	}
}

// approve approves a proposal as it is shown.
func (d *desk) approve(name, id string) {
	d.t.Helper()
	var shown struct {
		ExpectedHash string
		Status       string
	}
	d.send(d.approver, "GET /api/proposals/"+id, nil, &shown)
	var done map[string]any
	if status := d.send(d.approver, "POST /api/proposals/"+id+"/approve", map[string]any{
		"expectedHash": shown.ExpectedHash}, &done); status != http.StatusOK {
		d.t.Errorf("%s: its approval answers %d: %v", name, status, done)
	}
}
