package admission

import (
	"encoding/binary"
	"math/bits"
)

// rankBlock is how many bytes of a bitmap one prefix sum covers: a look-up counts at most so many.
const rankBlock = 64

// Rank answers how many tickets of a set lie below another, in constant time. Its set must not change.
type Rank struct {
	set    Bitmap
	prefix []uint32 // prefix[i]: how many lie in the blocks before i; the last element is the size of the set
}

// NewRank takes the prefix sums of a set: one pass over its bits, and half a percent of its memory.
func NewRank(set Bitmap) Rank {
	blocks := (len(set.Bits) + rankBlock - 1) / rankBlock
	r := Rank{set: set, prefix: make([]uint32, blocks+1)}
	total := uint32(0)
	for i := range blocks {
		r.prefix[i] = total
		block := set.Bits[i*rankBlock : min((i+1)*rankBlock, len(set.Bits))]
		if len(block) == rankBlock {
			total += popcountBlock((*[rankBlock]byte)(block))
		} else {
			total += uint32(popcount(block))
		}
	}
	r.prefix[blocks] = total
	return r
}

// Len is the size of the set.
func (r Rank) Len() int {
	if len(r.prefix) == 0 {
		return 0
	}
	return int(r.prefix[len(r.prefix)-1])
}

// Below is the number of tickets in the set that are lower than t.
func (r Rank) Below(t Ticket) int {
	if t <= r.set.Base || len(r.prefix) == 0 {
		return 0
	}
	i := uint64(t - r.set.Base)
	if i/8 >= uint64(len(r.set.Bits)) {
		return r.Len()
	}
	block := i / 8 / rankBlock
	rest := Bitmap{Bits: r.set.Bits[block*rankBlock:]}
	return int(r.prefix[block]) + rest.CountBelow(Ticket(i-block*rankBlock*8))
}

// popcountBlock counts the bits of one block.
func popcountBlock(block *[rankBlock]byte) (n uint32) {
	for i := 0; i < rankBlock; i += 8 {
		n += uint32(bits.OnesCount64(binary.BigEndian.Uint64(block[i:])))
	}
	return n
}
