import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { instant } from '../../src/core/instant.js';
import { holds } from '../../src/db/entities/ledger.js';
import { transfers } from '../../src/db/entities/operations.js';
import { updateSql } from '../../src/db/statements.js';
import { asUuid } from '../../src/core/ids.js';
import { request, type TestAnswer } from '../helpers/api.js';
import {
  answered,
  type Bank,
  type Json,
  LEAST,
  object,
  openBank,
  text,
  walk,
} from '../helpers/bank.js';
import type { Account } from '../../src/db/entities/parties.js';
import { approvalsOf } from '../helpers/guarded.js';
import { assertLedgerSound } from '../helpers/world.js';
import { processes, type Storm } from './storms.js';

interface RefundStorm extends Storm {
  readonly rounds: number;
  /** How many refund one transfer at the same time. */
  readonly width: number;
}

/** A tenant with an account that pays and one that receives, and its requests, which go to one process after the other. */
interface Stage extends RefundStorm {
  readonly bank: Bank;
  readonly payer: Account;
  readonly receiver: Account;
  readonly ask: (method: string, path: string, body: object, key?: string) => Promise<TestAnswer>;
}

/** Each part is so large that a few of the parts remain. */
const PARTS = 24n;
/** The expiry may come this much after the other requests. */
const AROUND_MS = 20;

const amount = (raw: bigint): Json => ({ amount: { raw: raw.toString(), asset: 'COPM' } });
const pathOf = ({ id }: Json): string => `/v1/transfers/${text(id)}`;

/**
 * Refunds of one transfer, then its capture, cancel, expiry and refunds, then two changes of its metadata, always at the same
 * time. Refunds never exceed the original, a held transfer ends once, and every repeated request gets its own result.
 */
export async function refundStorm(storm: RefundStorm): Promise<string> {
  const { api, others = [], rounds, width } = storm;
  const bank = await openBank(api);
  const funds = { COPM: 1_000n * LEAST * BigInt(rounds) };
  // With enough of its own, only the sum of the refunds limits what the receiver sends back.
  const [payer, receiver] = [await bank.account({ funds }), await bank.account({ funds })];
  const urls = [api.baseUrl, ...others];
  let next = 0;
  const ask: Stage['ask'] = (method, path, body, key) =>
    request(urls[next++ % urls.length]!, method, path, {
      ...{ token: bank.token, body },
      ...(key === undefined ? {} : { key }),
    });
  const stage = { ...storm, bank, payer, receiver, ask };
  const ends = new Map<unknown, number>();
  for (let round = 0; round < rounds; round += 1) {
    await refundAtOnce(stage);
    const end = await endAtOnce(stage, round);
    ends.set(end, (ends.get(end) ?? 0) + 1);
    await changeAtOnce(stage);
  }
  const sum = (await bank.available(payer)) + (await bank.available(receiver));
  assert.equal(sum, 2n * funds.COPM);
  await assertLedgerSound(api.core.database);
  const told = Array.from(ends, ([end, count]) => `${count} ${String(end)}`).sort();
  return `${rounds} rounds of ${width} simultaneous refunds of one transfer ${processes(storm)}: no more was sent back than was received; its capture, cancel, expiry and refunds at once: ${told.join(', ')}, each with one end; of two changes of metadata at once both held`;
}

/** As many as fit succeed, and all get the same result again with the same key. */
async function refundAtOnce({ bank, payer, receiver, ask, width }: Stage): Promise<void> {
  const paid = await bank.sent({ from: payer, to: receiver, raw: 8n * LEAST });
  const part = (8n * LEAST) / PARTS + 1n;
  const keys = Array.from({ length: width }, () => randomUUID());
  const refund = (key: string, raw = part): Promise<TestAnswer> =>
    ask('POST', `${pathOf(paid)}/refunds`, amount(raw), key);
  const first = await Promise.all(keys.map((key) => refund(key)));
  const sent = first.filter(({ status }) => status === 201);
  assert.equal(BigInt(sent.length), PARTS - 1n);
  // The keys by turns go to the other process.
  const again = await Promise.all(keys.toReversed().map((key) => refund(key)));
  for (const [index, answer] of again.toReversed().entries()) {
    const { status, json } = first[index]!;
    if (status === 201) assert.equal(answered(answer, 200).json.id, json.id);
    else {
      answered(first[index]!, 422, 'refund_exceeds_amount');
      answered(answer, 422, 'refund_exceeds_amount');
    }
  }
  answered(await refund(keys[0]!, part + 1n), 409, 'idempotency_key_reused');
  const shown = answered(await bank.get(pathOf(paid)), 200).json;
  assert.equal(object(shown.refunded).raw, (BigInt(sent.length) * part).toString());
  const listed = await walk(bank, `/v1/transfers?limit=100&refund_of=${text(paid.id)}`);
  const ids = (refunds: readonly Json[]): string[] => refunds.map(({ id }) => text(id)).sort();
  assert.deepEqual(ids(listed), ids(sent.map(({ json }) => json)));
}

