import assert from 'node:assert/strict';
import { parse } from 'csv-parse/sync';
import { list, object, text } from '../helpers/bank.js';
import { ALL, type ReadFilter } from './arbitraries.js';
import type { Played, Plays } from './generated.js';
import { ACTORS, type ActorName, BATCH_LISTS, type Keyed, KEYED } from './operations.js';
import { assertSame, nthOf, pairs, queryOf, Reading, SOME_PAGES } from './reading.js';
import { RefBatch } from './reference-batch.js';
import { FORBIDDEN, type Json, NOT_FOUND, type RefListed } from './reference-state.js';
import type { ModelWorld } from './world.js';

type ListedRead =
  | `read ${'transfer' | 'bonus' | 'payout' | 'schedule' | 'batch'}`
  | `read ${'transfers' | 'bonuses' | 'payouts' | 'schedules' | 'batches' | 'rows' | 'file'}`
  | 'find by key';

const BATCH_STATUSES = {
  ...{ transfer_in: 'validating', transfer_out: 'ready', payin_in: 'rejected' },
  ...{ fee_out: 'executing', bonus_in: 'completed', bonus_out: 'partially_failed' },
};

/** The filters of lists, for the kind of movement that a read names; none for any other kind. */
const STATUSES: Readonly<Record<Keyed, Readonly<Record<string, string>>>> = {
  transfers: {
    ...{ transfer_in: 'pending_approval', transfer_out: 'completed', fee_out: 'completed' },
    ...{ payin_in: 'rejected', bonus_out: 'expired' },
  },
  bonuses: {},
  payouts: {
    ...{
      transfer_in: 'pending_approval',
      transfer_out: 'approved',
      fee_out: 'in_progress',
      payin_in: 'rejected',
    },
    ...{
      bonus_in: 'failed',
      bonus_out: 'canceled',
      adjustment_in: 'returned',
      payout_out: 'completed',
    },
  },
  schedules: { transfer_out: 'completed', fee_out: 'canceled', payin_in: 'active' },
  bonus_batches: BATCH_STATUSES,
  payout_batches: BATCH_STATUSES,
};

/** A filter, which a list is read without if its value is null, and what it keeps. */
interface Condition {
  readonly name: string;
  readonly value: string | null;
  readonly keeps: (one: RefListed) => boolean;
}

/** Compares what is listed under an address of its own, and each of it, with what the reference knows. */
export class ListedReads {
  private readonly reading: Reading;

  constructor(private readonly world: ModelWorld) {
    this.reading = new Reading(world);
  }

  readonly plays: Plays<ListedRead> = {
    'read transfers': (filter) => this.list('transfers', filter, SOME_PAGES),
    'read bonuses': (filter) => this.list('bonuses', filter, SOME_PAGES),
    'read payouts': (filter) => this.list('payouts', filter, SOME_PAGES),
    'read schedules': (filter) => this.list('schedules', filter, SOME_PAGES),
    'read batches': async (filter) => {
      for (const what of BATCH_LISTS) await this.list(what, filter, SOME_PAGES);
    },
    'read transfer': (which) => this.one('transfers', which),
    'read bonus': (which) => this.one('bonuses', which),
    'read payout': (which) => this.one('payouts', which),
    'read schedule': (which) => this.one('schedules', which),
    'read batch': async (which) => {
      for (const what of BATCH_LISTS) await this.one(what, which);
    },
    'read rows': async ({ nth, actor }) => {
      const batch = this.batch(nth);
      if (batch !== undefined) await this.rowsOf(batch, actor);
    },
    'read file': (which) => this.file(which),
    'find by key': (which) => this.byKey(which),
  };

  /** The whole of each list, and every row of every batch. */
  async everything(): Promise<void> {
    for (const actor of ACTORS) {
      for (const what of KEYED) await this.list(what, { ...ALL, actor });
      for (const what of BATCH_LISTS)
        for (const batch of this.world.ledger.tenantOf(actor)[what])
          await this.rowsOf(batch, actor);
    }
  }

