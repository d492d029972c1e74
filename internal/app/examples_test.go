package app

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/op"
)

// stranger matches an id that an example uses in place of an id of the reader's world.
var stranger = regexp.MustCompile(`019[0-9a-f]{5}-0000-7000-8000-|[eg]-00112233aabbccdd`)

// without are the operations whose examples find nothing, because the sample world has no such
// data.
var without = map[string]bool{"list_trash": true, "get_attachment": true, "get_file_url": true, "list_backups": true,
	"download_backup": true, "list_runs": true}

// The examples of read operations find something in the sample world.
func TestReadExamplesFindSomethingInSampleWorld(t *testing.T) {
	a := declared(t)
	if _, err := a.LoadSample(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, o := range a.Ops.All() {
		if o.Effect != access.Read || o.Seated || without[o.Name] {
			continue
		}
		for _, e := range o.Examples {
			if stranger.MatchString(e.Input) {
				continue
			}
			tried++
			request := op.Request{Operation: o.Name, Input: json.RawMessage(e.Input), World: SampleWorld,
				Correlation: "examples", Transport: "cli"}
			if strings.Contains(e.Input, `"campaign_id"`) {
				request.World = "" // the input names the world
			}
			answer, err := a.Ops.Invoke(t.Context(), Operator(), request)
			if err != nil {
				t.Errorf("%s, %q: %v", o.Name, e.Title, err)
				continue
			}
			var list struct{ Total *int }
			if json.Unmarshal(answer.Output, &list) == nil && list.Total != nil && *list.Total == 0 {
				t.Errorf("%s, %q: nothing is found", o.Name, e.Title)
			}
		}
	}
	if tried < 60 {
		t.Errorf("only %d examples were tried", tried)
	}
}
