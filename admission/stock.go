package admission

// SoldOut takes over what the shop says is left: with 0, everyone who waits learns that nothing is, at once on this
// replica and two ticks later on all others. An offer still lets its visitor in, since what was held may come back.
func (r *Room) SoldOut(left int) { r.heard.Store(new(left <= 0)) }

// soldOut reports whether the shop has said that nothing is left, by what it has said here since the view, or else by
// the view.
func (r *Room) soldOut(v *view) bool {
	if heard := r.heard.Load(); heard != nil {
		return *heard
	}
	return v != nil && v.snap.SoldOut
}
