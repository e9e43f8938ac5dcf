package strategy_test

import (
	"fmt"
	"net"
	"net/url"
	"sync"
	"testing"

	"foyer/internal/services"
	"foyer/origin"
	"foyer/store/strategy"
)

// TestGroupCommit_ALostGroupThatArrivesAfterItsRepetitionMakesNothing: the network loses a connection but keeps what was
// sent over it. The group is given again and refused; then units come back, and then the first one arrives.
func TestGroupCommit_ALostGroupThatArrivesAfterItsRepetitionMakesNothing(t *testing.T) {
	address := services.Postgres(t)
	behind, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	network := newNetwork(t, behind.Host)
	behind.Host = network.address()
	query := behind.Query()
	query.Set("pool_max_conns", "1")
	behind.RawQuery = query.Encode()

	ledger := onPostgresAt(t, address)
	s := shelf(t, strategy.GroupCommit, onPostgresAt(t, behind.String()), strategy.Settings{})
	if _, err := ledger.PutEvent(t.Context(), origin.Event{ID: "e", Capacity: 2, Currency: "eur", MaxPerBuyer: 1}); err != nil {
		t.Fatal(err)
	}
	if reply, err := s.Strategy.Hold(t.Context(), ask("first")); err != nil || reply.Refusal != origin.NotRefused {
		t.Fatal(reply, err)
	}
	if reply, err := ledger.HoldConditional(t.Context(), ask("other")); err != nil || reply.Refusal != origin.NotRefused {
		t.Fatal(reply, err)
	}

	network.lose()
	if reply, err := s.Strategy.Hold(t.Context(), ask("lost")); err != nil || reply.Refusal != origin.SoldOut {
		t.Fatal(reply, err)
	}
	if _, freed, _, err := ledger.Release(t.Context(), "other", ask("other").Buyer); err != nil || !freed {
		t.Fatal(freed, err)
	}
	network.deliver()

	if hold, _, err := ledger.Hold(t.Context(), "lost"); err != nil || hold.State == origin.HoldActive {
		t.Errorf("its buyer was told that it is sold out, and has %+v (%v)", hold, err)
	}
	wantHeld(t, ledger, 1)
}

// TestGroupCommit_OthersGoOnWhileAConnectionIsSilent: what a group sends does not arrive, and nothing says so.
func TestGroupCommit_OthersGoOnWhileAConnectionIsSilent(t *testing.T) {
	address := services.Postgres(t)
	behind, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	network := newNetwork(t, behind.Host)
	behind.Host = network.address()
	ledger := onPostgresAt(t, address)
	s := shelf(t, strategy.GroupCommit, onPostgresAt(t, behind.String()), strategy.Settings{})
	if _, err := ledger.PutEvent(t.Context(), origin.Event{ID: "e", Capacity: 10, Currency: "eur", MaxPerBuyer: 1}); err != nil {
		t.Fatal(err)
	}
	if reply, err := s.Strategy.Hold(t.Context(), ask("before")); err != nil || reply.Refusal != origin.NotRefused {
		t.Fatal(reply, err)
	}

	held := network.hold()
	stuck := make(chan error, 1)
	go func() {
		reply, err := s.Strategy.Hold(t.Context(), ask("stuck"))
		if err == nil && reply.Refusal != origin.NotRefused {
			err = fmt.Errorf("refused: %s", reply.Refusal)
		}
		stuck <- err
	}()
	<-held
	for i := range 3 {
		if reply, err := s.Strategy.Hold(t.Context(), ask(fmt.Sprint("other", i))); err != nil || reply.Refusal != origin.NotRefused {
			t.Error(reply, err)
		}
	}
	select {
	case err := <-stuck:
		t.Errorf("the stuck one was answered before the others (%v)", err)
	default:
	}
	network.release()
	if err := <-stuck; err != nil {
		t.Error(err)
	}
	wantHeld(t, ledger, 5)
}

func wantHeld(t *testing.T, ledger origin.Ledger, held int64) {
	t.Helper()
	if stock, _, err := ledger.Event(t.Context(), "e"); err != nil || stock.Held != held {
		t.Errorf("held %d, want %d (%v)", stock.Held, held, err)
	}
}

// network forwards connections to a server, and can lose them without losing what was sent.
type network struct {
	listener net.Listener

	mu       sync.Mutex
	losing   bool
	holding  chan struct{} // closed as soon as something is held, nil where nothing is to be
	released chan struct{}
	kept     []byte   // sent by the client of the lost connection
	server   net.Conn // of the lost connection
}

func newNetwork(t *testing.T, server string) *network {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{listener: listener}
	var forwards sync.WaitGroup
	forwards.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			conn, err := net.Dial("tcp", server)
			if err != nil {
				t.Error(err)
				return
			}
			forwards.Go(func() { n.send(client, conn) })
			forwards.Go(func() { receive(client, conn) })
		}
	})
	t.Cleanup(forwards.Wait) // after the ledger has closed its connections
	t.Cleanup(func() { listener.Close() })
	return n
}

func (n *network) address() string { return n.listener.Addr().String() }

// lose loses the connection over which something is sent next.
func (n *network) lose() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.losing = true
}

// hold keeps what is sent next, and its connection open, until it is released. The channel says when something is held.
func (n *network) hold() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.holding, n.released = make(chan struct{}), make(chan struct{})
	return n.holding
}

func (n *network) release() { close(n.released) }

// deliver lets the server have what was sent over the lost connection, and waits until it has ended it.
func (n *network) deliver() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.server.Write(n.kept)
	n.server.(*net.TCPConn).CloseWrite()
	for buffer := make([]byte, 1024); ; {
		if _, err := n.server.Read(buffer); err != nil {
			return
		}
	}
}

// send forwards what a client sends, until the connection ends or is lost.
func (n *network) send(client, server net.Conn) {
	defer client.Close()
	for buffer := make([]byte, 64<<10); ; {
		size, err := client.Read(buffer)
		if err != nil {
			server.Close()
			return
		}
		if n.loses(server, buffer[:size]) {
			return
		}
		n.holds()
		server.Write(buffer[:size])
	}
}

func (n *network) loses(server net.Conn, sent []byte) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.losing {
		return false
	}
	n.losing, n.server, n.kept = false, server, sent
	return true
}

// holds waits until what is to be held is released.
func (n *network) holds() {
	n.mu.Lock()
	holding, released := n.holding, n.released
	n.holding = nil
	n.mu.Unlock()
	if holding != nil {
		close(holding)
		<-released
	}
}

// receive forwards what a server sends. A lost client does not get it.
func receive(client, server net.Conn) {
	for buffer := make([]byte, 64<<10); ; {
		size, err := server.Read(buffer)
		if err != nil {
			client.Close()
			return
		}
		if _, err := client.Write(buffer[:size]); err != nil {
			return
		}
	}
}
