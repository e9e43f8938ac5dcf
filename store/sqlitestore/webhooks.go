package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"foyer/origin"
)

// KeepWebhook implements [origin.Ledger].
func (s *Store) KeepWebhook(ctx context.Context, hook origin.Webhook, settle *origin.Settlement) (bool, origin.Settled, error) {
	const keep = `insert into webhooks (provider, id, type, intent, payload, received_at)
		values (?1, ?2, ?3, ?4, ?5, ?6) on conflict do nothing`
	var (
		fresh   bool
		settled origin.Settled
	)
	err := s.write(ctx, "keep webhook", func(tx *sql.Tx, now time.Time) error {
		payload := append([]byte{}, hook.Payload...)
		made, err := changes(tx.ExecContext(ctx, keep, hook.Provider, hook.ID, hook.Type, hook.Intent, payload, now.UnixMicro()))
		fresh = made == 1
		if err != nil || !fresh || settle == nil {
			return err
		}
		settled, err = settleIn(ctx, tx, now, *settle)
		return err
	})
	if err != nil {
		return false, origin.Settled{}, err
	}
	return fresh, settled, nil
}
