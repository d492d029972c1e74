package console

import (
	"bytes"
	"cmp"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"loregate/internal/markup"
)

// pictureTypes are the media types that pages show. None of them can hold a script.
var pictureTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// isDrawing reports whether a file is SVG, as far as its beginning shows. SVG may hold scripts: none runs where a page
// shows it as a picture, and opened by itself it is saved.
func isDrawing(file io.Reader) bool {
	head, err := io.ReadAll(io.LimitReader(file, 4<<10))
	if err != nil {
		return false
	}
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("<svg")) || bytes.HasPrefix(head, []byte("<?xml")) && bytes.Contains(head,
		[]byte("<svg"))
}

// sendFile sends the file of a card.
func (s *server) sendFile(v *visit) error {
	return v.sendFile("get_attachment", fields{"name": v.r.PathValue("name")})
}

// sendFile sends the file that an operation answers with: pictures to be shown, all others to be saved. No
// file runs as a page of the console.
func (v *visit) sendFile(operation string, in fields) error {
	a, err := v.invoke(operation, in, nil)
	if err != nil {
		return err
	}
	f := a.Reply.File
	if f == nil {
		return errNothingHere
	}
	content, err := f.Keep(v.r.Context(), v.hold)
	if err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", cmp.Or(f.Type, "application/octet-stream"))
	if !slices.Contains(pictureTypes, f.Type) {
		h.Set("Content-Type", "application/octet-stream")
		if isDrawing(f.Open()) {
			h.Set("Content-Type", "image/svg+xml")
		}
		h.Set("Content-Disposition", cmp.Or(mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}),
			"attachment"))
	}
	http.ServeContent(v.s.Bodies.PaceAnswer(v.w, pageWait), v.r, "", time.Time{}, content)
	return nil
}

// fileAddress returns the page's address of a file, for the address that the API has for it.
func (f frame) fileAddress(at string) string {
	name, isFile := strings.CutPrefix(at, "/api/mcp/cards/")
	name, ends := strings.CutSuffix(name, "/file")
	plain, err := url.PathUnescape(name)
	switch {
	case !isFile || !ends || err != nil:
		return at
	case f.Site != nil && f.Site.files[markup.KeyOf(plain)] == "":
		return "#" // its file is left out
	case f.Site != nil:
		return f.Site.Up + escapePath(f.Site.files[markup.KeyOf(plain)])
	}
	return string(f.link("file", plain))
}

// linkFiles lets an element load files of cards from the pages' address, which the session opens.
func (l linker) linkFiles(n *html.Node) {
	for i, a := range n.Attr {
		if a.Key == "src" || a.Key == "href" {
			n.Attr[i].Val = l.frame.fileAddress(a.Val)
		}
	}
}
