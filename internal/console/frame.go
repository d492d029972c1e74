package console

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/a-h/templ"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

// frame surrounds each page of a person who is signed in.
type frame struct {
	Title   string
	Subject access.Subject
	World   string // slug; "" on pages that belong to no world
	As      string // role to which the page is lowered; "" if it is not
	Path    string // address of the page without its query
	Manages bool   // the person may invite others to some world
	Advises bool   // changes become proposals
	Reads   bool   // the person only reads the world
	GM      bool   // the page shows what the campaign's game masters do
	Site    *site  // nil on pages that the server sends
}

func (v *visit) frame(title string) frame {
	w := v.worldID()
	return frame{Title: title, Subject: v.caller.Subject, World: v.world, As: v.as, Path: v.r.URL.EscapedPath(),
		Manages: managesWorlds(v.caller), Advises: v.caller.IsDiverted(w, false), Reads: v.caller.MayIn(w) == access.MayRead}
}

// worldID returns the id of the visit's world; zero if there is none, or if all worlds give the caller the same rights.
func (v *visit) worldID() (w access.WorldID) {
	if v.world != "" && len(v.caller.May) > 0 {
		w, _ = v.s.Engine.Foresee(v.r.Context(), v.caller, op.Request{Operation: "get_card", World: v.world})
	}
	return w
}

// may reports whether an operation is open to the visit's caller, so that a page can leave out its form.
func (v *visit) may(operation string) bool {
	_, err := v.s.Engine.Foresee(v.r.Context(), v.caller, op.Request{Operation: operation, World: v.world})
	return err == nil || fault.KindOf(err) == fault.RateLimited
}

// decides reports whether the visit's caller may decide on proposals of others.
func (v *visit) decides() bool {
	w := v.worldID()
	return v.caller.Approve && v.caller.May[w].For(v.caller.Role(w)) == access.MayWrite
}

// pageWait bounds the time in which a browser takes a page or a file.
const pageWait = 2 * time.Minute

// write sends a page, which a browser may take slowly. Errors of the connection are nobody's to see.
func (v *visit) write(status int, page templ.Component) error {
	var text bytes.Buffer
	if err := page.Render(v.r.Context(), &text); err != nil {
		return err
	}
	f, err := v.hold.KeepAnswer(v.r.Context(), text.Bytes())
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = f.WriteTo(v.s.Bodies.PaceAnswer(v.w, pageWait)) // a client that has disconnected needs no page
	return nil
}

func writePage(w http.ResponseWriter, status int, page templ.Component) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = page.Render(context.Background(), w) // a client that has disconnected needs no page
}

// redirect sends the browser to another page of the console, keeping the lowered role.
func (v *visit) redirect(to string) error {
	http.Redirect(v.w, v.r, asRole(to, v.as), http.StatusSeeOther)
	return nil
}

// asRole adds the lowered role to an address.
func asRole(address, as string) string {
	if as == "" {
		return address
	}
	if strings.Contains(address, "?") {
		return address + "&as=" + as
	}
	return address + "?as=" + as
}

// link returns an address of the frame's world, in the lowered role of the page.
func (f frame) link(kind string, rest ...string) templ.SafeURL {
	return templ.SafeURL(asRole(addressOf(kind, f.World, rest...), f.As))
}

// addressOf returns the address of a page of a world.
func addressOf(kind, world string, rest ...string) string {
	a := "/" + kind + "/" + url.PathEscape(world)
	for _, r := range rest {
		a += "/" + url.PathEscape(r)
	}
	return a
}

// card returns the address of a card's page of a kind: w, edit, history.
func (f frame) card(kind, name, id string) templ.SafeURL {
	if f.Site != nil {
		return templ.SafeURL(url.PathEscape(f.Site.cards[markup.KeyOf(name)]))
	}
	return f.link(kind, addressName(name, id))
}

// lacks reports whether the pages are a site without the card.
func (f frame) lacks(name string) bool {
	return f.Site != nil && f.Site.cards[markup.KeyOf(name)] == ""
}

// addressName returns the last part of a card's address: its name or, if a browser or a router would
// take that for something else, its id.
func addressName(name, id string) string {
	if id != "" && (name != strings.Trim(path.Clean("/"+name), "/") || strings.HasPrefix(name, "~") ||
		strings.HasPrefix(name, ":")) {
		return "~" + id
	}
	return name
}
