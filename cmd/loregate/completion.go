package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"loregate/internal/app"
)

// completeCommand is the first argument with which a shell asks for completions. The words of the
// command line up to the cursor follow it.
const completeCommand = "__complete"

type completionCmd struct {
	Shell string `arg:"" help:"bash, zsh or fish." enum:"bash,zsh,fish"`
}

// shells maps each shell to the script that calls completeCommand.
var shells = map[string]string{
	"bash": `# In ~/.bashrc: source <(loregate completion bash)
_loregate() {
	local IFS=$'\n'
	COMPREPLY=($(loregate __complete "${COMP_WORDS[@]:1:COMP_CWORD}"))
}
complete -o default -F _loregate loregate
`,
	"zsh": `# In ~/.zshrc, after compinit: source <(loregate completion zsh)
_loregate() {
	local found=("${(@f)$(loregate __complete "${(@)words[2,CURRENT]}")}")
	found=(${found:#})
	((${#found})) && compadd -a found || _files
}
compdef _loregate loregate
`,
	"fish": `# loregate completion fish > ~/.config/fish/completions/loregate.fish
complete -c loregate -a '(loregate __complete (commandline -opc)[2..] (commandline -ct))'
`,
}

func (c completionCmd) Run(out io.Writer) error {
	_, err := io.WriteString(out, shells[c.Shell])
	return err
}

// printCompletions prints the completions of the last word, one a line. It prints nothing where the
// shell completes by itself, such as file names.
func printCompletions(out io.Writer, root *kong.Node, words []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	done, last := words[:len(words)-1], words[len(words)-1]
	for _, candidate := range completionCandidates(root, done, last) {
		if strings.HasPrefix(candidate, last) {
			fmt.Fprintln(out, candidate)
		}
	}
}

func completionCandidates(at *kong.Node, done []string, last string) []string {
	arguments := 0
	var open *kong.Flag // the flag whose value comes next
	for _, word := range done {
		switch {
		case open != nil:
			open = nil
		case strings.HasPrefix(word, "-"):
			open = valueFlag(at, word)
		default:
			if next := commandNamed(at, word); next != nil {
				at, arguments = next, 0
				continue
			}
			arguments++
		}
	}
	switch {
	case open != nil:
		return enumWords(open.Value)
	case strings.HasPrefix(last, "-"):
		return flagsOf(at)
	case arguments < len(at.Positional):
		return enumWords(at.Positional[arguments])
	}
	var names []string
	for _, c := range at.Children {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

func commandNamed(at *kong.Node, name string) *kong.Node {
	if i := slices.IndexFunc(at.Children, func(c *kong.Node) bool { return c.Name == name }); i >= 0 {
		return at.Children[i]
	}
	return nil
}

// valueFlag returns the flag that a word names if its value is the next word, else nil.
func valueFlag(at *kong.Node, word string) *kong.Flag {
	for _, group := range at.AllFlags(true) {
		for _, f := range group {
			if !f.IsBool() && (word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short)) {
				return f
			}
		}
	}
	return nil
}

func flagsOf(at *kong.Node) []string {
	var names []string
	for _, group := range at.AllFlags(true) {
		for _, f := range group {
			names = append(names, "--"+f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// enumWords returns the possible words of a value; none if any word is allowed.
func enumWords(v *kong.Value) []string {
	if v.Tag.Get("complete") == "formats" {
		return app.FormatNames()
	}
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(v.EnumSlice(), func(s string) bool { return s == "" })
}
