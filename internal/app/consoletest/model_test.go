package consoletest

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"loregate/internal/access"
	"loregate/internal/programtest"
)

// softwareGL lets Chromium draw WebGL without a graphics card.
var softwareGL = []chromedp.ExecAllocatorOption{chromedp.Flag("use-angle", "swiftshader"),
	chromedp.Flag("enable-unsafe-swiftshader", true)}

// buildScene builds a scene from words, and returns the ids of its run and of its GLB file.
func (s *stage) buildScene(audience string) (run, file string) {
	s.t.Helper()
	made := s.rest(access.RoleGM, "POST", "/api/studio/tools/scene_spec",
		`{"target": "native", "action": "build", "audience": "`+
			audience+`", "card": "The Dry Anchor", "words": "A stone house with a tower and four barrels"}`)
	result, _ := made["result"].(map[string]any)
	if file, _ = result["glb"].(string); file == "" {
		s.t.Fatalf("no GLB file: %v", made)
	}
	return made["run_id"].(string), file
}

// TestASceneIsSeenIn3D shows a scene with software WebGL, turns it by buttons and keys, and checks that the page without
// WebGL, without scripts and for players has what it should.
func TestASceneIsSeenIn3D(t *testing.T) {
	programtest.Long(t)
	s := newStage(t)
	run, file := s.buildScene("gm")
	script := loadAxe(t)
	widths := []int64{390, 1280}
	if !programtest.Proof() {
		widths = widths[:1]
	}
	for _, width := range widths {
		p := newTab(t, s.base, width, softwareGL...)
		if width == 390 {
			p.dark()
		}
		p.signIn(s.link(access.RoleGM))
		p.open("/run/lendwater/" + run)
		p.click("See in 3D")
		p.waits(`document.querySelector(".view").dataset.state === "shown"`, "the scene is shown")
		draw := func(button string) string { // what is drawn is read before the browser takes it
			return p.eval(`document.querySelector("[data-move=` + button + `]").click(); model.toDataURL()`)
		}
		whole := draw("whole")
		if len(whole) < 5000 {
			t.Errorf("nothing is drawn: %s", whole)
		}
		p.look("model-" + p.eval("innerWidth"))
		p.checkAxeHere(script, "3D view")
		left := draw("left")
		key := p.eval(`model.dispatchEvent(new KeyboardEvent("keydown", { key: "+" })); model.toDataURL()`)
		inside := draw("camera0")
		if left == whole || key == left || inside == key {
			t.Error("buttons and keys do not move the view")
		}
		p.look("model-inside-" + p.eval("innerWidth"))
	}
	plain := newTab(t, s.base, 1280, chromedp.Flag("disable-3d-apis", true))
	plain.signIn(s.link(access.RoleGM))
	plain.open("/view/lendwater/" + file)
	plain.wants("This browser has no WebGL, or it is switched off.")
	plain.wants("Download the file")
	plain.look("model-none")
	plain.checkAxeHere(script, "3D view without WebGL")
	gm, player := s.visitor(), s.visitor()
	gm.signIn(s.code(access.RoleGM))
	player.signIn(s.code(access.RoleUser))
	status, body, answer := gm.send("GET", "/view/lendwater/"+file, nil)
	if policy := answer.Header.Get("Content-Security-Policy"); status != 200 || strings.Contains(policy, "unsafe") ||
		!strings.Contains(policy, "script-src 'self';") || !strings.Contains(body, "The Dry Anchor") {
		t.Errorf("%d, with %s", status, policy)
	}
	for _, path := range []string{"/view/lendwater/" + file, "/view/lendwater/" + run + ".99", "/view/lendwater/x"} {
		if status, _, _ := player.send("GET", path, nil); status != 404 && status != 400 {
			t.Errorf("a player opens %s: %d", path, status)
		}
	}
	if _, body, _ := gm.send("GET", "/studio/lendwater", nil); strings.Contains(body, "viewer.") {
		t.Error("the script of the view is loaded on another page")
	}
}

// glb returns the script that answers with a GLB file in place of a run's: its JSON, cut to some bytes in all.
const glb = `{
	const asked = window.fetch;
	window.fetch = async (address, options) => {
		if (!String(address).includes("/artifact/")) return asked(address, options);
		const json = new TextEncoder().encode(JSON_TEXT), file = new ArrayBuffer(20 + json.length), head = new DataView(file);
		[0x46546c67, 2, file.byteLength, json.length, 0x4e4f534a].forEach((n, i) => head.setUint32(4 * i, n, true));
		new Uint8Array(file).set(json, 20);
		return new Response(file.slice(0, CUT), HEADERS);
	};
}`

// TestScenesThatCannotBeSeen opens the 3D view of files that are damaged, too large, or need an extension: each time
// the page tells why and offers the file.
func TestScenesThatCannotBeSeen(t *testing.T) {
	programtest.Long(t)
	s := newStage(t)
	_, file := s.buildScene("gm")
	script := loadAxe(t)
	for i, row := range []struct{ name, json, cut, headers, want string }{
		{"no GLB", "'x'", "2", "{}", "it is no whole GLB file"},
		{"cut", `'{"asset": {"version": "2.0"}}'`, "30", "{}", "it is no whole GLB file"},
		{"missing part", `'{"asset": {"version": "2.0"}, "scenes": [{"nodes": [7]}], "scene": 0}'`, "1e6", "{}",
			"a part of it cannot be read"},
		{"extension", `'{"asset": {"version": "2.0"}, "extensionsRequired": ["KHR_draco_mesh_compression"]}'`, "1e6", "{}",
			"needs KHR_draco_mesh_compression, which this view does not read"},
		{"too large", "'{}'", "1e6", `{headers: {"content-length": 300 << 20}}`, "The file has 300.0 MB"},
		{"gone", "'{}'", "1e6", "{status: 404}", "could not be loaded"},
	} {
		p := newTab(t, s.base, []int64{390, 1280}[i%2], softwareGL...)
		if i%2 == 0 {
			p.dark()
		}
		_, err := chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: strings.NewReplacer("JSON_TEXT", row.json, "CUT", row.cut, "HEADERS", row.headers).Replace(glb)})
		p.must(err)
		p.signIn(s.link(access.RoleGM))
		p.open("/view/lendwater/" + file)
		p.waits(`document.querySelector(".view").dataset.state === "failed"`, row.name+": the page tells why")
		p.wants(row.want)
		p.look("model-" + strings.ReplaceAll(row.name, " ", "-"))
		p.checkAxeHere(script, row.name)
		if link := p.eval(`document.querySelector(".problem a").pathname`); link != "/artifact/lendwater/"+file {
			t.Errorf("%s: the file is offered at %s", row.name, link)
		}
	}
}
