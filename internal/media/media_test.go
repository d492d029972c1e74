package media

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	gifs "image/gif"
	jpegs "image/jpeg"
	pngs "image/png"
	"io"
	"runtime"
	"strings"
	"testing"
)

// mark stands in every part of a test file that must not remain.
const mark = "xyzzy-51.5007N"

func picture() image.Image {
	m := image.NewPaletted(image.Rect(0, 0, 40, 30), color.Palette{color.White, color.Black})
	m.Set(3, 4, color.Black)
	return m
}

func encoded(t testing.TB, encode func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngFile(t testing.TB, chunks ...string) []byte {
	t.Helper()
	b := encoded(t, func(w io.Writer) error { return pngs.Encode(w, picture()) })
	out := bytes.Clone(b[:33])
	for i := 0; i+1 < len(chunks); i += 2 {
		out = binary.BigEndian.AppendUint32(out, uint32(len(chunks[i+1])))
		body := []byte(chunks[i] + chunks[i+1])
		out = binary.BigEndian.AppendUint32(append(out, body...), crc32.ChecksumIEEE(body))
	}
	return append(append(out, b[33:]...), mark...)
}

// exifWith is EXIF with a turn and a text.
func exifWith(turn int) string { return string(exifOf(turn)) + mark }

func jpegFile(t testing.TB, segments ...string) []byte {
	t.Helper()
	b := encoded(t, func(w io.Writer) error { return jpegs.Encode(w, picture(), nil) })
	out := bytes.Clone(b[:2])
	for i := 0; i+1 < len(segments); i += 2 {
		n := len(segments[i+1]) + 2
		out = append(append(out, 0xff, segments[i][0], byte(n>>8), byte(n)), segments[i+1]...)
	}
	return append(append(out, b[2:]...), mark...)
}

func gifFile(t testing.TB) []byte {
	t.Helper()
	p := picture().(*image.Paletted)
	b := encoded(t, func(w io.Writer) error {
		return gifs.EncodeAll(w, &gifs.GIF{Image: []*image.Paletted{p, p}, Delay: []int{5, 5}, LoopCount: 3})
	})
	block := func(s string) string { return string(rune(len(s))) + s }
	extra := "\x21\xfe" + block(mark) + "\x00" + "\x21\xff" + block("XMP DataXMP") + block(mark) + "\x00"
	return append([]byte(string(b[:len(b)-1])+extra+";"), mark...)
}

func riffFile(kind string, chunks ...string) []byte {
	body := []byte(kind)
	for i := 0; i+1 < len(chunks); i += 2 {
		body = binary.LittleEndian.AppendUint32(append(body, chunks[i]...), uint32(len(chunks[i+1])))
		body = append(append(body, chunks[i+1]...), make([]byte, len(chunks[i+1])&1)...)
	}
	out := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body)))
	return append(append(out, body...), mark...)
}

const mp3Head = "\xff\xfb\x90\x64" // 128 kbit/s at 44.1 kHz: 417 bytes

func mp3File() []byte {
	frame := mp3Head + strings.Repeat("a", 413)
	return []byte("ID3\x04\x00\x00\x00\x00\x00\x14" + mark + "123456" + frame + frame + "TAG" + mark)
}

const svgFile = `<?xml version="1.0"?><!-- ` + mark + ` --><!DOCTYPE svg>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="` + mark + `" inkscape:docname="` + mark + `">
<metadata>` + mark + `</metadata><desc>` + mark + `</desc><rect width="9" height="9" fill="url(#g)"/><text>seen</text></svg>`

func cleaned(t testing.TB, file []byte) ([]byte, Type, error) {
	t.Helper()
	var b bytes.Buffer
	typ, err := Clean(&b, bytes.NewReader(file))
	return b.Bytes(), typ, err
}

