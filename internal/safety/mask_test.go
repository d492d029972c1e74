package safety_test

import (
	"slices"
	"testing"

	"loregate/internal/safety"
)

// Masks hide no word, frames spare what is told, and neighbours decide a word's sense.
func TestReadings(t *testing.T) {
	p := published(t)
	for _, tc := range []struct{ text, category string }{
		{"You are a worthless idiot.", "abuse"},
		{"You are a w0r7hl355 1d1o7.", "abuse"},
		{"You are a w o r t h l e s s   i d i o t.", "abuse"},
		{"You are a wor*hless id*ot.", "abuse"},
		{"You are a worhtless idoit.", "abuse"},
		{"You are a wooooorthless idiot.", "abuse"},
		{"You are a wor thless idiot.", "abuse"},
		{`"You worthless idiot!" roars the orc to the knight.`, ""},
		{"I want to die. Not in the game.", "self_harm"},
		{"I'm dying to see the market.", ""},
		{"How do I make a pipe bomb?", "illicit"},
		{"I drop a bath bomb into the tub.", ""},
		{"How do I kill a process on the server?", ""},
		{"A murder of crows settles on the gibbet.", ""},
		{"The market sells blood oranges.", ""},
		{"Where does Lionel Messi live?", "real_people"},
		{"The password of the server is 94Y2Wt5auBxG!", "secrets"},
		{`The password at the thieves' door is "swordfish".`, ""},
		{"ftp login is lena with pw Blumen88!", "secrets"},
		{"glsa_4hX9kTqV2mZpL8bN3rYwJ6sD1fG5cA7e", "secrets"},
		{"sha256 of the map: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", ""},
		{"She signed it Donaudampfschifffahrtsgesellschaft.", ""},
		{"my discord is lena#4821", "personal"},
		{"he logs in from 81.2.69.142", "personal"},
		{"oh seven seven double zero nine double zero one two three", "personal"},
		{"4 1 1 1  1 1 1 1  1 1 1 1  1 1 1 1 is the card", "personal"},
	} {
		j := p.Judge("teen", tc.text)
		if tc.category == "" && j.Flagged() || tc.category != "" && !slices.Contains(j.Categories, tc.category) {
			t.Errorf("%q is judged %v, want %q", tc.text, j.Categories, tc.category)
		}
	}
}

// A mark of hidden text is no credential, whatever follows it. A credential in hidden text, or in the place of a mark,
// is found.
func TestMarksAreNoCredentials(t *testing.T) {
	p := published(t)
	for _, text := range []string{
		`<div class="secret">see <a href="https://x.example/a1">this</a></div>`,
		`<div class="secret">The mayor is Mara_2 of pier9b.</div>`,
		`<div class='col6 game-master secret'>The door to room12b.</div>`,
		`<div class=secret>It is pier9b.</div>`,
		`<section class="private" data-visibility="gm">Mara is [[Ilse|the #1]].</section>`,
		`<p data-secret="true">Mara</p>`,
		`<p data-gm-secret=yes>Mara</p>`,
		`<p data-visibility="secret">Mara is pier9b.</p>`,
		`<p data-reader="game-master">Mara is pier9b.</p>`,
		`<secret>Mara is pier9b.</secret>`,
		`<gm>Mara is pier9b.</gm>`,
		`<p hidden>Mara is pier9b.</p>`,
		`<details class="secret"><summary>GM</summary>Mara is pier9b.</details>`,
		"> [!secret]- Mara is pier9b.\n> Yes.",
		"> [!gm-secret|wide] Mara is pier9b.",
		"> [!private] Mara is pier9b.",
		"> [!dungeon-master] Mara is pier9b.",
		"[secret]Mara is [[Old_3 Town]][/secret]",
		"[private]Mara is pier9b.[/private] [hidden]Mara[/hidden] [gm]Mara[/gm]",
		"%%Mara is pier9b.%% <!-- Mara is pier9b. -->",
		"{{< secret >}}Mara is pier9b.{{< /secret >}}",
		"{% secret %}Mara is pier9b.{% endsecret %}",
		"::: secret Mara is pier9b.\n:::",
		"!!! secret \"Mara is pier9b.\"\n    Yes.",
		"??? private\n    Mara",
		"~~~ad-secret\ntitle: pier9b\n~~~",
		"#secret/plot to pier9b.",
		"secret:: [[Old_3 Town]]",
		"**Secret:** [[Old_3 Town]]",
		"Secret: <b>pier9b</b>",
		"---\nsecret: true\n---\nMara is pier9b.",
		">!Mara is pier9b.!<",
	} {
		if j := p.Judge("teen", text); j.Flagged() {
			t.Errorf("%q is judged %v", text, j.Categories)
		}
	}
	for _, text := range []string{
		`<div class="secret">The password of the server is 94Y2Wt5auBxG!</div>`,
		`<div class="secret">api_key = abcdef1234</div>`,
		`<div class="sk-abcdefghij1234567890">x</div>`,
		`<div class="secret" data-key="ghp_abcdefghijklmnopqrstuvwxyz123456">x</div>`,
		`<p data-secret="Blumen88!">x</p>`,
		`<secret>pw is Blumen88!</secret>`,
		"> [!secret] login is lena with pw Blumen88!",
		"{{< secret >}}token: a1b2c3d4e5{{< /secret >}}",
		"[secret]client secret: a1b2c3d4e5[/secret]",
		"secret = hunter42",
		"secret: a1b2c3d4e5",
		"[secret=a1b2c3d4e5]",
		"%% the private key is a1b2c3d4e5 %%",
	} {
		if j := p.Judge("teen", text); !slices.Contains(j.Categories, "secrets") {
			t.Errorf("%q is judged %v", text, j.Categories)
		}
	}
}

// A speaker in distress is flagged for a person and not blocked; one who urges others is blocked.
func TestSelfHarmIsFlagged(t *testing.T) {
	p := published(t)
	for _, profile := range p.Profiles {
		if j := p.Judge(profile, "I want to kill myself."); j.Action != safety.Flag {
			t.Errorf("%s: %+v", profile, j)
		}
		if j := p.Judge(profile, "You should kill yourself."); j.Action != safety.Block {
			t.Errorf("%s: %+v", profile, j)
		}
	}
}
