package benchtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
)

// The size of the campaign that the performance goals name.
const (
	entities      = 50_000
	relationships = 4 * entities
)

var (
	entityTypes = []string{"Character", "Location", "Item", "Faction", "Clue", "Creature", "Organization", "Event",
		"Document", "Entity"}
	relationshipTypes = []string{"ally of", "enemy of", "member of", "located in", "knows of"}
)

// entityID returns the id of the i-th entity.
func entityID(i int) canon.CardID {
	return canon.CardID(uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "entity %d", i)))
}

func entityName(p *prose, i int) string {
	return fmt.Sprintf("%s %s %d", p.words[i*31%2000], p.words[i*7919%len(p.words)], i)
}

// stagedCampaign returns the data folder of the campaign, and creates it if it does not exist.
func stagedCampaign(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(folder(), "campaign")
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	made := dir + ".new"
	if err := os.RemoveAll(made); err != nil {
		b.Fatal(err)
	}
	a := openApp(b, made)
	w := makeWorld(b, a)
	fillCampaign(b, a, w)
	a.Close(context.WithoutCancel(b.Context()))
	if err := os.Rename(made, dir); err != nil {
		b.Fatal(err)
	}
	return dir
}

// fillCampaign creates the entities, of which seven in ten are revealed, and relationships between
// random pairs of them, of which nine in ten are visible to users.
func fillCampaign(b *testing.B, a *app.App, w access.WorldID) {
	b.Helper()
	p := newProse(1)
	for at := 0; at < entities; at += commitCards {
		change(b, a, w, func(plan *canon.Plan) error {
			for i := at; i < at+commitCards; i++ {
				label := access.NewLabel(level(i))
				if _, err := plan.Create(canon.NewCard{ID: entityID(i), Name: entityName(p, i),
					Type: entityTypes[i%len(entityTypes)], Label: &label,
					Content: "<p>" + p.text(300) + "</p>"}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	r := rand.New(rand.NewPCG(3, 5))
	for at := 0; at < relationships; at += 4 * commitCards {
		change(b, a, w, func(plan *canon.Plan) error {
			for i := at; i < at+4*commitCards; i++ {
				from, to := entityID(r.IntN(entities)), entityID(r.IntN(entities))
				bond := relationshipTypes[i%len(relationshipTypes)]
				label := access.NewLabel(access.LevelUser)
				if i%10 == 9 {
					label = access.NewLabel(access.LevelGM)
				}
				attrs, err := json.Marshal(map[string]any{"type": bond, "inverse": bond, "tone": "neutral", "strength": 1 + i%10})
				if err != nil {
					return err
				}
				id := canon.LinkIDOf("relationship", from.String(), to.String(), bond)
				if _, err := plan.Link(canon.Link{ID: id, Kind: "relationship", From: from, To: to, Attrs: attrs,
					Label: label}); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// BenchmarkCampaign queries a campaign of 50,000 entities and 200,000 relationships over REST.
func BenchmarkCampaign(b *testing.B) {
	requireBench(b)
	s := serve(b, stagedCampaign(b))
	pick := func(n int64) int { return int(n * 7919 % entities) }
	base := "/api/campaigns/" + worldName
	for _, c := range []struct {
		name string
		path func(n int64) string
	}{
		{"search/words", func(int64) string {
			return base + "/entities?query=" + url.PathEscape(s.p.word()) + "%20" + url.PathEscape(s.p.word())
		}},
		{"search/name", func(n int64) string { return base + "/entities?query=" + url.PathEscape(entityName(s.p, pick(n))) }},
		{"search/slip", func(n int64) string {
			return base + "/entities?query=" + url.PathEscape("q"+entityName(s.p, pick(n))[1:])
		}},
		{"search/type", func(n int64) string { return fmt.Sprintf("%s/entities?entity_type=clue&offset=%d", base, n%2000) }},
		{"get", func(n int64) string { return base + "/entities/" + entityID(pick(n)).String() }},
		{"map/1", func(n int64) string { return base + "/entities/" + entityID(pick(n)).String() + "/map?depth=1" }},
		{"map/4", func(n int64) string { return base + "/entities/" + entityID(pick(n)).String() + "/map?depth=4" }},
		{"counts", func(int64) string { return base }},
	} {
		b.Run(c.name, func(b *testing.B) { measureCalls(b, s.getTarget(c.path)) })
	}
}
