package archive

import (
	"strconv"
	"strings"
	"testing"
)

// TestPartsAreHiddenAndRevealed writes, reveals and hides parts of a text over the operations.
func TestPartsAreHiddenAndRevealed(t *testing.T) {
	s := newDesk(t)
	made := s.Do("gm", "create_card", `{"name": "Inn", "text_format": "markdown", `+
		`"content": "An inn. %%The cook is a spy.%%\n\nCheap.\n"}`)
	made.Want("hidden.0.from", "players").Want("hidden.0.at", 7)
	if text := made.Text("hidden.0.text"); !strings.Contains(text, "The cook is a spy.") {
		t.Errorf("the answer says that %q is hidden", text)
	}
	id := made.Text("hidden.0.id")
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).Want("content", "An inn.\n\nCheap.\n").
		WantNo("hidden").Want("content_length", 16)
	s.As("gm").Call("get_card", `{"name": "Inn", "format": "markdown"}`).
		Want("content", "An inn. %%The cook is a spy.%%\n\nCheap.\n").
		Want("hidden.0.id", id).Want("content_length", 39)

	s.Do("gm", "update_card", `{"name": "Inn", "patch": {"mode": "append", `+
		`"content": "\n%%It burns down.%%"}, "format": "markdown"}`).
		Want("hidden.1.from", "players")
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).Want("content", "An inn.\n\nCheap.\n")

	s.As("user").WantFault("not_found", "reveal_part", `{"name": "Inn", "parts": ["`+id+`"]}`)
	s.As("gm").Call("reveal_part", `{"name": "Inn", "parts": ["`+id+`"], "dry_run": true}`).
		Want("opens.0.part", id).Want("opens.0.to", "user").Want("dry_run", true)
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).Want("content", "An inn.\n\nCheap.\n")
	s.Do("gm", "reveal_part", `{"name": "Inn", "parts": ["`+id+`"], "to": ["user"]}`).Want("opens.0.told.0", "user").
		Want("hidden.0.told.0", "user")
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).
		Want("content", "An inn. The cook is a spy.\n\nCheap.\n")
	s.Do("gm", "hide_part", `{"name": "Inn", "parts": ["`+id+`"]}`)
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).Want("content", "An inn.\n\nCheap.\n")
	s.Do("gm", "reveal_part", `{"name": "Inn", "parts": ["`+id+`"]}`)
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).
		Want("content", "An inn. The cook is a spy.\n\nCheap.\n")
	s.Do("gm", "hide_part", `{"name": "Inn", "text": ["The cook is a spy."]}`).Want("hidden.0.from", "players")
	s.As("user").Call("get_card", `{"name": "Inn", "format": "markdown"}`).Want("content", "An inn.\n\nCheap.\n")
	s.As("user").Call("get_card_history", `{"name": "Inn"}`).Want("total", 1)
	last := s.As("gm").Call("get_card", `{"name": "Inn"}`).Text("content")
	revision, _ := s.As("gm").Call("get_card", `{"name": "Inn"}`).At("version")
	s.As("gm").Call("get_revision", asJSON(map[string]any{"name": "Inn", "version": revision})).Want("content", last)
	s.wantRebuilt()
}

// TestASecretIsNotWrittenAmongToldParts refuses a mark in the card that holds the parts which a reader was told.
func TestASecretIsNotWrittenAmongToldParts(t *testing.T) {
	s := newDesk(t)
	s.Do("gm", "create_card", `{"name": "Inn", "text_format": "markdown", "format": "markdown", "content": "An inn. %%The cook is a spy.%%"}`)
	id := s.As("gm").Call("get_card", `{"name": "Inn"}`).Text("hidden.0.id")
	s.Do("gm", "reveal_part", `{"name": "Inn", "parts": ["`+id+`"], "to": ["user"]}`)
	const holder = "Inn+Told by the GM"
	text := s.As("gm").Call("get_card", `{"name": "`+holder+`", "format": "markdown"}`).Text("content")
	said := s.As("gm").WantFault("validation_error", "update_card", asJSON(map[string]any{"name": holder, "format": "markdown",
		"content": text + "\n\n%%So is the maid.%%"}))
	if !strings.Contains(said, "into the card above") {
		t.Errorf("it says %q", said)
	}
	s.Do("gm", "update_card", asJSON(map[string]any{"name": holder, "format": "markdown", "content": text + "\n\nMore."}))
	s.As("user").Call("get_card", `{"name": "`+holder+`"}`).Lacks("maid")
}

