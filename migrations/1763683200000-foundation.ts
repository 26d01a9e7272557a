import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tenants, accounts, members and tokens; the ledger; transfers, pay-ins and adjustments; the event log.
 *
 * Ids are 16 bytes, times DATETIME(3) in UTC, money BIGINT in the asset's smallest unit. There are no foreign keys on
 * what a posting writes: inserting a child locks its parent shared, and the counters' updates then deadlock. The auditor
 * checks the references instead.
 */
const ID = 'BINARY(16) NOT NULL';
const ID_OR_NULL = 'BINARY(16) NULL';
const TIME = 'DATETIME(3) NOT NULL';
const TIME_OR_NULL = 'DATETIME(3) NULL';
const MONEY = 'BIGINT NOT NULL';
const ASSET = "ENUM('COPM','DUSD') NOT NULL";
const RESOURCE = "ENUM('transfer','bonus','payout','payin','adjustment','bonus_batch') NOT NULL";
const ascii = (length: number): string => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`;
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

const PARTIES = [
  `CREATE TABLE tenants (
    id ${ID}, name VARCHAR(80) NOT NULL, network ${ascii(64)} NULL, time_zone ${ascii(64)} NOT NULL,
    fee_account_id ${ID_OR_NULL}, created_at ${TIME},
    PRIMARY KEY (id), UNIQUE KEY name (name), KEY network (network)) ${OPTIONS}`,
  `CREATE TABLE accounts (
    id ${ID}, tenant_id ${ID}, type ENUM('person','business','system') NOT NULL,
    system_role ENUM('pay_in','pay_out','adjustment') NULL, status ENUM('active','frozen','closed') NOT NULL,
    name VARCHAR(120) NOT NULL, alias ${ascii(32)} NULL, phone ${ascii(20)} NULL, verified_at ${TIME_OR_NULL},
    seq BIGINT NOT NULL, last_posted_at ${TIME}, created_at ${TIME},
    PRIMARY KEY (id), UNIQUE KEY alias (tenant_id, alias), UNIQUE KEY phone (tenant_id, phone),
    UNIQUE KEY system_role (tenant_id, system_role), KEY created (tenant_id, created_at, id), KEY by_phone (phone),
    CONSTRAINT accounts_system CHECK ((type = 'system') = (system_role IS NOT NULL))) ${OPTIONS}`,
  `CREATE TABLE fee_schedules (
    tenant_id ${ID}, operation ENUM('transfer','bonus','payout') NOT NULL, asset ${ASSET},
    flat_raw ${MONEY}, basis_points ${MONEY}, floor_raw ${MONEY}, cap_raw BIGINT NULL,
    PRIMARY KEY (tenant_id, operation, asset),
    CONSTRAINT fee_schedules_signs CHECK (flat_raw >= 0 AND basis_points >= 0 AND floor_raw >= 0 AND
      (cap_raw IS NULL OR cap_raw >= floor_raw))) ${OPTIONS}`,
  `CREATE TABLE members (
    id ${ID}, tenant_id ${ID}, name VARCHAR(80) NOT NULL, created_at ${TIME},
    PRIMARY KEY (id), UNIQUE KEY name (tenant_id, name)) ${OPTIONS}`,
  `CREATE TABLE member_roles (
    account_id ${ID}, member_id ${ID}, role ENUM('viewer','operator','approver','admin','owner') NOT NULL,
    PRIMARY KEY (account_id, member_id), KEY member (member_id, account_id)) ${OPTIONS}`,
  `CREATE TABLE tokens (
    key_id ${ascii(32)} NOT NULL, tenant_id ${ID}, member_id ${ID}, name VARCHAR(80) NOT NULL,
    secret_hash BINARY(32) NOT NULL, scopes ${ascii(100)} NOT NULL, cidrs ${ascii(1000)} NOT NULL,
    expires_at ${TIME_OR_NULL}, revoked_at ${TIME_OR_NULL}, created_at ${TIME},
    PRIMARY KEY (key_id), KEY member (tenant_id, member_id)) ${OPTIONS}`,
];

const LEDGER = [
  `CREATE TABLE ledger_transactions (
    id ${ID}, tenant_id ${ID}, related_type ${RESOURCE}, related_id ${ID}, description VARCHAR(140) NULL, created_at ${TIME},
    PRIMARY KEY (id), KEY related (related_id)) ${OPTIONS}`,
  `CREATE TABLE entries (
    account_id ${ID}, seq BIGINT NOT NULL, id ${ID}, transaction_id ${ID}, asset ${ASSET},
    kind ENUM('transfer_in','transfer_out','bonus_in','bonus_out','payin_in','payout_out','fee_out','adjustment_in',
      'adjustment_out','system_in','system_out') NOT NULL,
    raw ${MONEY}, total_after ${MONEY}, counterparty_account_id ${ID_OR_NULL}, created_at ${TIME},
    PRIMARY KEY (account_id, seq), KEY kind (account_id, kind, seq), KEY asset (account_id, asset, seq),
    KEY asset_kind (account_id, asset, kind, seq), KEY created (account_id, created_at, seq),
    KEY transaction (transaction_id), CONSTRAINT entries_nonzero CHECK (raw <> 0)) ${OPTIONS}`,
  `CREATE TABLE balances (
    account_id ${ID}, asset ${ASSET}, available ${MONEY}, held ${MONEY}, overdraft TINYINT(1) NOT NULL,
    PRIMARY KEY (account_id, asset), CONSTRAINT balances_available CHECK (overdraft = 1 OR available >= 0),
    CONSTRAINT balances_held CHECK (held >= 0)) ${OPTIONS}`,
  `CREATE TABLE holds (
    resource_id ${ID}, resource_type ${RESOURCE}, account_id ${ID}, asset ${ASSET}, raw ${MONEY}, remaining ${MONEY},
    created_at ${TIME},
    PRIMARY KEY (resource_id), KEY account (account_id, asset, remaining),
    CONSTRAINT holds_remaining CHECK (remaining >= 0 AND remaining <= raw)) ${OPTIONS}`,
  `CREATE TABLE month_totals (
    account_id ${ID}, asset ${ASSET}, month CHAR(7) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, used ${MONEY},
    PRIMARY KEY (account_id, asset, month), CONSTRAINT month_totals_used CHECK (used >= 0)) ${OPTIONS}`,
  `CREATE TABLE idempotency_keys (
    tenant_id ${ID}, idempotency_key ${ascii(100)} NOT NULL, fingerprint VARBINARY(32) NOT NULL, fingerprint_key_id ${ascii(32)} NOT NULL,
    resource_type ${RESOURCE}, resource_id ${ID_OR_NULL}, refusal TEXT NULL, created_at ${TIME},
    PRIMARY KEY (tenant_id, idempotency_key),
    CONSTRAINT idempotency_keys_result CHECK ((resource_id IS NULL) <> (refusal IS NULL))) ${OPTIONS}`,
];

const OPERATIONS = [
  `CREATE TABLE transfers (
    id ${ID}, tenant_id ${ID}, source_account_id ${ID}, destination_account_id ${ID}, asset ${ASSET}, raw ${MONEY},
    fee_raw ${MONEY}, fee_account_id ${ID_OR_NULL}, description VARCHAR(140) NULL,
    status ENUM('pending_approval','completed','rejected','expired') NOT NULL, created_by ${ID},
    limit_month CHAR(7) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, created_at ${TIME},
    PRIMARY KEY (id), KEY tenant (tenant_id, created_at, id), KEY status (tenant_id, status, created_at, id),
    KEY source (source_account_id, created_at, id),
    CONSTRAINT transfers_amount CHECK (raw > 0 AND fee_raw >= 0),
    CONSTRAINT transfers_ends CHECK (source_account_id <> destination_account_id)) ${OPTIONS}`,
  `CREATE TABLE pay_ins (
    id ${ID}, tenant_id ${ID}, account_id ${ID}, asset ${ASSET}, raw ${MONEY}, reference ${ascii(64)} NOT NULL,
    description VARCHAR(140) NULL, recorded_by VARCHAR(80) NOT NULL, created_at ${TIME},
    PRIMARY KEY (id), UNIQUE KEY reference (tenant_id, reference), KEY account (account_id, created_at),
    CONSTRAINT pay_ins_amount CHECK (raw > 0)) ${OPTIONS}`,
  `CREATE TABLE adjustments (
    id ${ID}, tenant_id ${ID}, account_id ${ID}, direction ENUM('in','out') NOT NULL, asset ${ASSET}, raw ${MONEY},
    reference ${ascii(64)} NOT NULL, reason VARCHAR(140) NOT NULL, status ENUM('proposed','posted','rejected') NOT NULL,
    proposed_by VARCHAR(80) NOT NULL, decided_by VARCHAR(80) NULL, created_at ${TIME}, decided_at ${TIME_OR_NULL},
    PRIMARY KEY (id), UNIQUE KEY reference (tenant_id, reference), KEY account (account_id, created_at),
    CONSTRAINT adjustments_amount CHECK (raw > 0),
    CONSTRAINT adjustments_two_people CHECK (status <> 'posted' OR (decided_by IS NOT NULL AND decided_by <> proposed_by))) ${OPTIONS}`,
];

const EVENTS = [
  `CREATE TABLE events (
    tenant_id ${ID}, sequence BIGINT NOT NULL, id ${ID}, type ${ascii(40)} NOT NULL, resource_id ${ID},
    body MEDIUMTEXT NOT NULL, created_at ${TIME},
    PRIMARY KEY (tenant_id, sequence), UNIQUE KEY id (id), KEY type (tenant_id, type, sequence),
    KEY created (tenant_id, created_at, sequence), KEY resource (resource_id)) ${OPTIONS}`,
  `CREATE TABLE event_counters (
    tenant_id ${ID}, last_sequence BIGINT NOT NULL, last_at ${TIME}, PRIMARY KEY (tenant_id)) ${OPTIONS}`,
];

export class Foundation1763683200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...PARTIES, ...LEDGER, ...OPERATIONS, ...EVENTS]) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
