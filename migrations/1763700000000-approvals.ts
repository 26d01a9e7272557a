import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Approval policies, approvals and the staff who may give them; what a pending transfer waits for; and the outbox, by which
 * workflows learn of what MySQL decided.
 */
const ID = 'BINARY(16) NOT NULL';
const TIME = 'DATETIME(3) NOT NULL';
const ASSET = "ENUM('COPM','DUSD') NOT NULL";
const WAITING = "ENUM('transfer','payout','bonus_batch') NOT NULL";
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
const ascii = (length: number): string => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`;

const STATEMENTS = [
  `CREATE TABLE approval_policies (
    account_id ${ID}, asset ${ASSET}, threshold BIGINT NOT NULL, approvals TINYINT NOT NULL, expires_in_s INT NOT NULL,
    PRIMARY KEY (account_id, asset),
    CONSTRAINT approval_policies_ranges CHECK (threshold >= 0 AND approvals BETWEEN 1 AND 3 AND
      expires_in_s BETWEEN 60 AND 2592000)) ${OPTIONS}`,
  `CREATE TABLE approvals (
    id ${ID}, resource_type ${WAITING}, resource_id ${ID}, approver ${ascii(60)} NOT NULL, member_id BINARY(16) NULL,
    actor_claimed VARCHAR(120) NOT NULL, channel ENUM('api','ops','temporal') NOT NULL, created_at ${TIME},
    PRIMARY KEY (id), UNIQUE KEY approver (resource_id, approver)) ${OPTIONS}`,
  `CREATE TABLE staff (
    id ${ID}, name VARCHAR(80) NOT NULL, rights ${ascii(100)} NOT NULL, active TINYINT(1) NOT NULL, created_at ${TIME},
    PRIMARY KEY (id), UNIQUE KEY name (name)) ${OPTIONS}`,
  // The index finds what is due: of the pending ones, those that expire first.
  `ALTER TABLE transfers
    ADD COLUMN approvals_required TINYINT NULL, ADD COLUMN approvals_received TINYINT NULL,
    ADD COLUMN approval_expires_at DATETIME(3) NULL, ADD COLUMN rejection_code ${ascii(40)} NULL,
    ADD COLUMN rejection_reason VARCHAR(300) NULL, ADD KEY expiring (status, approval_expires_at),
    ADD CONSTRAINT transfers_approval CHECK (status = 'completed' OR approval_expires_at IS NOT NULL),
    ADD CONSTRAINT transfers_rejection CHECK ((status = 'rejected') = (rejection_code IS NOT NULL))`,
  `CREATE TABLE outbox (
    id ${ID}, tenant_id ${ID}, resource_type ${WAITING}, resource_id ${ID}, created_at ${TIME}, due_at ${TIME},
    attempts INT NOT NULL, last_error VARCHAR(300) NULL,
    PRIMARY KEY (id), KEY due (due_at, id), KEY created (created_at), KEY resource (resource_id)) ${OPTIONS}`,
  `ALTER TABLE audit_log RENAME COLUMN actor TO actor_claimed`,
];

export class Approvals1763700000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
