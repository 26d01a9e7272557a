import type { RecipientKey } from '../../src/payouts/rails/destinations.js';
import type { Bench, Rule } from './bench.js';
import { holderOf, mustAnswer, statement, Violation } from './probe.js';

const RESOLVING = 'POST {gateway}/resolve';
const NO_KEYS = 'not checked: name keys with --key and --unknown-key';
const NOT_HOLDER = 'nobody-at-all';

/** Rules for gateways that take keys of Bre-B. */
export const KEY_RULES: readonly Rule[] = [
  {
    name: 'resolve',
    rule: 'who holds a key is said, twice the same',
    where: RESOLVING,
    check: resolves,
  },
  {
    name: 'resolve_signed',
    rule: 'a wrong signature about a key is 401, and what names no key 400',
    where: RESOLVING,
    check: refusesResolves,
  },
  {
    name: 'holder',
    rule: 'a key is paid to the named holder, and to nobody else',
    where: RESOLVING,
    check: paysHolder,
  },
];

function keysOf({ orders }: Bench): { held: RecipientKey; unknown: RecipientKey } | null {
  const { heldKey: held, unknownKey: unknown } = orders;
  return held === undefined || unknown === undefined ? null : { held, unknown };
}

async function resolves(bench: Bench): Promise<string | void> {
  const keys = keysOf(bench);
  if (keys === null) return NO_KEYS;
  const ask = async ({ type, keyType, key }: RecipientKey) =>
    holderOf(await bench.probe.resolve({ type, keyType, key }), key);
  const [first, again] = [await ask(keys.held), await ask(keys.held)];
  if (first === null || again === null) throw new Violation('the key that is held is unknown');
  if (first.holder !== again.holder)
    throw new Violation(
      `the same key was answered with the holder ${first.holder} and then with ${again.holder}`,
    );
  if ((await ask(keys.unknown)) !== null)
    throw new Violation('somebody holds the key that is unknown');
}

async function refusesResolves(bench: Bench): Promise<string | void> {
  const keys = keysOf(bench);
  if (keys === null) return NO_KEYS;
  const unsigned = await bench.probe.resolve(keys.held, { isUnsigned: true });
  mustAnswer(unsigned, 401, 'a question about a key without a signature');
  mustAnswer(await bench.probe.resolve('{}'), 400, 'a question without a key');
}

async function paysHolder(bench: Bench): Promise<string | void> {
  const keys = keysOf(bench);
  if (keys === null) return NO_KEYS;
  const { held } = keys;
  const found = holderOf(await bench.probe.resolve(held), held.key);
  if (found === null) throw new Violation('the key that is held is unknown');
  const order = bench.keyOrder(held, found.holder);
  await bench.give(order);
  await bench.completed(order.key);
  const other = bench.keyOrder(held, NOT_HOLDER);
  const { status, failureCode } = statement(await bench.probe.order(other), other.key);
  if (status !== 'failed' || failureCode !== 'recipient_changed')
    throw new Violation(`an order for another holder was answered ${status} ${failureCode ?? ''}`);
}
