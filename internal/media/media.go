// Package media recognizes files by their content, and removes from pictures and recordings the data that
// describe them: places, cameras, authors, comments, earlier names, small copies of an uncut picture.
//
// Its invariant: Clean writes only parts of the format that it knows to be needed to show or play the file.
// Reading is linear, and the memory does not depend on the length of the file, except for an SVG's depth.
package media

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Type is the type of a file. The zero Type is that of a file of an unknown type.
type Type struct {
	Media string // media type
	Ext   string // ending of file names, with the dot
}

// The types that Clean writes.
var (
	png  = Type{"image/png", ".png"}
	jpeg = Type{"image/jpeg", ".jpg"}
	gif  = Type{"image/gif", ".gif"}
	webp = Type{"image/webp", ".webp"}
	svg  = Type{"image/svg+xml", ".svg"}
	mp3  = Type{"audio/mpeg", ".mp3"}
	wave = Type{"audio/wav", ".wav"}
)

// The types from which nothing is removed.
var (
	text = Type{"text/plain; charset=utf-8", ".txt"}
	pdf  = Type{"application/pdf", ".pdf"}
	bmp  = Type{"image/bmp", ".bmp"}
)

// cleaner returns the function that copies files of the type; nil if there is none.
func (t Type) cleaner() func(*writer, *reader) error {
	return map[Type]func(*writer, *reader) error{png: cleanPNG, jpeg: cleanJPEG, gif: cleanGIF, webp: cleanWebP,
		svg: cleanSVG, mp3: cleanMP3, wave: cleanWave}[t]
}

// HeadSize is the number of bytes that Detect looks at.
const HeadSize = 4 << 10

// Detect returns the type of a file by its first bytes. Text counts as text only if no program takes it for
// anything else: not if it could be HTML, XML or a script of a shell.
func Detect(head []byte) Type {
	head = head[:min(len(head), HeadSize)]
	has := func(magic string, at int) bool { return len(head) > at && bytes.HasPrefix(head[at:], []byte(magic)) }
	switch {
	case has("\x89PNG\r\n\x1a\n", 0):
		return png
	case has("\xff\xd8\xff", 0):
		return jpeg
	case has("GIF87a", 0), has("GIF89a", 0):
		return gif
	case has("RIFF", 0) && has("WEBP", 8):
		return webp
	case has("RIFF", 0) && has("WAVE", 8):
		return wave
	case has("ID3", 0), len(head) > 3 && isMPEGFrame(head):
		return mp3
	case has("%PDF-", 0):
		return pdf
	case has("BM", 0) && http.DetectContentType(head) == bmp.Media && bytes.IndexByte(head, 0) >= 0:
		return bmp
	case isSVG(head):
		return svg
	case isText(head):
		return text
	}
	return Type{}
}

// isText reports whether bytes are text, and not text of which a browser makes a page.
func isText(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte("#!")) || bytes.HasPrefix(head, []byte("%!")) {
		return false
	}
	cut := head
	for range utf8.UTFMax - 1 {
		if len(head) == HeadSize && !utf8.Valid(cut) { // a letter may end behind the head
			cut = cut[:len(cut)-1]
		}
	}
	return len(head) > 0 && utf8.Valid(cut) && strings.HasPrefix(http.DetectContentType(head), "text/plain") &&
		!bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n\f"), []byte("<"))
}

// IsPicture reports whether a file is a picture, known to Detect or not.
func IsPicture(head []byte) bool {
	head = head[:min(len(head), HeadSize)]
	if strings.HasPrefix(Detect(head).Media, "image/") || strings.HasPrefix(http.DetectContentType(head), "image/") {
		return true
	}
	if len(head) >= 12 && string(head[4:8]) == "ftyp" {
		return slices.Contains(stillBrands, string(head[8:12]))
	}
	return slices.ContainsFunc(pictureMagics, func(m string) bool { return bytes.HasPrefix(head, []byte(m)) })
}

// The beginnings of pictures that Detect does not know: TIFF, BigTIFF, Photoshop, JPEG XL, JPEG 2000 and GIMP;
// and the brands of still pictures in files of the base media format: AVIF, HEIF and raw ones.
var (
	pictureMagics = []string{"II*\x00", "MM\x00*", "II+\x00", "MM\x00+", "8BPS", "\xff\x0a", "\x00\x00\x00\x0cJXL ",
		"\x00\x00\x00\x0cjP  ", "gimp xcf"}
	stillBrands = []string{"avif", "avis", "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "crx "}
)

// FileName returns a name for a file: a name with the ending of the file's type, unless it has it already.
func FileName(name string, data []byte) string {
	t := Detect(data)
	if t.Ext == "" || strings.HasSuffix(strings.ToLower(name), t.Ext) || t == jpeg && strings.HasSuffix(strings.ToLower(name), ".jpeg") {
		return name
	}
	return name + t.Ext
}

// Cleans reports whether Clean writes files of the type.
func (t Type) Cleans() bool { return t.cleaner() != nil }

// Errors of Clean.
var (
	ErrUnknown = errors.New("media: the type of the file is not known")
	ErrBroken  = errors.New("media: the file is not as its type is")
)

// Clean copies a file without the data that describe it, and returns its type. The turn of a picture and its
// colour profile stay. An error in the file is ErrBroken, at its end io.ErrUnexpectedEOF: what was written until
// then is clean. Bytes behind the end of the file are not written.
func Clean(to io.Writer, from io.ReadSeeker) (Type, error) {
	r := &reader{Reader: bufio.NewReaderSize(from, 2*HeadSize), seek: from}
	head, err := r.Peek(HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return Type{}, err
	}
	t := Detect(head)
	clean := t.cleaner()
	if clean == nil {
		return t, ErrUnknown
	}
	w := &writer{to: bufio.NewWriter(to)}
	err = clean(w, r)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if w.err == nil {
		w.err = w.to.Flush()
	}
	if w.err != nil {
		return t, w.err
	}
	return t, err
}

// reader reads a file.
type reader struct {
	*bufio.Reader
	seek io.Seeker
}

// next reads n bytes, which are few.
func (r *reader) next(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// skip reads over bytes.
func (r *reader) skip(n int64) error {
	for n > 0 {
		m, err := r.Discard(int(min(n, 1<<30)))
		if err != nil {
			return err
		}
		n -= int64(m)
	}
	return nil
}

// writer writes a file, and keeps the first error.
type writer struct {
	to  *bufio.Writer
	err error
}

func (w *writer) put(parts ...[]byte) {
	for _, p := range parts {
		if w.err == nil {
			_, w.err = w.to.Write(p)
		}
	}
}

// copy copies n bytes.
func (w *writer) copy(r *reader, n int64) error {
	if w.err != nil {
		return w.err
	}
	_, err := io.CopyN(w.to, r, n)
	return err
}
