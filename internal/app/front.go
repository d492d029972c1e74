package app

import (
	"io"
	"net/http"

	"loregate/internal/access"
	"loregate/internal/httpd"
)

// frontPage is what a person finds who opens the server's address in a browser. It is the
// same for all and tells nothing of any world; it has no style, which the policy of all
// answers forbids.
func frontPage() httpd.Route {
	return httpd.Route{Pattern: "GET /", Public: true, Serve: func(w http.ResponseWriter, _ *http.Request, _ access.Caller, _ map[string]string) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, front) // who is gone needs no page
	}}
}

const front = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Loregate</title>
</head>
<body>
<main>
<h1>Loregate</h1>
<p>One canon for a fictional world, and one gate to it. This address is for programs, which need a key; whoever runs the server makes keys.</p>
<ul>
<li>MCP clients (Claude Code, Gemini CLI, Codex and others): <code>/mcp</code></li>
<li>REST: <a href="/api/openapi.json"><code>/api/openapi.json</code></a> lists every call</li>
<li>Is it up: <a href="/readyz"><code>/readyz</code></a></li>
</ul>
<p>To play a game of Alignment, open the link that you were sent. To decide on proposals, see <code>loregate proposals --help</code>, or <code>/api/proposals</code>.</p>
</main>
</body>
</html>
`
