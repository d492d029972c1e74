// Package apptest opens and serves the product for tests, gives them its sample data, and calls it.
package apptest
