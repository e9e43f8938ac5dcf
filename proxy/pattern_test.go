package proxy

import "testing"

func TestPattern_Matches(t *testing.T) {
	cases := map[string]struct{ yes, no []string }{
		"/sale":         {[]string{"/sale", "/sale/"}, []string{"/SALE", "/sale/x", "/sales", "/"}},
		"/sale/":        {[]string{"/sale", "/sale/"}, []string{"/sale/x"}},
		"/sale/**":      {[]string{"/sale", "/sale/", "/sale/x", "/sale/x/y"}, []string{"/sales", "/x/sale", "/"}},
		"/**":           {[]string{"/", "/x", "/x/y/"}, nil},
		"/":             {[]string{"/"}, []string{"/x"}},
		"/a/*":          {[]string{"/a/b", "/a/b/", "/a/"}, []string{"/a", "/a/b/c", "/b/a"}},
		"/a/*/c":        {[]string{"/a/b/c", "/a/b/c/"}, []string{"/a/c", "/a/b/b/c"}},
		"/a/**/c":       {[]string{"/a/c", "/a/b/c", "/a/b/b/c"}, []string{"/a/b", "/c", "/a/bc"}},
		"/a/*/**":       {[]string{"/a/b", "/a/b/c"}, []string{"/a", "/b/a"}},
		"**.css":        {[]string{"/x.css", "/a/b.css"}, []string{"/x.cssx", "/xcss"}},
		"/img/*.png":    {[]string{"/img/a.png", "/img/a.png/"}, []string{"/img/a/b.png", "/img/apng"}},
		"/api/**/pay":   {[]string{"/api/pay", "/api/holds/1/pay"}, []string{"/api/pays"}},
		"/files/(a)+.x": {[]string{"/files/(a)+.x"}, []string{"/files/a.x", "/files/(a)+-x"}},
	}
	for text, c := range cases {
		p, err := NewPattern(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range c.yes {
			if !p.Matches(path) {
				t.Errorf("%s does not match %s", text, path)
			}
		}
		for _, path := range c.no {
			if p.Matches(path) {
				t.Errorf("%s matches %s", text, path)
			}
		}
	}
	if _, err := NewPattern("sale"); err == nil {
		t.Error("a pattern without a slash was taken")
	}
}

func TestTable_FirstMatchCountsAndDefaultIsLast(t *testing.T) {
	s := newStand(t, func(s *Settings) {
		one := s.Gates[0]
		gate := func(name string, m Match) Gate {
			g := one
			g.Name, g.Match = name, m
			return g
		}
		s.Gates = []Gate{
			gate("default", Match{}),
			gate("hosted", Match{Hosts: []string{"*.shop.example", "shop.example"}, Paths: []string{"/sale/**"}}),
			gate("sale", Match{Paths: []string{"/sale/**"}}),
			gate("late", Match{Paths: []string{"/sale/late"}}),
		}
	})
	for target, want := range map[[2]string]string{
		{"shop.example", "/sale/x"}: "hosted", {"a.b.shop.example", "/sale"}: "hosted", {"xshop.example", "/sale"}: "sale",
		{"other", "/sale/late"}: "sale", {"other", "/sales"}: "default",
	} {
		path, err := canonicalPath(target[1])
		if err != nil {
			t.Fatal(err)
		}
		if got := s.edge.table.Load().match(Host{Name: target[0]}, path); got.Name != want {
			t.Errorf("%v is gate %s, want %s", target, got.Name, want)
		}
	}
}
