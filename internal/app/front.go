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

var frontTemplate = template.Must(template.New("front").Parse(frontText))

// frontPage returns the handler of the page that a browser shows at the server's address: a
// description of the product, and instructions to connect. Only the address in it varies, and it
// reveals nothing about any world.
func frontPage() func(w http.ResponseWriter, base string) {
	_, style, _ := strings.Cut(frontText, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
	return func(w http.ResponseWriter, base string) {
		var page bytes.Buffer
		if err := frontTemplate.Execute(&page, clientsAt(base, "KEY")); err != nil {
			panic(err) // it renders our own plain data
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		_, _ = w.Write(page.Bytes()) // a client that has disconnected needs no page
	}
}
