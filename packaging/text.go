package main

import (
	"slices"
	"strings"
)

const (
	summary     = "One canon for a fictional world, and one gate to it"
	description = "Keeps a world's wiki, people, places, lore, history and running games in one store, and gives every " +
		"reader, person or AI agent, exactly what its role may see."
)

// domainOf turns a reverse domain name such as org.example into example.org.
func domainOf(namespace string) string {
	parts := strings.Split(namespace, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".")
}
