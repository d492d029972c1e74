package app

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"net/http"
	"strings"
)

// frontText is the page, with frontClients in the place of the clients. It is not a template of html/template, which
// calls methods by name, so that the linker would keep every method of every type.
//
//go:embed front.html
var frontText string

const frontClients = "<!-- clients -->\n"

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
		var clients strings.Builder
		for _, c := range clientsAt(base, "KEY") {
			fmt.Fprintf(&clients, "<h3>%s</h3>\n", html.EscapeString(c.Name))
			for _, line := range c.Lines {
				fmt.Fprintf(&clients, "<pre><code>%s</code></pre>\n", html.EscapeString(line))
			}
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		// A client that has disconnected needs no page.
		_, _ = io.WriteString(w, strings.Replace(frontText, frontClients, clients.String(), 1))
	}
}