// TestCleanRemovesWhatDescribes puts a mark into each part of a file that is not shown.
func TestCleanRemovesWhatDescribes(t *testing.T) {
	xmp := "http://ns.adobe.com/xap/1.0/\x00" + mark
	icc := "ICC_PROFILE\x00\x01\x01profile"
	for name, one := range map[string]struct {
		file  []byte
		typ   Type
		stays []string
	}{
		"png": {pngFile(t, "tEXt", "Comment\x00"+mark, "zTXt", mark, "iTXt", mark, "eXIf", exifWith(6), "tIME", "1234567",
			"prVw", mark, "sRGB", "\x00"), png, []string{"sRGB", string(exifOf(6))}},
		"jpeg": {jpegFile(t, "\xe0", "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x09\x09"+mark, "\xe1", "Exif\x00\x00"+exifWith(8),
			"\xe1", xmp, "\xe2", icc, "\xe2", "MPF\x00"+mark, "\xed", "Photoshop 3.0\x00"+mark, "\xfe", mark), jpeg,
			[]string{icc, string(exifOf(8)), "JFIF"}},
		"gif": {gifFile(t), gif, []string{"NETSCAPE2.0"}},
		"webp": {riffFile("WEBP", "VP8X", "\x0c\x00\x00\x00\x01\x00\x00\x01\x00\x00", "VP8L", "picture", "EXIF", exifWith(3),
			"XMP ", mark, "ABCD", mark), webp, []string{"VP8L", "EXIF", "VP8X\x0a\x00\x00\x00\x08"}},
		"wave": {riffFile("WAVE", "fmt ", "1234567890123456", "LIST", "INFO"+mark, "id3 ", mark, "data", "sound"), wave,
			[]string{"data", "sound"}},
		"mp3": {mp3File(), mp3, []string{mp3Head}},
		"svg": {[]byte(svgFile), svg, []string{"<rect", "seen", `fill="url(#g)"`, `viewBox="0 0 9 9"`}},
	} {
		got, typ, err := cleaned(t, one.file)
		if err != nil || typ != one.typ {
			t.Errorf("%s: %v %v", name, typ, err)
		}
		if bytes.Contains(got, []byte("xyzzy")) {
			t.Errorf("%s keeps the mark: %q", name, got)
		}
		for _, s := range one.stays {
			if !bytes.Contains(got, []byte(s)) {
				t.Errorf("%s loses %q", name, s)
			}
		}
		if again, _, err := cleaned(t, got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s is not clean when it is cleaned: %v", name, err)
		}
		if typ == png || typ == jpeg || typ == gif {
			if m, _, err := image.Decode(bytes.NewReader(got)); err != nil || m.Bounds().Dx() != 40 {
				t.Errorf("%s is not shown: %v", name, err)
			}
		}
		for cut := range one.file[:len(one.file)-len(mark)] { // none of the parts has it
			if part, _, _ := cleaned(t, one.file[:cut]); bytes.Contains(part, []byte("xyzzy")) {
				t.Fatalf("%s, cut at %d, keeps the mark", name, cut)
			}
		}
	}
}

// TestTwoFilesThatLookAlike says that the clean file tells nothing of what was removed, not even its size.
func TestTwoFilesThatLookAlike(t *testing.T) {
	for _, pair := range [][2][]byte{
		{pngFile(t), pngFile(t, "tEXt", mark, "eXIf", exifWith(1))},
		{jpegFile(t), jpegFile(t, "\xfe", mark, "\xe1", "Exif\x00\x00"+exifWith(1))},
		{riffFile("WEBP", "VP8L", "x"), riffFile("WEBP", "EXIF", mark, "VP8L", "x", "XMP ", mark)},
	} {
		a, _, _ := cleaned(t, pair[0])
		b, _, _ := cleaned(t, pair[1])
		if !bytes.Equal(a, b) {
			t.Errorf("%q and %q differ", a, b)
		}
	}
}

