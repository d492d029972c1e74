package rules_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/op/optest"
	"loregate/internal/rules"
	"loregate/internal/store/memory"
)

// table is a world with the surface, a game master, and a player.
type table struct {
	t      *testing.T
	canon  *canon.Canon
	ops    *op.Local
	world  access.WorldID
	gm     access.Caller
	player access.Caller
}

func newTable(t *testing.T) *table {
	t.Helper()
	s := &table{t: t, canon: canon.New(canon.Config{Store: memory.New(),
		Ledgers: map[string][]string{rules.Ledger: {canon.AnySurface}}})}
	service, err := rules.New(rules.Config{Canon: s.canon, Key: [32]byte{1}, Random: func(b []byte) { clear(b) }})
	if err != nil {
		t.Fatal(err)
	}
	guard := access.NewGuard(access.Config{})
	operator := access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true}
	a, err := guard.Admit(t.Context(), operator, access.Request{Operation: "test", Effect: access.Write})
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.canon.CreateWorld(t.Context(), a.Grant, canon.NewWorld{Slug: "main", Title: "Main"})
	if err != nil {
		t.Fatal(err)
	}
	s.world = w.ID
	s.gm = access.Caller{Subject: "anna", Roles: map[access.WorldID]access.Role{w.ID: access.RoleGM}}
	s.player = access.Caller{Subject: "ben", Roles: map[access.WorldID]access.Role{w.ID: access.RoleUser}}
	if s.ops, err = op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{service.Surface()},
		Worlds: optest.SoleWorld(w.ID)}); err != nil {
		t.Fatal(err)
	}
	return s
}

// call invokes an operation and returns its output.
func (s *table) call(c access.Caller, name, input, key string) (out map[string]any, err error) {
	s.t.Helper()
	a, err := s.ops.Invoke(s.t.Context(), c, op.Request{Operation: name, Input: []byte(input), IdempotencyKey: key,
		Transport: "rest"})
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(a.Output, &out)
}

func (s *table) ask(c access.Caller, name, input string) map[string]any {
	s.t.Helper()
	out, err := s.call(c, name, input, "")
	if err != nil {
		s.t.Fatalf("%s %s: %v", name, input, err)
	}
	return out
}

// refused wants an error of a kind that contains words.
func (s *table) refused(c access.Caller, name, input string, kind fault.Kind, words string) {
	s.t.Helper()
	_, err := s.call(c, name, input, "")
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), words) {
		s.t.Errorf("%s %s: %v, want %v with %q", name, input, err, kind, words)
	}
}

const fighters = `"player_sides":["party"],"fighters":[
	{"side":"party","creature":{"name":"Guard","armor_class":16,"hit_points":20,"speed":30,"scores":[13,12,12,10,11,10],
		"attacks":[{"name":"Spear","bonus":3,"reach":5,"hits":[{"dice":"1d6+1","type":"piercing"}]}]}},
	{"side":"thieves","count":2,"creature":{"name":"Thief","armor_class":14,"hit_points":9,"speed":30,"mortal":true,"scores":[10,15,10,10,10,10],
		"attacks":[{"name":"Dagger","bonus":4,"reach":5,"hits":[{"dice":"1d4+2","type":"piercing"}]}]}}]`

func (s *table) start() (id string) {
	s.t.Helper()
	return s.ask(s.gm, "start_encounter", "{"+fighters+"}")["id"].(string)
}

// TestAPlayerSeesTheTableOnly: a player sees no number of the other side, acts for the own side
// alone, and learns the seed after the end.
func TestAPlayerSeesTheTableOnly(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	id := s.start()
	see := fmt.Sprintf(`{"id":%q}`, id)
	shown, err := json.Marshal(s.ask(s.player, "get_encounter", see))
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []string{`"seed"`, "Dagger", `"against"`} {
		if strings.Contains(string(shown), hidden) {
			t.Errorf("a player sees %s in %s", hidden, shown)
		}
	}
	for range 200 {
		now := s.ask(s.gm, "get_encounter", see)
		if now["over"] == true {
			break
		}
		actor, target := now["turn"].(string), "Guard"
		if actor == "Guard" {
			if target = "Thief 1"; now["combatants"].([]any)[1].(map[string]any)["health"] == "dead" {
				target = "Thief 2"
			}
		} else {
			s.refused(s.player, "encounter_act", fmt.Sprintf(`{"id":%q,"kind":"end"}`, id), fault.Denied, "game master")
		}
		s.ask(s.gm, "encounter_act", fmt.Sprintf(`{"id":%q,"kind":"attack","targets":[%q]}`, id, target))
		if s.ask(s.gm, "get_encounter", see)["turn"] == actor {
			s.ask(s.gm, "encounter_act", fmt.Sprintf(`{"id":%q,"kind":"end"}`, id))
		}
	}
	end := s.ask(s.player, "get_encounter", see)
	if end["over"] != true || end["seed"] == nil {
		t.Fatalf("the end: %v", end)
	}
	s.refused(s.gm, "encounter_act", fmt.Sprintf(`{"id":%q,"kind":"end"}`, id), fault.Rule, "over")
}

