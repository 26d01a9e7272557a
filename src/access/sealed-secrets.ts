import { ApiError, invalidState } from '../core/errors.js';
import type { Keyring } from '../core/fingerprint.js';
import * as column from '../db/columns.js';
import type { DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { updateSql, type Where } from '../db/statements.js';
import type { Table } from '../db/table.js';
import { transact } from '../db/reader.js';
import { type Actor, recordAction } from './audit-log.js';

interface SealedColumns<Row> {
  /** Name of the secrets in messages, such as `destinations of payouts`. */
  readonly label: string;
  /** Name under which the audit log counts re-encrypted rows, such as `payouts`. */
  readonly auditName: string;
  readonly table: Table<Row>;
  readonly id: keyof Row & string;
  /** The columns that name the key of a secret; null in rows without the secret. */
  readonly keyIds: readonly (keyof Row & string)[];
  /** Returns only the columns that change, because a concurrent transaction may write to the row. */
  readonly reseal: (keys: Keyring, row: Row) => Partial<Row>;
}

interface RotationDeps extends DatabaseDeps {
  readonly encryptionKeys: Keyring;
  readonly onProgress: (done: number, total: number) => void;
}

export type AnySecrets = Pick<
  SealedSecrets<unknown>,
  'auditName' | 'countByKey' | 'assertKeys' | 'rotate'
>;

const CHUNK = 100;

/**
 * All secrets of one kind, encrypted in the columns of a table. (docs/contract.md, Secrets and
 * personal data)
 */
export class SealedSecrets<Row> {
  readonly auditName: string;

  constructor(private readonly sealed: SealedColumns<Row>) {
    this.auditName = sealed.auditName;
  }

  async countByKey(reader: Reader): Promise<ReadonlyMap<string, number>> {
    const { table, keyIds } = this.sealed;
    const selects = keyIds.map(
      (property) => `SELECT ${table.column(property).name} AS key_id FROM ${table.name}`,
    );
    const rows = await reader.query(
      `SELECT key_id, COUNT(*) AS sealed FROM (${selects.join(' UNION ALL ')}) k WHERE key_id IS NOT NULL GROUP BY key_id`,
    );
    return new Map(
      rows.map((row) => [column.string.parse(row.key_id), column.integer.parse(row.sealed)]),
    );
  }

  /** Throws invalid_state if `keys` lacks the key of a stored secret. */
  async assertKeys(reader: Reader, keys: Keyring): Promise<void> {
    const inUse = await this.countByKey(reader);
    const missing = [...inUse.keys()].filter((id) => !keys.some((key) => key.id === id));
    if (missing.length === 0) return;
    const message = `${this.sealed.label} are sealed under keys that ENCRYPTION_KEYS lacks: ${missing.join(', ')}`;
    throw new ApiError(invalidState(message, 'key_missing', ['all_keys']));
  }

  /**
   * Encrypts the secrets of all other keys again, with the first key. Returns their number. The old
   * keys may be removed after it, once every process has the new first key. May be interrupted and
   * run again.
   */
  async rotate(deps: RotationDeps, actor: Actor): Promise<number> {
    const { database, encryptionKeys, onProgress } = deps;
    const { table, id, keyIds } = this.sealed;
    await this.assertKeys(database.reader, encryptionKeys);
    const hasOtherKeySql = keyIds
      .map(
        (property) =>
          `${table.column(property).name}<>${column.string.literal(encryptionKeys[0].id)}`,
      )
      .join(' OR ');
    const [row] = await database.reader.query(
      `SELECT COUNT(*) AS secrets FROM ${table.name} WHERE ${hasOtherKeySql}`,
    );
    const total = column.integer.parse(row?.secrets);
    for (let done = 0; ; onProgress(done, Math.max(done, total))) {
      const name = table.column(id).name;
      const rows = await database.reader.query(
        `SELECT ${name} FROM ${table.name} WHERE ${hasOtherKeySql} LIMIT ${CHUNK}`,
      );
      if (rows.length === 0) return done;
      const ids = rows.map(
        (row) => table.column(id).column.parse(row[name]) as Row[keyof Row & string],
      );
      await transact(database, (transaction) => this.reseal(transaction, deps, ids, actor));
      done += ids.length;
    }
  }

  private async reseal(
    transaction: Transaction,
    { encryptionKeys, clock }: RotationDeps,
    ids: readonly Row[keyof Row & string][],
    actor: Actor,
  ): Promise<void> {
    const { table, id, reseal, auditName } = this.sealed;
    const locked = await transaction.select(table, { [id]: ids } as Where<Row>, {
      orderBy: [id],
      forUpdate: true,
    });
    await transaction.all(
      locked.map((row) =>
        updateSql(table, reseal(encryptionKeys, row), { [id]: row[id] } as Where<Row>),
      ),
    );
    await recordAction(transaction, actor, clock(), {
      tenantId: null,
      action: 'keys.rotate',
      subjectType: 'encryption_key',
      subjectId: encryptionKeys[0].id,
      details: { [auditName]: locked.length },
    });
  }
}
