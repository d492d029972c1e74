package app

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"
)

//go:embed front.html
var frontText string

var front = template.Must(template.New("front").Parse(frontText))

// frontPage is what a person finds who opens the server's address in a browser: what this
// is, and how to connect. It is the same for all but for the address that they opened, and
// tells nothing of any world.
func frontPage() func(w http.ResponseWriter, base string) {
	_, style, _ := strings.Cut(frontText, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
	return func(w http.ResponseWriter, base string) {
		var page bytes.Buffer
		if err := front.Execute(&page, clientsAt(base, "KEY")); err != nil {
			panic(err) // plain text of ours
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		_, _ = w.Write(page.Bytes()) // who is gone needs no page
	}
}
