package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completing is the first word of the command line with which a shell asks what may stand
// where the cursor is: all words up to there follow.
const completing = "__complete"

type completionCmd struct {
	Shell string `arg:"" help:"bash, zsh or fish." enum:"bash,zsh,fish"`
}

// shells are the lines that make each shell ask.
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

// complete prints what may stand in place of the last word, one a line; nothing where that
// is for the shell to know, as files are.
func complete(out io.Writer, root *kong.Node, words []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	done, last := words[:len(words)-1], words[len(words)-1]
	for _, candidate := range candidates(root, done, last) {
		if strings.HasPrefix(candidate, last) {
			fmt.Fprintln(out, candidate)
		}
	}
}

func candidates(at *kong.Node, done []string, last string) []string {
	arguments := 0
	var open *kong.Flag // waits for its value
	for _, word := range done {
		switch {
		case open != nil:
			open = nil
		case strings.HasPrefix(word, "-"):
			open = valued(at, word)
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
		return enumerated(open.Value)
	case strings.HasPrefix(last, "-"):
		return flagsOf(at)
	case arguments < len(at.Positional):
		return enumerated(at.Positional[arguments])
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

// valued is the flag that a word names, where its value comes in the next.
func valued(at *kong.Node, word string) *kong.Flag {
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

// enumerated are the words that a value is one of.
func enumerated(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(v.EnumSlice(), func(s string) bool { return s == "" })
}
