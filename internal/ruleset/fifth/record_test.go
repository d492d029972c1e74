package fifth_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/ruleset/fifth"
)

// readRecords returns the records of a file of the real data, and skips the test without them.
func readRecords(t *testing.T, name string) (list []json.RawMessage) {
	t.Helper()
	folder := os.Getenv("REAL_DATA")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	b, err := os.ReadFile(filepath.Join(folder, "srd-2014", "5e-SRD-"+name+".json"))
	if err != nil {
		t.Skip("the real data are not there: set REAL_DATA to their folder")
	}
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestAllMonstersCanFight compares experience too; four records have that of the rating below theirs.
func TestAllMonstersCanFight(t *testing.T) {
	armed, differ := 0, 0
	list := readRecords(t, "Monsters")
	for _, r := range list {
		var named struct {
			Name string  `json:"name"`
			CR   float64 `json:"challenge_rating"`
			XP   int     `json:"xp"`
		}
		if err := json.Unmarshal(r, &named); err != nil {
			t.Fatal(err)
		}
		c, _, err := fifth.Monster(named.Name, r)
		if err != nil {
			t.Errorf("%s: %v", named.Name, err)
		}
		if len(c.Attacks)+len(c.Spells) > 0 {
			armed++
		}
		if xp, err := fifth.XPOf(named.CR); err != nil || xp != named.XP && named.XP != 0 {
			differ++
			t.Logf("%s of rating %g is worth %d, %v; the record says %d", named.Name, named.CR, xp, err, named.XP)
		}
	}
	if differ > 4 {
		t.Errorf("%d monsters are worth something else", differ)
	}
	if armed*100 < len(list)*95 {
		t.Errorf("%d of %d monsters have an attack", armed, len(list))
	}
}

func TestSpellsAreRead(t *testing.T) {
	read, long := 0, 0
	for _, r := range readRecords(t, "Spells") {
		var named struct {
			Name string   `json:"name"`
			Desc []string `json:"desc"`
		}
		if err := json.Unmarshal(r, &named); err != nil {
			t.Fatal(err)
		}
		s, err := fifth.ReadSpell(named.Name, r, strings.Join(named.Desc, " "))
		switch {
		case err != nil && strings.Contains(err.Error(), "to cast"):
			long++
		case err != nil:
			t.Errorf("%s: %v", named.Name, err)
		default:
			read++
		}
		switch named.Name {
		case "Fireball":
			if s.Damage[0].Dice.String() != "8d6" || s.Upcast.String() != "1d6" || !s.Half || !s.Area || s.Range != 150 {
				t.Errorf("%+v", s)
			}
		case "Hold Person":
			if s.Condition != "paralyzed" || !s.SaveAgain || !s.Concentration || s.Rounds != 10 || s.Range != 60 {
				t.Errorf("%+v", s)
			}
		case "Cure Wounds":
			if !s.Heal || s.Healing.Dice.String() != "1d8" || s.Upcast.String() != "1d8" || s.Range != 5 {
				t.Errorf("%+v", s)
			}
		case "Fire Bolt":
			if !s.Attack || len(s.Cantrip) != 3 || s.Cantrip[2].String() != "4d10" {
				t.Errorf("%+v", s)
			}
		}
	}
	t.Logf("%d spells are read, %d take too long to cast", read, long)
}
