import { newId, type Uuid } from '../../src/core/ids.js';
import { orderText } from '../../src/payouts/rails/wire.js';
import type { Arrival } from './callbacks.js';
import { type Bench, mustBeSame, type Rule } from './bench.js';
import { KEY_RULES } from './key-rules.js';
import {
  mustAnswer,
  mustBeUnknown,
  type Signing,
  statement,
  Violation,
  voidStatement,
} from './probe.js';

const ORDERS = 'POST {gateway}/payouts';
const ASKING = 'GET {gateway}/payouts/{key}';
const VOIDING = 'POST {gateway}/payouts/{key}/void';
const SIGNATURES = 'Signatures, in both directions';
const ANSWERS = 'Answers';
const CALLBACKS = 'What the gateway reports';

const CANNOT_VOID =
  'it says that it cannot void, so nothing is given back before its quiet time is over';
const AT_ONCE = 4;
const RACES = 5;
const FAR_S = 600;

/** Rules in the order of their checks. The last rule examines the payments of all earlier ones. */
export const RULES: readonly Rule[] = [
  { name: 'order', rule: 'a new order is taken and paid', where: ORDERS, check: takesOrders },
  {
    name: 'repeated_key',
    rule: 'a key is acted on once, however often it comes',
    where: ORDERS,
    check: actsOnce,
  },
  {
    name: 'unknown_key',
    rule: 'of a key that it never heard of it says so',
    where: ANSWERS,
    check: knowsUnknown,
  },
  {
    name: 'malformed',
    rule: 'what is no order is 400 and not acted on',
    where: ORDERS,
    check: refusesMalformed,
  },
  {
    name: 'signature',
    rule: 'a wrong signature is 401 and not acted on',
    where: SIGNATURES,
    check: checksSignatures,
  },
  {
    name: 'timestamp',
    rule: 'a timestamp far from now is 401',
    where: SIGNATURES,
    check: checksTimestamps,
  },
  {
    name: 'void_before',
    rule: 'what was voided before it came is never paid',
    where: VOIDING,
    check: voidsBefore,
  },
  {
    name: 'void_paid',
    rule: 'a void of what was paid tells that',
    where: VOIDING,
    check: voidsPaid,
  },
  {
    name: 'void_accepted',
    rule: 'a void of what was accepted holds, or is denied',
    where: VOIDING,
    check: voidsAccepted,
  },
  {
    name: 'void_race',
    rule: 'of an order and a void at the same time one wins',
    where: VOIDING,
    check: racesVoids,
  },
  ...KEY_RULES,
  {
    name: 'callback',
    rule: 'a callback is signed, and comes again until it is taken',
    where: CALLBACKS,
    check: callsBack,
  },
  {
    name: 'for_ever',
    rule: 'an end stays, and nothing is told as paid twice',
    where: ASKING,
    check: staysEnded,
  },
];

async function takesOrders(bench: Bench): Promise<void> {
  const order = bench.newOrder();
  const report = await bench.give(order);
  mustBeSame(report, await bench.completed(order.key));
}

async function actsOnce(bench: Bench): Promise<void> {
  const order = bench.newOrder('later');
  const first = await bench.give(order);
  const repeat = async (): Promise<void> => {
    mustBeSame(first, statement(await bench.probe.order(order), order.key));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, repeat));
  mustBeSame(first, await bench.completed(order.key));
  await repeat();
  const after = await bench.ask(order.key);
  if (after.status !== 'completed')
    throw new Violation(`what was paid is ${after.status} after the order came again`);
  mustBeSame(first, after);
}

async function knowsUnknown(bench: Bench): Promise<void> {
  const key = newId();
  for (let times = 0; times < 2; times += 1) mustBeUnknown(await bench.probe.get(key), key);
}

async function refusesMalformed(bench: Bench): Promise<void> {
  const { key, ...rest } = JSON.parse(orderText(bench.newOrder())) as { key: Uuid; amount: object };
  const bodies: readonly (readonly [what: string, body: string])[] = [
    ['an order without amount', JSON.stringify({ ...rest, key, amount: undefined })],
    [
      'an amount that is no integer',
      JSON.stringify({ ...rest, key, amount: { ...rest.amount, raw: '1.5' } }),
    ],
    ['an order without destination', JSON.stringify({ ...rest, key, destination: undefined })],
    ['a key that is no UUID', JSON.stringify({ ...rest, key: 'one' })],
    ['what is no JSON', `{"key":"${key}"`],
  ];
  for (const [what, body] of bodies) mustAnswer(await bench.probe.order(body), 400, what);
  await bench.isUntouched(key);
}

async function checksSignatures(bench: Bench): Promise<void> {
  const { probe } = bench;
  const [own] = probe.keys;
  const order = bench.newOrder();
  const other = Buffer.from(
    orderText({ ...order, amount: { ...order.amount, raw: order.amount.raw + 1n } }),
  );
  const wrong: readonly (readonly [what: string, signing: Signing])[] = [
    ['no signature', { isUnsigned: true }],
    [
      'a signature under another secret',
      { key: { id: own.id, secret: Buffer.alloc(own.secret.length, 1) } },
    ],
    ['the id of a key that there is not', { key: { ...own, id: 'no-such-key' } }],
    ['a signature of another body', { body: other }],
  ];
  for (const [what, signing] of wrong) {
    mustAnswer(await probe.order(order, signing), 401, what);
    mustAnswer(await probe.get(order.key, signing), 401, what);
    mustAnswer(await probe.void(order.key, signing), 401, what);
  }
  await bench.isUntouched(order.key);
}

