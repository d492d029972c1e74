package fronttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/op"
)

// generous lifts the limits, for tests that call every tool.
func generous(c *app.Config) {
	c.Limits.Calls, c.Limits.CallsBurst, c.Limits.Writes = -1, -1, -1
	c.Limits.ToolLists, c.Limits.Lists = -1, -1
}

// bound creates a key for a role in the world, changed by f.
func (s *stage) bound(role access.Role, f func(*identity.KeySpec)) string {
	s.t.Helper()
	spec := identity.KeySpec{Name: "bound", Subject: "ada", Actor: access.AI, MaxRole: role}
	f(&spec)
	secret, _, err := s.app.CreateKey(s.t.Context(), spec, []string{"mire"})
	if err != nil {
		s.t.Fatal(err)
	}
	return secret
}

// tools lists the tools at an address.
func (s *stage) tools(path, key string) (names []string, list []map[string]any) {
	s.t.Helper()
	items, ok := s.connect(path, key).pages("tools/list", "tools")
	if !ok {
		s.t.Fatalf("%s has no list", path)
	}
	for _, item := range items {
		tool := item.(map[string]any)
		names, list = append(names, tool["name"].(string)), append(list, tool)
	}
	return names, list
}

// Bounds of the default set: the contract of the front door.
const (
	mostTools  = 16
	mostTokens = 4000
)

func TestTheDefaultSetIsSmall(t *testing.T) {
	s := open(t, generous)
	for _, role := range []access.Role{access.RoleUser, access.RoleGM, access.RoleAdmin} {
		key, _ := s.key(role)
		names, list := s.tools("/mcp", key)
		size := 0
		for _, tool := range list {
			schema, err := json.Marshal(tool["inputSchema"])
			if err != nil {
				t.Fatal(err)
			}
			size += len(tool["name"].(string)) + len(tool["description"].(string)) + len(schema)
		}
		if tokens := size / 4; len(list) > mostTools || tokens > mostTokens {
			t.Errorf("%s: %d tools, %d tokens: %v", role, len(list), tokens, names)
		}
		want := []string{"search", "fetch", "browse", "history", "context", "ask_canon", "write", "link",
			"upload", "propose",
			"roll", "find_operation", "call_operation", "change_by_operation", "open_set"}
		if !slices.Equal(names, want) {
			t.Errorf("%s is shown %v, want %v", role, names, want)
		}
		all, _ := s.tools("/mcp/all", key)
		t.Logf("%s: %d tools, %d tokens; /mcp/all has %d tools", role, len(list), size/4, len(all))
	}
}

