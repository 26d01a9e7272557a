import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { asUuid, newId } from '../../src/core/ids.js';
import { commandFingerprint } from '../../src/core/fingerprint.js';
import { lapseCommands } from '../../src/batches/commands.js';
import { validateBatch } from '../../src/batches/validation/validate-batch.js';
import {
  formOf,
  HEADER,
  UNWATCHED,
  cancelBatch,
  pauseBatch,
  resumeBatch,
} from '../batches/support.js';
import { PAYOUT_HEADER } from '../batches/payout-support.js';
import { answered, list, text } from '../helpers/bank.js';
import { DOCUMENT, HOLDER } from '../payouts/support.js';
import { TEST_ACTOR } from '../helpers/world.js';
import type { Played, Plays } from './generated.js';
import type { BATCH_OPERATIONS, BatchWay, WantedRow } from './generated-batches.js';
import type { ActorName, BatchKind } from './operations.js';
import { codeOf, freeze } from './player-operators.js';
import { assertSame, nthOf } from './reading.js';
import type { RefBatch } from './reference-batch.js';
import { assetOf, bankNumber, recipientText } from './reference-batch-file.js';
import type { ModelWorld } from './world.js';

type BatchAct = Exclude<keyof typeof BATCH_OPERATIONS, 'batch' | `read ${string}`>;

const STEERING = { pause: pauseBatch, resume: resumeBatch, cancel: cancelBatch } as const;

/** Plays actions on batches by members, support, time and a worker, on the service and on the reference. */
export class BatchPlayer {
  private readonly sent: { readonly wanted: Played<'upload'>; readonly key: string }[] = [];
  private readonly executed: { readonly batch: RefBatch; readonly key: string }[] = [];

  constructor(private readonly world: ModelWorld) {}

  readonly plays: Plays<BatchAct> = {
    upload: (operation) => this.upload(operation, randomUUID()),
    'upload again': (operation) => this.uploadAgain(operation),
    validate: ({ nth }) => this.on(nth, 'validating', (batch) => this.validate(batch)),
    execute: ({ nth, actor, isAny }) =>
      this.on(nth, isAny ? null : 'ready', (batch) => this.execute(batch, actor, randomUUID())),
    'execute again': async ({ nth, actor }) => {
      const earlier = nthOf(this.executed, nth);
      if (earlier !== undefined) await this.execute(earlier.batch, actor, earlier.key);
    },
    'pay rows': ({ nth, count, isFrozen }) =>
      this.on(nth, 'executing', (batch) => this.pay(batch, count, isFrozen)),
    withdraw: ({ nth, actor, isAny }) =>
      this.on(nth, isAny ? null : 'ready', (batch) => this.withdraw(batch, actor)),
    steer: ({ nth, of, act }) => this.on(nth, of, (batch) => this.steer(batch, act)),
    lapse: ({ nth, readyForMs, isAny }) =>
      this.on(nth, isAny ? null : 'ready', (batch) => this.lapse(batch, readyForMs)),
  };

  /** The newest one. */
  async goOn(kind: BatchKind, way: BatchWay): Promise<void> {
    const last = this.world.ledger.tenantOf('owner')[`${kind}_batches`].at(-1);
    if (last?.status !== 'validating') return;
    await this.validate(last);
    if (way === 'ready') return;
    if (way === 'withdrawn') return this.withdraw(last, 'owner');
    if (way === 'lapsed') return this.lapse(last, 0);
    await this.execute(last, way === 'by its uploader' ? 'owner' : 'clerk', randomUUID());
    if (way === 'by its uploader' || way === 'executed') return;
    if (way === 'paused' || way === 'canceled') {
      await this.pay(last, 1, false);
      await this.steer(last, way === 'paused' ? 'pause' : 'cancel');
    }
    await this.pay(last, null, way === 'frozen');
  }

  private async upload(wanted: Played<'upload'>, key: string): Promise<void> {
    const { actor, from, description, kind } = wanted;
    const what = `${kind}_batches` as const;
    const file = this.fileOf(wanted);
    const fields = {
      source_account: this.world.idOf(from).id,
      ...(description === null ? {} : { description }),
    };
    const form = formOf(Buffer.from(file), fields);
    const answer = await this.world.ask(actor, 'POST', `/v1/${what}`, { form, key });
    const made = (): string =>
      typeof answer.json.id === 'string' ? answer.json.id : 'the id of a new batch';
    assertSame(answer, this.world.ledger.batches.upload(wanted, file, key, made));
    this.sent.push({ wanted, key });
    this.world.keys.push({ what, key });
  }

  private async uploadAgain({ nth, actor, isSame }: Played<'upload again'>): Promise<void> {
    const sent = nthOf(this.sent, nth);
    if (sent === undefined) return;
    const { wanted, key } = sent;
    const more = {
      to: 1,
      by: 'account_id',
      raw: 100_000n,
      fault: null,
      description: null,
      reference: null,
      order: null,
    } as const;
    await this.upload(
      { ...wanted, actor, rows: isSame ? wanted.rows : [...wanted.rows, more] },
      key,
    );
  }