// TestSVGDrawsAndNothingElse tries ways by which an SVG runs, loads or hides something.
func TestSVGDrawsAndNothingElse(t *testing.T) {
	file := base64.StdEncoding.EncodeToString(pngFile(t, "tEXt", mark))
	for _, part := range []string{
		`<script>xyzzy</script>`, `<script href="xyzzy"/>`, `<svg:script>xyzzy</svg:script>`, `<g onclick="xyzzy"/>`,
		`<foreignObject><b xmlns="http://www.w3.org/1999/xhtml">xyzzy</b></foreignObject>`, `<a href="javascript:xyzzy"/>`,
		`<use href="http://xyzzy/x.svg#a"/>`, `<use xlink:href="xyzzy.svg#a"/>`, `<image href="file:///xyzzy"/>`,
		`<image href="data:text/html,xyzzy"/>`, `<image href="data:image/svg+xml;base64,eHl6enk="/>`,
		`<feImage href="xyzzy"/>`, `<rect fill="url(http://xyzzy/#a)"/>`, `<rect style="fill:url('//xyzzy')"/>`,
		`<rect style="fill:ur\6c(xyzzy)"/>`, `<rect style="fill:URL( xyzzy )"/>`, `<rect style="fill:u/**/rl(xyzzy)"/>`,
		`<rect style="background:image-set('xyzzy' 1x)"/>`, `<rect filter="url(xyzzy#a)"/>`, `<style>@import "xyzzy";</style>`,
		`<style>rect{fill:url(xyzzy)}</style>`, `<style>/* xyzzy */</style>`, `<style><g>xyzzy</g></style>`,
		`<style><![CDATA[@font-face{src:url(xyzzy)}]]></style>`, `<animate attributeName="href" to="xyzzy"/>`,
		`<set attributeName="onclick" to="xyzzy"/>`, `<iframe src="xyzzy"/>`, `<link href="xyzzy"/>`, `<!-- xyzzy -->`,
		`<?xml-stylesheet href="xyzzy"?>`, `<g display="none"><text>xyzzy</text></g>`, `<g style="a:b;display : none">xyzzy</g>`,
		`<g data-x="xyzzy" inkscape:label="xyzzy"/>`, `<x:g xmlns:x="urn:x">xyzzy</x:g>`, `<math>xyzzy</math>`,
		`<image href="data:image/png;base64,` + file + `"/>`, `<handler type="xyzzy">xyzzy</handler>`,
		`<audio src="xyzzy"/>`, `<image xlink:href="xyzzy" href="data:,xyzzy"/>`, `<rect FILL="url(xyzzy)"/>`,
	} {
		whole := `<svg xmlns="http://www.w3.org/2000/svg">` + part + `<g id="after"/></svg>`
		got, _, err := cleaned(t, []byte(whole))
		decoded := string(got)
		if _, inline, ok := strings.Cut(decoded, ";base64,"); ok {
			inline, _, _ = strings.Cut(inline, `"`)
			b, _ := base64.StdEncoding.DecodeString(inline)
			decoded += string(b)
		}
		if err != nil || strings.Contains(decoded, "xyzzy") || !strings.Contains(decoded, `id="after"`) {
			t.Errorf("%s: %s %v", part, got, err)
		}
	}
	for _, broken := range []string{
		`<!DOCTYPE svg [<!ENTITY x "xyzzy">]><svg><text>&x;</text></svg>`, `<svg><g></svg`, `<svg><text>&xyzzy;</text></svg>`,
		strings.Repeat("<svg>", maxSVGDepth+1), "<svg><rect width=xyzzy/></svg>",
	} {
		got, _, err := cleaned(t, []byte(broken))
		if err == nil || strings.Contains(string(got), "xyzzy") {
			t.Errorf("%.60s: %s %v", broken, got, err)
		}
	}
	fine := `<svg xmlns="http://www.w3.org/2000/svg"><defs><linearGradient id="a"><stop offset="0" stop-color="#fff"/>` +
		`</linearGradient></defs><style>.b{fill:url(#a);transform:rotate(3deg)}</style><use xlink:href="#a"/>` +
		`<rect class="b" style="fill:rgb(1,2,3)"/><title>A &amp; B</title></svg>`
	got, _, err := cleaned(t, []byte(fine))
	for _, s := range []string{"stop-color", "fill:url(#a)", `xlink:href="#a"`, "rgb(1,2,3)", "A &amp; B", "rotate(3deg)"} {
		if err != nil || !strings.Contains(string(got), s) {
			t.Errorf("%s is lost in %s: %v", s, got, err)
		}
	}
}