async function checksTimestamps(bench: Bench): Promise<void> {
  const order = bench.newOrder();
  for (const awayS of [-FAR_S, FAR_S]) {
    const what = `a timestamp ${FAR_S} s ${awayS < 0 ? 'ago' : 'ahead'}`;
    mustAnswer(await bench.probe.order(order, { awayS }), 401, what);
    mustAnswer(await bench.probe.get(order.key, { awayS }), 401, what);
    mustAnswer(await bench.probe.void(order.key, { awayS }), 401, what);
  }
  await bench.isUntouched(order.key);
}

async function voidsBefore(bench: Bench): Promise<string | void> {
  const order = bench.newOrder();
  const report = voidStatement(await bench.probe.void(order.key), order.key);
  if (report === null) return CANNOT_VOID;
  if (report.status !== 'voided')
    throw new Violation(`a void of what it never had was answered ${report.status}`);
  bench.voided.add(order.key);
  await staysVoided(bench, order.key);
}

/** The key stays voided for every request. */
async function staysVoided(bench: Bench, key: Uuid): Promise<void> {
  const { probe } = bench;
  for (const answer of [
    await probe.order(bench.orderOf(key)),
    await probe.get(key),
    await probe.void(key),
  ]) {
    const { status } = statement(answer, key);
    if (status !== 'voided')
      throw new Violation(`${answer.request} was answered ${status} for a key that was voided`);
  }
}

async function voidsPaid(bench: Bench): Promise<string | void> {
  const order = bench.newOrder();
  await bench.give(order);
  const paid = await bench.completed(order.key);
  const report = voidStatement(await bench.probe.void(order.key), order.key);
  if (report === null) return CANNOT_VOID;
  if (report.status !== 'completed')
    throw new Violation(`a void of what was paid was answered ${report.status}`);
  mustBeSame(paid, report);
  mustBeSame(paid, await bench.completed(order.key));
}

async function voidsAccepted(bench: Bench): Promise<string | void> {
  const order = bench.newOrder('later');
  const given = await bench.give(order);
  const report = voidStatement(await bench.probe.void(order.key), order.key);
  if (report === null) return CANNOT_VOID;
  if (report.status === 'voided') {
    if (given.status === 'completed') throw new Violation('what was paid was voided');
    bench.voided.add(order.key);
    return staysVoided(bench, order.key);
  }
  mustBeSame(given, await bench.completed(order.key));
  return `its void was answered ${report.status}, and it was paid`;
}

async function racesVoids(bench: Bench): Promise<string | void> {
  for (let race = 0; race < RACES; race += 1) {
    const order = bench.newOrder(race % 2 === 0 ? 'soon' : 'later');
    const { key } = order;
    const [ordered, voided] = await Promise.all([bench.probe.order(order), bench.probe.void(key)]);
    const [taken, report] = [statement(ordered, key), voidStatement(voided, key)];
    if (report === null) return CANNOT_VOID;
    if (report.status !== 'voided') await bench.completed(key);
    else if (taken.status === 'completed')
      throw new Violation('an order was answered completed, and its void voided');
    else {
      bench.voided.add(key);
      await staysVoided(bench, key);
    }
  }
}

async function callsBack(bench: Bench): Promise<string> {
  const { callbacks } = bench;
  const order = bench.newOrder('later');
  await bench.give(order);
  const all = await bench.until(
    `a callback at ${callbacks.path}, and the same again after a 503`,
    () => {
      for (const arrival of callbacks.arrivals) mustBeGenuine(arrival, callbacks.path);
      const about = callbacks.about(order.key);
      return about.some(({ answered }) => answered === 200) ? about : undefined;
    },
  );
  const [first] = all;
  const paid = await bench.completed(order.key);
  for (const { callback } of all) {
    if (callback === null || first?.callback?.callbackId !== callback.callbackId)
      throw new Violation('after a 503 it came again under another id');
    if (callback.status !== paid.status)
      throw new Violation(`a callback says ${callback.status}, and GET ${paid.status}`);
    mustBeSame(paid, callback);
  }
  return `${all.length} arrivals`;
}

function mustBeGenuine({ path, verdict, callback }: Arrival, expectedPath: string): void {
  if (!path.endsWith(expectedPath))
    throw new Violation(`a callback went to ${path.slice(0, 80)}, and not to ${expectedPath}`);
  if (verdict === 'forged') throw new Violation('the signature of a callback is wrong');
  if (verdict === 'late')
    throw new Violation('the timestamp of a callback is more than 300 s from now');
  if (callback === null) throw new Violation('a callback is not what the page describes');
}

async function staysEnded(bench: Bench): Promise<string> {
  for (const [key, reference] of bench.paid) {
    const report = await bench.ask(key);
    if (report.status !== 'completed') throw new Violation(`what was paid is ${report.status} now`);
    mustBeSame({ ...report, reference }, report);
  }
  for (const key of bench.voided) await staysVoided(bench, key);
  for (const key of [...bench.paid.keys(), ...bench.voided]) {
    const paidCallbacks = bench.callbacks
      .about(key)
      .filter(({ callback }) => callback?.status === 'completed');
    const ids = new Set(paidCallbacks.map(({ callback }) => callback?.callbackId));
    if (ids.size > 0 && bench.voided.has(key))
      throw new Violation('a callback told as paid what had been voided');
    if (ids.size > 1)
      throw new Violation('two callbacks told one key as paid: it may be paid twice');
  }
  return `${bench.paid.size} keys were paid, each once, and ${bench.voided.size} voided: your books must say so too`;
}
