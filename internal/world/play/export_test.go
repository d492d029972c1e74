package play

// ProposedAct is the payload of propose-action.
type ProposedAct = proposedAct

// MergeAttrs merges the attributes of links.
var MergeAttrs = mergeAttrs
