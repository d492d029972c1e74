package vault

import (
	"cmp"
	"context"
	"io/fs"
	"path"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/native"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Options configure the import of a vault. The zero value imports a foreign vault for everyone.
type Options struct {
	exchange.Options
	// GMFolders are folders whose notes are for the GM, in addition to those found by secrecy.Rules. A
	// folder is named by its path, or by its base name at any depth; base names are compared as
	// card names are. It is an error to name a folder that does not exist.
	GMFolders []string
	// Open and Confirm decide suspicions: Open makes them visible, Confirm keeps them secret. They
	// name a file, a folder, a rule, or a mark as in exchange.Hide. Confirm also accepts folders and notes
	// that are not suspected. It is an error if an item matches nothing.
	Open, Confirm []string
	// Links decide which note a link means that fits several, each as TARGET=PATH. It is an error if one decides
	// nothing.
	Links []string
	// HideLinks turns links to hidden notes into plain text in texts that players read.
	HideLinks bool
	// Types maps words to card types and overrides the importer's own table. A word may be a
	// folder, a tag or the type in front matter. It is an error if a word matches nothing.
	Types map[string]string
	// Folders selects the use of a foreign note's folders.
	Folders FolderUse
	// Prune moves cards to the trash whose notes or files are gone since the last import, unless they
	// were changed here.
	Prune bool
	// AllFiles also imports the files that no note names. Only the GM sees these.
	AllFiles bool
	// Vault is the user's name for the vault; without it an import knows the vault again by the file of an export,
	// or by its notes, and else by the name of its folder.
	Vault string
	// Native reads every file in our own dialect, even without the key loregate.
	Native bool
}

// FolderUse selects the use of the folders of foreign notes.
type FolderUse string

// The values of FolderUse.
const (
	FolderTags  FolderUse = "tags"    // tags of the card; the default
	FolderNames FolderUse = "parents" // parts of the card's name
	FolderNone  FolderUse = "none"
)

// Import imports a folder of Markdown into the grant's world. It reads our own dialect and the vaults
// of other programs. The Summary reports everything that could not be imported unchanged. If the
// import stops with an error, the parts committed before it remain.
func Import(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o Options) (exchange.Summary, error) {
	sum := exchange.Summary{DryRun: g.Request().DryRun}
	v, err := readVault(files, o)
	if err != nil {
		return sum, err
	}
	if len(v.notes) == 0 {
		return sum, fault.New(fault.Invalid, "the folder contains no Markdown note (*.md); give the folder of the vault")
	}
	var f *reader
	var m *lastImport
	err = c.Read(ctx, g, func(l *canon.Snapshot) error {
		var members exchange.Members
		v.findMembers = func(names []string) ([]access.Subject, bool, error) { return members.Find(ctx, l, names) }
		if err := v.identify(ctx, l); err != nil {
			return err
		}
		o.Label = v.o.Label
		if m, err = loadMemory(ctx, l, o.Label, v.same); err != nil {
			return err
		}
		v.findTwins(m.source)
		v.world = newWorld(m.source)
		hidden, err := exchange.ReadHidden(ctx, l, v.world.add)
		if err != nil {
			return err
		}
		v.hidden = func(words string, except canon.CardID) (string, error) {
			return hidden.Owner(ctx, l, words, except)
		}
		v.choices.Remember(m.source.Open, m.source.Confirm)
		v.answers = answers{given: o.Links}
		v.answers.remember(m.source.Links)
		v.named = map[string]string{}
		for _, n := range m.source.Notes {
			v.named[n.Path] = n.Name
		}
		if err := v.indexNotes(); err != nil {
			return err
		}
		types, err := newTyper(ctx, l, o.Types)
		if err != nil {
			return err
		}
		f = newReader(v, l, types)
		if f.moved, err = m.findMoved(ctx, l, v); err != nil {
			return err
		}
		f.known, f.cards = m.source.Notes, m.source.Cards
		want := f.c
		x := &native.Reader{Files: files, Options: o.Options, Marks: v.placeMarks, Seen: readSeen(l),
			FindMembers: v.findMembers, Collection: want,
			Judge: func(m secrecy.Mark, file string, part bool) bool { return v.choices.Decide(m, file, part) }}
		if err := collectNotes(ctx, v, f, x); err != nil {
			return err
		}
		sum.Types = types.listUses()
		return cmp.Or(v.checkUnusedFolders(), v.choices.CheckUnused(), v.answers.checkUnused(), types.checkUnusedWords(),
			want.CheckStarter(ctx, l, o.Starter))
	})
	if err != nil {
		return sum, err
	}
	sum.Hides, sum.Mentions, sum.Asked = v.choices.List(), v.mentions.list, v.asked
	sum.Said = append(sum.Said, m.rememberedDecisions()...)
	if left := v.choices.LeftOpen(); left != "" {
		sum.Said = append(sum.Said, left)
	}
	want := f.c
	sum.Files, sum.Hidden = len(v.notes), want.Hidden
	sum.Problems = exchange.AppendProblems(v.problems, want.Problems...)
	for _, n := range v.notes {
		sum.Problems = exchange.AppendProblems(sum.Problems, n.Reports...)
	}
	w := &exchange.Writer{Canon: c, Grant: g, Collection: want, Summary: &sum, Progress: o.Progress}
	if len(f.notes) > 0 {
		m.dropFields(f)
		w.Known, w.Exported = m.source.Cards, v.exported
	}
	if err := m.begin(ctx, f, w, o); err != nil {
		return sum, err
	}
	var refers []*exchange.Edge
	want.Late = func() []*exchange.Edge {
		var said string
		if refers, said = f.edgesOfLinks(); said != "" {
			sum.Said = append(sum.Said, said)
		}
		return refers
	}
	if err := w.Write(ctx); err != nil || o.Native {
		return sum, err
	}
	if err := f.dropLinks(ctx, w, refers); err != nil {
		return sum, err
	}
	if err := m.finish(ctx, f, w, o); err != nil {
		return sum, err
	}
	return sum, w.SetStarter(ctx, o.Starter, v.linked)
}

// collectNotes adds the cards of all notes, folders and attachments.
func collectNotes(ctx context.Context, v *vault, f *reader, x *native.Reader) error {
	strangers := false
	for _, n := range v.notes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !v.loadBody(n) {
			continue
		}
		if v.isNative(n) {
			if err := x.Add(ctx, n.Note); err != nil {
				return err
			}
			if file := n.Text("file"); file != "" {
				f.shown[path.Join(path.Dir(n.Path), file)] = access.LevelAdmin
			}
			continue
		}
		strangers = true
		if err := f.addNote(ctx, n); err != nil {
			return err
		}
	}
	f.addAttachments()
	if strangers {
		f.addFolders()
	}
	return nil
}

// readSeen returns the function that reads the part of a card that players read now.
func readSeen(l *canon.Snapshot) func(context.Context, canon.CardID) (native.Seen, error) {
	return func(ctx context.Context, id canon.CardID) (seen native.Seen, err error) {
		c, ok, err := l.ByID(ctx, id)
		if err != nil || !ok || c.Label.Level >= access.LevelGM {
			return seen, err
		}
		seen.Name, seen.Fields = c.Name, decoded.ParseObject(string(c.Fields))
		if c.TextKind() != canon.TextFile {
			if seen.Text, err = l.Body(ctx, c.Content); err != nil {
				return seen, err
			}
		}
		list, err := l.Homonyms(ctx, c.Key+"+"+markup.KeyOf(exchange.TagsPart))
		for _, tags := range list {
			if tags.Parent != c.ID || tags.Label.Level >= access.LevelGM || err != nil {
				continue
			}
			var text string
			if text, err = l.Content(ctx, tags); err == nil {
				for _, item := range markup.Items(text) {
					seen.Tags = append(seen.Tags, exchange.TagName(item))
				}
			}
		}
		return seen, err
	}
}
