package main

import (
	"errors"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"loregate/internal/agent"
	"loregate/internal/stem"
)

const overview = `One canon for each fictional world, and one gate that all access passes.

Begin with: loregate serve --sample

Results are written to standard output, everything else to standard error. The exit status is 0 if the command
succeeded, 1 if it failed, 2 if the command line is wrong, and 130 if the command was interrupted.`

// newParser returns the parser of the command line, which prints to out and errOut.
func newParser(out, errOut io.Writer) (*kong.Kong, error) {
	return kong.New(&cli{}, kong.Name("loregate"), kong.Description(overview), kong.ExplicitGroups(groups),
		kong.Vars{"agents": strings.Join(agent.Names(), ", "), "languages": strings.Join(stem.Languages(), ",")},
		kong.Writers(out, errOut), kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}))
}

// helpCmd is only declared for help: normalizeArgs turns it into the flag.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command, such as world or world member add."`
}

func (helpCmd) Run() error { return nil }

// normalizeArgs rewrites the spellings that people first try for help and version into the form
// that the parser accepts.
func normalizeArgs(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help" && len(args) == 2 && args[1] == "--help":
		return args
	case args[0] == "help":
		return append(args[1:len(args):len(args)], "--help")
	case len(args) == 1 && (args[0] == "--version" || args[0] == "-v"):
		return []string{"version"}
	}
	return args
}

// commandOf returns the command that a wrong command line selected, with the program's name.
func commandOf(err error) string {
	if p, ok := errors.AsType[*kong.ParseError](err); ok && p.Context != nil {
		if at := p.Context.Selected(); at != nil {
			return "loregate " + at.Path()
		}
	}
	return "loregate"
}
