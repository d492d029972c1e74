package prooftest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// putText creates a card as the game master.
func (x *weave) putText(name string, f textForm, text string) *planted {
	x.t.Helper()
	if err := x.rest("gm", "POST", "/api/mcp/cards", fields{"name": name, "content": text, "format": f.String(),
		"text_format": f.String()}, nil); err != nil {
		x.t.Fatal(err)
	}
	return &planted{name: name, mark: exactMark{form: f}}
}

// textAs returns a card's text as somebody reads it; "" if they do not.
func (x *weave) textAs(who string, c *planted) string {
	if got := x.cardAs(who, c); got != nil {
		return got.Content
	}
	return ""
}

// TestGapsStayClosed checks what once did not hold.
func TestGapsStayClosed(t *testing.T) {
	x := newWeave(t, "embedded", 1, false)
	for name, holds := range map[string]func() bool{
		"MCP write appends Markdown to a text that is kept as Markdown": func() bool {
			c := x.putText("Appended", inMarkdown, "The quay.\n\nThe road.\n")
			_ = x.tool("gm", "/mcp", "write", fields{"name": c.name,
				"append": "/// secret\na WORD hides\n///\n\n## More\n\nSeen.\n"})
			return !strings.Contains(x.textAs("bob", c), "<p></p>")
		},
		"a game master restores a version with a hidden part": func() bool {
			c := x.putText("History", inMarkdown, "The quay.\n\n%%WORD is here.%%\n\nThe road.\n")
			_ = x.swap("gm", c, func(string) string { return "The quay.\n\nThe road.\n" })
			_ = x.restoreFirst(c)
			return strings.Contains(x.textAs("gm", c), "WORD") && !strings.Contains(x.textAs("bob", c), "WORD")
		},
		"a heading before a heading": func() bool {
			c := x.putText("Heading", inHTML, "<p>The quay.</p><h2>After</h2><p>The road.</p>")
			_ = x.swap("gm", c, func(text string) string {
				return strings.Replace(text, "<h2>After", "<h2>GM notes</h2><p>WORD</p><h2>After", 1)
			})
			return !strings.Contains(x.textAs("bob", c), "WORD")
		},
		"lines that move out of a callout": func() bool {
			c := x.putText("Lines", inMarkdown, "The quay.\n\n> [!secret]\n> a WORD hides below the mill\n\n## After\n")
			_ = x.swap("gm", c, func(string) string {
				return "The quay.\n\n> [!secret]\n> moved\n\n## After\n\na WORD hides below the mill\n"
			})
			return !strings.Contains(x.textAs("bob", c), "WORD")
		},
		"the format of the text alone": func() bool {
			c := &planted{name: "Format alone", mark: exactMark{form: inMarkdown}}
			_ = x.rest("gm", "POST", "/api/mcp/cards", fields{"name": c.name, "text_format": "markdown",
				"content": "The quay.\n\n> [!secret]\n> WORD\n"}, nil)
			return !strings.Contains(x.textAs("bob", c), "WORD")
		},
		"a comment of Markdown in a text that is stored as HTML": func() bool {
			c := &planted{name: "Comment", mark: exactMark{form: inHTML}}
			_ = x.rest("gm", "POST", "/api/mcp/cards", fields{"name": c.name,
				"markdown_content": "The quay.\n\n[//]: # (a WORD hides)\n\nThe road.\n"}, nil)
			return strings.Contains(x.textAs("gm", c), "WORD") && !strings.Contains(x.textAs("bob", c), "WORD")
		},
		"a told part with a nested one is taken back": func() bool {
			c := x.putText("Told", inMarkdown,
				"They say [secret]OUTER hides [secret]INNER[/secret] x[/secret] softly.\n")
			id := x.card(c).Hidden[0].ID
			_ = x.rest("gm", "POST", x.at(c)+"/reveal", fields{"parts": list(id), "to": list("alice")}, nil)
			told := strings.Contains(x.textAs("alice", c), "OUTER") && !strings.Contains(x.textAs("alice", c), "INNER")
			_ = x.rest("gm", "POST", x.at(c)+"/hide", fields{"parts": list(id)}, nil)
			return told && !strings.Contains(x.textAs("alice", c), "OUTER")
		},
		"a told part that telling cut into pieces is taken back": func() bool {
			c := x.putText("Pieces", inMarkdown, "The quay.\n\n<span class=\"secret\">!!! secret \"Title\"\na WORD hides</span>\n\n## End\n")
			id := x.card(c).Hidden[0].ID
			_ = x.rest("gm", "POST", x.at(c)+"/reveal", fields{"parts": list(id), "to": list("alice")}, nil)
			told := strings.Contains(x.textAs("alice", c), "WORD")
			_ = x.rest("gm", "POST", x.at(c)+"/hide", fields{"parts": list(id)}, nil)
			return told && !strings.Contains(x.textAs("alice", c), "WORD")
		},
		"a conversion to HTML keeps tags at a hidden part": func() bool {
			c := x.putText("Cut", inMarkdown, "The quay.\n\n!!! secret \"Title\"\n    WORD here\n\n## After\n\nThe road.\n")
			_ = x.rest("gm", "PATCH", x.at(c), fields{"text_format": "html"}, nil)
			c.mark.form = inHTML
			return strings.Contains(x.textAs("bob", c), "<h2>After</h2>")
		},
		"the line end of a part whose place is gone stays out of the open text": func() bool {
			c := x.putText("Line end", inHTML, "<p>The quay.</p>\n<p class=\"secret\">WORD</p>\n<p>The road.</p>")
			_ = x.swap("alice", c, func(string) string { return "<p>All new.</p>" })
			was := x.textAs("bob", c)
			_ = x.swap("gm", c, func(text string) string { return strings.Replace(text, "WORD", "WORDS", 1) })
			return x.textAs("bob", c) == was
		},
		"an edit of X+GM alone keeps the hidden parts of X": func() bool {
			c := x.putText("Garbled", inMarkdown,
				"The quay.\n\n%%The harbour is here and is deep.%%\n\nThe road.\n\n> [!gm]\n> It is so.\n\nEnd.\n")
			_ = x.rest("gm", "POST", "/api/mcp/replace", fields{"find": " is ", "replace": " is still ", "prefix": c.name,
				"dry_run": false}, nil)
			text := x.textAs("gm", c)
			return strings.Contains(text, "%%The harbour is still here and is still deep.%%") && strings.Contains(text,
				"> It is still so.")
		},
		"a hidden sentence that moves in HTML": func() bool {
			secret := "a wghvcjwvjrhfrmdh hides below the mill and pays 300 coins to [[Mother WGHV]] and the gang of the quay road"
			c := x.putText("Moves", inHTML, "<p>The quay.</p><table><tr><td>x <span class=\"secret\">"+secret+
				"</span></td><td>y</td></tr></table><h2>After</h2><p>The road.</p>")
			_ = x.swap("gm", c, func(text string) string {
				return strings.Replace(text, secret, "moved", 1) + "<p>" + secret + "</p>"
			})
			return strings.Contains(x.textAs("bob", c), "<td>y</td></tr></table><h2>After</h2><p>The road.</p>")
		},
		"a file of text with marks is asked about": func() bool {
			upload := func(who string, text string, more fields) error {
				in := fields{"name": "Notes " + who, "filename": "notes.txt",
					"data": base64.StdEncoding.EncodeToString([]byte(text))}
				maps.Copy(in, more)
				return x.tool(who, "/mcp/archive", "upload_attachment", in)
			}
			text := "The quay.\n\n> [!secret]\n> WORD\n"
			return upload("gm", text, nil) != nil && upload("gm", `{"text": "> [!secret]\n> WORD"}`, nil) != nil &&
				upload("gm", "The quay.\n", nil) == nil && upload("gm", text, nil) != nil &&
				upload("gm", text, fields{"level": "user"}) == nil && upload("alice", text, nil) == nil
		},
		"a hidden field under another name": func() bool {
			c := x.putText("Fields", inMarkdown, "The quay.\n")
			_ = x.rest("gm", "PATCH", x.at(c), fields{"fields": fields{"secret": "WORD hides", "port": "open"}}, nil)
			_ = x.rest("gm", "PATCH", x.at(c), fields{"fields": fields{"secret": nil, "motto": "WORD hides"}}, nil)
			read := func(who string) string {
				return x.send(who, request{operation: "read", method: "GET", path: x.at(c) + "?full=true"}).body
			}
			return strings.Contains(read("gm"), "WORD") && strings.Contains(read("bob"), "open") &&
				!strings.Contains(read("bob"), "WORD")
		},
		"a told part that changes has another tag": func() bool {
			c := x.putText("Tags", inMarkdown, "The quay.\n\n%%WORD hides%%\n\nThe road.\n")
			_ = x.rest("gm", "POST", x.at(c)+"/reveal", fields{"parts": list(x.card(c).Hidden[0].ID), "to": list("alice")}, nil)
			alice, bob := x.cardAs("alice", c), x.cardAs("bob", c)
			_ = x.swap("gm", c, func(text string) string { return strings.Replace(text, "WORD hides", "WORD", 1) })
			err := x.rest("alice", "PATCH", x.at(c), fields{"content": alice.Content + "More.", "format": "markdown",
				"if_match": alice.ETag}, nil)
			return err != nil && x.cardAs("alice", c).ETag != alice.ETag && x.cardAs("bob", c).ETag == bob.ETag
		},
		"a new mark in and beside a told part": func() bool {
			holds := true
			for i, row := range [][2]string{
				{"> [!secret] T\n> told one\n> told two\n", "> [!secret] T\n> told one %%WORD%%\n> told two\n"},
				{"one %%told here%% two\n", "one %%WORD%% %%told here%% two\n"},
				{"one %%told here%% two\n", "one <!-- WORD --> %%told here%% two\n"},
				{"%%told old%%\n", "%%told%% %%WORD%% %%old%%\n"},
				{"## GM notes\n\ntold one\n\ntold two\n", "## GM notes\n\ntold one\n\n%%WORD%%\n\ntold two\n"}} {
				c := x.putText("Into told "+itoa(i), inMarkdown, "The quay.\n\n"+row[0]+"\n# End\n\nThe road.\n")
				_ = x.rest("gm", "POST", x.at(c)+"/reveal", fields{"parts": list(x.card(c).Hidden[0].ID), "to": list("bob")}, nil)
				_ = x.swap("gm", c, func(text string) string { return strings.Replace(text, row[0], row[1], 1) })
				bob, gm := x.textAs("bob", c), x.textAs("gm", c)
				if strings.Contains(bob, "WORD") || !strings.Contains(bob, "told") || !strings.Contains(gm, "WORD") {
					x.t.Logf("%q: the game master reads %q, Bob %q", row[1], gm, bob)
					holds = false
				}
			}
			return holds
		},
		"new text under a mark that was opened is asked about": func() bool {
			c := x.putText("Opened", inMarkdown, "# Inn\n\n## GM notes\n\nold\n\n## B\n\nx\n")
			_ = x.rest("gm", "POST", x.at(c)+"/reveal", fields{"parts": list(x.card(c).Hidden[0].ID)}, nil)
			write := func(text string, more fields) error {
				in := fields{"format": "markdown", "content": text}
				maps.Copy(in, more)
				return x.rest("gm", "PATCH", x.at(c), in, nil)
			}
			asked := "# Inn\n\n## GM notes\n\nold\n\nWORD\n\n## B\n\nx\n"
			return write(asked, nil) != nil && !strings.Contains(x.textAs("bob", c), "WORD") &&
				write(asked, fields{"as_written": true}) == nil && strings.Contains(x.textAs("bob", c), "WORD") &&
				write(asked+"\n## GM notes\n\n%%SECOND%%\n", nil) == nil && !strings.Contains(x.textAs("bob", c), "SECOND")
		},
		"a hidden sentence that is copied without its mark is asked about": func() bool {
			secret := "A heron nests below the old mill at night"
			_ = x.putText("Copied from", inMarkdown, "The quay.\n\n> [!secret]\n> Listen. "+secret+". Beware!\n")
			to, html := x.putText("Copied to", inMarkdown, "The road.\n"), x.putText("Copied to HTML", inHTML, "<p>The road.</p>")
			write := func(c *planted, in fields) error { return x.rest("gm", "PATCH", x.at(c), in, nil) }
			text := fields{"format": "markdown", "content": "The road.\n\nThey say:\n" + secret + "!\n"}
			refused := write(to, text) != nil && write(to, fields{"fields": fields{"rumour": secret}}) != nil &&
				write(html, fields{"content": "<p>The road.</p><p>" + secret + ".</p>"}) != nil && x.rest("gm", "POST",
				"/api/mcp/cards", fields{"name": "Copied anew", "content": secret}, nil) != nil
			inMark := fields{"content": "<p>The road.</p><p class=\"secret\">" + secret + ".</p>"}
			return refused && write(to, fields{"fields": fields{"gm notes": secret}}) == nil && write(html, inMark) == nil &&
				write(to, text) != nil && x.rest("alice", "PATCH", x.at(to), text, nil) == nil
		},
		"a hidden sentence that is copied elsewhere is asked about": func() bool {
			secret := "The grey heron guards seven silver keys"
			_ = x.putText("Heron from", inMarkdown, "The quay.\n\n%%"+secret+".%%\n")
			to := x.putText("Heron to", inMarkdown, "The road.\n")
			asked := func(way string, err error) bool {
				holds := err != nil && strings.Contains(err.Error(), "hid")
				if !holds {
					x.t.Error("not asked: ", way, err)
				}
				return holds
			}
			post := func(path string, in fields) error { return x.rest("gm", "POST", path, in, nil) }
			upload := func(level string) error {
				in := fields{"data": base64.StdEncoding.EncodeToString([]byte("Notes\n" + secret + ".\n")), "filename": "n.txt"}
				if level != "" {
					in["level"] = level
				}
				return post("/api/mcp/cards/Heron%20to+file/file", in)
			}
			session := fields{"number": 77, "play_notes": "They came.\n" + secret + ".", "publish_notes": true}
			put := func(name string, more fields) error {
				in := fields{"name": name, "content": "x"}
				maps.Copy(in, more)
				return post("/api/mcp/cards", in)
			}
			return asked("nested", x.rest("gm", "PATCH", x.at(to), fields{"fields": fields{"a": fields{"b": list("x", secret)}}}, nil)) &&
				asked("alias", x.rest("gm", "PATCH", x.at(to), fields{"fields": fields{"aliases": list(secret)}}, nil)) &&
				asked("name", put(secret, nil)) && asked("new name", x.rest("admin", "PUT", x.at(to)+"/rename", fields{"new_name": secret}, nil)) &&
				asked("file", upload("")) && upload("user") == nil && asked("notes", post("/api/campaigns/lendwater/sessions", session)) &&
				asked("label in HTML", put("Heron HTML", fields{"content": "<p>A</p><p>GM: it flies</p>", "format": "html"})) &&
				asked("heading in HTML", put("Heron HTML", fields{"content": "<p>## GM notes</p><p>it flies</p>"})) &&
				asked("tag", put("Heron to+tags", fields{"type": "Pointer", "content": "[[%%CULT%%]]"})) &&
				asked("tag as a comment", put("Heron to+tags", fields{"type": "Pointer", "content": "[[<!-- x -->]]"})) &&
				asked("event", post("/api/campaigns/lendwater/timeline", fields{"date": "1203-01-01", "description": secret + ".",
					"is_player_known": true}))
		},
		"a passage of a told part is taken back": func() bool {
			holds := true
			for i, passage := range []string{"WORD serves", "WORD serves the dragon.%%\n\nThe road", "the dragon"} {
				c := x.putText("Passage "+itoa(i), inMarkdown, "The quay.\n\n%%The WORD serves the dragon.%%\n\nThe road.\n")
				_ = x.rest("gm", "POST", x.at(c)+"/reveal", fields{"parts": list(x.card(c).Hidden[0].ID), "to": list("bob")}, nil)
				told := strings.Contains(x.textAs("bob", c), "WORD")
				err := x.rest("gm", "POST", x.at(c)+"/hide", fields{"text": list(passage)}, nil)
				if !told || err != nil || strings.Contains(x.textAs("bob", c), "WORD") || !strings.Contains(x.textAs("gm", c), "WORD") {
					x.t.Log(passage, told, err, x.textAs("bob", c))
					holds = false
				}
			}
			c := x.putText("To nobody", inMarkdown, "%%WORD%%\n")
			return holds && x.rest("gm", "POST", x.at(c)+"/reveal", fields{"parts": list(x.card(c).Hidden[0].ID), "to": []string{}},
				nil) != nil
		},
		"the game master's own notes beside hidden parts": func() bool {
			c := x.putText("Own notes", inMarkdown, "The quay.\n\n%%WORD hides.%%\n\nThe road.\n\n> [!gm]\n> SECOND\n")
			read := func() string { return x.textAs("gm", c) }
			first := x.rest("gm", "PATCH", x.at(c), fields{"fields": fields{"+GM": "My note."}}, nil) == nil &&
				strings.Contains(read(), "%%WORD hides.%%") && strings.Contains(read(), "SECOND")
			err := x.rest("gm", "PATCH", "/api/mcp/cards/Own%20notes+GM", fields{"content": "My other note."}, nil)
			return first && err == nil && strings.Contains(read(), "%%WORD hides.%%") && strings.Contains(read(), "SECOND") &&
				!strings.Contains(x.textAs("bob", c), "WORD")
		},
		"a player sends an outdated text": func() bool {
			secret := "The ferryman sells maps to the smugglers"
			c := x.putText("Outdated", inMarkdown, "The quay.\n\n"+secret+".\n\nThe road.\n")
			old := x.textAs("bob", c)
			_ = x.rest("gm", "POST", x.at(c)+"/hide", fields{"text": list(secret + ".")}, nil)
			send := func(who, text string) error {
				return x.rest(who, "PATCH", x.at(c), fields{"format": "markdown", "content": text}, nil)
			}
			guessed := x.putText("Guessed", inMarkdown, "The quay.\n\n%%The cook poisons every third guest.%%\n")
			return send("bob", old+"More.\n") != nil && !strings.Contains(x.textAs("alice", c), "ferryman") &&
				send("bob", "The quay.\n\nThe road. It rains a lot in this place.\n") == nil &&
				x.rest("bob", "PATCH", x.at(guessed), fields{"format": "markdown",
					"content": "The quay.\n\nThe cook poisons every third guest.\n"}, nil) == nil
		},
		"a player sends an outdated text with a short passage": func() bool {
			holds := true
			for i, row := range [][2]string{{"The murderer is WORD Duke. He lives here.\n", "WORD Duke"},
				{"A quay.\n\n- eels\n- WORD eats them\n- salt\n", "WORD eats them"},
				{"A quay.\n\nThe WORD goes at night to the mill with his brother.\n",
					"The WORD goes at night to the mill with his brother."}} {
				c := x.putText(fmt.Sprint("Short and outdated ", i), inMarkdown, row[0])
				old := strings.Replace(x.textAs("alice", c), "at night", "by day", 1)
				_ = x.rest("gm", "POST", x.at(c)+"/hide", fields{"text": list(row[1])}, nil)
				err := x.rest("alice", "PATCH", x.at(c), fields{"format": "markdown", "content": old + "\nMore.\n"}, nil)
				fine := x.rest("alice", "PATCH", x.at(c), fields{"format": "markdown",
					"content": x.textAs("alice", c) + "\nMore of it, and more.\n"}, nil)
				if err == nil || fine != nil || strings.Contains(x.textAs("bob", c), "WORD") {
					x.t.Log(row, err, fine, x.textAs("bob", c))
					holds = false
				}
			}
			return holds
		},
		"a player sends text that they were told and that was taken back": func() bool {
			c := &planted{name: "Told once", mark: exactMark{form: inMarkdown}}
			_ = x.rest("gm", "POST", "/api/mcp/cards", fields{"name": c.name, "format": "markdown",
				"text_format": "markdown", "content": "The quay.\n\n%%The abbot owes ten barrels to the tanner.%%\n",
				"fields": fields{"gm notes": "the abbot is his brother"}}, nil)
			parts := list(x.card(c).Hidden[0].ID, "field:gm notes")
			_ = x.rest("gm", "POST", x.at(c)+"/reveal", fields{"parts": parts, "to": list("bob")}, nil)
			told := x.textAs("bob", c)
			_ = x.rest("gm", "POST", x.at(c)+"/hide", fields{"parts": parts}, nil)
			sent := x.rest("bob", "PATCH", x.at(c), fields{"format": "markdown", "content": told + "\nMore.\n"}, nil)
			field := x.rest("bob", "PATCH", x.at(c), fields{"fields": fields{"about": "the abbot is his brother"}}, nil)
			guess := x.rest("alice", "PATCH", x.at(c), fields{"fields": fields{"about": "the abbot is his brother"}}, nil)
			x.t.Log(told, sent, field, guess)
			return strings.Contains(told, "tanner") && sent != nil && field != nil && guess == nil
		},
		"new text in a part that was told is asked about": func() bool {
			c := x.putText("Told and grown", inMarkdown, "The quay.\n\n%%A fisher sells maps.%%\n")
			_ = x.rest("gm", "POST", x.at(c)+"/reveal", fields{"parts": list(x.card(c).Hidden[0].ID), "to": list("bob")}, nil)
			grow := func(asWritten bool) error {
				text := strings.Replace(x.textAs("gm", c), "maps", "maps, and a WORD", 1)
				return x.rest("gm", "PATCH", x.at(c), fields{"format": "markdown", "content": text, "as_written": asWritten}, nil)
			}
			told := strings.Contains(x.textAs("bob", c), "fisher")
			asked := grow(false) != nil && !strings.Contains(x.textAs("bob", c), "WORD")
			shorter := x.swap("gm", c, func(text string) string { return strings.Replace(text, "sells ", "", 1) }) == nil
			return told && asked && shorter && grow(true) == nil &&
				strings.Contains(x.textAs("bob", c), "WORD") && !strings.Contains(x.textAs("alice", c), "WORD")
		},
		"a relationship that is taken back": func() bool {
			id := func(name string) any {
				return x.do(keeper, "entity_create", fields{"campaign_id": "lendwater", "name": name, "entity_type": "npc",
					"revealed": true})["id"]
			}
			a, b := id("Lover A"), id("Lover B")
			r := x.do(keeper, "relationship_create", fields{"campaign_id": "lendwater", "source_id": a, "target_id": b,
				"type": "lover of", "secret": true})["id"]
			read := func() bool {
				got := x.send("bob", request{operation: "read", method: "GET",
					path: fmt.Sprintf("/api/campaigns/lendwater/entities/%v", a)}).body
				return strings.Contains(got, "lover of")
			}
			x.t.Log(a, b, r)
			before := read()
			x.do(keeper, "reveal", fields{"campaign_id": "lendwater", "relationship_id": r})
			told := read()
			x.do(keeper, "unreveal", fields{"campaign_id": "lendwater", "relationship_id": r})
			x.t.Log(before, told, read())
			return !before && told && !read()
		},
		"a short part whose text moves": func() bool {
			holds := true
			for i, row := range [][3]string{
				{"The old inn.\n\n%%He is a spy.%%\n", "The old inn. He is a spy.\n\nThe cook is fat.\n", "is a spy"},
				{"- One\n- %%AC 17%%\n- Three\n", "- One\n- Three\n- AC 17\n- Four\n", "AC 17"},
				{"| a | b |\n|---|---|\n| cook | %%Orc%% |\n| maid | x |\n",
					"| a | b | c |\n|---|---|---|\n| maid | sweeps | d |\n| cook | Orc | e |\n", "Orc"},
				{"The door has number %%42%% on it.\n", "The door has a number on it: 42 or so.\n", "42"}} {
				c := x.putText("Short "+itoa(i), inMarkdown, row[0])
				err := x.swap("gm", c, func(string) string { return row[1] })
				if strings.Contains(x.textAs("bob", c), row[2]) {
					x.t.Log(row[1], err, x.textAs("bob", c))
					holds = false
				}
			}
			return holds
		},
		"a new name makes a sentence that is hidden elsewhere": func() bool {
			named := x.putText("Old Weir", inMarkdown, "A weir.\n")
			_ = x.putText("Of the weir", inMarkdown, "The miller of [[Old Weir]] carries a lantern.\n")
			_ = x.putText("Hidden weir", inMarkdown, "%%The miller of Long Weir carries a lantern.%%\n")
			err := x.rest("admin", "PUT", x.at(named)+"/rename", fields{"new_name": "Long Weir"}, nil)
			x.t.Log(err)
			return err == nil
		},
		"a short block of HTML that moves": func() bool {
			c := x.putText("Short block", inHTML, "<h2>GM notes</h2><p>WORD plan A</p><p>WORD plan B</p><p>WORD knows</p>"+
				"<h2>Public</h2><p>open</p>")
			err := x.swap("gm", c, func(string) string {
				return "<h2>GM notes</h2><p>WORD plan A</p><h2>Public</h2><p>open</p><p>WORD plan B</p><p>WORD knows</p>"
			})
			x.t.Log(err, x.textAs("bob", c))
			return !strings.Contains(x.textAs("bob", c), "WORD") && strings.Contains(x.textAs("bob", c), "<p>open</p>")
		},
		"new text in a field that was opened is asked about": func() bool {
			c := x.putText("Opened field", inMarkdown, "The quay.\n")
			set := func(v string) error {
				return x.rest("gm", "PATCH", x.at(c), fields{"fields": fields{"gm notes": v}}, nil)
			}
			_ = set("A word")
			_ = x.rest("gm", "POST", x.at(c)+"/reveal", fields{"parts": list("field:gm notes")}, nil)
			return set("WORD") != nil && set("A word") == nil
		},
		"an object with a mark in a field": func() bool {
			holds := true
			for i, v := range []any{list(fields{"secret": true, "note": "WORD"}), fields{"hidden": true, "note": "WORD"},
				list(fields{"visibility": "gm", "note": "WORD"}), list(list(fields{"a": fields{"players": false, "n": "WORD"}})),
				list(fields{"secret plan": "WORD"})} {
				c := x.putText("Object "+itoa(i), inMarkdown, "The quay.\n")
				whole := fields{"crew": v, "port": "open"}
				made := &planted{name: c.name + " made", mark: c.mark}
				asked := i == 4
				for _, err := range []error{x.rest("gm", "PATCH", x.at(c), fields{"fields": whole}, nil),
					x.tool("gm", "/mcp", "create_card", fields{"name": made.name, "content": "The quay.", "fields": whole})} {
					holds = holds && (err != nil) == asked
				}
				if asked {
					_ = x.rest("gm", "PATCH", x.at(c), fields{"fields": whole, "hide_unsure": true}, nil)
					_ = x.tool("gm", "/mcp", "create_card", fields{"name": made.name, "content": "The quay.", "fields": whole,
						"hide_unsure": true})
				}
				for _, of := range []*planted{c, made} {
					read := func(who string) string {
						return x.send(who, request{operation: "read", method: "GET", path: x.at(of) + "?full=true"}).body
					}
					if gm, bob := read("gm"), read("bob"); !strings.Contains(gm, "WORD") || strings.Contains(bob, "WORD") ||
						!strings.Contains(bob, "open") {
						x.t.Log(i, gm, bob)
						holds = false
					}
				}
			}
			return holds
		},
		"fields, labels and comments before a text are asked about": func() bool {
			holds := true
			for i, text := range []string{"Secret motive:: WORD", "- gm truth:: WORD", "Secret du MJ : WORD",
				"<!-- gm -->WORD<!-- /gm -->", "%% gm %%WORD%% /gm %%", "[//]: # (gm)\n\nWORD"} {
				put := func(in fields) (string, error) {
					in["name"] = fmt.Sprintf("Before %d %d", i, len(in))
					return in["name"].(string), x.rest("gm", "POST", "/api/mcp/cards", in, nil)
				}
				for _, in := range []fields{{"content": "The quay.\n\n" + text, "format": "markdown", "text_format": "markdown"},
					{"markdown_content": "The quay.\n\n" + text}} {
					_, err := put(in)
					in["hide_unsure"] = true
					name, put := put(in)
					bob := x.textAs("bob", &planted{name: name})
					if err == nil || put != nil || strings.Contains(bob, "WORD") || !strings.Contains(bob, "quay") {
						x.t.Log(i, err, put, bob)
						holds = false
					}
				}
			}
			return holds
		},
		"fields alone of a text with hidden sentences": func() bool {
			c := x.putText("Fields alone", inMarkdown, "The quay.\n\n%%The grey fountain drains at every full moon.%%\n")
			return x.rest("gm", "PATCH", x.at(c), fields{"fields": fields{"mood": "calm"}}, nil) == nil
		},
		"hidden parts that a game master's text leaves out are named": func() bool {
			c := x.putText("Left out", inMarkdown, "The quay.\n\n%%WORD hides.%%\n\nThe road.\n")
			write := func(who, text string) string {
				body, _ := json.Marshal(fields{"format": "markdown", "content": text})
				return x.send(who, request{operation: "update", method: "PATCH", path: x.at(c), body: string(body)}).body
			}
			byPlayer := write("bob", "The quay!\n\nThe road.\n")
			edited := write("gm", "The quay!\n\n%%WORD hides now.%%\n\nThe road.\n")
			return !strings.Contains(byPlayer+edited, "hidden_removed") &&
				strings.Contains(write("gm", "The quay!\n\nThe road.\n"), `"hidden_removed":["WORD hides now."]`)
		},
		"fields, tags and names that say that a card is hidden are asked about": func() bool {
			c := x.putText("Said", inMarkdown, "The quay.\n")
			set := func(name string, v any) error {
				return x.rest("gm", "PATCH", x.at(c), fields{"fields": fields{name: v}}, nil)
			}
			put := func(name string, more fields) error {
				in := fields{"name": name, "content": "WORD"}
				maps.Copy(in, more)
				return x.rest("gm", "POST", "/api/mcp/cards", in, nil)
			}
			asked := func(errs ...error) bool {
				for i, err := range errs {
					if err == nil {
						x.t.Log("not asked: ", i)
						return false
					}
				}
				return true
			}
			tags := fields{"type": "List", "content": "gm"}
			return asked(set("visibility", "gm"), set("hidden", true), set("publish", false), set("level", "gm"),
				set("tags", list("harbour", "gm")), set("visible_to", list("bob")), set("player", fields{"publish": false}),
				put("Said+tags", tags), put("Said+DM", nil), put("Said+GM notes", nil), put("Said %%WORD%%", nil),
				put("GM notes", nil), set("players", list("bob")),
				x.rest("admin", "PUT", x.at(c)+"/rename", fields{"new_name": "Said %%WORD%%"}, nil)) &&
				put("Spoilers", fields{"hide_unsure": true}) == nil && x.textAs("bob", &planted{name: "Spoilers"}) == "" &&
				set("visibility", "12 miles") != nil && set("visibility", "everyone") == nil && set("level", 5) == nil &&
				set("publish", true) == nil && put("Said+Cellar", nil) == nil &&
				put("Said+DM", fields{"level": "gm"}) == nil && put("Said+Secret", fields{"as_written": true}) == nil
		},
		"a new card below one of two of a name": func() bool {
			hidden := x.putText("Cult", inMarkdown, "Hidden.\n")
			_ = x.rest("admin", "PUT", "/api/mcp/cards/Cult/level", fields{"level": "gm"}, nil)
			hidden.id = "~" + x.card(hidden).ID
			_ = x.rest("bob", "POST", "/api/mcp/cards", fields{"name": "Cult", "content": "I heard of it."}, nil)
			_ = x.rest("gm", "POST", "/api/mcp/cards", fields{"name": "Cult+Cellar", "content": "WORD"}, nil)
			_ = x.rest("gm", "PATCH", x.at(hidden), fields{"fields": fields{"+Plan": "WORD"}}, nil)
			return x.textAs("gm", &planted{name: "Cult+Cellar"}) != "" && x.textAs("gm", &planted{name: "Cult+Plan"}) != "" &&
				x.textAs("bob", &planted{name: "Cult+Cellar"}) == "" && x.textAs("bob", &planted{name: "Cult+Plan"}) == ""
		},
		"types whose texts have no hidden parts": func() bool {
			holds := true
			for i, typ := range []string{"List", "Pointer", "JSON", "HTML"} {
				c := x.putText("Typed "+itoa(i), inMarkdown, "Anna.\n\n%%WORD%%\n")
				_ = x.rest("bob", "PATCH", x.at(c), fields{"type": typ}, nil)
				_ = x.swap("gm", c, func(text string) string { return text + "\nBen" })
				holds = holds && !strings.Contains(x.textAs("bob", c), "WORD") &&
					x.rest("gm", "POST", "/api/mcp/cards", fields{"name": "Asked " + itoa(i), "type": typ,
						"content": "Anna <!-- WORD -->"}, nil) != nil &&
					x.rest("gm", "POST", x.at(c)+"/hide", fields{"text": list("Anna")}, nil) != nil
			}
			return holds && x.rest("gm", "POST", "/api/mcp/cards", fields{"name": "Asked too", "type": "PlainText",
				"content": "Sold.\n\n%%WORD%%\n"}, nil) != nil
		},
		"a field of a card that one player reads too": func() bool {
			c := x.putText("Shared", inMarkdown, "Shared.\n")
			_ = x.rest("admin", "PUT", x.at(c)+"/level", fields{"level": "gm", "subjects": list("bob")}, nil)
			_ = x.rest("gm", "PATCH", x.at(c), fields{"fields": fields{"gm notes": "WORD", "mood": "%%WORD%%"}}, nil)
			got := x.send("bob", request{operation: "read", method: "GET", path: x.at(c) + "?full=true"}).body
			return strings.Contains(got, "Shared") && !strings.Contains(got, "WORD")
		},
		"earlier versions when a card is hidden, changed and shown again": func() bool {
			c := x.putText("Shown again", inMarkdown, "The mill. WORD\n")
			_ = x.rest("admin", "PUT", x.at(c)+"/level", fields{"level": "gm"}, nil)
			_ = x.swap("gm", c, func(text string) string { return "The mill.\n" })
			_ = x.rest("admin", "PUT", x.at(c)+"/level", fields{"level": "user"}, nil)
			got := x.send("bob", request{operation: "history", method: "GET", path: x.at(c) + "/history/1"}).body
			return x.textAs("bob", c) != "" && !strings.Contains(got, "WORD")
		},
		"hidden parts of a text that a player converts": func() bool {
			c := x.putText("Converted", inMarkdown, "The quay.\n\n> [!secret] Title\n> a **WORD** hides\n\n## After\n\n"+
				"They say %%CODE waits%% softly.\n\nThe road.\n")
			if err := x.rest("alice", "PATCH", x.at(c), fields{"text_format": "html"}, nil); err != nil {
				x.t.Log(err)
			}
			c.mark.form = inHTML
			gm, bob := x.textAs("gm", c), x.textAs("bob", c)
			holds := strings.Contains(gm, "<strong>WORD</strong>") && !strings.Contains(gm, "%%") &&
				!strings.Contains(gm, "> [!") &&
				strings.Index(gm, "WORD") < strings.Index(gm, "After") && strings.Contains(bob, "<h2>After</h2>") &&
				!strings.Contains(bob, "WORD") && !strings.Contains(bob, "CODE")
			edit := func(text string) string { return strings.Replace(text, "The road", "The long road", 1) }
			_ = x.swap("gm", c, edit)
			if !holds || x.textAs("gm", c) != edit(gm) || x.textAs("bob", c) != edit(bob) {
				x.t.Logf("the game master reads %q, then %q, Bob %q, then %q", gm, x.textAs("gm", c), bob, x.textAs("bob", c))
				return false
			}
			_ = x.rest("alice", "PATCH", x.at(c), fields{"text_format": "markdown"}, nil)
			c.mark.form = inMarkdown
			gm = x.textAs("gm", c)
			bob = x.textAs("bob", c)
			if i := strings.Index(gm, "WORD"); i < 0 || i > strings.Index(gm, "## After") || !strings.Contains(gm,
				"<!-- CODE waits -->") || strings.Contains(bob, "WORD") || strings.Contains(bob, "CODE") {
				x.t.Logf("back in Markdown the game master reads %q", gm)
				return false
			}
			return true
		},
		"proposals with a passage that was hidden since": func() bool {
			text := "The quay is long.\n\nWORD is here and SITS.\n\nThe road.\n"
			holds := true
			for i, row := range []struct {
				change   func(name string) fields
				approved bool
			}{
				{change: func(name string) fields {
					return fields{"name": "update_card", "arguments": fields{"name": name, "format": "markdown",
						"content": strings.Replace(text, "SITS", "SITS for NEWS", 1) + "NEWS of rain.\n"}}
				}},
				{change: func(name string) fields {
					return fields{"name": "update_card", "arguments": fields{"name": name, "format": "markdown",
						"patch": fields{"mode": "append", "content": "NEWS: WORD is here and SITS."}}}
				}},
				{change: func(name string) fields {
					return fields{"name": "update_card", "arguments": fields{"name": name, "fields": fields{"motto": "NEWS"}}}
				}},
				{change: func(name string) fields {
					return fields{"name": "batch_cards", "arguments": fields{"ops": list(fields{"action": "update", "name": name,
						"content": text + "NEWS", "format": "markdown"})}}
				}},
				{change: func(name string) fields { // it is malformed
					return fields{"name": "update_card", "arguments": fields{"name": name, "contents": text + "NEWS"}}
				}},
				{approved: true, change: func(name string) fields {
					return fields{"name": "create_card", "arguments": fields{"name": name + " new", "text_format": "markdown",
						"content": text + "NEWS", "fields": fields{"plan": "WORD hides", "debt": 7714402}}}
				}},
			} {
				c := x.putText("Proposed "+itoa(i), inMarkdown, text)
				_ = x.rest("gm", "PATCH", x.at(c), fields{"fields": fields{"plan": "WORD hides", "debt": 7714402, "port": "open"}}, nil)
				body, _ := json.Marshal(fields{"reason": "It is wanted.", "op": row.change(c.name)})
				got := x.send("alice", request{operation: "propose", method: "POST", path: "/api/proposals/canon-change",
					body: string(body)})
				var out struct{ ProposalID string }
				if err := json.Unmarshal([]byte(got.body), &out); err != nil || out.ProposalID == "" {
					x.t.Log(i, got)
				}
				if row.approved {
					hash := x.do(approver, "get-proposal", fields{"proposalId": out.ProposalID})["expectedHash"]
					x.do(approver, "approve-proposal", fields{"proposalId": out.ProposalID, "expectedHash": hash})
					c.name += " new"
				}
				read := func() (all string) {
					for _, path := range []string{"/api/proposals/" + out.ProposalID, "/api/proposals?limit=1"} {
						all += x.send("alice", request{operation: "read", method: "GET", path: path}).body
					}
					return all
				}
				if before := read(); !strings.Contains(before, "WORD") && i != 2 {
					x.t.Log(i, "before", before)
				}
				for _, in := range []fields{{"text": list("WORD is here and SITS.")}, {"parts": list("field:plan", "field:debt")}} {
					if err := x.rest("gm", "POST", x.at(c)+"/hide", in, nil); err != nil {
						x.t.Log(i, err)
					}
				}
				_ = x.swap("gm", c, func(text string) string {
					return strings.Replace(text, "WORD is here", "WORD was here", 1)
				})
				all := read()
				for _, path := range []string{"/api/proposals/" + out.ProposalID + "/renew"} {
					all += x.send("alice", request{operation: "renew", method: "POST", path: path, body: "{}"}).body
				}
				for _, word := range []string{"WORD", "SITS", "7714402"} {
					if strings.Contains(all, word) {
						x.t.Logf("%d: after %s: %s", i, word, all)
						holds = false
					}
				}
				holds = holds && strings.Contains(all, "NEWS")
				if i > 0 {
					continue // the rate of proposals is limited
				}
				got = x.send("alice", request{operation: "propose", method: "POST", path: "/api/proposals/canon-change",
					body: strings.Replace(string(body), "It is wanted.", "I guess.", 1)})
				out.ProposalID = ""
				if err := json.Unmarshal([]byte(got.body), &out); err == nil && !strings.Contains(read(), "WORD") {
					x.t.Log(i, "what she guesses is withheld", got)
					holds = false
				}
			}
			return holds
		},
		"the name of an event whose text is hidden": func() bool {
			for i, hide := range []func(c *planted, secret string) error{
				func(c *planted, secret string) error {
					return x.rest("gm", "POST", x.at(c)+"/hide", fields{"text": list(secret)}, nil)
				},
				func(c *planted, secret string) error {
					return x.rest("gm", "POST", x.at(c)+"/hide", fields{"text": list(secret), "keep_history": true}, nil)
				},
				func(c *planted, secret string) error {
					return x.swap("gm", c, func(text string) string {
						return strings.Replace(text, secret, "%%"+secret+"%%", 1)
					})
				},
			} {
				day, word := "1926-03-0"+itoa(i+1), "WORD"+itoa(i)
				secret := word + " drowned Ann."
				_ = x.tool("gm", "/mcp/campaign", "timeline_add", fields{"campaign_id": "lendwater", "date": day,
					"is_player_known": true, "description": secret + " The mill stood still."})
				c := &planted{name: day + " " + secret + " The mill stood still.", mark: exactMark{form: inMarkdown}}
				c.id = "~" + x.card(c).ID
				_ = x.rest("gm", "PATCH", x.at(c), fields{"fields": fields{"aliases": list(word+"'s deed", "The mill")}}, nil)
				if err := hide(c, secret); err != nil {
					x.t.Log(err)
				}
				paths := []string{x.at(c) + "?full=true", "/api/mcp/cards?q=mill", x.at(c) + "/history",
					"/api/mcp/changes?limit=100"}
				if i == 1 { // it keeps the history
					paths = paths[:2]
				}
				for _, path := range paths {
					body := x.send("bob", request{operation: "read", method: "GET", path: path}).body
					if strings.Contains(body, word) || !strings.Contains(body, "The mill stood still.") {
						x.t.Log(i, path, body)
						return false
					}
				}
			}
			return true
		},
		"names of operations that hide": func() bool {
			c := x.putText("Named operations", inMarkdown, "The quay. WORD is here.\n")
			id := func() string { return x.card(c).Hidden[0].ID }
			_ = x.rest("gm", "POST", x.at(c)+"/hide", fields{"text": list("WORD is here.")}, nil)
			_ = x.rest("gm", "POST", x.at(c)+"/reveal", fields{"parts": list(id())}, nil)
			_ = x.rest("gm", "POST", x.at(c)+"/hide", fields{"text": list("WORD is here.")}, nil)
			_ = x.rest("admin", "PUT", x.at(c)+"/level", fields{"level": "gm"}, nil)
			_ = x.rest("admin", "PUT", x.at(c)+"/level", fields{"level": "user"}, nil)
			_ = x.rest("gm", "POST", x.at(c)+"/reveal", fields{"parts": list(id()), "to": list("alice")}, nil)
			read := func(who string) (all string) {
				for _, path := range []string{x.at(c) + "/history", x.at(c) + "/history/1", "/api/mcp/changes?limit=100"} {
					all += x.send(who, request{operation: "history", method: "GET", path: path}).body
				}
				return all
			}
			tells := regexp.MustCompile(`hide_part|reveal_part|set_card_level`).MatchString
			return tells(read("gm")) && !tells(read("alice")) && !tells(read("bob")) && !tells(read("guest"))
		},
		"conversions of each reader": func() bool {
			c := x.putText("Conversion", inHTML, "<p>They say <span class=\"secret\">WORD</span> softly.</p>")
			other := *c
			other.mark.form = inMarkdown
			first := x.textAs("gm", &other)
			return strings.Contains(first, "WORD") && !strings.Contains(x.textAs("bob", &other), "WORD")
		},
	} {
		if !holds() {
			t.Errorf("this does not hold any more: %s", name)
		}
	}
}

// TestPlayersAreNotShownHidingOperations looks for operations that decide who reads a text, by their names.
func TestPlayersAreNotShownHidingOperations(t *testing.T) {
	tells := regexp.MustCompile(`hide|reveal|card_level|secret`).MatchString
	player, found := access.View{Level: access.LevelUser}, 0
	for _, o := range newStage(t, "embedded").app.Ops.All() {
		if o.Writes() && tells(o.Name) {
			found++
			if got := (canon.Version{Op: o.Name}).For(player).Op; tells(got) {
				t.Errorf("players are shown the operation %s as %s", o.Name, got)
			}
		}
	}
	if found < 6 {
		t.Errorf("%d operations were found", found)
	}
}
