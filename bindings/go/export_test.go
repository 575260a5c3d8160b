package aside

// FeedTheLongWay is Feed without the shortcut for plain text, for the tests to compare with.
func (s *Scanner) FeedTheLongWay(p []byte, yield func(Event) bool) (n int, err error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	_, err = s.run(feed, p, yield)
	return s.Consumed(), err
}
