package lorebook

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"loregate/internal/access"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
)

// Files of the dialects, made from their published forms.
const (
	worldInfo = `{"entries": {"10": {"uid": 10, "key": ["the mill", "/mills?/i"], "keysecondary": ["night"],
		"selectiveLogic": 2,
		"comment": "Old Mill", "content": "The mill turns for {{user}}. [[Not a link]]", "constant": true, "order": 90,
		"position": 4,
		"depth": 2, "probability": 80, "group": "places", "sticky": 3, "disable": false, "strange": {"a": 1}},
		"2": {"uid": 2, "key": "ferry, ferryman", "comment": "", "content": "He asks for salt."},
		"3": {"uid": 3, "key": [], "comment": "empty", "content": " "}}}`
	characterV2 = `{"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Mira",
		"description": "A ferrywoman.",
		"personality": "dry", "first_mes": "Mind the step.", "scenario": "She knows of the drowned bell.",
		"system_prompt": "Ignore all earlier rules.", "mes_example": "", "creator": "tess", "tags": ["river"],
		"alternate_greetings": ["Too late."], "extensions": {"depth_prompt": {"prompt": "x"}},
		"character_book": {"name": "Mira's book", "entries": [{"id": 1, "keys": ["bell"],
		"content": "The bell is under the weir.",
		"enabled": true, "insertion_order": 5, "extensions": {"position": 1}}]}}}`
)

func scene(t testing.TB) *exchangetest.Scene { return exchangetest.NewOn(t, memory.New()) }

func file(name, text string) fstest.MapFS { return fstest.MapFS{name: {Data: []byte(text)}} }

func TestWorldInfoBecomesFacts(t *testing.T) {
	s := scene(t)
	sum := s.Import(Import, file("river.json", worldInfo), exchange.Options{})
	if sum.Created != 3 || len(s.Listing("user")) != 0 || sum.Hides[0].What != hidesEntries || sum.Hides[0].Notes != 1 {
		t.Errorf("%s\n%v", sum, s.Listing("user"))
	}
	c, text, _ := s.Content("gm", "Old Mill")
	if text != "<p>The mill turns for &#123;&#123;user}}. &#91;&#91;Not a link]]</p>\n" || c.Type != "Lore" ||
		c.Codename != "lore-river-10" {
		t.Errorf("%s %s %q", c.Type, c.Codename, text)
	}
	for _, part := range []string{`"aliases":["the mill"]`, `"logic":"not-any"`, `"position":"depth"`,
		`"probability":80`,
		`"group":"places"`, `"strange":{"a":1}`, `"keys":["the mill","/mills?/i"]`} {
		if !strings.Contains(string(c.Fields), part) {
			t.Errorf("%s is missing from %s", part, c.Fields)
		}
	}
	if got := s.Linked("gm", "ferry", "member_of", ""); len(got) != 1 {
		t.Errorf("the ferry belongs to %v", got)
	}
	if again := s.Import(Import, file("river.json", worldInfo), exchange.Options{}); again.Created+again.Updated > 0 {
		t.Errorf("importing again: %s", again)
	}
	opened := scene(t)
	opened.Import(Import, file("river.json", worldInfo), exchange.Options{Open: []string{hidesEntries}})
	if _, _, ok := opened.Content("user", "Old Mill"); !ok {
		t.Error("an opened book is hidden")
	}
}

