package failovertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/patronitest"
	"loregate/internal/canon"
	"loregate/internal/game/rule"
)

// startGame starts a game of AI players, whose phases end by timers of any process.
func (s *service) startGame() string {
	s.t.Helper()
	seconds := map[string]any{}
	for _, phase := range []string{"sitrep", "pulse_check", "discussion", "extension", "overtime", "nomination", "trial",
		"verdict", "night"} {
		seconds[phase] = 2
	}
	var made struct {
		ID string `json:"game_id"`
	}
	s.postJSON("/api/games", map[string]any{"seconds": seconds, "ai_players": 7}, &made)
	s.postJSON("/api/games/"+made.ID+"/start", map[string]any{}, nil)
	return made.ID
}

func (s *service) postJSON(path string, in, out any) {
	s.t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	q, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.urls[0]+path, bytes.NewReader(b))
	if err != nil {
		s.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+s.key)
	q.Header.Set("Content-Type", "application/json")
	res, err := s.client.Do(q)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && out != nil {
		err = json.Unmarshal(body, out)
	}
	if err != nil || res.StatusCode >= 300 {
		s.t.Fatalf("%s answers %d %s, %v", path, res.StatusCode, body, err)
	}
}

// wantStepsOnce reads a game's ledger: days begin in order, and each has at most one sitrep and one
// night. It returns the number of steps.
func (s *service) wantStepsOnce(c *patronitest.Cluster, game string) (steps int) {
	s.t.Helper()
	config, err := app.LoadConfig("", []string{"LOREGATE_DATABASE=" + c.Address(), "LOREGATE_DATA=" + s.t.TempDir()})
	if err != nil {
		s.t.Fatal(err)
	}
	a, err := app.Open(s.t.Context(), config, app.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Close(s.t.Context())
	worlds, err := a.Canon.Worlds(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	began, day := map[string]int{}, 0
	err = a.WithGrant(s.t.Context(), app.Operator(), access.Request{Operation: "audit", Surface: "alignment",
		Effect: access.Read, World: worlds[0].ID}, func(g access.Grant) error {
		for rec, err := range a.Canon.Records(s.t.Context(), g, canon.LedgerStream("game", game), 1) {
			if err != nil {
				return err
			}
			e, err := rule.Decode(rec.Event.Type, rec.Event.Payload)
			if err != nil {
				return err
			}
			p, ok := e.(*rule.PhaseBegan)
			if !ok {
				continue
			}
			steps++
			if p.Phase == rule.Sitrep {
				day++
			}
			key := fmt.Sprint(p.Day, p.Phase)
			if began[key]++; p.Day != day || (p.Phase == rule.Sitrep || p.Phase == rule.Night) && began[key] > 1 {
				s.t.Errorf("%s of day %d began %d times, on day %d", p.Phase, p.Day, began[key], day)
			}
		}
		return nil
	})
	if err != nil {
		s.t.Error(err)
	}
	return steps
}
