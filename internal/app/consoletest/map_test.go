package consoletest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"loregate/internal/access"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/programtest"
)

// azgaarMap is a map of Azgaar's generator, as others have saved it.
const azgaarMap = "v1.106.7---Via_(Small_Map)_2025-01-24-16-47.map"

// TestAMapOfAzgaarIsWalked imports a real map from its page, and finds each town's pin where the picture has the town.
func TestAMapOfAzgaarIsWalked(t *testing.T) {
	programtest.Long(t)
	t.Parallel()
	path := filepath.Join(exchangetest.RealData(t, "azgaar-maps"), azgaarMap)
	s := newStage(t)
	script := loadAxe(t)
	p := newTab(t, s.base, 1280)
	p.signIn(s.link(access.RoleGM))
	p.open("/import/lendwater")
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{path}))
	p.click("Check")
	p.wants("What would change")
	p.click("Import exactly this")
	p.wants("Imported")
	p.open("/places/lendwater")
	name := p.eval(`[...document.querySelectorAll(".tabs a")].find((a) => a.innerText.endsWith("+map")).innerText`)
	p.click(name)
	p.wants("96 pins")
	p.waits(`new Promise((done) => { const i = new Image(); i.onload = () => done(i.naturalWidth === 1920);
		i.src = document.querySelector("svg.chart image").href.baseVal })`, "the picture loads")
	p.waits(`new Promise((done) => { const i = new Image(); i.onload = () => {
		const g = new OffscreenCanvas(1920, 919).getContext("2d");
		g.drawImage(i, 0, 0);
		const [red, green, blue] = g.getImageData(850, 620, 1, 1).data;
		done(blue > green && green > red && red > 60);
	}; i.src = document.querySelector("svg.chart image").href.baseVal })`, "the sea between the coasts is blue")
	p.look("azgaar")
	p.checkAxeHere(script, "a map of Azgaar")
	p.eval(`fetch(document.querySelector("svg.chart image").href.baseVal).then((r) => r.text()).then((text) => {
		const towns = text.matchAll(/<circle id="burg\d+"[^>]* cx="([^"]*)" cy="([^"]*)"/g);
		const at = (x, y) => Math.round(x * 100) + "," + Math.round(y * 100);
		window.towns = JSON.stringify({
			drawn: [...towns].map((c) => at(c[1], c[2])).sort(),
			pinned: [...document.querySelectorAll(".pin")].map((g) => g.transform.baseVal[0].matrix).map((m) => at(m.e, m.f)).sort(),
		});
	}); 0`)
	p.waits("!!window.towns", "the picture is compared")
	var towns struct{ Drawn, Pinned []string }
	if err := json.Unmarshal([]byte(p.eval("window.towns")), &towns); err != nil {
		t.Fatal(err)
	}
	if len(towns.Drawn) != 96 || strings.Join(towns.Drawn, " ") != strings.Join(towns.Pinned, " ") {
		t.Errorf("the picture has towns at %v, pins are at %v", towns.Drawn, towns.Pinned)
	}
	// Puya lies at 955.88, 520.13 of 1920 × 919.
	away := p.eval(`(() => { const chart = document.querySelector("svg.chart").getBoundingClientRect();
		const pin = [...document.querySelectorAll(".pin")].find((g) => g.querySelector("title").textContent === "Puya");
		const dot = pin.querySelector("circle").getBoundingClientRect();
		return Math.hypot(dot.x + dot.width / 2 - chart.x - 955.88 / 1920 * chart.width,
			dot.y + dot.height / 2 - chart.y - 520.13 / 919 * chart.height) < 1 })()`)
	if away != "true" {
		t.Error("the pin of Puya is not at its town")
	}
	p.eval(`[...document.querySelectorAll(".pin")].find((g) => g.querySelector("title").textContent === "Puya")
		.dispatchEvent(new MouseEvent("click", { bubbles: true }))`)
	p.waits(`location.pathname === "/places/lendwater" && document.querySelector("h1").innerText === "Puya"`,
		"the pin leads to the town")
	p.look("azgaar-town")
	phone := newTab(t, s.base, 390)
	phone.dark()
	phone.signIn(s.link(access.RoleUser))
	phone.open("/places/lendwater")
	phone.click(name)
	phone.wants("96 pins")
	if got := phone.eval(`(() => { const box = document.querySelector(".drawing"), edge = box.getBoundingClientRect();
		const at = [...document.querySelectorAll(".pin circle")].map((c) => c.getBoundingClientRect().x - edge.x);
		return Math.abs(Math.min(...at) + Math.max(...at) - box.clientWidth) < 40 && box.scrollLeft > 100 })()`,
	); got != "true" {
		t.Error("the picture does not begin with the middle of its pins")
	}
	phone.checkAxeHere(script, "a map of Azgaar on a phone")
	phone.look("azgaar-390")
}
