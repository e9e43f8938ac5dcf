package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// outOfBounds says what is wrong with a value by the oneof, min and max of its tag.
func outOfBounds(dst reflect.Value, tag reflect.StructTag) *mismatch {
	if words := tag.Get("oneof"); words != "" {
		return notOneOf(written(dst), words)
	}
	if least := tag.Get("min"); least != "" && dst.Int() < bound(least, dst.Type()) {
		return &mismatch{fmt.Sprintf("must be at least %s", least), ""}
	}
	if most := tag.Get("max"); most != "" && dst.Int() > bound(most, dst.Type()) {
		return &mismatch{fmt.Sprintf("must be at most %s", most), ""}
	}
	return nil
}

// bound reads a min or max of a tag as a number of the field's type.
func bound(text string, t reflect.Type) int64 {
	switch value := reflect.New(t).Interface().(type) {
	case *time.Duration:
		*value, _ = time.ParseDuration(text) // tags are checked by a test
		return int64(*value)
	case *Size:
		assignSize(scalar{text: text}, value)
		return int64(*value)
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// notOneOf says so if a word is none of those allowed.
func notOneOf(word, words string) *mismatch {
	allowed := strings.Split(words, "|")
	for _, w := range allowed {
		if word == w {
			return nil
		}
	}
	if reason, known := refused[word]; known && strings.Contains(words, reason.unless) {
		return &mismatch{reason.message, reason.mend}
	}
	mend := ""
	if near := nearest(word, allowed); near != "" {
		mend = "did you mean " + near + "?"
	}
	return &mismatch{fmt.Sprintf("must be one of %s", list(words)), mend}
}

// refused are words that mean something, but not in a configuration: by the word, where its neighbour is allowed.
var refused = map[string]struct{ unless, message, mend string }{
	"naive": {"pessimistic", "naive oversells: it is for foyer bench alone, as the control", "write group_commit"},
}

// list writes the words of a tag for a message.
func list(words string) string {
	all := strings.Split(words, "|")
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

// unbuilt are the values whose feature is designed and not built yet, by key, with what to write until it is.
var unbuilt = map[string]map[string]string{
	"gates[].order": {"draw": "fifo"},
}

var indexPattern = regexp.MustCompile(`\[\d+\]`)

// notBuilt says so if a value asks for what is not built yet.
func notBuilt(key string, dst reflect.Value) *mismatch {
	values, ok := unbuilt[indexPattern.ReplaceAllString(key, "[]")]
	if !ok {
		return nil
	}
	word := dst.String()
	instead, ok := values[word]
	if !ok {
		return nil
	}
	return &mismatch{word + " is not built in this release", "write " + instead}
}