  private async list(what: Keyed, filter: ReadFilter, pages = Infinity): Promise<void> {
    const { actor, limit } = filter;
    const conditions = this.conditions(what, filter);
    const given = Object.fromEntries(conditions.map(({ name, value }) => [name, value]));
    const query = queryOf({ ...given, ...this.reading.bounds(filter), limit });
    const made: readonly RefListed[] = this.world.ledger.tenantOf(actor)[what];
    const kept = made
      .filter(
        (one) =>
          this.isVisible(one, actor) &&
          conditions.every(({ value, keeps }) => value === null || keeps(one)) &&
          this.reading.isWithin(one.at, filter),
      )
      .toSorted((a, b) => b.at - a.at || (text(a.json.id) < text(b.json.id) ? 1 : -1));
    const walked = await this.reading.walk(actor, `/v1/${what}?${query}`, pages);
    for (const [item, one] of pairs(walked, kept)) assert.deepEqual(item, shownOf(one));
  }

  /** The filters of a list beside those of the time. */
  private conditions(what: Keyed, filter: ReadFilter): readonly Condition[] {
    const { account, kind, asset, least, most, to, pair, original } = filter;
    const source = account < 7 ? this.world.idOf(account).id : null;
    const status = STATUSES[what][kind ?? ''] ?? null;
    const common: readonly Condition[] = [
      { name: 'source_account', value: source, keeps: (one) => one.source.id === source },
      { name: 'status', value: status, keeps: ({ json }) => json.status === status },
    ];
    if (what !== 'transfers' && what !== 'bonuses' && what !== 'payouts') return common;
    const rawOf = ({ json }: RefListed): bigint => BigInt(text(object(json.amount).raw));
    const bound = (raw: bigint | null) => (asset === null || raw === null ? null : String(raw));
    const { name, value } = pair ?? { name: 'invoice', value: null };
    return [
      ...common,
      { name: 'asset', value: asset, keeps: ({ json }) => object(json.amount).asset === asset },
      { name: 'amount[gte]', value: bound(least), keeps: (one) => rawOf(one) >= least! },
      { name: 'amount[lte]', value: bound(most), keeps: (one) => rawOf(one) <= most! },
      {
        ...{ name: `metadata[${name}]`, value },
        keeps: ({ json }) => object(json.metadata)[name] === value,
      },
      ...(what === 'payouts' ? paidOutTo(to) : this.paidTo(what, to)),
      ...(what === 'transfers' ? [this.refundsOf(original)] : []),
    ];
  }

  private paidTo(what: 'transfers' | 'bonuses', to: number | null): readonly Condition[] {
    const name = what === 'transfers' ? 'destination_account' : 'recipient_account';
    const value = to === null ? null : this.world.idOf(to).id;
    return [{ name, value, keeps: ({ destination }) => destination?.id === value }];
  }

  private refundsOf(original: number | null): Condition {
    const refunded = this.all('transfers').flatMap(({ json }) =>
      json.refund_of === null ? [] : text(object(json.refund_of).id),
    );
    const value = original === null ? null : (nthOf(refunded, original) ?? null);
    const keeps = ({ json }: RefListed) =>
      json.refund_of !== null && object(json.refund_of).id === value;
    return { name: 'refund_of', value, keeps };
  }

  private isVisible({ source, destination }: RefListed, actor: ActorName): boolean {
    const { ledger } = this.world;
    return (
      ledger.role(actor, source) !== null ||
      (destination !== null && ledger.role(actor, destination) !== null)
    );
  }

  /** Includes ids of the other tenant. */
  private async one(
    what: Keyed,
    { nth, actor }: { readonly nth: number; readonly actor: ActorName },
  ): Promise<void> {
    const made = nthOf(this.all(what), nth);
    if (made === undefined) return;
    const answer = await this.reading.get(actor, `/v1/${what}/${text(made.json.id)}`);
    if (!this.isOwn(what, made, actor)) return assertSame(answer, NOT_FOUND);
    const body = made instanceof RefBatch ? this.world.ledger.reviewed(made) : made.json;
    assertSame(answer, this.isVisible(made, actor) ? { status: 200, body } : FORBIDDEN);
  }

