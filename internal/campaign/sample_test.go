package campaign

import (
	"testing"

	"loregate/internal/access"
	"loregate/internal/sample"
)

// loaded is a scene with the sample campaign.
func (s *scene) loaded() *scene {
	s.t.Helper()
	guard := access.NewGuard(access.Config{})
	a, err := guard.Admit(s.t.Context(), s.As("admin").caller, access.Request{Operation: "load_sample", Effect: access.Write, World: s.world})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := Load(s.t.Context(), s.canon, a.Grant, sample.Campaign()); err != nil {
		s.t.Fatal(err)
	}
	return s
}

func TestTheSampleCampaignIsAsRichAsPromised(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.loaded()
		gm, ada := s.As("gm"), s.As("sample-ada")
		all := gm.Call("campaign_get", `{}`)
		for path, least := range map[string]float64{"stats.entities": 60, "stats.relationships": 90, "stats.events": 80, "stats.sessions": 8} {
			if n, _ := all.At(path); n.(float64) < least {
				t.Errorf("%s is %v, want %v", path, n, least)
			}
		}
		if n, _ := gm.Call("canon_check", `{"status": "DETECTED"}`).At("total"); n.(float64) < 5 {
			t.Errorf("%v open conflicts", n)
		}
		for _, precision := range []string{"exact", "approximate", "month", "year", "unknown"} {
			gm.Call("timeline_query", `{"limit": 100}`).Has(`"precision":"` + precision + `"`)
		}
		plate := gm.Call("entity_search", `{"query": "orsk plate", "entity_type": "item"}`).Text("entities.0.id")
		ada.Call("entity_get", `{"entity_id": "`+plate+`"}`).Want("name", "The Orsk Plate")
		s.As("sample-ben").WantFault("NOT_FOUND", "entity_get", `{"entity_id": "`+plate+`"}`)
		gm.Call("player_knowledge", `{"entity_id": "`+plate+`", "subject": "sample-ada", "as_of_session": 5}`).Want("known", false)
		gm.Call("player_knowledge", `{"entity_id": "`+plate+`", "subject": "sample-ada", "as_of_session": 6}`).Want("known", true)
		if a, b := ada.Call("campaign_get", `{}`).Raw, all.Raw; a == b {
			t.Error("a player counts what the GM counts")
		}
	})
}
