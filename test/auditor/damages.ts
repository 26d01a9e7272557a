import assert from 'node:assert/strict';
import { audit } from '../../src/auditor/audit.js';
import type { Uuid } from '../../src/core/ids.js';
import { ownDatabase, type TestDatabase } from '../helpers/database.js';
import { assertLedgerSound } from '../helpers/world.js';

/** By its name: statements for the administrator, each alone, and every check that must speak, and no other. */
export type Damages<Victims> = Readonly<
  Record<
    string,
    readonly [sql: (victims: Victims) => string | readonly string[], found: readonly string[]]
  >
>;

/**
 * A test of each damage to the victims, who are as they were before each test. The audit of all and that of their tenant
 * alone must find it, except for `ofNoTenant`: checks of what belongs to no tenant.
 */
export function damageTests<Victims extends { readonly tenantId: Uuid }>(
  damages: Damages<Victims>,
  {
    name,
    makeVictims,
    ofNoTenant,
  }: {
    readonly name: string;
    readonly makeVictims: (db: TestDatabase) => Promise<Victims>;
    readonly ofNoTenant: readonly string[];
  },
): () => { readonly db: TestDatabase; readonly victims: Victims } {
  let db: TestDatabase;
  let victims: Victims;
  let tables: string[];
  /** The rows that a statement of the test names. */
  let touched: string[] = [];

  before(async () => {
    db = await ownDatabase(name);
    victims = await makeVictims(db);
    const rows = await db.sql(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema='${db.name}'`,
    );
    tables = rows.map((row) => String(row.name));
    for (const table of tables)
      await db.sql(`CREATE TABLE kept_${table} AS SELECT * FROM ${table}`);
  });
  after(() => db.remove());
  afterEach(async () => {
    for (const table of touched) {
      await db.sql(`DELETE FROM ${table}`);
      await db.sql(`INSERT INTO ${table} SELECT * FROM kept_${table}`);
    }
  });

  it('the auditor finds nothing where there is no damage', () => assertLedgerSound(db.database));

  for (const [what, [sql, found]] of Object.entries(damages))
    it(`the auditor finds ${what}`, async () => {
      const statements = [sql(victims)].flat();
      touched = tables.filter((table) => new RegExp(`\\b${table}\\b`).test(statements.join()));
      for (const statement of statements)
        assert((await db.change(statement)) > 0, `nothing was damaged: ${statement}`);
      for (const [options, seen] of [
        [{}, found],
        [{ tenantId: victims.tenantId }, found.filter((check) => !ofNoTenant.includes(check))],
      ] as const) {
        const { findings } = await audit(db.database, options);
        const checks = findings.map(({ check }) => check).sort();
        assert.deepEqual(checks, seen, JSON.stringify(findings, null, 1));
      }
    });
  return () => ({ db, victims });
}