  private all(what: Keyed): readonly RefListed[] {
    return this.world.ledger.homes.flatMap((tenant): readonly RefListed[] => tenant[what]);
  }

  private batch(nth: number): RefBatch | undefined {
    return nthOf(this.world.ledger.batches.all, nth);
  }

  private isOwn(what: Keyed, made: RefListed, actor: ActorName): boolean {
    const own: readonly RefListed[] = this.world.ledger.tenantOf(actor)[what];
    return own.includes(made);
  }

  private async byKey({ nth, actor, among }: Played<'find by key'>): Promise<void> {
    const used = nthOf(this.world.keys, nth);
    if (used === undefined) return;
    const what = among ?? used.what;
    const listed: readonly RefListed[] = this.world.ledger.tenantOf(actor)[what];
    const made = listed.filter((one) => one.key === used.key && this.isVisible(one, actor));
    assertSame(await this.reading.get(actor, `/v1/${what}?idempotency_key=${used.key}`), {
      status: 200,
      body: { items: made.map(shownOf), next_cursor: null },
    });
  }

  private async rowsOf(batch: RefBatch, actor: ActorName): Promise<void> {
    const what = `${batch.of.kind}_batches` as const;
    const answer = await this.reading.get(actor, `/v1/${what}/${batch.of.id}/rows`);
    if (!this.isOwn(what, batch, actor)) return assertSame(answer, NOT_FOUND);
    if (!this.isVisible(batch, actor)) return assertSame(answer, FORBIDDEN);
    const shown = list(answer.json.items).map((row) => ({
      ...row,
      failure: row.failure === null ? null : object(row.failure).code,
    }));
    assert.deepEqual(
      shown,
      batch.rows.map((row) => batch.rowJson(row)),
    );
  }

  private async file({ nth, actor, file }: Played<'read file'>): Promise<void> {
    const batch = this.batch(nth);
    if (batch === undefined) return;
    const what = `${batch.of.kind}_batches` as const;
    const answer = await this.reading.get(actor, `/v1/${what}/${batch.of.id}/files/${file}`);
    if (!this.isOwn(what, batch, actor)) return assertSame(answer, NOT_FOUND);
    if (!this.isVisible(batch, actor)) return assertSame(answer, FORBIDDEN);
    const isThere = file === 'errors' ? batch.problems.length > 0 : batch.isFinished;
    if (!isThere) return assertSame(answer, NOT_FOUND);
    assertSame(answer, { status: 200 });
    const [, ...lines] = parse(answer.bytes, { bom: true });
    if (file === 'result')
      return assert.deepEqual(
        // The row, its status, the id of its bonus or payout, and the code of a failure.
        lines.map((cells) => RESULT_COLUMNS[batch.of.kind].map((index) => cells[index])),
        results(batch),
      );
    // The order of a row's problems is free.
    assert.deepEqual(
      lines.map((cells) => cells.slice(0, 3).join()).sort(),
      batch.problems.map((one) => one.join()).sort(),
    );
  }
}

/** Payouts to accounts of one bank, by the ends of their numbers. Those to keys have none. */
function paidOutTo(to: number | null): readonly Condition[] {
  const end = to === null ? null : '4099';
  const keeps = ({ json }: RefListed) => object(json.destination).account_number === `****${end}`;
  return [
    { name: 'bank_code', value: end && '0007', keeps },
    { name: 'account_number_end', value: end, keeps },
  ];
}

/** For each row its number, its end, the bonus, or the reason without one. */
function results({ rows }: RefBatch): string[][] {
  return rows.map(({ number, resultStatus, paymentId, code }) => [
    String(number),
    resultStatus,
    paymentId ?? '',
    code ?? '',
  ]);
}

const RESULT_COLUMNS = { bonus: [0, 5, 6, 8], payout: [0, 9, 10, 12] } as const;

function shownOf(one: RefListed): Json {
  return one instanceof RefBatch ? one.reviewed : one.json;
}
