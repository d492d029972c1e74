// Package exchangetest helps to test importers and exporters: a Scene is a world to import into,
// read through the eyes of any role.
package exchangetest
