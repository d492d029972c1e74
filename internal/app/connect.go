package app

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"loregate/internal/access"
)

// A client is an MCP client program, and the lines that connect it. The lines are shell commands.
type client struct {
	Name  string
	Lines []string
}

// clientsAt returns the lines that connect each client to a server.
func clientsAt(url, key string) []client {
	return []client{
		{"Claude Code", []string{`claude mcp add --transport http loregate ` + url + `/mcp --header "Authorization: Bearer ` +
			key + `"`}},
		{"Gemini CLI", []string{`gemini mcp add --transport http -H "Authorization: Bearer ` + key + `" loregate ` + url +
			`/mcp`}},
		{"Codex", []string{`codex mcp add loregate --url ` + url + `/mcp --bearer-token-env-var LOREGATE_KEY`,
			`export LOREGATE_KEY=` + key + `    # wherever codex is started from`}},
	}
}

// clientsHere returns the lines that make each client start the program itself.
func clientsHere(arguments string) []client {
	return []client{
		{"Claude Code", []string{`claude mcp add --scope user loregate -- loregate mcp` + arguments}},
		{"Gemini CLI", []string{`gemini mcp add --scope user loregate loregate mcp` + arguments}},
		{"Codex", []string{`codex mcp add loregate -- loregate mcp` + arguments}},
	}
}

func printClients(w io.Writer, list []client) {
	for _, c := range list {
		name := c.Name
		for _, line := range c.Lines {
			fmt.Fprintf(w, "  %-13s %s\n", name, line)
			name = ""
		}
	}
}

// PrintConnect prints how to connect a client with a new key.
func (c Config) PrintConnect(w io.Writer, key string) {
	url := c.URL(c.Addr)
	fmt.Fprintf(w, "\nThe key is shown only now. While `loregate serve` runs, connect a client with one of these:\n\n")
	printClients(w, clientsAt(url, key))
	if !c.keyAsBearer() {
		fmt.Fprintf(w, "\nThis server accepts tokens and not keys: set allow_key_as_bearer to yes, or get a token for "+
			"half an hour:\n\n")
		fmt.Fprintf(w, "  curl -s %s/api/mcp/auth -H 'Content-Type: application/json' -d "+
			"'{\"api_key\":\"%s\",\"role\":\"user\"}'\n", url, key)
	}
	fmt.Fprintln(w)
}

// PrintConnectHere prints how to connect a client on this machine to a new world.
func (c Config) PrintConnectHere(w io.Writer, world string) {
	arguments := " --data " + shellWord(absolutePath(c.Data))
	if c.Database != "" {
		arguments = "" // the address may hold a password, which must not be in a command line
	}
	arguments += " --world " + world + " --role " + access.RoleGM.String()
	fmt.Fprintf(w, "\nConnect a client on this machine with one of these, which need no key:\n\n")
	printClients(w, clientsHere(arguments))
	if c.Database != "" {
		fmt.Fprintf(w, "\nand set LOREGATE_DATABASE in the environment in which the client is started.\n")
	}
	fmt.Fprintf(w, "\nFor each client on another machine create a key, and run `loregate serve`:\n\n  loregate key create \"claude of ada\" --world %s --role gm\n\n", world)
}

func absolutePath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// shellWord quotes a text as one word of a shell.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
