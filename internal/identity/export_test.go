package identity

// Remembered returns the number of credentials that a Service has cached.
func Remembered(s *Service) int {
	s.cache.mu.RLock()
	defer s.cache.mu.RUnlock()
	return len(s.cache.known)
}

// CachedDocuments returns the number of documents of clients that a Service has cached.
func CachedDocuments(s *Service) int {
	s.documents.mu.Lock()
	defer s.documents.mu.Unlock()
	return len(s.documents.known)
}
