package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/exchange/vault"
	"loregate/internal/fault"
	"loregate/internal/secrecy"
)

type importCmd struct {
	common
	Format    string            `arg:"" optional:"" complete:"formats" help:"Format of the source; docs/import.md describes the formats. Without it the source is recognized by its files."`
	Path      string            `arg:"" optional:"" help:"Folder, file or archive (zip, 7z, gz, tar.gz) to import."`
	World     string            `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
	Level     string            `help:"Lowest level of all imported cards: user, gm or admin." enum:"user,gm,admin" default:"user"`
	DryRun    bool              `help:"Only list the cards that would be imported, with the hash of this plan."`
	Plan      string            `help:"Hash that --dry-run printed: import exactly that, or nothing if the source, the options or the world have changed." placeholder:"HASH"`
	Explain   bool              `help:"Only print the rules by which the markdown import recognizes secrets."`
	Open      []string          `help:"A folder, a note or a word that looks secret and is not, as the summary quotes it. Can be repeated." sep:"none" placeholder:"TEXT"`
	Confirm   []string          `help:"A folder, a note or a text quoted by the summary that is secret. Can be repeated." sep:"none" placeholder:"TEXT"`
	Link      []string          `help:"The note that a link means which fits several, as the summary prints it. Can be repeated." sep:"none" placeholder:"TARGET=NOTE"`
	HideLinks bool              `help:"markdown: turn links to hidden cards into plain text in the cards that players read. Game masters lose these links too."`
	Types     map[string]string `help:"markdown: card type for a folder, tag or type, as in Settlements=Location. Without a type after = the cards are plain text." placeholder:"WORD=TYPE"`
	Folders   string            `help:"markdown: use of a note's folders: tags of the card, parents (parts of its name), or none." enum:"tags,parents,none" default:"tags"`
	Vault     string            `help:"markdown: name of the vault, under which its notes are known again. Default: the name in .loregate/vault.json, which an export writes, a vault of the world with the same notes, or the name of the folder." placeholder:"NAME"`
	Prune     bool              `help:"markdown: move cards to the trash whose notes or files are gone since the last import of the vault."`
	AllFiles  bool              `help:"markdown: also import the files that no note names, for the GM."`
	History   bool              `help:"mediawiki: also import the older revisions of each page, as versions of its card."`
	Starter   string            `name:"starter-location" help:"Place where players begin. Default: one of the imported places, if the world has no such place." placeholder:"PLACE"`
}

func (i importCmd) Run(ctx context.Context, out io.Writer) error {
	if i.Explain {
		return printRules(out)
	}
	if i.Path == "" {
		i.Format, i.Path = "", i.Format
	}
	if f, ok := app.FormatNamed(i.Path); i.Path == "" || ok && i.Format == "" {
		return fault.New(fault.Invalid, "import: name the folder or file, as in: loregate import %s ./vault",
			cmp.Or(f.Name, "markdown"))
	}
	level, _ := access.ParseLevel(i.Level) // the tag enum allows only levels
	return i.withApp(ctx, func(a *app.App) error {
		summary, err := a.Import(ctx, i.Format, i.World, i.Path, app.ImportOptions{Level: level, DryRun: i.DryRun,
			Plan: i.Plan, History: i.History,
			Starter: i.Starter, Progress: progress("importing"),
			Vault: vault.Options{Open: i.Open, Confirm: i.Confirm, Links: i.Link, HideLinks: i.HideLinks, Types: i.Types,
				Folders: vault.FolderUse(i.Folders), Vault: i.Vault, Prune: i.Prune, AllFiles: i.AllFiles}})
		return printResult(out, err, "%v", summary)
	})
}

// printRules prints the rules by which an import recognises secrets of a vault.
func printRules(out io.Writer) error {
	var b strings.Builder
	b.WriteString("These parts are hidden from players. Parts that only look secret are hidden too, until you decide with --open or --confirm.\n")
	for _, r := range secrecy.Rules() {
		fmt.Fprintf(&b, "\n%s\n", r.Name)
		if r.Exact != "" {
			fmt.Fprintf(&b, "  secret:       %s\n", r.Exact)
		}
		if r.Suspicious != "" {
			fmt.Fprintf(&b, "  looks secret: %s\n", r.Suspicious)
		}
	}
	b.WriteString("\nSecret words, by language (patterns; case, accents, hyphens, digits and camelCase do not count)\n")
	for _, w := range secrecy.WordLists() {
		fmt.Fprintf(&b, "\n%s\n  %s\n", w.Language, w.Patterns)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

type exportCmd struct {
	common
	Format string `arg:"" help:"markdown: a folder of Markdown notes. lore: one file with the whole world, or with the part that --as names. lorebook: world info as JSON. character, character-v2: character cards as JSON, version 3 or 2. table: a file of CSV, TSV or JSON lines, by the end of its name. memory: a knowledge graph as JSON lines. site: a folder of web pages with a search, for any web server." enum:"markdown,lore,lorebook,character,character-v2,table,memory,site"`
	Path   string `arg:"" help:"Folder or file to write to. A folder is created if it does not exist, and refused if it contains other files, unless it is a copy of the imported vault."`
	World  string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
	As     string `help:"Export the cards that this role sees: user, gm or admin." enum:"user,gm,admin" default:"user" placeholder:"ROLE"`
}

func (e exportCmd) Run(ctx context.Context, out io.Writer) error {
	role, _ := access.ParseRole(e.As) // the tag enum allows only roles
	return e.withStore(ctx, func(a *app.App) error {
		summary, err := a.Export(ctx, e.Format, e.World, e.Path, role, progress("exporting"))
		return printResult(out, err, "%v", summary)
	})
}