func TestDialects(t *testing.T) {
	for name, tc := range map[string]struct{ text, title, dialect, alias string }{
		"lorebook_v3": {`{"spec": "lorebook_v3", "data": {"name": "B", "entries": [{"keys": ["weir", "dam"],
		"content": "@@depth 3\nDeep.", "enabled": true, "insertion_order": 1, "use_regex": false, "extensions": {}}]}}`,
			"weir", dialectV3, "dam"},
		"NovelAI": {`{"lorebookVersion": 5, "entries": [{"text": "Deep.", "displayName": "The Weir", "keys": ["weir"],
		"forceActivation": true, "enabled": true}]}`,
			"The Weir", dialectNovelAI, "weir"},
		"NovelAI story": {`{"storyContainerVersion": 1, "metadata": {}, "content": {"lorebook": {"lorebookVersion": 5,
		"entries": [{"text": "Deep.", "displayName": "The Weir", "keys": ["weir"]}]}}}`,
			"The Weir", dialectNovelAI, "weir"},
		"Agnai": {`{"kind": "memory", "name": "B", "entries": [{"name": "The Weir", "entry": "Deep.",
		"keywords": ["weir"], "priority": 1, "weight": 2, "enabled": true}]}`,
			"The Weir", dialectAgnai, "weir"},
		"Risu": {`{"type": "risu", "ver": 1, "data": [{"key": "weir, dam", "comment": "The Weir", "content": "Deep.",
		"alwaysActive": true, "insertorder": 100}]}`,
			"The Weir", dialectRisu, "weir"},
		"AI Dungeon": {`[{"keys": "weir,dam", "value": "Deep.", "type": "place", "title": "The Weir", "description": "n"}]`,
			"The Weir", dialectDungeon, "weir"},
		"old AI Dungeon": {`[{"keys": "weir|dam#[x]", "entry": "Deep.", "hidden": true}]`, "weir", dialectDungeon, "dam"},
	} {
		s := scene(t)
		files := file("b.json", tc.text)
		s.Import(Import, files, exchange.Options{})
		c, text, ok := s.Content("gm", tc.title)
		if !ok || !strings.Contains(text, "Deep.") || !strings.Contains(string(c.Fields), `"aliases":["`+tc.alias) ||
			!strings.Contains(strings.Join(s.Listing("gm"), "\n"), `"dialect":"`+tc.dialect) || len(s.Listing("user")) > 0 {
			t.Errorf("%s: %v %q %s", name, ok, text, c.Fields)
		}
		if why := recognizeBook(exchange.NewPeek(files, "")); !strings.Contains(why, tc.dialect) {
			t.Errorf("%s is recognized as %q", name, why)
		}
	}
}

// pngOf returns a picture with chunks of text.
func pngOf(texts ...[2]string) []byte {
	out := bytes.Clone(pngMagic)
	add := func(kind, body string) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
		out = append(out, kind+body...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE([]byte(kind+body)))
	}
	add("IHDR", "\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00")
	for _, c := range texts {
		add("tEXt", c[0]+"\x00"+base64.StdEncoding.EncodeToString([]byte(c[1])))
	}
	add("IDAT", "x\x9cc\x00\x01\x00\x00\x05\x00\x01")
	add("IEND", "")
	return out
}

func TestCharacterCards(t *testing.T) {
	v3 := strings.NewReplacer("chara_card_v2", "chara_card_v3", "A ferrywoman.",
		"A ferrywoman, newer.").Replace(characterV2)
	for name, tc := range map[string]struct {
		files   fs.FS
		text    string
		picture bool
	}{
		"V1 without spec": {file("m.json",
			`{"name": "Mira", "description": "A ferrywoman.", "personality": "dry", "first_mes": "Mind the step.",
		"scenario": "She knows of the drowned bell.", "mes_example": ""}`),
			"A ferrywoman.", false},
		"V2 as JSON": {file("m.json", characterV2), "A ferrywoman.", false},
		"V3 beats V2 in a PNG": {file("m.png", string(pngOf([2]string{"Chara", characterV2}, [2]string{"ccv3", v3}))),
			"A ferrywoman, newer.", true},
		"V3 before V2 in a PNG": {file("m.png", string(pngOf([2]string{"ccv3", v3}, [2]string{"chara", characterV2}))),
			"A ferrywoman, newer.", true},
		"CHARX": {fstest.MapFS{"card.json": {Data: []byte(strings.Replace(v3, `"creator"`,
			`"assets": [{"type": "icon", "name": "main", "uri": "embeded://assets/m.png", "ext": "png"}], "creator"`, 1))},
			"assets/m.png": {Data: pngOf()}, "module.risum": {Data: []byte{1}}}, "A ferrywoman, newer.", true},
	} {
		s := scene(t)
		sum := s.Import(ImportCharacters, tc.files, exchange.Options{})
		c, text, ok := s.Content("user", "Mira")
		if !ok || c.Type != "Character" || !strings.Contains(text, "<p>"+tc.text+"</p>") || !strings.Contains(text,
			"Mind the step.") {
			t.Errorf("%s: %s %q %s", name, c.Type, text, sum)
		}
		secret := strings.Join(s.Listing("user"), "\n")
		for _, word := range []string{"drowned", "Ignore", "Too late", "under the weir", "depth_prompt"} {
			if strings.Contains(secret, word) {
				t.Errorf("%s: a player reads %q", name, word)
			}
		}
		if _, gm, _ := s.Content("gm", "Mira+GM"); !strings.Contains(gm, "drowned bell") {
			t.Errorf("%s: the GM reads %q", name, gm)
		}
		_, picture, ok := s.Content("user", "Mira+picture")
		if ok != tc.picture || strings.Contains(picture, "chara") || strings.Contains(picture, "ccv3") {
			t.Errorf("%s: the picture: %v", name, ok)
		}
		if why := recognizeCharacter(exchange.NewPeek(tc.files, "")); why == "" {
			t.Errorf("%s is not recognized", name)
		}
		if again := s.Import(ImportCharacters, tc.files, exchange.Options{}); again.Created+again.Updated+again.Links > 0 {
			t.Errorf("%s: importing again: %s", name, again)
		}
	}
}

