package vector

// Update makes the vectors that are missing, as Follow does.
var Update = (*Keeper).update
