// Package prompt is the registry of prompt templates: versioned texts with placeholders, from which
// every prompt for a model is rendered.
//
// Its invariant: a published version never changes. A template is identified by its id, version and
// hash. The hash covers the content for the model: it is SHA-256 over the canonical JSON (RFC 8785)
// of {id, version, template, variables}, with line ends made "\n". The package neither calls models
// nor uses their answers. Templates are not served over MCP.
//
// A template's file is JSON: {"metadata": {"id", "version", "name", "description", "tags"?},
// "template", "variables": [{"name", "description", "required", "defaultValue"?}], "examples"?}. A
// placeholder is [name].
package prompt
