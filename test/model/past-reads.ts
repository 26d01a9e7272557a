import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { answered, text } from '../helpers/bank.js';
import { makeStatements } from '../statements/support.js';
import { HOUR } from './arbitraries.js';
import type { Moment, Played, Plays } from './generated.js';
import { type AssetName, ASSETS } from './operations.js';
import { assertSame, nthOf, Reading } from './reading.js';
import {
  amountJson,
  type Expected,
  invalidField,
  type RefAccount,
  type RefEntry,
  time,
  totalOf,
} from './reference-state.js';
import type { ModelWorld } from './world.js';

/** Until then the service does not promise that nothing more gets this date. */
const SETTLED_AFTER_MS = 15_000;

type PastRead = 'read past balances' | 'read statement';

/** Compares the balances of a past moment, and the statements of a period, with the reference's movements. */
export class PastReads {
  private readonly reading: Reading;

  constructor(private readonly world: ModelWorld) {
    this.reading = new Reading(world);
  }

  readonly plays: Plays<PastRead> = {
    'read past balances': (read) => this.balances(read),
    'read statement': (wanted) => this.statement(wanted),
  };

  private async balances({ account, actor, ...read }: Played<'read past balances'>): Promise<void> {
    const at = this.momentOf(account, read.at);
    const path = `/v1/accounts/${this.world.idOf(account).id}/balances?at=${time(at)}`;
    const answer = await this.reading.get(actor, path);
    const own = this.settled('at', at) ?? this.own(account, actor);
    if ('status' in own) return assertSame(answer, own);
    const balances = ASSETS.map((asset) => ({ asset, total: `${totalAt(own, asset, at)}` }));
    assertSame(answer, { status: 200, body: { account_id: own.id, balances, as_of: time(at) } });
  }

  private async statement(wanted: Played<'read statement'>): Promise<void> {
    const { account, actor, asset, isBackward } = wanted;
    const moments = [wanted.one, wanted.other].map((moment) => this.momentOf(account, moment));
    const [first, last] = [Math.min(...moments), Math.max(...moments)];
    const [from, to] = isBackward ? [last, first] : [first, last];
    const { id: accountId } = this.world.idOf(account);
    const body = { account_id: accountId, asset, from: time(from), to: time(to) };
    const answer = await this.world.ask(actor, 'POST', '/v1/statements', {
      body,
      key: randomUUID(),
    });
    const own =
      (to < from ? invalidField('to', 'before_from') : this.settled('to', to)) ??
      this.own(account, actor);
    if ('status' in own) return assertSame(answer, own);
    answered(answer, 201);
    const [opening, closing] = [totalAt(own, asset, from - 1), totalAt(own, asset, to)];
    const lines = own.entries.flatMap((entry, index) =>
      entry.asset === asset && entry.at >= from && entry.at <= to
        ? [lineOf(entry, totalOf(own.entries.slice(0, index + 1), asset))]
        : [],
    );
    await makeStatements(this.world.api);
    const path = `/v1/statements/${text(answer.json.id)}`;
    const { json } = answered(await this.reading.get(actor, path), 200);
    const figures = [json.opening_balance, json.closing_balance, json.movements];
    const raws = [amountJson(opening, asset), amountJson(closing, asset)];
    assert.deepEqual(figures, [...raws, lines.length]);
    const { bytes } = answered(await this.reading.get(actor, `${path}/file`), 200);
    assert.deepEqual(linesOf(bytes), [
      ['opening_balance', '', '', `${opening}`],
      ...lines,
      ['closing_balance', '', '', `${closing}`],
    ]);
  }

  private momentOf(account: number, { beside, offMs, agoMs }: Moment): number {
    const { accounts, now } = this.world.ledger;
    const entry = nthOf(accounts[account]?.entries ?? [], beside);
    return agoMs === null && entry !== undefined ? entry.at + offMs : now - (agoMs ?? HOUR);
  }

  private settled(field: string, at: number): Expected | null {
    const { now } = this.world.ledger;
    if (at > now) return invalidField(field, 'in_the_future');
    return at > now - SETTLED_AFTER_MS ? invalidField(field, 'too_recent') : null;
  }

  private own(number: number, actor: Played<'read statement'>['actor']): RefAccount | Expected {
    return this.world.ledger.own(actor, this.world.ledger.accounts[number] ?? null, null);
  }
}

function totalAt({ entries }: RefAccount, asset: AssetName, at: number): bigint {
  return totalOf(
    entries.filter((entry) => entry.at <= at),
    asset,
  );
}

/** The kind of each line, what came in, what went out, and the balance after it. */
function linesOf(file: Buffer): string[][] {
  const [, ...lines] = parse(file, { bom: true });
  return lines.map((cells) => cells.slice(1, 5));
}

function lineOf({ kind, raw }: RefEntry, total: bigint): string[] {
  const amounts = kind.endsWith('_in') ? [`${raw}`, ''] : ['', `${raw}`];
  return [kind, ...amounts, `${total}`];
}