// TestDetect reads files that are something else than they seem.
func TestDetect(t *testing.T) {
	for file, want := range map[string]Type{
		"<html><script>": {}, " \n<!DOCTYPE html><html>": {}, "<svg onload=x>": svg, "<?xml version=\"1.0\"?><svg/>": svg,
		"<!-- a --><svg/>": svg, "<html><svg/></html>": {}, "plain words": text, "#!/bin/sh\n": {}, "<?php x ?>": {},
		"\ufeff<p>": {}, "<a href=x>": {}, "%PDF-1.7 ": pdf, "\x00\x01\x02": {}, "": {}, "%!PS": {}, "BMW is a car": {},
		"MZ\x90\x00": {}, "PK\x03\x04": {}, "self.addEventListener('fetch', x)": text, "<x/>": {},
	} {
		if got := Detect([]byte(file)); got != want {
			t.Errorf("%q is %v, want %v", file, got, want)
		}
	}
	for _, file := range []string{"\x00\x00\x00\x18ftypheic", "\x00\x00\x00\x18ftypavif", "II*\x00aaaa", "8BPS",
		"\x89PNG\r\n\x1a\n"} {
		if !IsPicture([]byte(file)) {
			t.Errorf("%q is no picture", file)
		}
	}
	for _, file := range []string{"\x00\x00\x00\x18ftypisom", "words", "%PDF-1.7", ""} {
		if IsPicture([]byte(file)) {
			t.Errorf("%q is a picture", file)
		}
	}
}

// TestCleanIsBounded counts the bytes that cleaning takes, for files of many parts and of lies.
func TestCleanIsBounded(t *testing.T) {
	many := func(part string, n int) string { return strings.Repeat(part, n) }
	for name, file := range map[string][]byte{
		"comments":  append([]byte("\xff\xd8"), many("\xff\xfe\x00\x03a", 1<<20)...),
		"fills":     append([]byte("\xff\xd8\xff\xda\x00\x02"), many("\xff", 4<<20)...),
		"chunks":    pngFile(t, "tEXt", many("a", 8<<20)),
		"a length":  []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR1234567890123CRCC\x7f\xff\xff\xffeXIfabc"),
		"a RIFF":    []byte("RIFF\xff\xff\xff\xffWEBPEXIF\xf0\xff\xff\xff"),
		"blocks":    append([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00"), many("\x21\xfe\x01a\x00", 1<<20)...),
		"no frames": append([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), many("\x00", 8<<20)...),
		"elements":  []byte("<svg>" + many("<g></g>", 1<<18) + "</svg>"),
		"styles":    []byte("<svg><style>" + many("/* a", 1<<20) + "</style></svg>"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Clean(io.Discard, bytes.NewReader(file))
		runtime.ReadMemStats(&after)
		limit := uint64(8 << 20)
		if file[0] == '<' {
			limit += 100 * uint64(len(file))
		} else if name == "comments" || name == "blocks" {
			limit += 64 << 20 // of a few bytes each
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > limit {
			t.Errorf("%s (%d bytes) took %d bytes: %v", name, len(file), n, err)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, file := range [][]byte{pngFile(f, "eXIf", exifWith(6)), jpegFile(f, "\xe1", "Exif\x00\x00"+exifWith(6)),
		gifFile(f),
		riffFile("WEBP", "VP8L", "x", "EXIF", exifWith(3)), riffFile("WAVE", "data", "x"), mp3File(), []byte(svgFile)} {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		var b bytes.Buffer
		typ, err := Clean(&b, bytes.NewReader(file))
		if err != nil && !errors.Is(err, ErrBroken) && !errors.Is(err, ErrUnknown) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
		if err != nil || !typ.Cleans() {
			return
		}
		var again bytes.Buffer
		if typ2, err := Clean(&again, bytes.NewReader(b.Bytes())); err != nil || typ2 != typ || !bytes.Equal(again.Bytes(), b.Bytes()) {
			t.Fatalf("%v: %v %q, then %q", typ, err, b.Bytes(), again.Bytes())
		}
	})
}
