// Package words defines the text search: how a text is split into tokens, and which tokens each
// term of a query fits. Stores search with indexes of their own, according to these rules.
//
// Its invariant: it implements the definition of canon.SearchQuery, and depends on no store.
package words
