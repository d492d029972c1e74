// Package mediawiki imports dumps of MediaWiki and Fandom: XML files of pages.
//
// Its invariant: the newest revision of each page counts. Templates stay as text and are never carried
// out. Pages that are cut off or broken are named, and those before them come in.
package mediawiki
