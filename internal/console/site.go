package console

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/a-h/templ"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/media"
	"loregate/internal/op"
)

// site is a folder of static pages that shows the same as the reading pages.
type site struct {
	Title string
	Up    string                // from the page to the folder
	cards map[markup.Key]string // file by key of the card's name
	pages map[string]string     // file by id: several cards may have one name
	files map[markup.Key]string // address of a card's file by key of the card's name
}

// SiteConfig has the parts of a site.
type SiteConfig struct {
	Engine op.Invoker
	Caller access.Caller // who sees all that the site shows
	World  string        // slug or id
	// Write stores a file of the site by its slash-separated name.
	Write func(name string, data []byte) error
	// LeftOut is told the card of each file that is not written, and why.
	LeftOut  func(card, why string)
	Progress func(done, total int) // may be nil
}

// WriteSite writes the cards that a caller sees as static pages, with their pictures and a search that runs in
// the browser. Nothing in them tells of other cards: links to hidden and to missing cards are plain words. It
// returns the number of cards.
func WriteSite(ctx context.Context, c SiteConfig) (n int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	if err != nil {
		return 0, err
	}
	v := &visit{r: r, s: &server{Config: Config{Engine: siteEngine{c.Engine}}}, caller: c.Caller, world: c.World}
	title, err := v.worldTitle()
	if err != nil {
		return 0, err
	}
	cards, err := v.listAllCards()
	if err != nil {
		return 0, err
	}
	out := &site{Title: title, cards: map[markup.Key]string{}, pages: map[string]string{}, files: map[markup.Key]string{}}
	taken := map[string]int{}
	for _, x := range cards {
		out.pages[x.ID] = freeName(taken, x.Name) + ".html"
		if key := markup.KeyOf(x.Name); out.cards[key] == "" {
			out.cards[key] = out.pages[x.ID]
		}
	}
	for _, x := range cards {
		if err := v.writeSiteFile(c, out, x); err != nil {
			return 0, err
		}
	}
	entries := make([]siteEntry, 0, len(cards))
	for i, x := range cards {
		e, err := v.writeSiteCard(c.Write, *out, x)
		if errors.Is(err, fault.NotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return 0, err
		}
		entries = append(entries, e)
		if c.Progress != nil {
			c.Progress(i+1, len(cards))
		}
	}
	return len(entries), v.writeSiteRest(c.Write, *out, entries)
}

// siteEntry is a card in the index of a site's search.
type siteEntry struct {
	Name string `json:"n"`
	File string `json:"f"`
	Type string `json:"t"`
	Text string `json:"x"`
}

// listAllCards lists the cards that the visit sees, by name.
func (v *visit) listAllCards() (all []card, err error) {
	in := fields{"sort": "name", "limit": 100}
	for {
		list, err := call[cardList](v, "search_cards", in)
		if err != nil {
			return nil, err
		}
		all = append(all, list.Cards...)
		if list.NextOffset == nil {
			return all, nil
		}
		in["offset"] = *list.NextOffset
	}
}

// reservedName matches the names that programs read as something else than a page: devices of Windows, and the
// page that a server shows for a folder.
var reservedName = lazyregexp.New(`^(index|default|con|prn|aux|nul|(com|lpt)[0-9\x{b9}\x{b2}\x{b3}]?)$`)

// freeName returns a name for a card's page, of letters, digits and hyphens, that no other card has, in any
// spelling that a file system takes for the same. taken has the number to try next for each name.
func freeName(taken map[string]int, name string) string {
	words := strings.FieldsFunc(
		strings.ToLower(name),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) },
	)
	base := strings.Join(words, "-")
	if r := []rune(base); len(r) > 60 { // a file name has at most 255 bytes
		base = string(r[:60])
	}
	if base == "" || reservedName.MatchString(base) {
		base = strings.TrimSuffix("card-"+base, "-")
	}
	free := base
	for n := taken[markup.Fold(base)]; taken[markup.Fold(free)] > 0; n++ {
		free = base + "-" + strconv.Itoa(n)
		taken[markup.Fold(base)] = n + 1
	}
	taken[markup.Fold(free)] = 2
	return free
}

// siteEngine is an Engine for pages that are written without a request.
type siteEngine struct{ op.Invoker }

func (siteEngine) Foresee(context.Context, access.Caller, op.Request) (access.WorldID, error) {
	return access.WorldID{}, nil
}

// writeSiteCard writes the page of a card.
func (v *visit) writeSiteCard(write func(string, []byte) error, out site, x card) (e siteEntry, err error) {
	out.Up = "../"
	f := frame{Title: x.Name, World: v.world, Site: &out}
	c, text, a, err := v.collectCard("~"+x.ID, f)
	if err != nil {
		return e, err
	}
	e = siteEntry{c.Name, "cards/" + out.pages[x.ID], c.Type, plainText(text, 300)}
	return e, writeComponent(write, e.File, cardPage(f, c, text, a))
}

