package consoletest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"loregate/internal/access"
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
	t.Parallel()
	s := newStage(t)
	run, file := s.buildScene("gm")
	script := loadAxe(t)
	for _, width := range []int64{1280, 390} {
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
	plain.wants("The 3D view cannot be shown here")
	plain.wants("This run made no picture; the file can be downloaded.")
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
