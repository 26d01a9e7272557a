import { z } from 'zod';
import type { SignatureCheck } from './signatures.js';
import type { Fields } from '../../src/ops/fields.js';

/** Deliveries that arrived at a local receiver, as a person reads them. */

export interface ReceivedDelivery {
  readonly at: Date;
  readonly body: Buffer;
  readonly checks: readonly SignatureCheck[];
  /** How often this event has arrived, including this time. */
  readonly arrivals: number;
  /** The status of the answer. */
  readonly answered: number;
}

interface Told {
  readonly type: string | null;
  readonly id: string | null;
  readonly sequence: number | null;
  /** The id of the event's resource. */
  readonly resource: string | null;
}

/** Anything may arrive, but only plain words reach the terminal. */
const word = z
  .string()
  .regex(/^[\w.:$-]{1,80}$/)
  .nullable()
  .catch(null);
const eventSchema = z.object({
  type: word,
  id: word,
  sequence: z.int().nullable().catch(null),
  data: z
    .object({ object: z.object({ id: word, account_id: word }) })
    .nullable()
    .catch(null),
});

/** Nothing is shown of a body that is not an event. */
export function tellEvent(body: Buffer): Told {
  const { type, id, sequence, data } = eventSchema
    .catch({ type: null, id: null, sequence: null, data: null })
    .parse(jsonOf(body));
  return {
    type,
    id,
    sequence,
    resource: data === null ? null : (data.object.id ?? data.object.account_id),
  };
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

export function deliveryFields({ at, body, checks, arrivals, answered }: ReceivedDelivery): Fields {
  return {
    received_at: at.toISOString(),
    ...tellEvent(body),
    bytes: body.length,
    arrivals,
    signatures: Object.fromEntries(
      checks.map(({ header, problem }) => [header, problem ?? 'good']),
    ),
    answered,
  };
}

export function deliveryLine({ at, body, checks, arrivals, answered }: ReceivedDelivery): string {
  const { type, id, sequence, resource } = tellEvent(body);
  const bad = checks.flatMap(({ header, problem }) =>
    problem === null ? [] : [`${header} ${problem}`],
  );
  return [
    at.toISOString().slice(11, 23),
    type ?? 'no event',
    sequence === null ? '' : `#${sequence}`,
    id === null ? '' : `id ${id}`,
    resource === null ? '' : `of ${resource}`,
    `${body.length} bytes`,
    arrivals > 1 ? `arrived ${arrivals} times` : '',
    bad.length === 0 ? 'signatures good' : `BAD: ${bad.join('; ')}`,
    `answered ${answered}`,
  ]
    .filter((part) => part !== '')
    .join('  ');
}
