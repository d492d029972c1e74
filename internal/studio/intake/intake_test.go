package intake

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// glb puts chunks together: kinds and contents in turn. The length in the header is off by lie.
func glb(lie int, chunks ...string) []byte {
	le := binary.LittleEndian
	var body []byte
	for i := 0; i+1 < len(chunks); i += 2 {
		text := chunks[i+1]
		for len(text)%4 != 0 {
			text += " "
		}
		body = le.AppendUint32(body, uint32(len(text)))
		body = append(append(body, chunks[i]...), text...)
	}
	head := append([]byte("glTF"), 2, 0, 0, 0)
	return append(le.AppendUint32(head, uint32(12+len(body)+lie)), body...)
}

const minimal = `{"asset": {"version": "2.0"}}`

// TestGLBThatNamesFiles tries the places and the spellings by which a GLB file could make a loader read another file.
func TestGLBThatNamesFiles(t *testing.T) {
	for _, text := range []string{
		minimal,
		`{"buffers": [{"byteLength": 4, "uri": "data:application/octet-stream;base64,AAAA"}]}`,
		`{"nodes": [{"name": "uri"}, {"name": "../etc", "extras": {"note": "uri: /etc/passwd"}}]}`,
		`{"animations": [{"channels": [{"target": {"path": "scale"}}]}]}`,
		`{"extensionsUsed": ["uri"], "images": [{"bufferView": 0, "name": "uri", "mimeType": "image/png"}]}`,
	} {
		if kind, err := Inspect(glb(0, "JSON", text, "BIN\x00", "1234")); kind != GLB || err != nil {
			t.Errorf("%s: %q %v", text, kind, err)
		}
	}
	for _, text := range []string{
		`{"buffers": [{"uri": "/etc/passwd"}]}`,
		`{"buffers": [{"uri": "../../secret.bin"}]}`,
		`{"buffers": [{"uri": ""}]}`,
		`{"buffers": [{"uri": null}]}`,
		`{"buffers": [{"uri": ["data:,"]}]}`,
		`{"images": [{"uri": "file:///etc/passwd"}]}`,
		`{"images": [{"uri": "https://example.org/x.png"}]}`,
		`{"images": [{"uri": "DATA:image/png;base64,AAAA"}]}`,
		`{"images": [{"uri": " data:image/png;base64,AAAA"}]}`,
		`{"images": [{"uri": "\\\\host\\share\\x.png"}]}`,
		`{"images": [{"u\u0072i": "x.png"}]}`,
		`{"images": [{"URI": "x.png"}, {"Uri": "x.png"}]}`,
		`{"images": [{" uri ": "x.png"}]}`,
		`{"images": [{"uri": "data:,", "uri": "/etc/passwd"}]}`,
		`{"extensions": {"MSFT_texture_dds": {"source": 0, "uri": "x.dds"}}}`,
		`{"textures": [{"extensions": {"EXT_texture_webp": {"image": {"uri": "x.webp"}}}}]}`,
		`{"extensions": {"KHR_audio": {"audio": [{"uri": "x.mp3"}]}}}`,
		`{"extensions": {"X": [[[{"a": {"href": "x"}}]]]}}`,
		`{"asset": {"extras": {"url": "x"}}}`,
		`{} {"buffers": [{"uri": "x"}]}`,
		`[{}]`, `"x"`, ``, `{`, `{"a": "` + "\xff" + `"}`,
	} {
		if _, err := Inspect(glb(0, "JSON", text, "BIN\x00", "1234")); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestGLBThatReadersReadDifferently tries containers in which one reader could find another JSON than the next one.
func TestGLBThatReadersReadDifferently(t *testing.T) {
	evil := `{"buffers": [{"uri": "/etc/passwd"}]}`
	for name, file := range map[string][]byte{
		"two JSON chunks":          glb(0, "JSON", minimal, "JSON", evil),
		"the JSON behind the data": glb(0, "BIN\x00", "1234", "JSON", evil),
		"a third chunk":            glb(0, "JSON", minimal, "BIN\x00", "1234", "JSON", evil),
		"an unknown chunk":         glb(0, "JSON", minimal, "XXXX", evil),
		"bytes at the end":         append(glb(0, "JSON", minimal), evil...),
		"a header too long":        glb(8, "JSON", minimal),
		"a header too short":       glb(-4, "JSON", minimal, "BIN\x00", "1234"),
		"no chunk":                 glb(0),
		"glTF as text":             []byte(evil),
		"OBJ":                      []byte("mtllib /etc/passwd\nv 0 0 0\n"),
		"MTL":                      []byte("newmtl a\nmap_Kd ../../x.png\n"),
		"a scene of Godot":         []byte("[gd_scene format=2]\n[ext_resource path=\"/etc/passwd\" id=1]\n"),
		"FBX":                      []byte("Kaydara FBX Binary  \x00"),
		"Collada":                  []byte(`<COLLADA><image><init_from>/etc/passwd</init_from></image></COLLADA>`),
		"USD":                      []byte("#usda 1.0\n(subLayers=[@/etc/passwd@])\n"),
		"SVG":                      []byte(`<svg><image href="file:///etc/passwd"/></svg>`),
		"nothing":                  nil,
	} {
		if _, err := Inspect(file); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// blendFile makes a small .blend file: its structs are ID, Image (a path, pointers to packed files), PackedFile
// and Scene, which has a path in a struct inside, at the same place of each.
func blendFile(order binary.AppendByteOrder, blocks ...[]byte) []byte {
	mark := "v"
	if order.AppendUint16(nil, 1)[1] == 1 {
		mark = "V"
	}
	out := []byte("BLENDER-" + mark + "304")
	for _, b := range blocks {
		out = append(out, b...)
	}
	out = append(out, blendBlock(order, "DNA1", 0, 0, blendCatalog(order))...)
	return append(out, blendBlock(order, "ENDB", 0, 0, nil)...)
}

func blendBlock(order binary.AppendByteOrder, code string, address uint64, index int, content []byte) []byte {
	b := append([]byte(code), make([]byte, 4-len(code))...)
	b = order.AppendUint32(b, uint32(len(content)))
	b = order.AppendUint64(b, address)
	b = order.AppendUint32(b, uint32(index))
	return append(order.AppendUint32(b, 1), content...)
}

func blendCatalog(order binary.AppendByteOrder) []byte {
	pad := func(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }
	list := func(b []byte, tag string, names ...string) []byte {
		b = order.AppendUint32(append(pad(b), tag...), uint32(len(names)))
		for _, n := range names {
			b = append(append(b, n...), 0)
		}
		return b
	}
	shorts := func(b []byte, numbers ...int) []byte {
		for _, n := range numbers {
			b = order.AppendUint16(b, uint16(n))
		}
		return b
	}
	b := list([]byte("SDNA"), "NAME", "name[66]", "id", "name[1024]", "*packedfile", "size", "pic[1024]", "r",
		"movie[2][512]")
	b = list(b, "TYPE", "char", "int", "ID", "Image", "PackedFile", "RenderData", "Scene", "MovieClip")
	b = shorts(append(pad(b), "TLEN"...), 1, 4, 66, 66+1024+8, 4, 1024, 1024, 1024)
	b = append(pad(b), "STRC"...)
	b = order.AppendUint32(b, 6)
	b = shorts(b, 2, 1, 0, 0)             // ID
	b = shorts(b, 3, 3, 2, 1, 0, 2, 4, 3) // Image
	b = shorts(b, 4, 1, 1, 4)             // PackedFile
	b = shorts(b, 5, 1, 0, 5)             // RenderData
	b = shorts(b, 6, 1, 5, 6)             // Scene
	return shorts(b, 7, 1, 0, 7)          // MovieClip
}

const (
	imageStruct = 1
	packStruct  = 2
	sceneStruct = 4
	movieStruct = 5
)

func blendImage(order binary.AppendByteOrder, name string, packed uint64) []byte {
	b := make([]byte, 66+1024, 66+1024+8)
	copy(b[66:], name)
	return blendBlock(order, "IM", 100, imageStruct, order.AppendUint64(b, packed))
}

func sized(text string, size int) []byte {
	return append([]byte(text), make([]byte, size-len(text))...)
}

// TestBlendThatNamesFiles reads .blend files of both orders of bytes, plain and packed.
func TestBlendThatNamesFiles(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		pack := blendBlock(order, "DATA", 7, packStruct, make([]byte, 4))
		scene := blendBlock(order, "SC", 9, sceneStruct, sized("/tmp/", 1024)) // where pictures are written to
		movies := sized(strings.Repeat("\x00", 1024)+"/etc", 2048)
		for name, one := range map[string]struct {
			blocks [][]byte
			ok     bool
		}{
			"no path":                     {[][]byte{blendImage(order, "", 0), scene}, true},
			"packed":                      {[][]byte{blendImage(order, "/home/me/x.png", 7), pack}, true},
			"built in":                    {[][]byte{blendImage(order, "<builtin>", 0)}, true},
			"plain bytes":                 {[][]byte{blendBlock(order, "DATA", 1, 0, sized("/etc/passwd", 4096))}, true},
			"absolute":                    {[][]byte{blendImage(order, "/etc/passwd", 0)}, false},
			"relative":                    {[][]byte{blendImage(order, "//../x.png", 0)}, false},
			"packed nowhere":              {[][]byte{blendImage(order, "/etc/passwd", 7)}, false},
			"packed in another block":     {[][]byte{blendImage(order, "/etc/passwd", 8), pack}, false},
			"several, the last of a path": {[][]byte{scene, blendImage(order, "", 0), blendImage(order, "x.png", 0)}, false},
			"an array of two":             {[][]byte{blendBlock(order, "MC", 3, movieStruct, movies)}, false},
			"a struct out of range":       {[][]byte{blendBlock(order, "MC", 3, 99, make([]byte, 8))}, false},
			"a library":                   {[][]byte{blendBlock(order, "LI", 3, 0, make([]byte, 8))}, false},
			"data of a library":           {[][]byte{blendBlock(order, "ID", 3, 0, make([]byte, 8))}, false},
		} {
			plain := blendFile(order, one.blocks...)
			for form, file := range map[string][]byte{"plain": plain, "zstd": zstdOf(t, plain), "gzip": gzipOf(t, plain)} {
				kind, err := Inspect(file)
				if kind != Blend || (err == nil) != one.ok || err != nil && !errors.Is(err, ErrRefused) {
					t.Errorf("%v, %s, %s: %v", order, name, form, err)
				}
			}
			for cut := 8; cut < len(plain); cut += 97 {
				if _, err := Inspect(plain[:cut]); !errors.Is(err, ErrRefused) {
					t.Fatalf("%s, cut at %d: %v", name, cut, err)
				}
			}
		}
	}
	for _, head := range []string{"BLENDER-v304", "BLENDER17-01v0500", "BLENDERxv304", "BLENDER-x304"} {
		if _, err := Inspect([]byte(head + strings.Repeat("\x00", 64))); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", head, err)
		}
	}
}

func zstdOf(t testing.TB, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

func gzipOf(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestInspectIsBounded counts the bytes that bombs take.
func TestInspectIsBounded(t *testing.T) {
	le := binary.LittleEndian
	long := blendBlock(le, "DATA", 1, 0, make([]byte, 16<<20))
	frame := zstdOf(t, long)
	for name, file := range map[string][]byte{
		"a bomb of zeros":        append(zstdOf(t, []byte("BLENDER-v304")), bytes.Repeat(frame, maxUnpacked>>24)...),
		"a bomb of gzip":         gzipOf(t, append([]byte("BLENDER-v304"), long...)),
		"a block without an end": append([]byte("BLENDER-v304"), blendBlock(le, "DATA", 1, 0, nil)[:4]...),
		"a length that is a lie": append([]byte("BLENDER-v304"), "DNA1\xff\xff\xff\x7f"+strings.Repeat("\x00", 16)...),
		"a catalog that is a lie": append([]byte("BLENDER-v304"),
			blendBlock(le, "DNA1", 0, 0, []byte("SDNANAME\xff\xff\xff\x7f"))...),
		"JSON of many parts": glb(0, "JSON", `{"a": [`+strings.Repeat("1,", maxTokens)+`1]}`),
		"JSON in itself":     glb(0, "JSON", `{"a": `+strings.Repeat("[", 1<<20)),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Inspect(file)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 96<<20 {
			t.Errorf("%s took %d MB", name, n>>20)
		}
	}
}

func FuzzInspect(f *testing.F) {
	f.Add(glb(0, "JSON", minimal, "BIN\x00", "1234"))
	f.Add(blendFile(binary.LittleEndian, blendImage(binary.LittleEndian, "x", 7)))
	f.Add(blendFile(binary.BigEndian, blendImage(binary.BigEndian, "", 0)))
	f.Fuzz(func(t *testing.T, data []byte) {
		kind, err := Inspect(data)
		if err != nil && !errors.Is(err, ErrRefused) {
			t.Fatal(err)
		}
		if err == nil && kind == GLB && bytes.Contains(data, []byte(`"uri":"/`)) {
			t.Fatal("a path was accepted")
		}
	})
}
