package main

import log "github.com/sirupsen/logrus"

// warnings collects what Linkerd's packages warn of while they work on a case.
type warnings struct {
	messages []string
	paused   bool
}

// start forgets what was said of other cases.
func (it *warnings) start() { it.messages = nil }

// pause stops collecting until the function that it gives is called.
func (it *warnings) pause() func() {
	it.paused = true
	return func() { it.paused = false }
}

// Levels is part of log.Hook.
func (it *warnings) Levels() []log.Level { return []log.Level{log.WarnLevel, log.ErrorLevel} }

// Fire is part of log.Hook.
func (it *warnings) Fire(entry *log.Entry) error {
	if !it.paused {
		it.messages = append(it.messages, entry.Message)
	}
	return nil
}
