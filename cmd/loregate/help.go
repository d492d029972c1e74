package main

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const overview = `One canon for each fictional world, and one gate that all access passes.

Begin with: loregate serve --sample

Results are written to standard output, everything else to standard error. The exit status is 0 if the command
succeeded, 1 if it failed, 2 if the command line is wrong, and 130 if the command was interrupted.`

// groups are the headings under which help lists the commands.
var groups = []*cobra.Group{
	{ID: "serve", Title: "Serve:"},
	{ID: "worlds", Title: "Worlds and their content:"},
	{ID: "callers", Title: "Keys and tokens:"},
	{ID: "operations", Title: "Any operation:"},
	{ID: "upkeep", Title: "Back up, verify and move a store:"},
	{ID: "self", Title: "The program:"},
}

// printHelp prints the use of a command, its arguments, subcommands and flags.
func (p *parameters) printHelp(cmd *cobra.Command, _ []string) {
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
		p.line.err = refuseWords(cmd, words)
		return
	}
	h := helpPage{width: terminalWidth()}
	fmt.Fprintf(&h, "Usage: %s\n", cmd.UseLine())
	for paragraph := range strings.SplitSeq(strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), "\n\n") {
		if !strings.HasPrefix(paragraph, "\t") { // a line to copy
			paragraph = wrapText(paragraph, h.width)
		}
		fmt.Fprintf(&h, "\n%s\n", paragraph)
	}
	var arguments []helpRow
	for _, v := range p.arguments {
		arguments = append(arguments, helpRow{v.usage(), v.helpText()})
	}
	h.addTable("Arguments:", arguments)
	for _, g := range cmd.Groups() {
		h.addTable(g.Title, commandRows(cmd, g.ID))
	}
	h.addTable("Commands:", commandRows(cmd, ""))
	h.addTable("Flags:", flagRows(cmd))
	if cmd.HasSubCommands() {
		fmt.Fprintf(&h, "\nRun %s <command> --help for the flags of a command.\n", cmd.CommandPath())
	}
	fmt.Fprint(cmd.OutOrStdout(), h.String())
}

func commandRows(cmd *cobra.Command, group string) (rows []helpRow) {
	for _, sub := range cmd.Commands() {
		if sub.GroupID == group && !sub.Hidden {
			rows = append(rows, helpRow{sub.Name(), sub.Short})
		}
	}
	return rows
}

func flagRows(cmd *cobra.Command) (rows []helpRow) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := "    --" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + f.Name
		}
		if f.NoOptDefVal == "" {
			name += " " + f.Value.Type()
		}
		if !f.Hidden {
			rows = append(rows, helpRow{name, f.Usage})
		}
	})
	return rows
}

// helpPage is the text of a help, in lines of at most width columns.
type helpPage struct {
	strings.Builder
	width int
}

type helpRow struct{ name, text string }

// addTable adds rows as two columns under a title.
func (h *helpPage) addTable(title string, rows []helpRow) {
	if len(rows) == 0 {
		return
	}
	left := 0
	for _, r := range rows {
		left = max(left, utf8.RuneCountInString(r.name))
	}
	fmt.Fprintf(h, "\n%s\n", title)
	indent := strings.Repeat(" ", left+4)
	for _, r := range rows {
		text := strings.ReplaceAll(wrapText(r.text, h.width-len(indent)), "\n", "\n"+indent)
		fmt.Fprintf(h, "  %-*s  %s\n", left, r.name, text)
	}
}