func TestAddressesNameSets(t *testing.T) {
	s := open(t, generous)
	key, _ := s.key(access.RoleUser)
	has := func(path string, want, not []string) {
		t.Helper()
		names, list := s.tools(path, key)
		for _, name := range want {
			if !slices.Contains(names, name) {
				t.Errorf("%s lacks %s", path, name)
			}
		}
		for _, name := range not {
			if slices.Contains(names, name) {
				t.Errorf("%s has %s", path, name)
			}
		}
		for _, tool := range list {
			reads, _ := tool["annotations"].(map[string]any)["readOnlyHint"].(bool)
			if strings.HasSuffix(path, "/readonly") && !reads {
				t.Errorf("%s lists %s, which writes", path, tool["name"])
			}
			properties, _ := tool["inputSchema"].(map[string]any)["properties"].(map[string]any)
			for _, field := range []string{"world", "campaign_id"} {
				if properties[field] != nil {
					t.Errorf("%s: %s shows %s to a key of one world", path, tool["name"], field)
				}
			}
			for _, schema := range []string{"inputSchema", "outputSchema"} {
				if at := bareSchema(tool[schema]); at != "" {
					t.Errorf("%s: %s of %s has the schema true at %s, which Claude Code refuses", path, schema, tool["name"], at)
				}
			}
			full := strings.HasPrefix(path, "/mcp/all")
			o, _ := s.app.Ops.Find(tool["name"].(string))
			if shown := tool["outputSchema"] != nil; shown != (full && !o.TextOnly) {
				t.Errorf("%s: the output schema of %s is shown: %v", path, tool["name"], shown)
			}
			if key := properties["idempotency_key"] != nil; key && !full || !key && full && o.Name == "create_card" {
				t.Errorf("%s: the idempotency key of %s is shown: %v", path, tool["name"], key)
			}
		}
	}
	has("/mcp/all", []string{"get_card", "browse", "world-context-health", "mcp.help", "entity_get", "create_card"},
		[]string{"health", "mcp_help", "reveal", "list_trash", "upload_from_url", "approve-proposal"})
	has("/mcp/all/readonly", []string{"get_card", "browse"}, []string{"create_card", "propose-quest"})
	has("/mcp/readonly", []string{"search", "call_operation"}, []string{"write", "propose", "change_by_operation",
		"link"})
	has("/mcp/world", []string{"health", "world-context-health", "get-location-context"}, []string{"get_card",
		"browse"})
	has("/mcp/studio", []string{"mcp.help", "mcp_help"}, []string{"get_card"})
	has("/mcp/archive+world", []string{"get_card", "get-location-context"}, []string{"health", "browse"})
	has("/mcp/archive+world/readonly", []string{"get_card"}, []string{"create_card"})
	has("/mcp/default+lore", []string{"browse", "search-lore"}, []string{"get_card"})
	has("/mcp/default", []string{"browse"}, []string{"get_card"})
	for _, path := range []string{"/mcp/nowhere", "/mcp/archive+nowhere", "/mcp/archive+archive",
		"/mcp/all+archive",
		"/mcp/archive/write", "/mcp/readonly/archive", "/mcp/+"} {
		if a := s.send("POST", path, key, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); a.status != 404 {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// bareSchema returns the place of a property whose schema is no object; "" if there is none.
func bareSchema(schema any) string {
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		if _, ok := p.(map[string]any); !ok {
			return name
		}
		if at := bareSchema(p); at != "" {
			return name + "." + at
		}
	}
	return bareItems(s["items"])
}

func bareItems(items any) string {
	if items == nil {
		return ""
	}
	if _, ok := items.(map[string]any); !ok {
		return "items"
	}
	return bareSchema(items)
}

// call calls a tool and returns its text. failed is true for an error of any kind.
func (m *mcp) call(tool string, arguments any) (text string, failed bool) {
	result, refused := m.ask("tools/call", map[string]any{"name": tool, "arguments": arguments})
	if refused != nil {
		return fmt.Sprint(refused), true
	}
	for _, c := range result["content"].([]any) {
		part, _ := c.(map[string]any)["text"].(string)
		text += part + "\n"
	}
	failed, _ = result["isError"].(bool)
	return text, failed
}

// Connectors read the JSON of search as text; other clients of its surface get both forms.
func TestSearchSendsJSONAsText(t *testing.T) {
	s := open(t, generous)
	s.fill(1)
	key, _ := s.key(access.RoleUser)
	for path, both := range map[string]bool{"/mcp": false, "/mcp/archive": true, "/mcp/all": true} {
		result, _ := s.connect(path, key).ask("tools/call", map[string]any{"name": "search",
			"arguments": map[string]any{"query": "Gate"}})
		text, _ := result["content"].([]any)[0].(map[string]any)["text"].(string)
		var found struct {
			Results []struct{ ID, Title, URL string }
		}
		if err := json.Unmarshal([]byte(text), &found); err != nil || len(found.Results) == 0 ||
			found.Results[0].Title != "Gate" {
			t.Errorf("%s: %s, %v", path, text, err)
		}
		if got := result["structuredContent"] != nil; got != both {
			t.Errorf("%s: structured content is sent: %v", path, got)
		}
	}
}

// A set limits listing alone; /readonly limits calling too.
func TestSetsLimitListsAndReadonlyLimitsCalls(t *testing.T) {
	s := open(t, generous)
	s.fill(1)
	key, _ := s.key(access.RoleUser)
	for _, path := range []string{"/mcp", "/mcp/world", "/mcp/readonly", "/mcp/alignment"} {
		if text, failed := s.connect(path, key).call("get_card", map[string]any{"name": "Gate"}); failed ||
			!strings.Contains(text, `"Gate"`) {
			t.Errorf("%s: %s", path, text)
		}
	}
	for tool, arguments := range map[string]map[string]any{
		"create_card": {"name": "Weir"}, "write": {"name": "Weir"}, "propose": {"kind": "quest",
			"details": map[string]any{}},
		"change_by_operation": {"operation": "create_card", "arguments": map[string]any{"name": "Weir"}},
	} {
		if text, failed := s.connect("/mcp/readonly", key).call(tool, arguments); !failed || !strings.Contains(text,
			"only reads") {
			t.Errorf("%s at /mcp/readonly: %s", tool, text)
		}
	}
	text, failed := s.connect("/mcp", key).call("entity_create", map[string]any{"name": "Ann",
		"entity_type": "npc"})
	if !failed || !strings.Contains(text, `"FORBIDDEN"`) {
		t.Errorf("an unlisted tool of the campaign: %s", text)
	}
	if text, failed := s.connect("/mcp", key).call("call_operation", map[string]any{"operation": "entity_get",
		"arguments": map[string]any{"entity_id": "01920000-0000-7000-8000-000000000001"}}); !failed ||
		!strings.Contains(text, `"NOT_FOUND"`) {
		t.Errorf("an error through a door has the codes of its surface: %s", text)
	}
}

// A hidden card's name is no id: it is answered like a name that no card has.
func TestDoorsTakeNamesForIDs(t *testing.T) {
	s := open(t, generous)
	s.fill(1)
	hidden := access.NewLabel(access.LevelGM)
	s.change(func(p *canon.Plan) error {
		for _, c := range []canon.NewCard{{Name: "North Pier", Type: "Location"},
			{Name: "Sunk Vault", Type: "Location", Label: &hidden}} {
			if _, err := p.Create(c); err != nil {
				return err
			}
		}
		return nil
	})
	key, _ := s.key(access.RoleUser)
	m := s.connect("/mcp", key)
	read := func(name string) string {
		text, _ := m.call("call_operation", map[string]any{"operation": "get-location",
			"arguments": map[string]any{"locationId": name}})
		text, _, _ = strings.Cut(text, `{"contextRef"`) // it is sealed, and never the same
		return strings.ReplaceAll(text, name, "NAME")
	}
	if got := read("north pier"); strings.HasPrefix(got, "null") || !strings.Contains(got, "North Pier") {
		t.Errorf("by its name: %s", got)
	}
	if hidden, absent := read("Sunk Vault"), read("Dark Attic"); hidden != absent {
		t.Errorf("hidden %s, absent %s", hidden, absent)
	}
	refused := func(name string) string {
		text, failed := m.call("call_operation", map[string]any{"operation": "relationship_map",
			"arguments": map[string]any{"entity_id": name}})
		if !failed || !strings.Contains(text, fmt.Sprintf(`nothing is called \"%s\" here`, name)) {
			t.Errorf("%s: %s", name, text)
		}
		return strings.ReplaceAll(text, name, "NAME")
	}
	if hidden, absent := refused("Sunk Vault"), refused("Dark Attic"); hidden != absent {
		t.Errorf("hidden %s, absent %s", hidden, absent)
	}
}

// A proposal is named by the card that it is about.
func TestDoorsTakeCardsForProposals(t *testing.T) {
	s := open(t, generous)
	s.fill(1)
	s.change(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "North Pier"})
		return err
	})
	key, _ := s.key(access.RoleUser)
	m := s.connect("/mcp", key)
	propose := func(text string) {
		t.Helper()
		if said, failed := m.call("propose", map[string]any{"details": map[string]any{"name": "North Pier",
			"append": text,
			"reason": "It was seen."}}); failed {
			t.Fatal(said)
		}
	}
	withdraw := func() (string, bool) {
		return m.call("change_by_operation", map[string]any{"operation": "withdraw-proposal",
			"arguments": map[string]any{"proposalId": "north pier"}})
	}
	propose("It creaks.")
	if text, failed := withdraw(); failed || !strings.Contains(text, "withdrawn") {
		t.Errorf("the proposal about the pier: %s", text)
	}
	propose("It sways in a storm, and gulls sit on it.")
	propose("At low water the mussel pickers walk below.")
	if text, failed := withdraw(); !failed || !strings.Contains(text, "2 proposals about") {
		t.Errorf("one of two proposals was withdrawn: %s", text)
	}
}