// TestAnEncounterWithoutPlayersIsTheGameMasters: to a player it is as absent as one that does not exist. Its
// id follows from its idempotency key, so it could be guessed.
func TestAnEncounterWithoutPlayersIsTheGameMasters(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	id := s.ask(s.gm, "start_encounter", "{"+strings.Replace(fighters, `["party"]`, "[]", 1)+"}")["id"].(string)
	s.ask(s.gm, "get_encounter", fmt.Sprintf(`{"id":%q}`, id))
	s.refused(s.player, "get_encounter", fmt.Sprintf(`{"id":%q}`, id), fault.NotFound, "no encounter")
	s.refused(s.player, "encounter_act", fmt.Sprintf(`{"id":%q,"kind":"end"}`, id), fault.NotFound, "no encounter")
}

func TestARepeatedActIsDoneOnce(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	first, err := s.call(s.gm, "start_encounter", "{"+fighters+"}", "k")
	again, err2 := s.call(s.gm, "start_encounter", "{"+fighters+"}", "k")
	if err != nil || err2 != nil || first["id"] != again["id"] || fmt.Sprint(first["events"]) != fmt.Sprint(again["events"]) {
		t.Fatalf("%v, %v; %v, %v", first["id"], err, again["id"], err2)
	}
	act := fmt.Sprintf(`{"id":%q,"kind":"dodge"}`, first["id"])
	one, err := s.call(s.gm, "encounter_act", act, "a")
	two, err2 := s.call(s.gm, "encounter_act", act, "a")
	if err != nil || err2 != nil || fmt.Sprint(one) != fmt.Sprint(two) {
		t.Errorf("%v, %v; %v, %v", one, err, two, err2)
	}
}

// TestActsAtOnce: of many that end the turn of one combatant at once, each act is applied to the
// state that the one before left.
func TestActsAtOnce(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	id := s.start()
	var wait sync.WaitGroup
	for range 9 {
		wait.Go(func() {
			if _, err := s.call(s.gm, "encounter_act", fmt.Sprintf(`{"id":%q,"kind":"end"}`, id), ""); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if round := s.ask(s.gm, "get_encounter", fmt.Sprintf(`{"id":%q}`, id))["round"]; round != 4.0 {
		t.Errorf("after nine turns of three combatants it is round %v", round)
	}
}

func TestBadCalls(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	id := s.start()
	s.refused(s.player, "start_encounter", "{"+fighters+"}", fault.Denied, "gm")
	s.refused(s.gm, "get_encounter", `{"id":"e-ffffffffffffffff"}`, fault.NotFound, "no encounter")
	s.refused(s.gm, "get_encounter", `{"id":"../x"}`, fault.NotFound, "no encounter")
	s.refused(s.gm, "encounter_act", fmt.Sprintf(`{"id":%q,"kind":"attack","targets":["X"]}`, id), fault.Rule, "targets")
	s.refused(s.gm, "start_encounter", `{"fighters":[{"side":"a","creature":{"name":"A"}},{"side":"b","creature":{"nam":1}}]}`,
		fault.Invalid, "creature")
	s.refused(s.gm, "start_encounter", `{"fighters":[{"side":"a"},{"side":"b"}]}`, fault.Invalid, "card")
	s.refused(s.gm, "start_encounter", `{"fighters":[{"side":"a","creature":{"name":"A"}},{"side":"b","creature":{"name":"B"}}]}`,
		fault.Rule, "armor_class")
	s.refused(s.player, "roll_dice", `{"dice":"2d"}`, fault.Invalid, "dice")
	s.refused(s.player, "roll_dice", `{"dice":"d6","seed":"zz"}`, fault.Invalid, "seed")
	s.refused(s.player, "check_ability", `{"level":"absurd"}`, fault.Invalid, "nearly impossible")
	s.refused(s.player, "check_ability", `{"skill":"juggling"}`, fault.Invalid, "acrobatics")
	s.refused(s.gm, "suggest_encounter", `{"levels":[3]}`, fault.NotFound, "import srd")
}

// TestASeedRepeatsARoll: the seed of an answer gives the same answer again.
func TestASeedRepeatsARoll(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	for name, input := range map[string]string{"roll_dice": `"dice":"20d20"`, "check_ability": `"modifier":3,"difficulty":12`,
		"generate_loot": `"level":9`} {
		first := s.ask(s.gm, name, "{"+input+"}")
		again := s.ask(s.gm, name, fmt.Sprintf(`{%s,"seed":%q}`, input, first["seed"]))
		if fmt.Sprint(first) != fmt.Sprint(again) {
			t.Errorf("%s: %v, then %v", name, first, again)
		}
	}
}

// TestASpellThatPlayersDoNotSeeIsNotBroughtToTheTable: they would read its name when it is cast.
func TestASpellThatPlayersDoNotSeeIsNotBroughtToTheTable(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	a, err := access.NewGuard(access.Config{}).Admit(t.Context(), s.gm,
		access.Request{Operation: "test", Effect: access.Write, World: s.world})
	if err != nil {
		t.Fatal(err)
	}
	label := access.NewLabel(access.LevelGM)
	if _, err := s.canon.Update(t.Context(), a.Grant, func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Curse of the Mayor", Label: &label})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.refused(s.gm, "start_encounter", "{"+strings.Replace(fighters, `"count":2`, `"spells":["Curse of the Mayor"]`, 1)+"}",
		fault.Invalid, "players do not see")
}
