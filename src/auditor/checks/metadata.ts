import { createHash } from 'node:crypto';
import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import type { ResourceType } from '../../db/entities/ledger.js';
import { METADATA_TYPES, type MetadataPair, metadataPairs } from '../../db/entities/metadata.js';
import { columnList, equalsSql } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';
import type { Expectation } from '../operation-source.js';
import { type AuditRun, type Check, ROWS_PER_SLICE, scanTable } from '../scan.js';
import { SOURCE_OF } from '../sources.js';

/** Checks that each row of the index of metadata is a pair of its operation. */
export const metadataChecks: Check = {
  tables: [metadataPairs.name],
  run: (audit) =>
    scanTable(audit, metadataPairs, ROWS_PER_SLICE, async (reader, slice) => {
      audit.countRows(metadataPairs.name, slice.length);
      for (const [type, own] of groupBy(slice, ({ resourceType }) => resourceType)) {
        const ids = own.map(({ id }) => id);
        const operations = await SOURCE_OF[type].expectations(reader, ids);
        const expected = namesOf([...operations.values()].flatMap((one) => pairsOf(type, one)));
        for (const pair of own)
          if (!expected.has(nameOf(pair))) report(audit, pair, 'it is found by a pair it has not');
      }
    }),
};

/** Short enough for the optimizer to read each pair by the primary key. */
const PAIRS_PER_STATEMENT = 100;

/** Checks that each pair of the operations is in the index. */
export async function checkPairs(
  audit: AuditRun,
  reader: Reader,
  resourceType: ResourceType,
  operations: readonly Expectation[],
): Promise<void> {
  const type = METADATA_TYPES.find((one) => one === resourceType);
  if (type === undefined) return;
  const expected = operations.flatMap((operation) => pairsOf(type, operation));
  for (let from = 0; from < expected.length; from += PAIRS_PER_STATEMENT) {
    const some = expected.slice(from, from + PAIRS_PER_STATEMENT);
    const conditions = some.map((pair) => `(${equalsSql(metadataPairs, pair)})`);
    const rows = await reader.query(
      `SELECT ${columnList(metadataPairs)} FROM metadata_pairs WHERE ${conditions.join(' OR ')}`,
    );
    const found = namesOf(rows.map((row) => parseRow(metadataPairs, row)));
    for (const pair of some)
      if (!found.has(nameOf(pair))) report(audit, pair, 'it is not found by a pair it has');
  }
}

function pairsOf(
  resourceType: MetadataPair['resourceType'],
  { id, tenantId, createdAt, metadata, refundOf, scheduleId }: Expectation,
): readonly MetadataPair[] {
  const pairs = Object.entries(metadata ?? {}).map(([name, value]) => keyOf(value, name));
  if (refundOf !== null) pairs.push(refundKey(refundOf.id));
  if (scheduleId !== null) pairs.push(keyOf(scheduleId, 'run of'));
  return pairs.map((key) => ({ tenantId, resourceType, ...key, createdAt, id }));
}

function keyOf(value: string, name: string): Pick<MetadataPair, 'valueHash' | 'name'> {
  const valueHash = createHash('sha256').update(value, 'utf8').digest().subarray(0, 16);
  return { valueHash, name };
}

/** Returns what the index has for every refund of an original. */
export function refundKey(originalId: Uuid): Pick<MetadataPair, 'valueHash' | 'name'> {
  return keyOf(originalId, 'refund of');
}

function namesOf(pairs: readonly MetadataPair[]): ReadonlySet<string> {
  return new Set(pairs.map(nameOf));
}

function nameOf({ tenantId, valueHash, name, createdAt, id }: MetadataPair): string {
  return [tenantId, valueHash.toString('hex'), name, createdAt, id].join('|');
}

function report(
  audit: AuditRun,
  { resourceType, id, name }: { readonly resourceType: string; readonly id: Uuid; name: string },
  message: string,
): void {
  audit.report('operation_metadata', `${resourceType} ${id}`, `${message}: ${name}`);
}
