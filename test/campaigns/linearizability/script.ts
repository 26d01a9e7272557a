import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { LEAST } from '../../helpers/bank.js';
import { EXPIRES_IN_S, type Group } from './group.js';
import type { Actor, History, Operation, Request } from './history.js';

interface Step {
  readonly actor?: Actor;
  readonly request: Request;
  /** Null for a request that is lost before it reaches the service. */
  readonly status: number | null;
  /** The response is lost. */
  readonly isUnseen?: boolean;
  /** The time that passes before it, in milliseconds. */
  readonly afterMs?: number;
}

const LATE_MS = EXPIRES_IN_S * 1_000 + 1_000;

/** An amount in units of the least amount. */
export const raw = (count: number): string => (BigInt(count) * LEAST).toString();

type Payment = Extract<Request, { readonly kind: 'transfer' }>;
const pay = (from: number, to: number, count: number, more: Partial<Payment> = {}): Request => ({
  ...{ kind: 'transfer', key: randomUUID(), from, to, raw: raw(count), captureWithinS: null },
  ...more,
});
const held = { captureWithinS: EXPIRES_IN_S };
const read = (account: number): Step => ({ request: { kind: 'balances', account }, status: 200 });
const part = (kind: 'refund' | 'capture', of: string, count: number): Request => ({
  ...{ kind, key: randomUUID(), of, raw: raw(count) },
});
const approve = (of: string): Request => ({ kind: 'approve', key: randomUUID(), of });

/** The requests of the script by their names, each made when its turn comes. `idOf` gives the transfer of an earlier one. */
function steps(idOf: (name: string) => string) {
  const [paidKey, otherKey, refusedKey] = [randomUUID(), randomUUID(), randomUUID()];
  const clerk = 'clerk' as const;
  return {
    before: () => read(1),
    paid: () => ({ request: pay(1, 2, 4, { key: paidKey }), status: 201 }),
    after: () => read(1),
    other: () => ({ request: pay(2, 1, 2, { key: otherKey }), status: 201 }),
    otherAgain: () => ({ request: pay(2, 1, 2, { key: otherKey }), status: 200 }),
    reused: () => ({ request: pay(1, 2, 5, { key: paidKey }), status: 409 }),
    refused: () => ({ request: pay(1, 2, 14, { key: refusedKey }), status: 422 }),
    refusedAgain: () => ({ request: pay(1, 2, 14, { key: refusedKey }), status: 422 }),
    lost: () => ({ request: pay(1, 2, 2), status: null }),
    afterLost: () => read(1),
    refund: () => ({ request: part('refund', idOf('paid'), 1), status: 201 }),
    refundOver: () => ({ request: part('refund', idOf('paid'), 4), status: 422 }),
    readPaid: () => ({ request: { kind: 'read', of: idOf('paid') }, status: 200 }),
    waiting: () => ({ request: pay(0, 1, 5), status: 202 }),
    ownApproval: () => ({ request: approve(idOf('waiting')), status: 403 }),
    readWaiting: () => ({ request: { kind: 'read', of: idOf('waiting') }, status: 200 }),
    approved: () => ({ actor: clerk, request: approve(idOf('waiting')), status: 200 }),
    afterApproved: () => read(0),
    lateCancel: () => ({ request: { kind: 'cancel', of: idOf('waiting') }, status: 409 }),
    second: () => ({ request: pay(0, 1, 4), status: 202 }),
    rejected: () => ({
      ...{ actor: clerk, request: { kind: 'reject', of: idOf('second') }, status: 200 },
    }),
    afterRejected: () => read(0),
    held: () => ({ request: pay(1, 2, 3, held), status: 201 }),
    unseen: () => ({ request: pay(0, 2, 3), status: 202, isUnseen: true }),
    afterUnseen: () => read(0),
    captureOver: () => ({ request: part('capture', idOf('held'), 4), status: 422 }),
    captured: () => ({ request: part('capture', idOf('held'), 2), status: 200 }),
    expiring: () => ({ request: pay(0, 1, 3), status: 202 }),
    expiringHeld: () => ({ request: pay(2, 1, 2, held), status: 201 }),
    lateApproval: () => ({
      ...{ actor: clerk, request: approve(idOf('expiring')), status: 409, afterMs: LATE_MS },
    }),
    lateCapture: () => ({ request: part('capture', idOf('expiringHeld'), 2), status: 409 }),
    last: () => ({ request: pay(1, 2, 1), status: 201 }),
    afterLast: () => read(1),
  } satisfies Readonly<Record<string, () => Step>>;
}

export type StepName = keyof ReturnType<typeof steps>;

/** A history whose requests have names. */
export interface Scripted {
  readonly history: History;
  readonly places: Readonly<Record<StepName, number>>;
}

/** Sends the script's requests one after the other. `pass` lets time pass. */
export async function recordScript(group: Group, pass: (ms: number) => void): Promise<Scripted> {
  const places = new Map<string, number>();
  const idOf = (name: string): string =>
    String(group.operations[places.get(name) ?? -1]?.response?.body?.id);
  for (const [name, stepOf] of Object.entries<() => Step>(steps(idOf))) {
    const { actor = 'owner', request, status, afterMs = 0, isUnseen = false } = stepOf();
    pass(afterMs);
    places.set(name, group.operations.length);
    if (status === null) group.lose(actor, request);
    else {
      const response = await group.send(actor, request);
      assert.equal(response?.status, status, `${name}: ${JSON.stringify(response)}`);
      if (isUnseen) group.loseResponse();
    }
  }
  return {
    history: await group.finish(),
    places: Object.fromEntries(places) as Scripted['places'],
  };
}

/** The scripted history with another operation in place of the named one. */
export function withOperation(
  { history, places }: Scripted,
  name: StepName,
  change: (operation: Operation) => Operation,
): History {
  const operations = [...history.operations];
  operations[places[name]] = change(operations[places[name]]!);
  return { ...history, operations };
}
