import { remove as withoutLookAlikes } from 'confusables';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Staff prove who they are by an authenticator's code, and act by their id: names are found folded, sessions and checks of codes are
 * kept, and what two people decide names both by id. Those who were staff before keep their rights and sign nothing until
 * they have an authenticator. (docs/operations.md, Upgrade)
 */
const ID = 'BINARY(16) NOT NULL';
const TIME = 'DATETIME(3) NOT NULL';
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
const CHANNEL = "ENUM('api','ops','temporal','support') NOT NULL";

const STATEMENTS = [
  // At the end of their lists, which rebuilds no table.
  `ALTER TABLE audit_log MODIFY COLUMN channel ${CHANNEL}`,
  `ALTER TABLE approvals MODIFY COLUMN channel ${CHANNEL}`,
  'ALTER TABLE approvals ADD COLUMN staff_id BINARY(16) NULL',
  'ALTER TABLE adjustments ADD COLUMN proposed_by_id BINARY(16) NULL, ADD COLUMN decided_by_id BINARY(16) NULL',
  'ALTER TABLE payout_resolutions ADD COLUMN proposed_by_id BINARY(16) NULL, ADD COLUMN decided_by_id BINARY(16) NULL',
  `ALTER TABLE staff
    ADD COLUMN folded_name VARCHAR(240) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    ADD COLUMN kind ENUM('person','service') NOT NULL DEFAULT 'person',
    ADD COLUMN factor_key_id VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NULL,
    ADD COLUMN factor_secret VARBINARY(255) NULL,
    ADD COLUMN key_hash BINARY(32) NULL,
    ADD COLUMN failed_codes INT NOT NULL DEFAULT 0,
    ADD COLUMN locked_until DATETIME(3) NULL,
    ADD COLUMN ops_failed_codes INT NOT NULL DEFAULT 0,
    ADD COLUMN ops_locked_until DATETIME(3) NULL,
    ADD COLUMN last_used_at DATETIME(3) NULL,
    ADD UNIQUE KEY folded_name (folded_name), ADD UNIQUE KEY key_hash (key_hash),
    ADD CONSTRAINT staff_factor CHECK ((factor_secret IS NULL) = (factor_key_id IS NULL)),
    ADD CONSTRAINT staff_proof CHECK ((kind = 'person' AND key_hash IS NULL) OR (kind = 'service' AND factor_secret IS NULL))`,
  `CREATE TABLE staff_sessions (
    id ${ID}, staff_id ${ID}, door ENUM('ops','support') NOT NULL, token_hash BINARY(32) NOT NULL,
    place VARCHAR(140) NOT NULL, created_at ${TIME}, last_used_at ${TIME}, expires_at ${TIME}, revoked_at DATETIME(3) NULL,
    PRIMARY KEY (id), UNIQUE KEY token (token_hash), KEY staff (staff_id, expires_at)) ${OPTIONS}`,
  `CREATE TABLE staff_checks (
    purpose BINARY(32) NOT NULL, staff_id BINARY(16) NULL, step BIGINT NULL, refused VARCHAR(300) NULL, at ${TIME},
    PRIMARY KEY (purpose), UNIQUE KEY step (staff_id, step), KEY at (at),
    CONSTRAINT staff_checks_outcome CHECK ((step IS NULL) = (refused IS NOT NULL))) ${OPTIONS}`,
  `CREATE TABLE staff_factor_resets (
    id ${ID}, staff_id ${ID}, status ENUM('proposed','done','withdrawn') NOT NULL, reason VARCHAR(140) NOT NULL,
    proposed_by_id ${ID}, decided_by_id BINARY(16) NULL, created_at ${TIME}, decided_at DATETIME(3) NULL,
    PRIMARY KEY (id), KEY staff (staff_id, status)) ${OPTIONS}`,
];

/** As src/staff/name.ts folded when this was written. */
function folded(name: string): string {
  const plain = withoutLookAlikes(name.normalize('NFKC')).normalize('NFKD');
  return plain
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .toLowerCase();
}

export class VerifiedStaff1763746600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
    const people = (await runner.query('SELECT id, name FROM staff ORDER BY created_at, id')) as {
      readonly id: Buffer;
      readonly name: string;
    }[];
    const taken = new Set<string>();
    for (const { id, name } of people) {
      const own = folded(name).slice(0, 240);
      // Of two names that look alike the older stays: the other may be added again under a name of its own.
      const change = taken.has(own) ? (['active=0', []] as const) : (['folded_name=?', [own]] as const);
      await runner.query(`UPDATE staff SET ${change[0]} WHERE id=?`, [...change[1], id]);
      taken.add(own);
    }
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
