import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import { idempotencyKeys, type KeyResourceType } from '../../db/entities/ledger.js';
import { statements } from '../../db/entities/statements.js';
import { webhookEndpoints } from '../../db/entities/webhooks.js';
import { KEY_FACT } from '../facts.js';
import type { AuditRun } from '../run.js';
import { byId, ROWS_A_SLICE, scanTable } from '../scan.js';
import { sourceOf } from '../sources/index.js';
import type { Expectation } from '../sources/types.js';
import type { Totals } from '../totals.js';

/** Returns whether the key belongs to a request: of a client, an operator or a batch's row. */
export function isKeyOfRequest(key: string): boolean {
  return /^(?:[^/]+|(?:ops|batch-row)\/[^/]+)$/.test(key);
}

export async function checkKeys(audit: AuditRun, totals: Totals): Promise<void> {
  await scanTable(audit, idempotencyKeys, ROWS_A_SLICE, async (reader, slice) => {
    audit.counted('idempotency_keys', slice.length);
    for (const [type, own] of groupBy(slice, (key) => key.resourceType)) {
      const ids = own.flatMap((key) => key.resourceId ?? []);
      const known = await knownOf(reader, type, ids);
      for (const { tenantId, idempotencyKey, resourceId } of own) {
        if (resourceId === null) continue;
        const resource = known?.get(resourceId);
        if (resource?.tenantId !== tenantId)
          audit.report(
            'key_resource',
            `key ${tenantId}/${idempotencyKey}`,
            `the tenant has no ${type} ${resourceId}`,
          );
        else if (resource.isKeyed === true && isKeyOfRequest(idempotencyKey))
          totals.add(resourceId, KEY_FACT, -1);
      }
    }
  });
}

type Known = ReadonlyMap<Uuid, Pick<Expectation, 'tenantId'> & Partial<Expectation>>;

function knownOf(
  reader: Reader,
  type: KeyResourceType,
  ids: readonly Uuid[],
): Promise<Known | undefined> {
  if (type === 'webhook_endpoint') return byId(reader, webhookEndpoints, ids);
  if (type === 'statement') return byId(reader, statements, ids);
  return sourceOf(type)?.expectations(reader, ids) ?? Promise.resolve(undefined);
}
