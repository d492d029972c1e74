package consoletest

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"loregate/internal/access"
)

// shipType is a type with a field of each kind.
const shipType = `{"name": "Starship", "type": "Cardtype", "content": "<p>A ship.</p>", "fields": {"schema": {
	"type": "object", "required": ["crew"], "properties": {
		"captain": {"type": "string", "description": "Who commands her."},
		"crew": {"type": "integer", "minimum": 1, "title": "Crew"},
		"draught": {"type": "number"},
		"armed": {"type": "boolean"},
		"rig": {"enum": ["sloop", "brig", "schooner"]},
		"launched": {"type": "string", "format": "date"},
		"ports": {"type": "array", "items": {"type": "string"}},
		"hold": {"type": "object", "properties": {"tons": {"type": "number"}}},
		"berth": {"$ref": "#/$defs/berth"}},
	"$defs": {"berth": {"type": "string", "maxLength": 12}}}}}`

func (s *stage) makeShip() {
	s.rest(access.RoleGM, "POST", "/api/mcp/cards", shipType)
	s.rest(access.RoleGM, "POST", "/api/mcp/cards", `{"name": "Heron", "type": "Starship", "content": "<p>Slow.</p>",
		"fields": {"captain": "Oda Tarn", "crew": 12, "armed": true, "rig": "brig", "ports": ["Lend", "Weir"],
		"hold": {"tons": 40}, "omen": "A gull", "log": [{"day": 1}]}}`)
}

// field returns the value of a field of a card, or nil.
func (s *stage) field(name, field string) any {
	s.t.Helper()
	held, _ := s.rest(access.RoleGM, "GET", "/api/mcp/cards/"+url.PathEscape(name), "")["fields"].(map[string]any)
	return held[field]
}

// put sets an input by the text of its label.
func (p *tab) put(label, value string) {
	p.t.Helper()
	found := p.eval(`(() => {
		const label = [...document.querySelectorAll("#fields label")].find((l) => l.innerText.trim().split(" (")[0] === ` +
		quote(label) + `), into = label && document.getElementById(label.htmlFor);
		if (!into) return "missing";
		if (into.type === "checkbox") into.checked = ` + quote(value) + ` === "true"; else into.value = ` + quote(value) + `;
		return "put";
	})()`)
	if found != "put" {
		p.t.Fatalf("no input %q:\n%s", label, p.text())
	}
}

func quote(text string) string { return "`" + text + "`" }

// TestFieldsAreAForm changes fields of each kind, sees each mistake at its field, and finds all others as they were.
func TestFieldsAreAForm(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.makeShip()
	script := loadAxe(t)
	for _, width := range []int64{390, 1280} {
		p := newTab(t, s.base, width)
		if width == 390 {
			p.dark()
		}
		p.signIn(s.link(access.RoleGM))
		p.allow("/edit/lendwater/Heron")
		p.open("/edit/lendwater/Heron")
		p.wants("Who commands her.")
		p.touch("Other fields (2)")
		p.look("fields-" + p.eval("innerWidth"))
		p.checkAxeHere(script, "edit with fields")
		p.put("Crew", "many")
		p.put("hold", "{tons}")
		p.click("Save")
		p.wants("must be a number")
		p.wants("is no JSON")
		p.look("fields-wrong-" + p.eval("innerWidth"))
		p.checkAxeHere(script, "edit with problems")
		p.put("Crew", "0")
		p.put("hold", `{"tons": 41}`)
		p.put("berth", "the thirteenth quay")
		p.click("Save")
		p.waits(`document.querySelectorAll("[aria-invalid]").length === 2`, "the schema refuses two fields")
		p.wants("minimum: 0 is less than 1")
		p.put("Crew", "13")
		p.put("berth", "Third Quay")
		p.put("armed", "")
		p.put("rig", `"sloop"`)
		p.put("launched", "1041-03-02")
		p.put("ports", "Lend\n\n Dun \n")
		p.put("captain", "")
		p.click("Save")
		p.waits(`location.pathname === "/w/lendwater/Heron"`, "the fields are saved")
		for field, want := range map[string]any{"crew": 13.0, "armed": false, "rig": "sloop", "launched": "1041-03-02",
			"omen": "A gull", "captain": nil, "berth": "Third Quay"} {
			if got := s.field("Heron", field); got != want {
				t.Errorf("%s: %v, want %v", field, got, want)
			}
		}
		if ports, _ := s.field("Heron", "ports").([]any); len(ports) != 2 || ports[1] != "Dun" {
			t.Errorf("ports: %v", ports)
		}
		if s.field("Heron", "log") == nil || s.field("Heron", "hold").(map[string]any)["tons"] != 41.0 {
			t.Error("fields of objects are lost")
		}
		s.rest(access.RoleGM, "PATCH", "/api/mcp/cards/Heron", `{"fields": {"captain": "Oda Tarn"}}`)
	}
}

// TestFieldsWithoutScripts makes a card by its type and edits its fields with scripts off.
func TestFieldsWithoutScripts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.makeShip()
	p := newTab(t, s.base, 1280)
	p.signIn(s.link(access.RoleGM))
	p.open("/new/lendwater")
	p.eval(`(() => { const t = document.querySelector("#type"); t.value = "Starship";
		t.dispatchEvent(new Event("change", {bubbles: true})) })()`)
	p.waits(`!!document.querySelector("#fields select")`, "the fields follow the type")
	p.look("new-fields")
	_, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	p.must(err)
	p.allow("/new/lendwater")
	p.open("/new/lendwater")
	p.do(chromedp.SendKeys(chromedp.CSS("#name"), "Swan"))
	p.do(chromedp.SetValue(chromedp.CSS("#type"), "Starship"))
	p.press("button[name=show]")
	p.wants("Who commands her.")
	p.press(".actions .primary")
	p.wants("is missing")
	p.do(chromedp.SendKeys(chromedp.CSS("[aria-invalid]"), "7"))
	p.do(chromedp.Click(chromedp.CSS("#fields summary")))
	p.do(chromedp.SendKeys(chromedp.CSS("#new-field"), "omen"))
	p.do(chromedp.SendKeys(chromedp.CSS("[name=new-value]"), "A heron"))
	p.press(".actions .primary")
	p.waits(`location.pathname === "/w/lendwater/Swan"`, "the card is made")
	p.wants("A heron")
	if got := s.field("Swan", "crew"); got != 7.0 {
		t.Errorf("crew: %v", got)
	}
}

// TestAForgedFieldIsRefused sends inputs that no form has.
func TestAForgedFieldIsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.makeShip()
	v := s.visitor()
	v.signIn(s.code(access.RoleGM))
	for field, value := range map[string]string{"field.json.hold": "{", "field.integer.crew": "1.5", "field.nothing.x": "{",
		"field.json.+GM": `{"a": 1}`} {
		status, body, _ := v.send("POST", "/edit/lendwater/Heron", url.Values{"content": {"<p>x</p>"}, field: {value}})
		if status != 400 && status != 422 || !strings.Contains(body, "problem") {
			t.Errorf("%s: %d", field, status)
		}
	}
	if got := s.field("Heron", "crew"); got != 12.0 {
		t.Errorf("crew: %v", got)
	}
}