  private fileOf({ kind, rows, asset, hasAmounts }: Played<'upload'>): string {
    const columns = kind === 'bonus' ? HEADER : PAYOUT_HEADER;
    const header = [...columns, 'metadata.order'].map((name) =>
      name === 'amount' && !hasAmounts ? 'sum' : name,
    );
    const lines = rows.map((row) => {
      const { raw, fault, description, reference, order } = row;
      const recipient = kind === 'bonus' ? [this.recipientOf(row)] : bankCells(row);
      const amount = fault === 'no amount' ? '' : fault === 'decimals' ? `${raw}.5` : `${raw}`;
      const texts = [assetOf(row, asset), description, reference, order];
      return [...recipient, amount, ...texts.map((text) => text ?? '')];
    });
    return [header, ...lines].map((cells) => `${cells.join(',')}\n`).join('');
  }

  private recipientOf(row: WantedRow): string {
    const { ledger } = this.world;
    const known = ledger.accounts[row.to];
    return recipientText(row, known ?? { id: this.world.idOf(row.to).id, alias: null });
  }

  private async validate(batch: RefBatch): Promise<void> {
    await validateBatch(this.world.validation, asUuid(batch.of.id), UNWATCHED);
    this.world.ledger.batches.validate(batch);
    await this.assertStands(batch);
  }

  private async execute(batch: RefBatch, actor: ActorName, key: string): Promise<void> {
    const answer = await this.world.ask(actor, 'POST', `${pathOf(batch)}/execute`, { key });
    assertSame(answer, this.world.ledger.batches.execute(actor, batch, key));
    this.executed.push({ batch, key });
  }

  private async pay(batch: RefBatch, count: number | null, isFrozen: boolean): Promise<void> {
    const { execution, ledger } = this.world;
    const { source } = batch;
    const wasFrozen = source.isFrozen;
    if (isFrozen) await freeze(this.world, source, true);
    const id = asUuid(batch.of.id);
    const ending = count === null ? await execution.pay(id, UNWATCHED) : null;
    const group = count === null ? null : await execution.payNextGroup(id, count);
    const tried = ledger.batches.payRows(batch, count, await this.paidBy(batch));
    if (group !== null) assert.deepEqual(group, { tried, settled: tried, unknown: 0 });
    if (ending !== null) assert.equal(ending, ledger.batches.end(batch));
    if (isFrozen) await freeze(this.world, source, wasFrozen);
    await this.assertStands(batch);
  }

  /** The ids of the bonuses or payouts that its rows have now. */
  private async paidBy(batch: RefBatch): Promise<(row: number) => string> {
    const { json } = answered(
      await this.world.ask(this.ownerOf(batch), 'GET', `${pathOf(batch)}/rows`),
      200,
    );
    const name = `${batch.of.kind}_id`;
    const ids = new Map(list(json.items).map((item) => [item.row, item[name]]));
    return (row) => text(ids.get(row));
  }

  private async withdraw(batch: RefBatch, actor: ActorName): Promise<void> {
    const answer = await this.world.ask(actor, 'POST', `${pathOf(batch)}/cancel`, { key: null });
    assertSame(answer, this.world.ledger.batches.withdraw(actor, batch));
  }

  private async steer(batch: RefBatch, act: keyof typeof STEERING): Promise<void> {
    const acting = STEERING[act](this.world.deps, asUuid(batch.of.id), TEST_ACTOR, 'ticket 7');
    assert.equal(await codeOf(acting), this.world.ledger.batches.steer(batch, act));
    await this.assertStands(batch);
  }

  /** As the sweeper does it, to this one alone: others play in the same database. */
  private async lapse(batch: RefBatch, readyForMs: number): Promise<void> {
    const { writer } = this.world.deps;
    const [id, { source, of }] = [asUuid(batch.of.id), batch];
    const { outcome } = await writer.submit(lapseCommands[of.kind], {
      tenantId: asUuid(source.tenant),
      key: `${of.kind}_batch/${id}/lapse`,
      fingerprint: commandFingerprint(['lapse', id]),
      batchId: id,
      sourceAccountId: asUuid(source.id),
      outboxId: newId(),
      readyForMs,
    });
    assert(outcome.done);
    this.world.ledger.batches.lapse(batch, readyForMs);
    await this.assertStands(batch);
  }

  private async assertStands(batch: RefBatch): Promise<void> {
    const answer = await this.world.ask(this.ownerOf(batch), 'GET', pathOf(batch));
    assertSame(answer, { status: 200, body: this.world.ledger.reviewed(batch) });
  }

  private ownerOf(batch: RefBatch): ActorName {
    return this.world.ledger.tenantOf('owner')[`${batch.of.kind}_batches`].includes(batch)
      ? 'owner'
      : 'neighbour';
  }

  private all(): readonly RefBatch[] {
    return this.world.ledger.batches.all;
  }

  /** One in that status, or any that there is. */
  private async on(
    nth: number,
    status: string | null,
    act: (batch: RefBatch) => Promise<void>,
  ): Promise<void> {
    const batch = nthOf(
      this.all().filter((one) => status === null || one.status === status),
      nth,
    );
    if (batch !== undefined) await act(batch);
  }
}

function pathOf({ of }: RefBatch): string {
  return `/v1/${of.kind}_batches/${of.id}`;
}

/** The cells of the bank account that a row names. */
function bankCells({ to, fault }: WantedRow): readonly string[] {
  const number = fault === 'formula' ? '=1+1' : bankNumber(to);
  return ['CO', fault === 'nobody' ? 'x' : '0007', 'savings', number, HOLDER, DOCUMENT];
}
