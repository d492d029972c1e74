package studiotest

import (
	"bytes"
	"cmp"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
)

// maxPicture is the greatest size of a picture of the docs, in bytes.
const maxPicture = 250_000

// TestPictures renders the scenes of examples/scenes for the docs if PICTURES names a folder; SCENES
// selects some by name, WIDTH and SAMPLES make quick drafts. See `make scenes`.
func TestPictures(t *testing.T) {
	folder := os.Getenv("PICTURES")
	if folder == "" {
		t.Skip("PICTURES names no folder; this test was not run")
	}
	requirePrograms(t, "blender")
	number := func(name string, byDefault int) int {
		n, err := strconv.Atoi(cmp.Or(os.Getenv(name), strconv.Itoa(byDefault)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	width, samples := number("WIDTH", 1280), number("SAMPLES", 96)
	g := newStage(t).connect(access.RoleGM)
	files, err := filepath.Glob("../../../examples/scenes/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if only := os.Getenv("SCENES"); only != "" && !strings.Contains(" "+only+" ", " "+name+" ") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := g.renderScene(string(text), width, samples, os.Getenv("CAMERA"))
		writePicture(t, filepath.Join(folder, name+".jpg"), m)
	}
}

// renderScene builds a scene in Blender and renders it.
func (g *mcpClient) renderScene(document string, width, samples int, camera string) image.Image {
	g.t.Helper()
	must := func(tool string, args map[string]any) (*mcp.CallToolResult, map[string]any) {
		g.t.Helper()
		res, out := g.call(tool, args)
		if res.IsError {
			g.t.Fatalf("%s: %s", tool, text(res))
		}
		return res, out["result"].(map[string]any)
	}
	_, put := must("scene_spec", map[string]any{"text": document})
	_, checked := must("scene_check", map[string]any{"spec": put["spec"]})
	if checked["ok"] != true {
		g.t.Errorf("%v: %v", put["name"], checked["findings"])
	}
	must("generate_scene", map[string]any{"spec": put["spec"], "replace": true, "confirm": true, "timeout_s": 600})
	view := map[string]any{"width": width, "height": width * 9 / 16, "samples": samples, "timeout_s": 3000}
	if camera != "" {
		view["camera"] = put["name"].(string) + " camera." + camera
	}
	res, _ := must("render_preview", view)
	for _, c := range res.Content {
		if im, ok := c.(*mcp.ImageContent); ok {
			m, err := png.Decode(bytes.NewReader(im.Data))
			if err != nil {
				g.t.Fatal(err)
			}
			return m
		}
	}
	g.t.Fatal("there is no picture")
	return nil
}

// writePicture writes a picture as JPEG, in the best quality that is not too large.
func writePicture(t *testing.T, file string, m image.Image) {
	t.Helper()
	for quality := 92; quality > 30; quality -= 4 {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: quality}); err != nil {
			t.Fatal(err)
		}
		if b.Len() > maxPicture {
			continue
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is too large", file)
}
