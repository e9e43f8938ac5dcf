package proxy

import (
	"bytes"
	"errors"
	"strconv"
)

// errFraming: it is not certain where a request ends and the next begins.
var errFraming = errors.New("ambiguous framing of a request")

// maxFramingLine is how much of a line is kept: more than any line that says where a request ends can be.
const maxFramingLine = 256

// part is what the next bytes of a connection belong to.
type part int

const (
	partStart   part = iota // the request line
	partHead                // a header line
	partBody                // so many bytes of a body
	partChunk               // the line before a chunk
	partTrailer             // a line after the last chunk
)

// framing follows the requests of an HTTP/1 connection from one to the next. net/http takes two Content-Length headers
// for one if they say the same, and lets Transfer-Encoding win over Content-Length; what stands before us may have
// chosen otherwise. By the time a handler runs nothing of it is left to see, so it is looked for here.
//
// It is never more lenient than net/http: what it lets through, net/http frames in the same way or refuses.
type framing struct {
	next      part
	line      []byte // of an unfinished line, its beginning
	old       bool   // not HTTP/1.1, and so without encodings
	lengths   int    // Content-Length headers
	encodings int    // Transfer-Encoding headers
	left      uint64 // of a body or chunk, with the line break after a chunk
	chunked   bool
	authority string // of a target in absolute form, which must be the Host header's; net/http forgets the one for the other
}

// scan follows the bytes that were read. good is how many of them come before the line that makes a request ambiguous:
// passed on, they are an unfinished request, which net/http answers with 400 when the connection fails.
func (f *framing) scan(data []byte) (good int, err error) {
	for i := 0; i < len(data); {
		if f.next == partBody {
			n := min(f.left, uint64(len(data)-i))
			i, f.left = i+int(n), f.left-n // at most what data has
			if f.left == 0 {
				f.endBody()
			}
			continue
		}
		end := bytes.IndexByte(data[i:], '\n')
		if end < 0 {
			f.keep(data[i:])
			return len(data), nil
		}
		line := data[i : i+end]
		if len(f.line) > 0 {
			f.keep(line)
			line = f.line
		}
		err := f.take(line)
		f.line = f.line[:0]
		if err != nil {
			return i, err
		}
		i += end + 1
	}
	return len(data), nil
}

// keep adds to an unfinished line.
func (f *framing) keep(data []byte) {
	f.line = append(f.line, data[:min(len(data), maxFramingLine-len(f.line))]...)
}

// take takes one whole line, without its line feed.
func (f *framing) take(line []byte) error {
	ended := bytes.HasSuffix(line, []byte("\r"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	switch f.next {
	case partStart:
		*f = framing{next: partHead, line: f.line, old: !bytes.HasSuffix(line, []byte(" HTTP/1.1")), authority: authorityOf(line)}
		return nil
	case partHead:
		if len(line) == 0 {
			return f.endHead()
		}
		return f.header(line)
	case partChunk:
		if !ended || len(line) >= maxFramingLine-1 {
			return errFraming
		}
		return f.chunkLine(line)
	default:
		if len(line) == 0 {
			f.next = partStart
		}
		return nil
	}
}

// header takes one header line.
func (f *framing) header(line []byte) error {
	if line[0] == ' ' || line[0] == '\t' { // a line that goes on from the last is read in two ways
		return errFraming
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch value = bytes.Trim(value, " \t"); {
	case bytes.EqualFold(name, []byte("Content-Length")):
		length, err := strconv.ParseUint(string(value), 10, 63)
		if err != nil || len(line) >= maxFramingLine-1 {
			return errFraming
		}
		f.lengths++
		f.left = length
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		f.encodings++
		f.chunked = bytes.EqualFold(value, []byte("chunked"))
	case f.authority != "" && bytes.EqualFold(name, []byte("Host")) && !sameHost(f.authority, string(value)):
		return errFraming
	}
	return nil
}

// authorityOf is the authority of a request line's target in absolute form; empty for other forms.
func authorityOf(line []byte) string {
	_, target, _ := bytes.Cut(line, []byte(" "))
	_, rest, absolute := bytes.Cut(target, []byte("://"))
	if !absolute || bytes.HasPrefix(target, []byte("/")) {
		return ""
	}
	if end := bytes.IndexAny(rest, "/?# "); end >= 0 {
		rest = rest[:end]
	}
	return string(rest)
}

// sameHost reports whether two hosts are one: without regard to case, a dot at the end, or the port of either scheme.
func sameHost(a, b string) bool {
	for _, secure := range []bool{false, true} {
		one, errA := canonicalHost(a, secure)
		other, errB := canonicalHost(b, secure)
		if errA == nil && errB == nil && one == other {
			return true
		}
	}
	return false
}

// endHead decides where the body ends. An encoding that net/http does not know is left to it to refuse.
func (f *framing) endHead() error {
	switch {
	case f.lengths > 1, f.encodings > 1, f.lengths > 0 && f.encodings > 0, f.encodings > 0 && f.old:
		return errFraming
	case f.chunked:
		f.next = partChunk
	case f.left > 0:
		f.next = partBody
	default:
		f.next = partStart
	}
	return nil
}

// chunkLine takes the size of a chunk.
func (f *framing) chunkLine(line []byte) error {
	if i := bytes.IndexAny(line, "; \t"); i >= 0 {
		line = line[:i]
	}
	size, err := strconv.ParseUint(string(line), 16, 62)
	if err != nil {
		return errFraming
	}
	if size == 0 {
		f.next = partTrailer
		return nil
	}
	f.next, f.left = partBody, size+2
	return nil
}

// endBody finds out what follows a body or a chunk.
func (f *framing) endBody() {
	f.next = partStart
	if f.chunked {
		f.next = partChunk
	}
}
