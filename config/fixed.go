package config

import "reflect"

// restartMend is what to do about a key that a running foyer cannot change.
const restartMend = "restart to change it; until then write what it was"

// fixed notes every key that differs from the configuration a process runs by, and cannot change while it runs.
func (v *validator) fixed(running *Config) {
	if v.torn {
		return // what seems to be missing may be among the lines left out
	}
	v.fixedSection("", reflect.ValueOf(*running), reflect.ValueOf(*v.cfg), false)
	before, now := running.Server.TLS.Cert != "", v.cfg.Server.TLS.Cert != ""
	if before != now {
		v.fail("server.tls", "cannot be turned on or off while foyer runs", "restart to change it; another certificate can be named at any time")
	}
}

// fixedSection compares the fields of a section: all of them where the whole section is fixed.
func (v *validator) fixedSection(section string, running, next reflect.Value, whole bool) {
	for i := range next.NumField() {
		field := next.Type().Field(i)
		key, fixed := join(section, field.Tag.Get("yaml")), whole || field.Tag.Get("change") == "restart"
		was, is := running.Field(i), next.Field(i)
		_, leaf := kinds[field.Type]
		switch {
		case leaf:
			if fixed && !reflect.DeepEqual(was.Interface(), is.Interface()) {
				v.fail(key, "cannot change while foyer runs", restartMend)
			}
		case field.Type.Kind() == reflect.Struct:
			v.fixedSection(key, was, is, fixed)
		case field.Type.Kind() == reflect.Pointer && was.IsNil() != is.IsNil():
			v.fail(key, "cannot be added or removed while foyer runs", "restart to change it")
		case field.Type.Kind() == reflect.Pointer && !is.IsNil():
			v.fixedSection(key, was.Elem(), is.Elem(), fixed)
		}
	}
}
