import { ASCII, ascii, ASSET, ID, ID_OR_NULL, TABLE, TIME, TIME_OR_NULL } from './types.js';

export const LEDGER = [
  `CREATE TABLE balances (
    account_id ${ID}, asset ${ASSET} NOT NULL, available BIGINT NOT NULL, held BIGINT NOT NULL,
    overdraft TINYINT(1) NOT NULL,
    PRIMARY KEY (account_id, asset),
    CONSTRAINT balances_available CHECK (overdraft = 1 or available >= 0),
    CONSTRAINT balances_held CHECK (held >= 0)) ${TABLE}`,
  `CREATE TABLE entries (
    account_id ${ID}, seq BIGINT NOT NULL, id ${ID}, transaction_id ${ID}, asset ${ASSET} NOT NULL,
    kind ENUM('transfer_in', 'transfer_out', 'bonus_in', 'bonus_out', 'payin_in', 'payout_out', 'fee_out', 'adjustment_in', 'adjustment_out', 'system_in', 'system_out') NOT NULL,
    raw BIGINT NOT NULL, total_after BIGINT NOT NULL, counterparty_account_id ${ID_OR_NULL},
    created_at ${TIME},
    PRIMARY KEY (account_id, seq), KEY asset_kind (account_id, asset, kind, seq),
    CONSTRAINT entries_nonzero CHECK (raw <> 0)) ${TABLE}`,
  `CREATE TABLE holds (
    resource_id ${ID},
    resource_type ENUM('transfer', 'bonus', 'payout', 'payin', 'adjustment', 'bonus_batch') NOT NULL,
    account_id ${ID}, asset ${ASSET} NOT NULL, raw BIGINT NOT NULL, remaining BIGINT NOT NULL,
    created_at ${TIME}, expires_at ${TIME_OR_NULL},
    PRIMARY KEY (resource_id), KEY account (account_id, asset, remaining),
    KEY expiring (resource_type, expires_at),
    CONSTRAINT holds_remaining CHECK (remaining >= 0 and remaining <= raw)) ${TABLE}`,
  `CREATE TABLE idempotency_keys (
    tenant_id ${ID}, idempotency_key ${ascii(100)} NOT NULL, fingerprint VARBINARY(32) NOT NULL,
    fingerprint_key_id ${ascii(32)} NOT NULL,
    resource_type ENUM('transfer', 'bonus', 'payout', 'payin', 'adjustment', 'bonus_batch', 'webhook_endpoint', 'statement') NOT NULL,
    resource_id ${ID_OR_NULL}, refusal TEXT NULL, created_at ${TIME}, commit_id BINARY(8) NULL,
    PRIMARY KEY (tenant_id, idempotency_key),
    CONSTRAINT idempotency_keys_result CHECK (resource_id is null <> (refusal is null))) ${TABLE}`,
  `CREATE TABLE ledger_transactions (
    id ${ID}, tenant_id ${ID},
    related_type ENUM('transfer', 'bonus', 'payout', 'payin', 'adjustment', 'bonus_batch') NOT NULL,
    related_id ${ID}, description VARCHAR(140) NULL, created_at ${TIME},
    PRIMARY KEY (id)) ${TABLE}`,
  `CREATE TABLE metadata_pairs (
    tenant_id ${ID}, resource_type ${ascii(16)} NOT NULL,
    value_hash BINARY(16) NOT NULL, name ${ascii(40)} NOT NULL, created_at ${TIME}, id ${ID},
    PRIMARY KEY (tenant_id, resource_type, value_hash, name, created_at, id)) ${TABLE}`,
  `CREATE TABLE month_totals (
    account_id ${ID}, asset ${ASSET} NOT NULL, month CHAR(7) ${ASCII} NOT NULL, used BIGINT NOT NULL,
    PRIMARY KEY (account_id, asset, month), CONSTRAINT month_totals_used CHECK (used >= 0)) ${TABLE}`,
  `CREATE TABLE event_counters (
    tenant_id ${ID}, last_sequence BIGINT NOT NULL, last_at ${TIME}, restores INT NOT NULL,
    PRIMARY KEY (tenant_id), KEY recent (last_at, last_sequence)) ${TABLE}`,
  `CREATE TABLE event_heads (
    tenant_id ${ID}, type ${ascii(40)} NOT NULL, last_sequence BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, type)) ${TABLE}`,
  `CREATE TABLE event_removals (
    tenant_id ${ID}, removed_through BIGINT NOT NULL, removed_until ${TIME},
    PRIMARY KEY (tenant_id)) ${TABLE}`,
  `CREATE TABLE event_retention (
    name ${ascii(20)} NOT NULL, days INT NULL,
    PRIMARY KEY (name), CONSTRAINT event_retention_days CHECK (days is null or days >= 30)) ${TABLE}`,
  `CREATE TABLE events (
    tenant_id ${ID}, sequence BIGINT NOT NULL, id ${ID}, type ${ascii(40)} NOT NULL, resource_id ${ID},
    body MEDIUMTEXT NOT NULL, created_at ${TIME}, traceparent CHAR(55) ${ASCII} NULL,
    PRIMARY KEY (tenant_id, sequence), UNIQUE KEY id (id), KEY type (tenant_id, type, sequence)) ${TABLE}`,
  `CREATE TABLE adjustments (
    id ${ID}, tenant_id ${ID}, account_id ${ID}, direction ENUM('in', 'out') NOT NULL,
    asset ${ASSET} NOT NULL, raw BIGINT NOT NULL, reference ${ascii(64)} NOT NULL,
    reason VARCHAR(140) NOT NULL, status ENUM('proposed', 'posted', 'rejected') NOT NULL,
    proposed_by VARCHAR(80) NOT NULL, proposed_by_id ${ID}, decided_by VARCHAR(80) NULL,
    decided_by_id ${ID_OR_NULL}, created_at ${TIME}, decided_at ${TIME_OR_NULL},
    PRIMARY KEY (id), UNIQUE KEY reference (tenant_id, reference), KEY account (account_id, created_at),
    CONSTRAINT adjustments_amount CHECK (raw > 0),
    CONSTRAINT adjustments_two_people CHECK (status <> 'posted' or decided_by is not null and decided_by <> proposed_by)) ${TABLE}`,
  `CREATE TABLE pay_ins (
    id ${ID}, tenant_id ${ID}, account_id ${ID}, asset ${ASSET} NOT NULL, raw BIGINT NOT NULL,
    reference ${ascii(64)} NOT NULL, description VARCHAR(140) NULL, recorded_by VARCHAR(80) NOT NULL,
    created_at ${TIME},
    PRIMARY KEY (id), UNIQUE KEY reference (tenant_id, reference), KEY account (account_id, created_at),
    CONSTRAINT pay_ins_amount CHECK (raw > 0)) ${TABLE}`,
  `CREATE TABLE transfers (
    id ${ID}, tenant_id ${ID}, source_account_id ${ID}, destination_account_id ${ID},
    asset ${ASSET} NOT NULL, raw BIGINT NOT NULL, fee_raw BIGINT NOT NULL, fee_account_id ${ID_OR_NULL},
    description VARCHAR(140) NULL, metadata TEXT NULL,
    status ENUM('pending_approval', 'completed', 'rejected', 'expired') NOT NULL, created_by ${ID},
    limit_month CHAR(7) ${ASCII} NOT NULL, created_at ${TIME}, approvals_required INT NULL,
    approvals_received INT NULL, approval_expires_at ${TIME_OR_NULL}, rejection_code ${ascii(40)} NULL,
    rejection_reason VARCHAR(300) NULL,
    PRIMARY KEY (id), KEY source (source_account_id, created_at, id),
    KEY status (tenant_id, status, created_at, id),
    CONSTRAINT transfers_amount CHECK (raw > 0 and fee_raw >= 0),
    CONSTRAINT transfers_ends CHECK (source_account_id <> destination_account_id),
    CONSTRAINT transfers_approval CHECK (status = 'completed' or approval_expires_at is not null),
    CONSTRAINT transfers_rejection CHECK (status = 'rejected' = (rejection_code is not null))) ${TABLE}`,
  `CREATE TABLE approval_policies (
    account_id ${ID}, asset ${ASSET} NOT NULL, threshold BIGINT NOT NULL, approvals INT NOT NULL,
    expires_in_s INT NOT NULL, refuses_batches TINYINT(1) NOT NULL, next_threshold BIGINT NULL,
    next_approvals INT NULL, next_expires_in_s INT NULL, next_refuses_batches TINYINT(1) NULL,
    effective_at ${TIME_OR_NULL}, requested_channel ENUM('api', 'ops', 'temporal', 'support') NULL,
    requested_by VARCHAR(120) NULL,
    PRIMARY KEY (account_id, asset), KEY effective_at (effective_at),
    CONSTRAINT approval_policies_ranges CHECK (threshold >= 0 and approvals between 1 and 3 and expires_in_s between 60 and 2592000),
    CONSTRAINT approval_policies_next CHECK (next_threshold is null = (next_approvals is null) and next_threshold is null = (next_expires_in_s is null) and (next_threshold is null or effective_at is not null)),
    CONSTRAINT approval_policies_request CHECK (effective_at is null = (requested_by is null) and effective_at is null = (requested_channel is null))) ${TABLE}`,
  `CREATE TABLE approvals (
    id ${ID}, resource_type ENUM('transfer', 'payout', 'bonus_batch') NOT NULL, resource_id ${ID},
    approver ${ascii(60)} NOT NULL, member_id ${ID_OR_NULL}, staff_id ${ID_OR_NULL},
    actor_claimed VARCHAR(120) NOT NULL, channel ENUM('api', 'ops', 'temporal', 'support') NOT NULL,
    created_at ${TIME},
    PRIMARY KEY (id), UNIQUE KEY approver (resource_id, approver)) ${TABLE}`,
  `CREATE TABLE outbox (
    id ${ID}, tenant_id ${ID},
    resource_type ENUM('transfer', 'payout', 'bonus_batch', 'webhook_endpoint') NOT NULL,
    resource_id ${ID}, created_at ${TIME}, due_at ${TIME}, attempts INT NOT NULL,
    last_error VARCHAR(300) NULL, dead_at ${TIME_OR_NULL}, traceparent CHAR(55) ${ASCII} NULL,
    PRIMARY KEY (id), KEY created (created_at), KEY due (due_at, id),
    KEY resource (resource_id)) ${TABLE}`,
  `CREATE TABLE audit_findings (
    id ${ID}, check_name ${ascii(60)} NOT NULL, subject VARCHAR(255) NOT NULL,
    message VARCHAR(2000) NOT NULL, first_found_at ${TIME}, last_found_at ${TIME},
    acknowledged_at ${TIME_OR_NULL}, acknowledged_by VARCHAR(140) NULL,
    PRIMARY KEY (id), KEY acknowledged (acknowledged_at, last_found_at),
    CONSTRAINT audit_findings_acknowledged CHECK (acknowledged_at is null = (acknowledged_by is null))) ${TABLE}`,
  `CREATE TABLE audit_passes (
    id ${ID}, began_at ${TIME}, ended_at ${TIME}, PRIMARY KEY (id), KEY ended (ended_at)) ${TABLE}`,
  `CREATE TABLE daily_totals (
    tenant_id ${ID}, asset ${ASSET} NOT NULL, day CHAR(10) ${ASCII} NOT NULL, moved BIGINT NOT NULL,
    moved_count INT NOT NULL, failed BIGINT NOT NULL, failed_count INT NOT NULL,
    pending BIGINT NOT NULL, pending_count INT NOT NULL,
    PRIMARY KEY (tenant_id, asset, day), KEY busiest (day, moved_count)) ${TABLE}`,
  `CREATE TABLE daily_totals_positions (
    name ${ascii(60)} NOT NULL, position BIGINT NOT NULL,
    PRIMARY KEY (name)) ${TABLE}`,
  `CREATE TABLE sweep_leases (
    name VARCHAR(100) NOT NULL, holder ${ID_OR_NULL}, worker VARCHAR(200) NULL, acquired_at ${TIME},
    lease_until ${TIME},
    PRIMARY KEY (name)) ${TABLE}`,
  `CREATE TABLE event_gaps (
    tenant_id ${ID}, after_sequence BIGINT NOT NULL, through_sequence BIGINT NOT NULL, restore_id ${ID},
    restored_to ${TIME}, announced_at ${TIME},
    PRIMARY KEY (tenant_id, after_sequence), UNIQUE KEY restore_tenant (restore_id, tenant_id),
    CONSTRAINT event_gaps_range CHECK (after_sequence < through_sequence)) ${TABLE}`,
  `CREATE TABLE restore_findings (
    restore_id ${ID},
    kind ENUM('unknown_here', 'approval_lost', 'amount', 'not_paid_there', 'goes_on') NOT NULL,
    rail VARCHAR(64) NOT NULL, payout_id ${ID}, here VARCHAR(40) NOT NULL, there VARCHAR(200) NOT NULL,
    found_at ${TIME},
    PRIMARY KEY (restore_id, kind, rail, payout_id)) ${TABLE}`,
  `CREATE TABLE restores (
    id ${ID}, noticed_by ENUM('operator', 'copy', 'migration', 'worker') NOT NULL,
    reason VARCHAR(140) NOT NULL, began_at ${TIME}, began_by VARCHAR(80) NULL,
    began_by_id ${ID_OR_NULL}, restored_to ${TIME_OR_NULL}, lost_until ${TIME_OR_NULL},
    skip BIGINT NULL, sequences_moved_at ${TIME_OR_NULL},
    workflows_rebuilt_at ${TIME_OR_NULL}, rails_queried_at ${TIME_OR_NULL},
    audited_at ${TIME_OR_NULL}, finished_at ${TIME_OR_NULL}, finished_by VARCHAR(80) NULL,
    finished_by_id ${ID_OR_NULL}, workflows_notified_at ${TIME_OR_NULL},
    PRIMARY KEY (id), KEY finished (finished_at), KEY notified (workflows_notified_at)) ${TABLE}`,
];
