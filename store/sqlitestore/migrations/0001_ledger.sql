-- +goose Up

-- Times are microseconds since 1970 of the process's clock.
-- held and sold are kept beside the rows they count, so that one row lock decides; Audit counts the rows.
create table events (
    id            text    not null,
    name          text    not null,
    capacity      integer not null,
    file_capacity integer not null,
    amount        integer not null,
    currency      text    not null,
    max_per_buyer integer not null,
    held          integer not null default 0,
    sold          integer not null default 0,
    epoch         integer not null default 0,
    created_at    integer not null,
    constraint events_pkey primary key (id),
    constraint events_never_oversold check (held + sold <= capacity),
    constraint events_held_not_negative check (held >= 0),
    constraint events_sold_not_negative check (sold >= 0),
    constraint events_capacity_not_negative check (capacity >= 0),
    constraint events_amount_not_negative check (amount >= 0),
    constraint events_limit_positive check (max_per_buyer > 0)
) strict;

-- units is held and sold together. The limit is the event's when the buyer last took some, so that a lower one does not
-- forbid giving back.
create table buyers (
    event     text    not null,
    buyer     text    not null,
    units     integer not null,
    max_units integer not null,
    constraint buyers_pkey primary key (event, buyer),
    constraint buyers_event_fkey foreign key (event) references events (id),
    constraint buyers_within_limit check (units <= max_units),
    constraint buyers_units_not_negative check (units >= 0)
) strict;

create table holds (
    id         text    not null,
    event      text    not null,
    buyer      text    not null,
    quantity   integer not null,
    amount     integer not null,
    currency   text    not null,
    state      text    not null,
    reason     text    not null default '',
    created_at integer not null,
    expires_at integer not null,
    ended_at   integer,
    constraint holds_pkey primary key (id),
    constraint holds_event_fkey foreign key (event) references events (id),
    constraint holds_quantity_positive check (quantity > 0),
    constraint holds_amount_not_negative check (amount >= 0),
    constraint holds_state_known check (state in ('pending', 'active', 'paying', 'sold', 'refused', 'released', 'expired')),
    constraint holds_reason_when_refused check ((state = 'refused') = (reason <> ''))
) strict;
create index holds_by_event on holds (event);
create index holds_lapsing on holds (expires_at) where state = 'active';

create table attempts (
    id         text    not null,
    hold       text    not null,
    event      text    not null,
    buyer      text    not null,
    method     text    not null,
    intent     text,
    charge     text    not null default '',
    reason     text    not null default '',
    amount     integer not null,
    currency   text    not null,
    refunded   integer not null default 0,
    state      text    not null,
    created_at integer not null,
    touched_at integer not null,
    constraint attempts_pkey primary key (id),
    constraint attempts_hold_fkey foreign key (hold) references holds (id),
    constraint attempts_intent_once unique (intent),
    constraint attempts_refund_within_amount check (refunded between 0 and amount),
    constraint attempts_state_known check (state in ('open', 'paid', 'declined', 'canceled', 'refund_due', 'refunded'))
) strict;
create unique index attempts_one_open on attempts (hold) where state = 'open';
create index attempts_by_event on attempts (event);
create index attempts_unsettled on attempts (touched_at) where state in ('open', 'refund_due');

create table orders (
    id         text    not null,
    hold       text    not null,
    event      text    not null,
    buyer      text    not null,
    quantity   integer not null,
    amount     integer not null,
    currency   text    not null,
    attempt    text    not null,
    charge     text    not null,
    refunded   integer not null default 0,
    created_at integer not null,
    constraint orders_pkey primary key (id),
    constraint orders_one_per_hold unique (hold),
    constraint orders_one_per_attempt unique (attempt),
    constraint orders_hold_fkey foreign key (hold) references holds (id),
    constraint orders_attempt_fkey foreign key (attempt) references attempts (id),
    constraint orders_quantity_positive check (quantity > 0),
    constraint orders_refund_within_amount check (refunded between 0 and amount)
) strict;
create index orders_by_event on orders (event);

create table idempotency_keys (
    buyer         text    not null,
    route         text    not null,
    key           text    not null,
    fingerprint   text    not null,
    fence         integer not null,
    claimed_until integer not null,
    status        integer,
    headers       text,
    body          blob,
    created_at    integer not null,
    constraint idempotency_keys_pkey primary key (buyer, route, key),
    constraint idempotency_keys_answer_whole check ((status is null) = (body is null) and (status is null) = (headers is null))
) strict;
create index idempotency_keys_by_age on idempotency_keys (created_at);

create table webhooks (
    provider    text    not null,
    id          text    not null,
    type        text    not null,
    intent      text    not null,
    payload     blob       not null,
    received_at integer not null,
    constraint webhooks_pkey primary key (provider, id)
) strict;

-- +goose Down
drop table webhooks;
drop table idempotency_keys;
drop table orders;
drop table attempts;
drop table holds;
drop table buyers;
drop table events;
