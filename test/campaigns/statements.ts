import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import {
  type Clock,
  instant,
  type Instant,
  systemClock,
  toRfc3339,
} from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { SETTLED_AFTER_MS } from '../../src/ledger/database-clock.js';
import { StatementMaker } from '../../src/statements/statement-maker.js';
import { askStatement } from '../statements/support.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import {
  answered,
  type Bank,
  type Json,
  LEAST,
  list,
  object,
  openBank,
  text,
} from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { knownAnswer } from '../helpers/known-answer.js';
import { assertLedgerSound } from '../helpers/world.js';

interface StatementsCampaign {
  readonly db: TestDatabase;
  readonly accounts: number;
  /** Statements of random accounts and periods, each compared with the balances of its moments. */
  readonly statements: number;
  /** Who send transfers all the while. */
  readonly clients: number;
  /** How much faster than the real one the service's clock goes. */
  readonly speed: number;
}

const ASKED_AT_ONCE = 16;
const POLL_MS = 50;
const END_MS = 600_000;
const ASSETS = ['COPM', 'DUSD'] as const;

interface Checked {
  readonly account: Account;
  readonly asset: string;
  readonly at: Instant;
  readonly total: unknown;
}

/**
 * While money moves between the accounts, statements of random ones and random periods that have just become settled: opening,
 * movements and closing agree with each other and with the balances read at those moments, then and once more at the end.
 */
export async function statementsCampaign(wanted: StatementsCampaign): Promise<string> {
  const { db, speed, statements, clients } = wanted;
  const began = systemClock();
  const clock: Clock =
    speed === 1 ? systemClock : () => instant(began + (systemClock() - began) * speed);
  const api = await startTestApi(db, {}, { clock });
  try {
    const bank = await openBank(api);
    const funds = { COPM: 10_000n * LEAST, DUSD: 10_000n * LEAST };
    const accounts: Account[] = [];
    while (accounts.length < wanted.accounts) accounts.push(await bank.account({ funds }));
    const state = { isOver: false, moved: 0 };
    const checked: Checked[] = [];
    let left = statements;
    const ask = async (): Promise<void> => {
      await passes(clock, (SETTLED_AFTER_MS * 3) / 2);
      while (left-- > 0 && !state.isOver)
        checked.push(...(await check(bank, accounts, instant(began), clock)));
    };
    const ends = [
      Promise.all(Array.from({ length: ASKED_AT_ONCE }, ask)),
      ...Array.from({ length: clients }, () => send(bank, accounts, state)),
      make({ database: db.database, clock }, state),
    ].map((work) => work.finally(() => (state.isOver = true)));
    // Clients finish before the stop; the first one that failed says why.
    await Promise.allSettled(ends);
    await Promise.all(ends);
    for (const { account, asset, at, total } of checked)
      assert.equal(await totalAt(bank, account, asset, at), total);
    await assertLedgerSound(db.database);
    return `${statements} statements of ${accounts.length} accounts during ${state.moved} transfers: each opening and closing balance equals the balance of that moment, read at once and at the end`;
  } finally {
    await api.stop();
  }
}

async function send(
  bank: Bank,
  accounts: readonly Account[],
  state: { isOver: boolean; moved: number },
): Promise<void> {
  while (!state.isOver) {
    const [from, to] = [anyOf(accounts), anyOf(accounts)];
    if (from.id === to.id) continue;
    const { status } = await bank.send({ from, to, raw: LEAST, asset: anyOf(ASSETS) });
    // 503: the queue was full, or the result is unknown.
    assert([201, 422, 503].includes(status), String(status));
    if (status === 201) state.moved += 1;
  }
}

/** As the sweeps of two workers do. */
async function make(
  deps: ConstructorParameters<typeof StatementMaker>[0],
  state: { readonly isOver: boolean },
): Promise<void> {
  const { signal } = new AbortController();
  const makers = (['short', 'short', 'long'] as const).map(
    (length) => new StatementMaker(deps, length),
  );
  await Promise.all(
    makers.map(async (maker) => {
      while (!state.isOver) if (!(await maker.makeNext(signal))) await sleep(POLL_MS);
    }),
  );
}

async function check(
  bank: Bank,
  accounts: readonly Account[],
  began: Instant,
  clock: Clock,
): Promise<Checked[]> {
  const account = anyOf(accounts);
  const asset = anyOf(ASSETS);
  // As near to the present as may be, half of the times: there what is on its way would be missed.
  const latest = clock() - SETTLED_AFTER_MS;
  const earliest = Math.max(began, account.createdAt);
  const within = (): number => earliest + Math.floor(Math.random() * (latest - earliest));
  const to = instant(Math.random() < 0.5 ? latest : within());
  const from = instant(Math.min(to, within()));
  const key = randomUUID();
  const { status, json: made } = await known(() =>
    askStatement(bank, { account, from, to, asset }, { key }),
  );
  assert(status === 201 || status === 200, String(status));
  const opening = object(made.opening_balance).raw;
  const closing = object(made.closing_balance).raw;
  const before = instant(from - 1);
  if (before >= account.createdAt)
    assert.equal(await totalAt(bank, account, asset, before), opening);
  assert.equal(await totalAt(bank, account, asset, to), closing);
  await assertFile(bank, made, [opening, closing]);
  return [{ account, asset, at: to, total: closing }];
}

async function assertFile(
  bank: Bank,
  { id }: Json,
  [opening, closing]: readonly unknown[],
): Promise<void> {
  const path = `/v1/statements/${text(id)}`;
  while (answered(await known(() => bank.get(path)), 200).json.status !== 'ready')
    await sleep(POLL_MS);
  const { bytes } = answered(await known(() => bank.get(`${path}/file`)), 200);
  const [, first = [], ...rest]: string[][] = parse(bytes, { bom: true });
  const last = rest.pop() ?? [];
  assert.deepEqual([first[4], last[4]], [opening, closing]);
  let balance = BigInt(text(opening));
  for (const [, , into, out, after] of rest) {
    balance += BigInt(into || 0) - BigInt(out || 0);
    assert.equal(after, balance.toString());
  }
  assert.equal(balance.toString(), closing);
}

async function totalAt(bank: Bank, { id }: Account, asset: string, at: Instant): Promise<unknown> {
  const { json } = answered(
    await known(() => bank.get(`/v1/accounts/${id}/balances?at=${toRfc3339(at)}`)),
    200,
  );
  return list(json.balances).find((one) => one.asset === asset)?.total;
}

/** As every client does: asks again after a 503, with the same key. */
function known(ask: () => Promise<TestAnswer>): Promise<TestAnswer> {
  return knownAnswer(ask, END_MS);
}

async function passes(clock: Clock, ms: number): Promise<void> {
  for (const until = clock() + ms; clock() < until;) await sleep(POLL_MS);
}

function anyOf<T>(all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)]!;
}
