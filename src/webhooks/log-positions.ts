import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import { eventCounters } from '../db/entities/events.js';
import { gapsOf, sequencesWithin } from '../events/places.js';

/** Positions in a tenant's log. */

/** The sequence of its last event; 0 before the first. */
export async function headOf(reader: Reader, tenantId: Uuid): Promise<bigint> {
  return (await reader.find(eventCounters, { tenantId }))?.lastSequence ?? 0n;
}

/** The sequence of the first event at or after that time, or null. */
export async function firstSince(
  reader: Reader,
  tenantId: Uuid,
  since: Instant,
): Promise<bigint | null> {
  const { first, last } = await sequencesWithin(
    reader,
    tenantId,
    await gapsOf(reader, tenantId),
    since,
    undefined,
  );
  return first > last ? null : first;
}
