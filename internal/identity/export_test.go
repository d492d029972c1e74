package identity

// Remembered returns the number of credentials that a Service has cached.
func Remembered(s *Service) int {
	s.cache.mu.RLock()
	defer s.cache.mu.RUnlock()
	return len(s.cache.known)
}
