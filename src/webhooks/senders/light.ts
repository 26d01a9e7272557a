import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import type { EndpointState } from '../drain/lease.js';
import { isSubscribed } from '../drain/stepping.js';
import { newDelivery } from '../redelivering.js';
import { WINDOW } from '../rules.js';
import { type Claimed, type LoggedEvent, type Range, readRanges } from './claiming.js';
import type { Wanted } from './flight.js';

/** The most events of the log that are read for one endpoint straight away. */
const MAX_SPAN = 200n;

/**
 * Of these endpoints those for which no more waits than a handful of new events, with these; one read for all of them. What has more to
 * do is missing: it gets a run of its own.
 */
export async function lightWork(
  reader: Reader,
  claimed: readonly Claimed[],
  now: Instant,
): Promise<ReadonlyMap<Uuid, Wanted>> {
  const light = claimed.filter((one) => isLight(one, now)).map(({ state }) => state);
  const logs = groupBy(await readRanges(reader, rangesOf(light)), ({ tenantId }) => tenantId);
  const found = new Map<Uuid, Wanted>();
  for (const state of light) {
    const wanted = wantedOf(state, logs.get(state.endpoint.tenantId) ?? [], now);
    if (wanted.deliveries.length <= WINDOW) found.set(state.endpoint.id, wanted);
  }
  return found;
}

function isLight({ state, earliest }: Claimed, now: Instant): boolean {
  const { endpoint, head, removedThrough } = state;
  const { recoverAfter, probeAt, cursorSequence } = endpoint;
  if (recoverAfter !== null || probeAt !== null || removedThrough > cursorSequence) return false;
  if (earliest !== null && earliest <= now) return false;
  return head - cursorSequence <= MAX_SPAN;
}

/** Endpoints of one tenant mostly stand at the same place of its log. */
function rangesOf(states: readonly EndpointState[]): ReadonlyMap<Uuid, Range> {
  const ranges = new Map<Uuid, Range>();
  for (const { endpoint, head } of states) {
    const { tenantId, cursorSequence } = endpoint;
    const known = ranges.get(tenantId) ?? { after: cursorSequence, until: head };
    const after = cursorSequence < known.after ? cursorSequence : known.after;
    ranges.set(tenantId, { after, until: head > known.until ? head : known.until });
  }
  return ranges;
}

function wantedOf(state: EndpointState, log: readonly LoggedEvent[], now: Instant): Wanted {
  const { endpoint, types, head } = state;
  const deliveries = log
    .filter(({ sequence, type }) => sequence > endpoint.cursorSequence && sequence <= head && types.has(type))
    .filter((event) => isSubscribed(state, event))
    .map((event) => {
      const { body, traceparent } = event;
      return { delivery: newDelivery(endpoint.id, event, 'event', 1, now), body, traceparent };
    });
  return { state, through: head, deliveries };
}
