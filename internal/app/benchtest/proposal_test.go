package benchtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/proposal"
)

// comparedProposals is the number of accepted proposals of the same kind and scope that each new
// one is compared with.
const comparedProposals = 500

// BenchmarkPropose sends ambience for one place through all seven gates and into the canon, with
// eight clients at once. A person's proposal needs no provenance; for an agent's, the gates read
// the two cited contexts again and rebuild the prompt.
func BenchmarkPropose(b *testing.B) {
	requireBench(b)
	for _, actor := range []access.Actor{access.Person, access.AI} {
		b.Run(string(actor), func(b *testing.B) {
			s := serve(b, b.TempDir())
			t := s.proposalTarget(actor, s.makeSquare())
			m := medians{}
			for n := range comparedProposals {
				if c, err := dial(t.addr); err != nil || t.call(c, t.next.add()) != nil || c.conn.Close() != nil {
					b.Fatalf("proposal %d is not accepted", n)
				}
			}
			for b.Loop() {
				o := t.closedLoop(b, 8, round)
				m.add("proposals/s", o.rate())
				m.add("cpu-us", float64(o.cpu.Microseconds())/float64(o.calls))
				m.add("p50-ms", ms(o.at(50)))
				m.add("p99-ms", ms(o.at(99)))
			}
			m.report(b)
		})
	}
}

// makeSquare creates a place in a ward, with exits to four other places.
func (s *stage) makeSquare() (id canon.CardID) {
	change(s.b, s.app, s.world, func(p *canon.Plan) error {
		place, err := p.Create(canon.NewCard{Name: "Square", Type: "Location", Content: s.p.text(600),
			Fields: json.RawMessage(`{"tags":["wide"]}`)})
		if err != nil {
			return err
		}
		id = place.ID
		link := func(kind string, to canon.CardID, attrs string) error {
			_, err := p.Link(canon.Link{Kind: kind, From: id, To: to, Attrs: json.RawMessage(attrs),
				Label: access.NewLabel(access.LevelUser)})
			return err
		}
		ward, err := p.Create(canon.NewCard{Name: "Ward", Type: "Realm",
			Fields: json.RawMessage(`{"realmType":"political","scope":"LOCAL"}`)})
		if err = errors.Join(err, link("within", ward.ID, "")); err != nil {
			return err
		}
		for _, direction := range []string{"north", "east", "south", "west"} {
			next, err := p.Create(canon.NewCard{Name: direction, Type: "Location", Content: s.p.text(600)})
			if err = errors.Join(err, link("exit", next.ID, `{"direction":"`+direction+`"}`)); err != nil {
				return err
			}
		}
		return nil
	})
	return id
}

// proposalTarget returns a target that sends proposals with different texts, all of which are
// accepted.
func (s *stage) proposalTarget(actor access.Actor, place canon.CardID) *target {
	addr, token := s.server.Listener.Addr().String(), s.tokenOf(actor)
	lines := make([]string, 4096)
	for i := range lines {
		lines[i] = s.p.text(140)[:140]
	}
	given := ""
	if actor == access.AI {
		b, err := json.Marshal(s.provenance(token, place))
		if err != nil {
			s.b.Fatal(err)
		}
		given = `,"provenance":` + string(b)
	}
	h := head("POST /api/proposals/ambience", addr, "Content-Type: application/json", "Authorization: Bearer "+token)
	return &target{addr: addr, call: func(c *client, n int64) error {
		text := fmt.Sprintf("%x %s", n, lines[n*2654435761%int64(len(lines))])
		status, answer, err := c.do(h, fmt.Sprintf(`{"locationId":%q,"layerType":"ambient","text":%q%s}`, place, text, given))
		if err == nil && (status != http.StatusOK || !bytes.HasPrefix(answer, []byte(`{"status":"accepted"`))) {
			err = fmt.Errorf("status %d: %.600s", status, answer)
		}
		return err
	}}
}

func (s *stage) tokenOf(actor access.Actor) string {
	s.b.Helper()
	secret, _, err := s.app.CreateKey(s.b.Context(), identity.KeySpec{Name: "narrator", Subject: "narrator", Actor: actor,
		MaxRole: access.RoleUser}, []string{worldName})
	if err != nil {
		s.b.Fatal(err)
	}
	var out struct{ Token string }
	if err := json.Unmarshal(s.post("/api/mcp/auth", map[string]any{"api_key": secret, "role": "user"}),
		&out); err != nil {
		s.b.Fatal(err)
	}
	return out.Token
}

// provenance cites the contexts that ambience is written from.
func (s *stage) provenance(token string, place canon.CardID) proposal.Provenance {
	s.b.Helper()
	var p proposal.Provenance
	var answers []json.RawMessage
	for _, tool := range []string{"location-context", "atmosphere"} {
		answer, ref := s.context(token, "/api/world/"+tool+"?locationId="+place.String())
		answers, p.ContextRefs = append(answers, answer), append(p.ContextRefs, ref)
	}
	array, err := proposal.ContextArray(answers)
	if err != nil {
		s.b.Fatal(err)
	}
	sum := sha256.Sum256(array)
	var t struct {
		Metadata struct{ Version string }
		Hash     string
	}
	template, _ := s.context(token, "/api/prompts/ambience")
	if err := json.Unmarshal(template, &t); err != nil {
		s.b.Fatal(err)
	}
	p.Model, p.TemplateID, p.TemplateVersion, p.TemplateHash, p.ContextHash = "bench", "ambience", t.Metadata.Version,
		t.Hash, hex.EncodeToString(sum[:])
	return p
}

// context reads a path, and returns the answer with the reference that cites it.
func (s *stage) context(token, path string) (answer []byte, ref string) {
	s.b.Helper()
	r, err := http.NewRequestWithContext(s.b.Context(), http.MethodGet, s.server.URL+path, nil)
	if err != nil {
		s.b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.b.Fatal(err)
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.b.Fatal(path, res.Status, err)
	}
	return answer, res.Header.Get("X-Context-Ref")
}
