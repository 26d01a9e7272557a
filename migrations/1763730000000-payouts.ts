import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Payouts, what of them is sealed, what was said between us and the rails, what operators resolved by hand; and the state of
 * the simulated rail, which is a bank of its own and reads nothing of ours.
 */
const ID = 'BINARY(16) NOT NULL';
const ID_OR_NULL = 'BINARY(16) NULL';
const TIME = 'DATETIME(3) NOT NULL';
const TIME_OR_NULL = 'DATETIME(3) NULL';
const ASSET = "ENUM('COPM','DUSD') NOT NULL";
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
const ascii = (length: number): string => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`;

const STATEMENTS = [
  // What it went through is told by its times: it passes each status at most once, always in the same order.
  `CREATE TABLE payouts (
    id ${ID}, tenant_id ${ID}, source_account_id ${ID}, system_account_id ${ID}, asset ${ASSET}, raw BIGINT NOT NULL,
    fee_raw BIGINT NOT NULL, fee_account_id ${ID_OR_NULL}, description VARCHAR(140) NULL,
    country CHAR(2) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, bank_code ${ascii(11)} NOT NULL,
    account_type ENUM('savings','checking') NOT NULL, account_end ${ascii(4)} NOT NULL, holder_name VARCHAR(80) NOT NULL,
    status ENUM('pending_approval','approved','in_progress','completed','returned','rejected','canceled','failed') NOT NULL,
    created_by ${ID}, limit_month CHAR(7) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, created_at ${TIME},
    approvals_required TINYINT NULL, approvals_received TINYINT NULL, approval_expires_at ${TIME_OR_NULL},
    rejection_code ${ascii(40)} NULL, rejection_reason VARCHAR(300) NULL, failure_code ${ascii(40)} NULL,
    failure_message VARCHAR(140) NULL, rail ${ascii(40)} NOT NULL, rail_reference ${ascii(64)} NULL,
    approved_at ${TIME_OR_NULL}, submitted_at ${TIME_OR_NULL}, ended_at ${TIME_OR_NULL}, returned_at ${TIME_OR_NULL},
    stuck_since ${TIME_OR_NULL}, stuck_reason ENUM('no_outcome','contradiction') NULL,
    PRIMARY KEY (id), KEY tenant (tenant_id, created_at, id), KEY status (tenant_id, status, created_at, id),
    KEY source (source_account_id, created_at, id), KEY expiring (status, approval_expires_at),
    KEY submitted (status, submitted_at), KEY stuck (stuck_since), KEY ended (rail, ended_at),
    KEY returned (rail, returned_at),
    CONSTRAINT payouts_amount CHECK (raw > 0 AND fee_raw >= 0),
    CONSTRAINT payouts_approval CHECK (status <> 'pending_approval' OR approval_expires_at IS NOT NULL),
    CONSTRAINT payouts_rejection CHECK ((status = 'rejected') = (rejection_code IS NOT NULL)),
    CONSTRAINT payouts_failure CHECK (status <> 'failed' OR failure_code IS NOT NULL),
    CONSTRAINT payouts_submitted CHECK
      ((status IN ('in_progress','completed','returned','failed')) = (submitted_at IS NOT NULL)),
    CONSTRAINT payouts_ended CHECK
      ((status IN ('pending_approval','approved','in_progress')) = (ended_at IS NULL)),
    CONSTRAINT payouts_returned CHECK ((status = 'returned') = (returned_at IS NOT NULL)),
    CONSTRAINT payouts_stuck CHECK ((stuck_since IS NULL) = (stuck_reason IS NULL))) ${OPTIONS}`,
  `CREATE TABLE payout_secrets (
    id ${ID}, account_number VARBINARY(100) NOT NULL, holder_document VARBINARY(100) NOT NULL, key_id ${ascii(32)} NOT NULL,
    PRIMARY KEY (id), KEY key_id (key_id, id)) ${OPTIONS}`,
  `CREATE TABLE payout_rail_events (
    id ${ID}, payout_id ${ID_OR_NULL}, rail ${ascii(40)} NOT NULL,
    kind ENUM('submission','inquiry','callback','statement','resolution') NOT NULL,
    said ENUM('accepted','completed','failed','returned','unknown') NULL, effect ${ascii(20)} NOT NULL,
    callback_id ${ascii(60)} NULL, rail_reference ${ascii(64)} NULL, failure_code ${ascii(40)} NULL, at ${TIME},
    PRIMARY KEY (id), KEY payout (payout_id, id), KEY rail (rail, at)) ${OPTIONS}`,
  `CREATE TABLE payout_resolutions (
    id ${ID}, tenant_id ${ID}, payout_id ${ID}, outcome ENUM('completed','failed','returned','unchanged') NOT NULL,
    reason VARCHAR(140) NOT NULL, status ENUM('proposed','applied','rejected') NOT NULL, proposed_by VARCHAR(80) NOT NULL,
    decided_by VARCHAR(80) NULL, created_at ${TIME}, decided_at ${TIME_OR_NULL},
    PRIMARY KEY (id), KEY payout (payout_id, id), KEY status (status, created_at),
    CONSTRAINT payout_resolutions_two_people CHECK
      (status <> 'applied' OR (decided_by IS NOT NULL AND decided_by <> proposed_by))) ${OPTIONS}`,
  `CREATE TABLE simulated_rail_payments (
    rail ${ascii(40)} NOT NULL, payment_key ${ID}, scenario ${ascii(20)} NOT NULL, asset ${ASSET}, raw BIGINT NOT NULL,
    reference ${ascii(64)} NOT NULL, submissions INT NOT NULL, acted_at ${TIME_OR_NULL}, reported INT NOT NULL,
    report_at ${TIME_OR_NULL},
    PRIMARY KEY (rail, payment_key), KEY report (rail, report_at), KEY acted (rail, acted_at)) ${OPTIONS}`,
  // Without a key over the payment: that it was paid twice must be possible to see.
  `CREATE TABLE simulated_rail_actions (
    id ${ID}, rail ${ascii(40)} NOT NULL, payment_key ${ID}, at ${TIME},
    PRIMARY KEY (id), KEY payment (rail, payment_key)) ${OPTIONS}`,
];

export class Payouts1763730000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