// TestAMarkOfTheWholeTextHidesInHTML writes Markdown with a tag that hides the whole note into cards that keep HTML.
func TestAMarkOfTheWholeTextHidesInHTML(t *testing.T) {
	for _, text := range []string{"An inn #gm-only ZQnine.", "#gm-only\n\nZQ", "Inn ZQ\n\n#secret", "ZQ %%x%% #gm"} {
		s := newDesk(t)
		s.Do("gm", "create_card", asJSON(map[string]any{"name": "Inn", "format": "markdown", "content": text})).
			Want("hidden.0.from", "players")
		s.As("user").Call("get_card", `{"name": "Inn"}`).Lacks("ZQ")
		s.As("gm").Call("get_card", `{"name": "Inn"}`).Has("ZQ")
	}
}

// TestReplacingSignsKeepsParts takes the signs of comments away everywhere: the hidden parts stay in their text, and each
// is counted once.
func TestReplacingSignsKeepsParts(t *testing.T) {
	s := newDesk(t)
	s.Do("gm", "create_card", `{"name": "Loom", "text_format": "markdown", "format": "markdown",
		"content": "Wool. %%zqrm weaves%% Dye.\n\n%%zqsy%%"}`)
	s.As("gm").Call("replace_everywhere", `{"find": "%%", "replace": "", "prefix": "Loom"}`).Want("matches", 4)
	s.Do("gm", "replace_everywhere", `{"find": "%%", "replace": "", "prefix": "Loom", "dry_run": false}`).Want("matches", 4)
	s.As("gm").Call("get_card", `{"name": "Loom", "format": "markdown"}`).Has("zqrm weaves", "zqsy").Want("hidden.1.from", "players")
	s.As("user").Call("get_card", `{"name": "Loom", "format": "markdown"}`).Lacks("zq")
}

// TestAPlayersMarksAreText tells a player that their marks hide nothing.
func TestAPlayersMarksAreText(t *testing.T) {
	s := newDesk(t)
	s.Do("user", "create_card", `{"name": "Diary", "text_format": "markdown", `+
		`"content": "Dear diary. %%Nobody reads this.%%"}`).WantNo("hidden").
		Want("marks_ignored.0", "%%Nobody reads this.%%")
	s.As("gm").Call("get_card", `{"name": "Diary"}`).WantNo("hidden")
}

// TestOpeningListsWhatOpens opens a hidden card with cards below it: the answer lists what players read then, and
// what stays hidden.
func TestOpeningListsWhatOpens(t *testing.T) {
	s := newDesk(t)
	s.Do("gm", "create_card", `{"name": "Plot", "level": "gm", "text_format": "markdown", `+
		`"content": "A plot. %%Of the duke.%%"}`)
	s.Do("gm", "create_card", `{"name": "Plot+Map", "text_format": "markdown", "content": "A map."}`)
	got := s.As("admin").Call("set_card_level", `{"name": "Plot", "level": "user", "dry_run": true}`)
	got.Want("opens.0.name", "Plot").Want("opens.0.text", "A plot.").Want("opens.0.stays_hidden.0.from", "players").
		Want("opens.1.name", "Plot+Map").WantNo("opens.2")
	s.As("user").WantFault("not_found", "get_card", `{"name": "Plot"}`)
	s.Do("admin", "set_card_level", `{"name": "Plot", "level": "user"}`).Want("opens.1.text", "A map.")
	s.As("user").Call("get_card", `{"name": "Plot", "format": "markdown"}`).Want("content", "A plot.")
	s.wantRebuilt()
}

