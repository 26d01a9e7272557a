import type { MigrationInterface, QueryRunner } from 'typeorm';
import { actHash, chainOf, GENESIS, type HashedAct } from '../src/db/audit-hash.js';
import { bytes, time, uuid } from '../src/db/columns.js';

/**
 * The chains of the audit log. What is in it already is tied to each chain's beginning by an anchor: a hash over the old
 * lines in their order, which the application may only read.
 */
const ID = 'BINARY(16) NOT NULL';
const HASH = 'BINARY(32) NOT NULL';
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

const STATEMENTS = [
  `CREATE TABLE audit_chains (
    chain_id ${ID}, last_sequence BIGINT NOT NULL, last_hash ${HASH}, PRIMARY KEY (chain_id)) ${OPTIONS}`,
  `CREATE TABLE audit_anchors (
    chain_id ${ID}, acts BIGINT NOT NULL, hash ${HASH}, PRIMARY KEY (chain_id)) ${OPTIONS}`,
  `ALTER TABLE audit_log
    ADD COLUMN chain_id BINARY(16) NULL, ADD COLUMN sequence BIGINT NULL, ADD COLUMN previous_hash BINARY(32) NULL,
    ADD COLUMN hash BINARY(32) NULL, ADD UNIQUE KEY chain (chain_id, sequence),
    ADD CONSTRAINT audit_log_chained CHECK ((chain_id IS NULL) = (sequence IS NULL) AND
      (chain_id IS NULL) = (previous_hash IS NULL) AND (chain_id IS NULL) = (hash IS NULL))`,
];

const READ_AT_ONCE = 1_000;

export class AuditChain1763746000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
    for (const [chainId, { acts, hash }] of await anchorsOf(runner)) {
      const [id, digest] = [uuid.literal(chainId), bytes.literal(hash)];
      await runner.query(`INSERT INTO audit_anchors (chain_id, acts, hash) VALUES (${id},${acts},${digest})`);
      await runner.query(`INSERT INTO audit_chains (chain_id, last_sequence, last_hash) VALUES (${id},0,${digest})`);
    }
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}

type Anchors = Map<HashedAct['id'], { readonly acts: number; readonly hash: Buffer }>;

async function anchorsOf(runner: QueryRunner): Promise<Anchors> {
  const anchors: Anchors = new Map();
  let after = '';
  for (;;) {
    const rows = (await runner.query(
      `SELECT id, tenant_id, CAST(at AS CHAR) AS at, channel, actor_claimed, action, subject_type, subject_id, details
       FROM audit_log${after} ORDER BY id LIMIT ${READ_AT_ONCE}`,
    )) as Record<string, unknown>[];
    for (const act of rows.map(readAct)) {
      const chainId = chainOf(act);
      const { acts, hash } = anchors.get(chainId) ?? { acts: 0, hash: GENESIS };
      anchors.set(chainId, { acts: acts + 1, hash: actHash(hash, null, act) });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < READ_AT_ONCE) return anchors;
    after = ` WHERE id>${uuid.literal(uuid.parse(last.id))}`;
  }
}

function readAct(row: Record<string, unknown>): HashedAct {
  return {
    id: uuid.parse(row.id),
    tenantId: row.tenant_id === null ? null : uuid.parse(row.tenant_id),
    at: time.parse(row.at),
    channel: String(row.channel),
    actorClaimed: String(row.actor_claimed),
    action: String(row.action),
    subjectType: String(row.subject_type),
    subjectId: String(row.subject_id),
    details: String(row.details),
  };
}
