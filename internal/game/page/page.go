// Package page is the page that a person plays Alignment on: plain HTML, a style sheet
// and one script, in one answer.
//
// Its invariant: the page holds nothing of any game and no secret, so that it is open to
// all. The seat's token travels in the address's fragment, which no browser sends; the
// script takes it from there and speaks to the routes of the surface with it. Text of
// players enters the document as text, never as markup.
package page

import (
	"crypto/sha256"
	_ "embed" // for the parts of the page
	"encoding/base64"
	"net/http"
	"strings"
	"sync"

	"loregate/internal/access"
)

var (
	//go:embed page.html
	html string
	//go:embed page.css
	css string
	//go:embed page.js
	js string
)

// whole is the page and its policy, put together once.
var whole = sync.OnceValues(func() (body, policy string) {
	body = strings.NewReplacer("/*style*/", css, "/*script*/", js).Replace(html)
	policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'; " +
		"script-src " + hash(js) + "; style-src " + hash(css) + "; require-trusted-types-for 'script'; trusted-types 'none'"
	return body, policy
})

// hash is how a content security policy names an inline part.
func hash(part string) string {
	sum := sha256.Sum256([]byte(part))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Serve answers with the page, whatever the game.
func Serve(w http.ResponseWriter, _ *http.Request, _ access.Caller, _ map[string]string) {
	body, policy := whole()
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-cache")
	_, _ = w.Write([]byte(body)) // who is gone needs no page
}
