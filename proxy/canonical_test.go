package proxy

import (
	"net/url"
	"strings"
	"testing"
)

func TestCanonicalPath_HasOneForm(t *testing.T) {
	cases := map[string]string{ // "" : refused
		"/": "/", "/sale": "/sale", "/sale/": "/sale/", "//sale": "/sale", "/sale//x": "/sale/x", "/./sale": "/sale",
		"/static/../sale": "/sale", "/static/%2e%2e/sale": "/sale", "/%2E/sale/.": "/sale/", "/..": "/", "/../../sale": "/sale",
		"/sale/..": "/", "/a/b/..": "/a/", "/%73ale": "/sale", "/SALE": "/SALE", "/a%7eb": "/a~b", "/a%20b": "/a%20b",
		"/%c3%bc": "/%C3%BC", "/a+b&c=d@e:f": "/a+b&c=d@e:f", "/a%2bb": "/a%2Bb", "/.well-known/x": "/.well-known/x",
		"/...": "/...", "/%28x%29": "/%28x%29",
		"": "", "*": "", "sale": "", "/x%2f..%2fsale": "", "/x%2Fsale": "", "/sale;x=1": "", "/sale%3bx": "", "/sale%00": "",
		"/static%5c..%5csale": "", `/static\..\sale`: "", "/%2573ale": "", "/sale%25": "", "/sale%3f": "", "/sale%23": "",
		"/sale%0d%0a": "", "/sale%7f": "", "/%ff": "", "/%c0%af": "", "/%c2%80": "", "/%zz": "", "/%4": "", "/sale#x": "", "/sale?x": "",
	}
	for escaped, want := range cases {
		got, err := canonicalPath(escaped)
		if (err != nil) != (want == "") || got.Escaped != want {
			t.Errorf("%q is %q, %v; want %q", escaped, got.Escaped, err, want)
		}
	}
}

// A signature over the path, as some storefronts ask for, holds over the bytes that were sent.
func TestCanonicalPath_IsSentAsItIs(t *testing.T) {
	for _, escaped := range []string{"/a", "/a:b@c!$&'()*,=", "/a%20b", "/a+b%2Bc", "/(a)%C3%A9", "/[a]"} {
		path, err := canonicalPath(escaped)
		if err != nil {
			t.Fatalf("%s: %v", escaped, err)
		}
		x, out := exchange{path: path}, url.URL{Scheme: "http", Host: "shop"}
		if x.canonical(&out); out.RequestURI() != escaped {
			t.Errorf("%s is sent as %s", escaped, out.RequestURI())
		}
	}
}

func TestCanonicalHost_HasOneForm(t *testing.T) {
	cases := []struct {
		host   string
		secure bool
		want   string
		fails  bool
	}{
		{"shop", false, "shop", false}, {"SHOP.:80", false, "shop", false}, {"shop:443", true, "shop", false},
		{"shop:80", true, "shop:80", false}, {"shop:8080", false, "shop:8080", false}, {"127.0.0.1:80", false, "127.0.0.1", false},
		{"[::1]:8080", false, "[::1]:8080", false}, {"[0:0::1]", false, "[::1]", false}, {"", false, "", false},
		{"my_shop", false, "my_shop", false},
		{"shop:", false, "", true}, {"shop:x", false, "", true}, {"shop..com", false, "", true}, {".shop", false, "", true},
		{"shop..", false, "", true}, {"a b", false, "", true}, {"shop/x", false, "", true}, {"shop%2f", false, "", true},
		{"user@shop", false, "", true}, {"[::1%25eth0]", false, "", true}, {"[1.2.3.4]", false, "", true}, {"::1", false, "", true},
		{"shöp", false, "", true}, {strings.Repeat("a", 254), false, "", true},
	}
	for _, c := range cases {
		got, err := canonicalHost(c.host, c.secure)
		if (err != nil) != c.fails || got.String() != c.want {
			t.Errorf("%q is %q, %v; want %q", c.host, got, err, c.want)
		}
	}
}

// What is sent decodes to what was matched, and canonicalising it again changes nothing.
func FuzzCanonicalPath(f *testing.F) {
	for _, seed := range []string{"/sale", "//a/../b%2e", "/%73ale;x", "/%c3%bc/", "/a%2bb@[x]", "/..%2f", `/\`, "/%E2%80%8B"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || u.Host != "" {
			return
		}
		path, err := canonicalPath(u.EscapedPath())
		if err != nil {
			return
		}
		again, err := canonicalPath(path.Escaped)
		if err != nil || again != path {
			t.Fatalf("%q: %+v becomes %+v, %v", target, path, again, err)
		}
		x, out := exchange{path: path}, url.URL{Scheme: "http", Host: "shop"}
		x.canonical(&out)
		if out.EscapedPath() != path.Escaped || out.Path != path.Decoded {
			t.Fatalf("%q: %q is sent as %q", target, path.Escaped, out.EscapedPath())
		}
		read, err := url.ParseRequestURI(out.RequestURI())
		if err != nil || read.Path != path.Decoded {
			t.Fatalf("%q: the upstream reads %v, %v", target, read, err)
		}
		for segment := range strings.SplitSeq(strings.TrimSuffix(path.Decoded[1:], "/"), "/") {
			if segment == "." || segment == ".." || segment == "" && path.Decoded != "/" {
				t.Fatalf("%q: segment %q in %q", target, segment, path.Decoded)
			}
		}
		if strings.ContainsAny(path.Decoded, "\x00\\%?#;\n\r") {
			t.Fatalf("%q: %q can be read in two ways", target, path.Decoded)
		}
	})
}

func FuzzCanonicalHost(f *testing.F) {
	for _, seed := range []string{"shop", "SHOP.:80", "[::1]:8080", "a..b", "x:99999", "[::ffff:1.2.3.4]"} {
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, hostport string, secure bool) {
		host, err := canonicalHost(hostport, secure)
		if err != nil {
			return
		}
		if again, err := canonicalHost(host.String(), secure); err != nil || again != host {
			t.Fatalf("%q: %+v becomes %+v, %v", hostport, host, again, err)
		}
		if strings.ContainsAny(host.String(), "/\\@?# \r\n\x00") || host.Name != strings.ToLower(host.Name) {
			t.Fatalf("%q: %q", hostport, host)
		}
	})
}