func TestKeysAreBoundToSets(t *testing.T) {
	s := open(t, generous)
	s.fill(1)
	first := func(key string) string {
		names, _ := s.tools("/mcp", key)
		return names[0] + fmt.Sprint(len(names) > 20)
	}
	archive := s.bound(access.RoleUser, func(k *identity.KeySpec) { k.Surfaces = []string{"archive"} })
	if got := first(archive); got != "get_cardtrue" {
		t.Errorf("a key for the archive is shown %s at /mcp", got)
	}
	set := s.bound(access.RoleUser, func(k *identity.KeySpec) { k.Surfaces = []string{"default"} })
	if got := first(set); got != "searchfalse" {
		t.Errorf("a key for the default set is shown %s", got)
	}
	m := s.connect("/mcp", set)
	if text, failed := m.call("get_card", map[string]any{"name": "Gate"}); !failed {
		t.Errorf("the set's key calls get_card: %s", text)
	}
	if text, failed := m.call("call_operation", map[string]any{"operation": "get_card",
		"arguments": map[string]any{"name": "Gate"}}); failed {
		t.Errorf("the set's key calls get_card through a door: %s", text)
	}
	reads := s.bound(access.RoleGM, func(k *identity.KeySpec) { k.ReadOnly = true })
	if names, _ := s.tools("/mcp/all", reads); slices.Contains(names, "create_card") || !slices.Contains(names,
		"get_card") {
		t.Errorf("a key that only reads is shown %v", names)
	}
	if text, failed := s.connect("/mcp", reads).call("create_card", map[string]any{"name": "Weir"}); !failed ||
		!strings.Contains(text, "only reads") {
		t.Errorf("a key that only reads: %s", text)
	}
}

