package srd_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/srd"
	"loregate/internal/store/memory"
)

// open5eFiles has records of each sort, and some that are broken.
var open5eFiles = map[string]string{
	"Creature.json": `[{"model": "api_v2.creature", "pk": "x_aboleth", "fields": {"name": "Aboleth", "size": "large", "alignment": ""}}]`,
	"CreatureTrait.json": `[{"model": "api_v2.creaturetrait", "pk": "x_aboleth_amphibious", "fields": {"name": "Amphibious",
		"desc": "It breathes **air** and water.", "parent": "x_aboleth"}}]`,
	"Spell.json": `[{"model": "api_v2.spell", "pk": "x_light", "fields": {"name": "Light", "desc": "A glow.", "level": 0,
		"higher_level": "More glow."}}, {"model": "api_v2.spell", "fields": {}}, {"name": "Light"}]`,
	"Item.json": `[{"model": "api_v2.item", "pk": "x_club", "fields": {"name": "Club", "desc": "Wood.", "weapon": "x_club"}}]`,
	"Weapon.json": `[{"model": "api_v2.weapon", "pk": "x_club", "fields": {"name": "Club", "damage_dice": "1d4"}},
		{"model": "api_v2.weaponpropertyassignment", "pk": "1", "fields": {"weapon": "x_club"}}]`,
	"Conditions.json": `[{"model": "api_v2.conditiondescription", "pk": "x_blinded", "fields": {"describes": "blinded",
		"desc": "It sees nothing."}}]`,
}

func TestOpen5e(t *testing.T) {
	s := exchangetest.NewOn(t, memory.New())
	sum := s.Import(srd.ImportOpen5e, exchangetest.Files(open5eFiles), exchange.Options{Label: "srd"})
	for name, want := range map[string]string{"Aboleth": "<h3>Amphibious</h3>", "Light": "More glow.", "Club": "Wood.",
		"blinded": "sees nothing", ":open5e-x_aboleth": "<strong>air</strong>"} {
		if got := s.See("user", name); !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if c, _, _ := s.Content("user", "Club"); c.Type != "Item" || !strings.Contains(string(c.Fields), `"damage_dice":"1d4"`) {
		t.Errorf("the club is %s %s", c.Type, c.Fields)
	}
	text := sum.String()
	for _, want := range []string{"Spell.json:2: is not a record", "1 weaponpropertyassignment"} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, text)
		}
	}
	again := s.Import(srd.ImportOpen5e, exchangetest.Files(open5eFiles), exchange.Options{Label: "srd"})
	if again.Created+again.Updated > 0 {
		t.Errorf("importing again: %s", again)
	}
}

func FuzzOpen5e(f *testing.F) {
	for _, text := range open5eFiles {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		exchangetest.CheckHostile(t, memory.New(), fstest.MapFS{"x.json": {Data: data}}, srd.ImportOpen5e)
	})
}
