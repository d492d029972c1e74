// Package mapgen imports the maps of generators: worlds of Azgaar's Fantasy Map Generator, and towns and
// dwellings of Watabou's.
//
// Its invariant: exits follow the roads of the map. A map without roads gives places without exits, and
// the summary says so. The formats have no secrets, so cards have the level of the import.
package mapgen
