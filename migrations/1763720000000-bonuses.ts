import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Paid bonuses, single ones and those of a batch's rows. */
const ID = 'BINARY(16) NOT NULL';
const ASSET = "ENUM('COPM','DUSD') NOT NULL";
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

const BONUSES = `CREATE TABLE bonuses (
  id ${ID}, tenant_id ${ID}, source_account_id ${ID}, recipient_account_id ${ID}, asset ${ASSET}, raw BIGINT NOT NULL,
  fee_raw BIGINT NOT NULL, fee_account_id BINARY(16) NULL, description VARCHAR(140) NULL, reference VARCHAR(64) NULL,
  created_by ${ID}, batch_id BINARY(16) NULL, batch_row INT NULL,
  limit_month CHAR(7) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (id), KEY tenant (tenant_id, created_at, id), KEY source (source_account_id, created_at, id),
  UNIQUE KEY batch (batch_id, batch_row),
  CONSTRAINT bonuses_amount CHECK (raw > 0 AND fee_raw >= 0),
  CONSTRAINT bonuses_ends CHECK (source_account_id <> recipient_account_id),
  CONSTRAINT bonuses_batch CHECK ((batch_id IS NULL) = (batch_row IS NULL))) ${OPTIONS}`;

export class Bonuses1763720000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(BONUSES);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
