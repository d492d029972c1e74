package identity

// Remembered is how many credentials a Service knows.
func Remembered(s *Service) int {
	s.cache.mu.RLock()
	defer s.cache.mu.RUnlock()
	return len(s.cache.known)
}
