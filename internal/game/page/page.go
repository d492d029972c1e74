// Package page serves the page on which a person plays Alignment: plain HTML with one script, in the dress of the
// console.
//
// Its invariant: the page contains nothing of any game and no secret, only the rules, so it is open to all. The
// seat's token is in the URL's fragment, which no browser sends; the script reads it there and uses
// it to call the routes of the surface. Text of players enters the document as text, never as
// markup.
package page

import (
	"crypto/sha256"
	_ "embed" // for the parts of the page
	"encoding/base64"
	"html"
	"net/http"
	"strings"

	"loregate/internal/access"
	"loregate/internal/game/rule"
)

var (
	//go:embed page.html
	page string
	//go:embed page.css
	css string
	//go:embed page.js
	js string
)

// assemble returns the page and its policy.
func assemble(stylesheet string) (body, policy string) {
	body = strings.NewReplacer("<!--stylesheet-->", html.EscapeString(stylesheet), "/*style*/", css, "/*script*/", js,
		"<!--rules-->", rulesHTML()).Replace(page)
	policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'; " +
		"script-src " + sourceHash(js) + "; style-src 'self' " + sourceHash(css) +
		"; require-trusted-types-for 'script'; trusted-types 'none'"
	return body, policy
}

// rulesHTML returns the rules of the game as they are read on the page.
func rulesHTML() string {
	var b strings.Builder
	for _, c := range rule.Guide() {
		b.WriteString("<h3>" + html.EscapeString(c.Title) + "</h3><ul>")
		for _, line := range c.Lines {
			b.WriteString("<li>" + html.EscapeString(line) + "</li>")
		}
		b.WriteString("</ul>")
	}
	return b.String()
}

// sourceHash returns the hash of an inline part as a content security policy writes it.
func sourceHash(part string) string {
	sum := sha256.Sum256([]byte(part))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// New returns a function that responds with the page, the same for every game. stylesheet is the address of the
// stylesheet that the page shares with the console.
func New(stylesheet string) func(http.ResponseWriter, *http.Request, access.Caller, map[string]string) {
	body, policy := assemble(stylesheet)
	return func(w http.ResponseWriter, _ *http.Request, _ access.Caller, _ map[string]string) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", policy)
		h.Set("Cache-Control", "no-cache")
		_, _ = w.Write([]byte(body)) // a client that is gone needs no page
	}
}
