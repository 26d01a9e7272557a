import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Webhook endpoints, what is on its way to them and what was tried; the head of each type of event; how long events stay.
 *
 * What waits for an endpoint is its cursor in the log: at most a hundred untried deliveries have rows, so a million
 * undelivered events cost nothing here. Rows that wait are found by `due` without meeting those that are over; attempts lie beside
 * their delivery, deliveries beside their endpoint, both in the order of time, so that the oldest can be removed by the
 * primary key.
 */
const ID = 'BINARY(16) NOT NULL';
const TIME = 'DATETIME(3) NOT NULL';
const TIME_OR_NULL = 'DATETIME(3) NULL';
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
const ascii = (length: number): string => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`;

const LOG = [
  `CREATE TABLE event_heads (
    tenant_id ${ID}, type ${ascii(40)} NOT NULL, last_sequence BIGINT NOT NULL, PRIMARY KEY (tenant_id, type)) ${OPTIONS}`,
  `INSERT INTO event_heads (tenant_id, type, last_sequence)
    SELECT tenant_id, type, MAX(sequence) FROM events GROUP BY tenant_id, type`,
  `CREATE TABLE event_retention (
    name ${ascii(20)} NOT NULL, days INT NULL, PRIMARY KEY (name),
    CONSTRAINT event_retention_days CHECK (days IS NULL OR days >= 30)) ${OPTIONS}`,
  `CREATE TABLE event_removals (
    tenant_id ${ID}, removed_through BIGINT NOT NULL, removed_until ${TIME}, PRIMARY KEY (tenant_id)) ${OPTIONS}`,
];

const WEBHOOKS = [
  `CREATE TABLE webhook_endpoints (
    id ${ID}, tenant_id ${ID}, url VARCHAR(2048) NOT NULL, status ENUM('enabled','disabled','deleted') NOT NULL,
    disabled_reason ${ascii(40)} NULL, disabled_at ${TIME_OR_NULL}, api_version ${ascii(10)} NOT NULL,
    secret VARBINARY(200) NOT NULL, secret_key_id ${ascii(32)} NOT NULL,
    previous_secret VARBINARY(200) NULL, previous_secret_key_id ${ascii(32)} NULL, previous_until ${TIME_OR_NULL},
    cursor_sequence BIGINT NOT NULL, recover_after BIGINT NULL, recover_until BIGINT NULL, recover_all TINYINT(1) NOT NULL,
    lost_from BIGINT NULL, lost_to BIGINT NULL, paused_at ${TIME_OR_NULL}, paused_by VARCHAR(120) NULL,
    fence BIGINT NOT NULL, lease_until ${TIME_OR_NULL}, next_due_at ${TIME_OR_NULL},
    failures_in_row INT NOT NULL, failing_since ${TIME_OR_NULL}, probes INT NOT NULL, probe_at ${TIME_OR_NULL},
    last_success_at ${TIME_OR_NULL}, created_by ${ID}, created_at ${TIME},
    PRIMARY KEY (id), KEY tenant (tenant_id, created_at, id), KEY due (status, next_due_at),
    KEY secret_key (secret_key_id), KEY previous_secret_key (previous_secret_key_id),
    CONSTRAINT webhook_endpoints_recover CHECK ((recover_after IS NULL) = (recover_until IS NULL)),
    CONSTRAINT webhook_endpoints_paused CHECK ((paused_at IS NULL) = (paused_by IS NULL))) ${OPTIONS}`,
  `CREATE TABLE webhook_subscriptions (
    endpoint_id ${ID}, type ${ascii(40)} NOT NULL, tenant_id ${ID}, from_sequence BIGINT NOT NULL,
    PRIMARY KEY (endpoint_id, type), KEY by_type (tenant_id, type)) ${OPTIONS}`,
  `CREATE TABLE webhook_deliveries (
    endpoint_id ${ID}, id ${ID}, event_id ${ID}, event_type ${ascii(40)} NOT NULL, sequence BIGINT NULL,
    cause ENUM('event','recover','redeliver','test') NOT NULL, round INT NOT NULL,
    state ENUM('pending','retrying','delivered','failed','ended') NOT NULL, steps INT NOT NULL,
    next_attempt_at ${TIME_OR_NULL}, created_at ${TIME}, finished_at ${TIME_OR_NULL},
    PRIMARY KEY (endpoint_id, id), UNIQUE KEY event (endpoint_id, event_id, cause, round),
    KEY due (endpoint_id, state, next_attempt_at, id),
    CONSTRAINT webhook_deliveries_due CHECK ((next_attempt_at IS NOT NULL) = (state IN ('pending','retrying'))),
    CONSTRAINT webhook_deliveries_over CHECK ((finished_at IS NULL) = (state IN ('pending','retrying')))) ${OPTIONS}`,
  `CREATE TABLE webhook_attempts (
    endpoint_id ${ID}, delivery_id ${ID}, id ${ID}, at ${TIME}, status SMALLINT NULL, failure ${ascii(32)} NULL,
    message VARCHAR(255) NULL, duration_ms INT NOT NULL, response VARCHAR(1024) NULL,
    PRIMARY KEY (endpoint_id, delivery_id, id)) ${OPTIONS}`,
];

/** A value at the end of the list: the server changes its description of the table alone. */
const KEYS = `ALTER TABLE idempotency_keys MODIFY resource_type
  ENUM('transfer','bonus','payout','payin','adjustment','bonus_batch','webhook_endpoint') NOT NULL`;

export class Webhooks1763710000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...LOG, ...WEBHOOKS, KEYS]) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
