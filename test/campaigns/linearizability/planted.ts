import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Json, list, text } from '../../helpers/bank.js';
import type { History, Operation, Response } from './history.js';
import { raw, type Scripted, type StepName, withOperation } from './script.js';

interface Planted {
  /** The request that gets a wrong response. */
  readonly name: StepName;
  /** The wrong response, or all that changes in the operation. `of` is the right operation of a name. */
  readonly wrong: (of: (name: StepName) => Operation) => Response | Partial<Operation>;
}

const amount = (count: number): Json => ({ raw: raw(count), asset: 'COPM' });

/** A 2xx with a transfer like the one in another response. */
function transfer(
  status: number,
  { response }: Operation,
  changes: Json,
  replayed = false,
): Response {
  assert(response?.body);
  const body = { ...response.body, ...changes };
  return { status, replayed, code: null, details: null, body };
}

function refusal(status: number, code: string, details: Json): Response {
  return { status, replayed: false, code, details, body: null };
}

/** A balance of COPM that is off by as many units. */
function balance({ response }: Operation, available: number, held = 0): Response {
  assert(response?.body);
  const [own, ...others] = list(response.body.balances);
  const off = (field: string, by: number) => ({
    [field]: (BigInt(text(own?.[field])) + BigInt(raw(by))).toString(),
  });
  const wrong = {
    ...own,
    ...off('available', available),
    ...off('held', held),
    ...off('total', available + held),
  };
  return { ...response, body: { ...response.body, balances: [wrong, ...others] } };
}

/** Wrong responses, each to one request of the script. */
export const PLANTED: Readonly<Record<string, Planted>> = {
  'a transfer is refused although it is funded': {
    name: 'paid',
    wrong: () => refusal(422, 'insufficient_funds', { available: raw(15), requested: raw(4) }),
  },
  'a transfer is accepted although it is not funded': {
    name: 'refused',
    wrong: (of) => transfer(201, of('paid'), { id: randomUUID(), amount: amount(14) }),
  },
  'a balance is stale by a millisecond': {
    name: 'after',
    wrong: (of) => {
      const call = of('paid').return! + 1;
      return { call, return: call + 1, response: of('before').response };
    },
  },
  'a balance misses an acknowledged transfer': {
    name: 'afterLast',
    wrong: (of) => balance(of('afterLast'), 1),
  },
  'a transfer counts twice in a balance': {
    name: 'afterLast',
    wrong: (of) => balance(of('afterLast'), -1),
  },
  'a balance shows a group that was rolled back': {
    name: 'afterLost',
    wrong: (of) => balance(of('afterLost'), -2),
  },
  'a replay returns the result of another request': {
    name: 'otherAgain',
    wrong: (of) => transfer(200, of('paid'), {}, true),
  },
  'a replay returns a second transfer': {
    name: 'otherAgain',
    wrong: (of) => transfer(200, of('other'), { id: randomUUID() }, true),
  },
  'a key that is bound to another request is accepted': {
    name: 'reused',
    wrong: (of) => transfer(200, of('paid'), {}, true),
  },
  'a key whose first result was a refusal returns a transfer': {
    name: 'refusedAgain',
    wrong: (of) => transfer(201, of('paid'), { id: randomUUID(), amount: amount(14) }),
  },
  'a refund exceeds what is left of its original': {
    name: 'refundOver',
    wrong: (of) => transfer(201, of('refund'), { id: randomUUID(), amount: amount(4) }),
  },
  'a transfer does not show its refund': {
    name: 'readPaid',
    wrong: (of) => transfer(200, of('readPaid'), { refunded: amount(0) }),
  },
  'a transfer shows an approval of the future': {
    name: 'readWaiting',
    wrong: (of) => transfer(200, of('approved'), {}),
  },
  'the creator of a transfer approves it': {
    name: 'ownApproval',
    wrong: (of) => transfer(200, of('approved'), {}),
  },
  'an approval in time comes too late': {
    name: 'approved',
    wrong: () =>
      refusal(409, 'invalid_state', { current: 'expired', allowed: ['pending_approval'] }),
  },
  'an approval after the expiry is accepted': {
    name: 'lateApproval',
    wrong: (of) => transfer(200, of('expiring'), { status: 'completed' }),
  },
  'a capture after the expiry is accepted': {
    name: 'lateCapture',
    wrong: (of) => transfer(200, of('expiringHeld'), { status: 'completed', captured: amount(2) }),
  },
  'a capture exceeds the held amount': {
    name: 'captureOver',
    wrong: (of) => transfer(200, of('captured'), { captured: amount(4) }),
  },
  'a completed transfer is canceled': {
    name: 'lateCancel',
    wrong: (of) => transfer(200, of('approved'), { status: 'rejected' }),
  },
  'a hold outlives a rejection': {
    name: 'afterRejected',
    wrong: (of) => balance(of('afterRejected'), -4, 4),
  },
  'a spent hold is still there': {
    name: 'afterApproved',
    wrong: (of) => balance(of('afterApproved'), 0, 5),
  },
};

/** The script's history with a wrong response. */
export function plant(scripted: Scripted, { name, wrong }: Planted): History {
  const { history, places } = scripted;
  const change = wrong((one) => history.operations[places[one]]!);
  return withOperation(scripted, name, (operation) => ({
    ...operation,
    ...('status' in change ? { response: change } : change),
  }));
}
