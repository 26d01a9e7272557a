import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Batches of bonuses: the uploaded file, its valid rows, what is wrong in it. */
const ID = 'BINARY(16) NOT NULL';
const ID_OR_NULL = 'BINARY(16) NULL';
const TIME = 'DATETIME(3) NOT NULL';
const TIME_OR_NULL = 'DATETIME(3) NULL';
const MONEY = 'BIGINT NOT NULL';
const COUNT = 'INT NOT NULL';
const ascii = (length: number): string => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`;
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

const STATEMENTS = [
  `CREATE TABLE bonus_batches (
    id ${ID}, tenant_id ${ID}, source_account_id ${ID}, description VARCHAR(140) NULL,
    status ENUM('validating','ready','rejected','executing','completed','partially_failed') NOT NULL,
    file_sha256 BINARY(32) NOT NULL, file_bytes ${COUNT}, created_by ${ID}, created_at ${TIME},
    asset ENUM('COPM','DUSD') NULL, row_count ${COUNT}, rows_rejected ${COUNT}, total_raw ${MONEY}, fees_raw ${MONEY},
    fee_account_id ${ID_OR_NULL}, duplicate_count ${COUNT}, duplicate_rows ${ascii(1000)} NOT NULL,
    same_file_batch_id ${ID_OR_NULL}, validation_run ${COUNT}, validated_at ${TIME_OR_NULL},
    executed_by ${ID_OR_NULL}, executed_at ${TIME_OR_NULL}, is_held TINYINT(1) NOT NULL,
    rows_paid ${COUNT}, rows_failed ${COUNT}, settled_raw ${MONEY},
    paused_at ${TIME_OR_NULL}, paused_by VARCHAR(120) NULL, canceled_at ${TIME_OR_NULL}, finished_at ${TIME_OR_NULL},
    PRIMARY KEY (id), KEY tenant (tenant_id, created_at, id), KEY status (tenant_id, status, created_at, id),
    KEY source (source_account_id, created_at, id), KEY same_file (tenant_id, file_sha256, created_at),
    KEY by_status (status, created_at),
    CONSTRAINT bonus_batches_counts CHECK (row_count >= 0 AND rows_rejected >= 0 AND rows_paid >= 0 AND rows_failed >= 0
      AND rows_paid + rows_failed <= row_count),
    CONSTRAINT bonus_batches_sums CHECK (total_raw >= 0 AND fees_raw >= 0 AND settled_raw >= 0 AND
      settled_raw <= total_raw + fees_raw),
    CONSTRAINT bonus_batches_executed CHECK (status NOT IN ('executing','completed','partially_failed') OR
      (executed_by IS NOT NULL AND executed_at IS NOT NULL AND asset IS NOT NULL))) ${OPTIONS}`,
  `CREATE TABLE bonus_batch_rows (
    id ${ID}, batch_id ${ID}, number ${COUNT}, recipient VARCHAR(100) NOT NULL, recipient_account_id ${ID},
    raw ${MONEY}, fee_raw ${MONEY}, description VARCHAR(140) NULL, reference VARCHAR(64) NULL,
    status ENUM('pending','paid','failed') NOT NULL, bonus_id ${ID_OR_NULL}, code ${ascii(40)} NULL,
    message VARCHAR(300) NULL, settled_at ${TIME_OR_NULL},
    PRIMARY KEY (batch_id, number), KEY status (batch_id, status, number),
    CONSTRAINT bonus_batch_rows_amount CHECK (raw > 0 AND fee_raw >= 0),
    CONSTRAINT bonus_batch_rows_paid CHECK ((status = 'paid') = (bonus_id IS NOT NULL)),
    CONSTRAINT bonus_batch_rows_failed CHECK ((status = 'failed') = (code IS NOT NULL))) ${OPTIONS}`,
  `CREATE TABLE bonus_batch_problems (
    batch_id ${ID}, number ${COUNT}, ordinal ${COUNT}, field ${ascii(40)} NOT NULL, code ${ascii(40)} NOT NULL,
    message VARCHAR(300) NOT NULL, value VARCHAR(100) NOT NULL,
    PRIMARY KEY (batch_id, number, ordinal)) ${OPTIONS}`,
  `CREATE TABLE upload_chunks (
    batch_id ${ID}, number ${COUNT}, content MEDIUMBLOB NOT NULL, PRIMARY KEY (batch_id, number)) ${OPTIONS}`,
];

export class BonusBatches1763720100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