// writeSiteFile writes the file of a card, if it is of a type in which nothing runs, without the data that
// describe it. Texts show a file by its card's name, so that of several cards with one name the first one
// counts.
func (v *visit) writeSiteFile(c SiteConfig, out *site, x card) error {
	key := markup.KeyOf(x.Name)
	if x.Type != "Image" && x.Type != "File" || out.files[key] != "" {
		return nil
	}
	a, err := v.invoke("get_attachment", fields{"name": "~" + x.ID}, nil)
	switch {
	case fault.KindOf(err) == fault.NotFound || err == nil && a.Reply.File == nil:
		return nil // a card without a file
	case fault.KindOf(err) == fault.Denied:
		c.LeftOut(x.Name, err.Error())
		return nil
	case err != nil:
		return err
	}
	data, t := passiveFile(a.Reply.File.Data)
	if t.Ext == "" {
		c.LeftOut(x.Name, "its file is left out: it is of no type that a site may have (PNG, JPEG, GIF, WebP, SVG, "+
			"BMP, MP3, "+
			"WAV, PDF, plain text), or it is broken")
		return nil
	}
	out.files[key] = fileOfSite(x.Name, data, t)
	return c.Write(out.files[key], data)
}

// passiveFile returns a file in which nothing runs, clean, with its type; the zero Type for any other file.
func passiveFile(data []byte) ([]byte, media.Type) {
	t := media.Detect(data)
	if !t.Cleans() {
		return data, t
	}
	var out bytes.Buffer
	if _, err := media.Clean(&out, bytes.NewReader(data)); err != nil {
		return nil, media.Type{}
	}
	return out.Bytes(), t
}

// fileOfSite returns the name of a card's file in the folder of a site: words of the card's name, a part of the
// file's hash, and the ending of the type that its content has. No name that servers or file systems treat in a
// way of their own ends in a hash.
func fileOfSite(name string, data []byte, t media.Type) string {
	sum := sha256.Sum256(data)
	return "files/" + freeName(map[string]int{}, name) + "-" + hex.EncodeToString(sum[:6]) + t.Ext
}

// writeSiteRest writes the first page, styles and search.
func (v *visit) writeSiteRest(write func(string, []byte) error, out site, entries []siteEntry) error {
	index, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	for name, asset := range map[string]string{"assets/app.css": "app.css", "assets/site.js": "site.js",
		"assets/icon.svg": "icon.svg"} {
		data, err := assetFiles.ReadFile("assets/" + asset)
		if err != nil {
			return err
		}
		if err := write(name, data); err != nil {
			return err
		}
	}
	// A script, since browsers let no page of a folder read another file of it.
	if err := write("assets/cards.js", append([]byte("window.cards = "), append(index, ";\n"...)...)); err != nil {
		return err
	}
	f := frame{Title: out.Title, World: v.world, Site: &out}
	return writeComponent(write, "index.html", siteIndex(f, entries))
}

// entryGroup lists the cards of a type.
type entryGroup struct {
	Type    string
	Entries []siteEntry
}

// groupEntries groups cards by type; types and cards are by name.
func groupEntries(entries []siteEntry) (groups []entryGroup) {
	at := map[string]int{}
	for _, e := range entries {
		i, known := at[e.Type]
		if !known {
			i, at[e.Type] = len(groups), len(groups)
			groups = append(groups, entryGroup{Type: e.Type})
		}
		groups[i].Entries = append(groups[i].Entries, e)
	}
	slices.SortFunc(groups, func(a, b entryGroup) int { return strings.Compare(a.Type, b.Type) })
	return groups
}

// escapePath escapes the parts of a slash-separated path.
func escapePath(name string) string { return (&url.URL{Path: name}).EscapedPath() }

func writeComponent(write func(string, []byte) error, name string, page templ.Component) error {
	var b strings.Builder
	if err := page.Render(context.Background(), &b); err != nil {
		return err
	}
	return write(name, []byte(b.String()))
}

// plainText returns the beginning of a rendered text without its elements.
func plainText(rendered string, most int) string {
	var b strings.Builder
	inside := false
	for _, r := range rendered {
		switch {
		case r == '<':
			inside = true
		case r == '>':
			inside = false
			b.WriteByte(' ')
		case !inside:
			b.WriteRune(r)
		}
	}
	return markup.Shorten(strings.Join(strings.Fields(html.UnescapeString(b.String())), " "), most)
}