// No listed tool answers every call of its caller with a refusal.
func TestListedToolsAreNotRefused(t *testing.T) {
	s := open(t, generous)
	s.fill(1)
	for _, role := range []access.Role{access.RoleUser, access.RoleGM, access.RoleAdmin} {
		key, _ := s.key(role)
		names, _ := s.tools("/mcp/all", key)
		m := s.connect("/mcp/all", key)
		for _, name := range names {
			o, ok := s.app.Ops.Find(name)
			if !ok || o.Effect == access.Destroy && role == access.RoleAdmin {
				continue // it would remove what the next tools need
			}
			for _, input := range exampleInputs(o) {
				text, failed := m.call(name, input)
				if failed && (strings.Contains(text, "FORBIDDEN") || strings.Contains(text, "permission_denied")) {
					t.Errorf("%s is shown %s, which answers %s", role, name, text)
				}
			}
		}
	}
}

// exampleInputs returns the inputs of an operation's first example, without a campaign.
func exampleInputs(o *op.Operation) []map[string]any {
	if len(o.Examples) == 0 {
		return []map[string]any{{}}
	}
	var input map[string]any
	if json.Unmarshal([]byte(o.Examples[0].Input), &input) != nil {
		return nil
	}
	delete(input, "campaign_id")
	return []map[string]any{input}
}

func TestOpenSetAddsToTheList(t *testing.T) {
	s := open(t, generous)
	key, _ := s.key(access.RoleAdmin)
	m := s.connect("/mcp", key)
	if text, failed := m.call("open_set", map[string]any{"set": "lore"}); failed || !strings.Contains(text,
		"search-lore") {
		t.Fatalf("open_set: %s", text)
	}
	items, _ := m.pages("tools/list", "tools")
	if got := fmt.Sprint(items...); !strings.Contains(got, "name:search-lore") || !strings.Contains(got, "name:browse") {
		t.Errorf("after open_set the list is %.300s", got)
	}
	if names, _ := s.tools("/mcp", key); slices.Contains(names, "search-lore") {
		t.Error("another session has the set too")
	}
	if text, failed := m.call("open_set", map[string]any{"set": "nowhere"}); !failed || !strings.Contains(text,
		"archive") {
		t.Errorf("an unknown set: %s", text)
	}
}

// The fields of a call's envelope are understood in the arguments and in the _meta of any call.
func TestEnvelopeFieldsAreAcceptedEverywhere(t *testing.T) {
	s := open(t, generous)
	s.change(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Gate", Root: true})
		return err
	})
	key, _ := s.key(access.RoleUser)
	m := s.connect("/mcp", key)
	for n := range 2 {
		_, failed := m.ask("tools/call", map[string]any{"name": "write", "arguments": map[string]any{"name": "Gate",
			"append": "Once."},
			"_meta": map[string]any{"idempotency_key": "k1", "world": "mire"}})
		if failed != nil {
			t.Fatal(n, failed)
		}
	}
	if text, _ := m.call("get_card", map[string]any{"name": "Gate", "idempotency_key": "x",
		"world": "mire"}); strings.Count(text,
		"Once.") != 1 {
		t.Errorf("two writes with one key: %s", text)
	}
}

// A list shows a long schema in words. The whole one is a resource, and is checked in full.
func TestLongSchemasAreListedInWords(t *testing.T) {
	s := open(t, generous)
	key, _ := s.key(access.RoleGM)
	_, list := s.tools("/mcp/studio", key)
	const most = 8000 // bytes of a tool's schema
	for _, tool := range list {
		schema, err := json.Marshal(tool["inputSchema"])
		if err != nil {
			t.Fatal(err)
		}
		if len(schema) > most {
			t.Errorf("%s: the schema has %d bytes", tool["name"], len(schema))
		}
		if tool["name"] == "scene_spec" && !strings.Contains(string(schema), "tower {radius, side, height") {
			t.Errorf("the schema of scene_spec names no kinds: %s", schema)
		}
	}
	m := s.connect("/mcp/studio", key)
	whole, failed := m.ask("resources/read", map[string]any{"uri": "studio://scene-schema"})
	if text, _ := json.Marshal(whole); failed != nil || !strings.Contains(string(text), "A round or square tower") {
		t.Errorf("the whole schema is %.300s %v", text, failed)
	}
	text, refused := m.call("scene_spec", map[string]any{"spec": map[string]any{"version": 1, "name": "yard",
		"parts": map[string]any{"keep": map[string]any{"tower": map[string]any{"heigth": 9}}}}})
	if !refused || !strings.Contains(text, "heigth") || !strings.Contains(text, "is not known") {
		t.Errorf("a misspelt field of a part: %v %s", refused, text)
	}
}
