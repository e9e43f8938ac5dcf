package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"foyer/origin"
)

// KeepWebhook implements [origin.Ledger]. A second delivery at the same time waits for the first on the primary key.
func (s *Store) KeepWebhook(ctx context.Context, hook origin.Webhook, settle *origin.Settlement) (bool, origin.Settled, error) {
	const keep = `insert into webhooks (provider, id, type, intent, payload, received_at)
		values ($1, $2, $3, $4, $5, clock_timestamp()) on conflict do nothing`
	var (
		fresh   bool
		settled origin.Settled
	)
	payload := hook.Payload
	if payload == nil {
		payload = []byte{}
	}
	err := s.inTx(ctx, "keep webhook", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, keep, hook.Provider, hook.ID, hook.Type, hook.Intent, payload)
		if err != nil {
			return err
		}
		fresh = tag.RowsAffected() == 1
		if !fresh || settle == nil {
			return nil
		}
		settled, err = settleIn(ctx, tx, *settle)
		return err
	})
	if err != nil {
		return false, origin.Settled{}, err
	}
	return fresh, settled, nil
}