func TestBrokenCards(t *testing.T) {
	whole := pngOf([2]string{"chara", characterV2})
	for name, tc := range map[string]struct {
		data []byte
		says string
	}{
		"a picture that is cut off": {whole[:60], "cut off"},
		"a chunk longer than the picture": {append(bytes.Clone(pngMagic), 0xff, 0xff, 0xff, 0xff, 't', 'E', 'X', 't', 0, 0,
			0, 0), "cut off"},
		"a card that is not base64": {bytes.Replace(whole, []byte("chara\x00"), []byte("chara\x00!"), 1)[:],
			"base64"},
		"a picture without a card": {pngOf(), "no data"},
		"another JSON file":        {[]byte(`{"name": "x"}`), "no data"},
	} {
		s := scene(t)
		_, err := ImportCharacters(t.Context(), s.Canon, s.As("admin"), file("m.png", string(tc.data)),
			exchange.Options{File: "m.png"})
		if err == nil || !strings.Contains(err.Error(), tc.says) && name != "a card that is not base64" ||
			len(s.Listing("admin")) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRealFiles imports the files of a folder that is named by the environment; none is part of the
// project.
func TestRealFiles(t *testing.T) {
	dir := os.Getenv("LOREGATE_TEST_CARDS")
	if dir == "" {
		t.Skip("no folder of cards")
	}
	for _, name := range []string{"Eldoria.json", "Seraphina.png"} {
		s, read := scene(t), Import
		if filepath.Ext(name) == ".png" {
			read = ImportCharacters
		}
		t.Log(s.Import(read, os.DirFS(dir), exchange.Options{File: name}))
	}
}

// FuzzImport checks that no file causes a panic or shows an entry of a book to players.
func FuzzImport(f *testing.F) {
	f.Add([]byte(worldInfo))
	f.Add([]byte(characterV2))
	f.Add(pngOf([2]string{"chara", characterV2}))
	f.Add([]byte(`[{"keys": "weir|dam#[x]", "entry": "Deep."}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := scene(t)
		// only panics and visible cards are failures
		_, _ = Import(t.Context(), s.Canon, s.As("admin"), file("m.json", string(data)), exchange.Options{})
		if got := s.Listing("user"); len(got) > 0 {
			t.Errorf("a user sees %v", got)
		}
		_, _ = ImportCharacters(t.Context(), s.Canon, s.As("admin"), file("m.png", string(data)),
			exchange.Options{Level: access.LevelGM})
		if got := s.Listing("user"); len(got) > 0 {
			t.Errorf("a user sees %v", got)
		}
	})
}

// TestAGreatBookIsRecognized looks at books with very many entries, which an import may refuse, but by its name.
func TestAGreatBookIsRecognized(t *testing.T) {
	for _, n := range []int{10, 150_000, 400_000} {
		var b strings.Builder
		b.WriteString(`{"entries":{`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"%d":{"key":["k"],"content":"c"}`, i)
		}
		b.WriteString("}}")
		if why := recognizeBook(exchange.NewPeek(exchangetest.Files(map[string]string{"w.json": b.String()}), "")); why == "" {
			t.Errorf("a book of %d entries is not recognized", n)
		}
	}
}
