package markup

// Items returns the items of a Pointer, List or tags card.
func Items(content string) []string { return nil }

// SetItems returns content that holds the items.
func SetItems(items []string) string { return "" }

// AddItems adds and removes items.
func AddItems(content string, add, remove []string) string { return content }