// TestFieldsAreHiddenAndRevealed reveals a hidden field to a player, takes it back, and hides an open one.
func TestFieldsAreHiddenAndRevealed(t *testing.T) {
	s := newDesk(t)
	s.Do("gm", "create_card", `{"name": "Inn", "content": "An inn.", "fields": {"beds": 3, "secrets": "a cellar"}}`).
		Want("hidden.0.id", "field:secrets")
	s.As("gm").Call("reveal_part", `{"name": "Inn", "parts": ["field:secrets"], "to": ["user"], "dry_run": true}`).
		Want("opens.0.part", "field:secrets").Want("opens.0.told.0", "user")
	s.As("user").Call("get_card", `{"name": "Inn"}`).WantNo("fields.secrets")
	s.Do("gm", "reveal_part", `{"name": "Inn", "parts": ["field:secrets"], "to": ["user"]}`).
		Want("hidden.0.told.0", "user")
	s.As("user").Call("get_card", `{"name": "Inn"}`).Want("fields.secrets", "a cellar")
	s.Do("gm", "hide_part", `{"name": "Inn", "parts": ["field:secrets"]}`).Want("hidden.0.id", "field:secrets").
		WantNo("hidden.0.told")
	s.As("user").Call("get_card", `{"name": "Inn"}`).WantNo("fields.secrets").Want("fields.beds", 3)
	s.Do("gm", "hide_part", `{"name": "Inn", "parts": ["field:beds"]}`).Want("hidden.0.id", "field:beds")
	s.As("user").Call("get_card", `{"name": "Inn"}`).WantNo("fields.beds")
	s.As("user").Call("get_card_history", `{"name": "Inn"}`).Want("total", 1)
	s.As("gm").WantFault("validation_error", "hide_part", `{"name": "Inn", "parts": ["field:rooms"]}`)
	s.wantRebuilt()
}

// TestHistoryOfACardWithHiddenParts edits hidden parts: a game master's list has each change, with its text and its
// difference, and each can be restored. A player's list has none of them.
func TestHistoryOfACardWithHiddenParts(t *testing.T) {
	s := newDesk(t)
	const first, second, third = "An inn. %%The cook is a spy.%%\n", "An inn. %%The cook is a thief.%%\n", "An inn.\n"
	gm, user := s.As("gm"), s.As("user")
	write := func(text string) {
		s.Do("gm", "update_card", asJSON(map[string]any{"name": "Inn", "content": text}))
	}
	s.Do("gm", "create_card", asJSON(map[string]any{"name": "Inn", "text_format": "markdown", "content": first}))
	versions := func() string {
		list, _ := user.Call("get_card_history", `{"name": "Inn"}`).At("versions")
		return asJSON(list)
	}
	seen := versions()
	write(second)
	write(third)
	history := gm.Call("get_card_history", `{"name": "Inn"}`).Want("total", 3)
	var numbers []float64
	for i, want := range []string{third, second, first} {
		n, _ := history.At("versions." + strconv.Itoa(i) + ".version")
		number, _ := n.(float64)
		numbers = append(numbers, number)
		gm.Call("get_revision", asJSON(map[string]any{"name": "Inn", "version": number})).
			Want("content", strings.TrimSuffix(want, "\n")+"\n")
	}
	if now, _ := gm.Call("get_card", `{"name": "Inn"}`).At("version"); now != numbers[0] {
		t.Errorf("the latest of the versions %v is the current one, %v", numbers, now)
	}
	diff := gm.Call("diff_card", asJSON(map[string]any{"name": "Inn", "from": numbers[2], "to": numbers[1]})).
		Want("changed.0", "content").Text("diff")
	if !strings.Contains(diff, "-An inn. %%The cook is a spy.%%") || !strings.Contains(diff, "+An inn. %%The cook is a thief.%%") {
		t.Errorf("the difference is %q", diff)
	}
	if now := versions(); now != seen {
		t.Errorf("players see the versions %s, before %s", now, seen)
	}
	for i, want := range []string{second, first} {
		s.Do("admin", "restore_card", asJSON(map[string]any{"name": "Inn", "to_version": numbers[i+1]}))
		gm.Call("get_card", `{"name": "Inn", "format": "markdown"}`).Want("content", want)
		user.Call("get_card", `{"name": "Inn", "format": "markdown"}`).Want("content", third)
	}
	user.Call("get_card_history", `{"name": "Inn"}`).Want("total", 1)
	s.wantRebuilt()
}