/** Returns the status in which a held transfer ends when everything that ends it comes at once, in every third round its expiry too. */
async function endAtOnce(stage: Stage, round: number): Promise<unknown> {
  const { api, bank, payer, receiver, ask } = stage;
  const held = await bank.sent({ from: payer, to: receiver, raw: LEAST, capture: 'manual' });
  if (round % 3 === 0) await expireSoon(stage, held);
  const [key, path] = [randomUUID(), pathOf(held)];
  const captures: TestAnswer[] = [];
  const capture = async (): Promise<unknown> =>
    captures.push(await ask('POST', `${path}/capture`, amount(LEAST - 1n), key));
  const refund = (body: object): Promise<TestAnswer> => ask('POST', `${path}/refunds`, body);
  const steps = [
    ...[capture, () => ask('POST', `${path}/cancel`, {}), capture],
    ...[() => refund({}), () => refund(amount(1n)), () => refund({})],
    () => approvalsOf(api).expire(asUuid(text(held.id))),
  ];
  const first = round % steps.length;
  const inTurn = [...steps.slice(first), ...steps.slice(0, first)];
  await Promise.all(inTurn.map((step) => step()));
  await capture();
  const { status, refunded } = answered(await bank.get(path), 200).json;
  assert.ok(['completed', 'rejected', 'expired'].includes(String(status)), String(status));
  const isCaptured = status === 'completed';
  for (const answer of captures)
    answered(answer, isCaptured ? 200 : 409, isCaptured ? undefined : 'invalid_state');
  assert.ok(BigInt(text(object(refunded).raw)) <= (isCaptured ? LEAST - 1n : 0n));
  const events = await walk(bank, '/v1/events?limit=100');
  const own = events.filter(({ data }) => object(object(data).object).id === held.id);
  assert.deepEqual(
    own.map(({ type }) => type),
    [`transfer.${String(status)}`],
  );
  return status;
}

/** Lets the time to capture end in the middle of the race. */
async function expireSoon({ api }: Stage, held: Json): Promise<void> {
  const id = asUuid(text(held.id));
  const at = instant(Date.now() + Math.random() * AROUND_MS);
  await api.core.database.withTransaction(async (transaction) => {
    await transaction.execute(updateSql(transfers, { captureExpiresAt: at }, { id }));
    await transaction.execute(updateSql(holds, { expiresAt: at }, { resourceId: id }));
  });
}

/** Different keys both hold; of one key one of both values holds, and only this one finds the transfer. */
async function changeAtOnce({ bank, payer, receiver, ask }: Stage): Promise<void> {
  const metadata = { order: randomUUID() };
  const paid = await bank.sent({ from: payer, to: receiver, raw: LEAST, metadata });
  const values = [randomUUID(), randomUUID()] as const;
  const changes = values.map((value, index) => ({ [`key_${index}`]: value, invoice: value }));
  const all = await Promise.all(
    changes.map((change) => ask('PATCH', pathOf(paid), { metadata: change })),
  );
  for (const answer of all) answered(answer, 200);
  const { metadata: shown } = answered(await bank.get(pathOf(paid)), 200).json;
  const { invoice, ...rest } = object(shown);
  assert.deepEqual(rest, { ...metadata, key_0: values[0], key_1: values[1] });
  for (const value of values) {
    const found = await walk(bank, `/v1/transfers?metadata[invoice]=${value}`);
    assert.deepEqual(
      found.map(({ id }) => id),
      value === invoice ? [paid.id] : [],
    );
  }
  assert.ok(values.some((value) => value === invoice));
}
