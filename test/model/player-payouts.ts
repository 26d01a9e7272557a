import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { asUuid } from '../../src/core/ids.js';
import { type Payout, payouts } from '../../src/db/entities/payouts.js';
import { SIMULATED } from '../../src/payouts/rails/rail.js';
import type { KeyHolder, RailReport } from '../../src/payouts/rails/rail.js';
import { answered, text } from '../helpers/bank.js';
import type { Answer, ScriptedRail } from '../payouts/scripted-rail.js';
import { payoutBody } from '../payouts/support.js';
import type { Played, Plays } from './generated.js';
import type { Holder, PAYOUT_OPERATIONS, PayoutWay, RailWord } from './generated-payouts.js';
import { assertSame, nthOf } from './reading.js';
import { type HolderCheck, PAID_KEY } from './reference-payouts.js';
import type { RefPayout } from './reference-state.js';
import type { ModelWorld } from './world.js';

/** Near the largest amount that there is. */
const MOST = 2n ** 62n;

const COMPLETED: RailWord = { said: 'completed', failure: null, reference: 'R-1' };
const FAILED: RailWord = { said: 'failed', failure: 'account_closed', reference: 'R-1' };
const SILENT: RailWord = { said: 'silent', failure: null, reference: null };
const VOIDED: RailWord = { said: 'voided', failure: null, reference: null };
const NEVER_HEARD: RailWord = { said: 'unknown', failure: null, reference: null };

type PayoutAct = Exclude<keyof typeof PAYOUT_OPERATIONS, 'pay out' | `read ${string}`>;
type Of = 'open' | 'ended' | 'any';

interface Sent {
  readonly wanted: Played<'payout'>;
  readonly key: string;
  readonly check: HolderCheck | null;
}

const KNOWN_HOLDER: KeyHolder = {
  ...{ holder: 'SIM-HOLDER', holderName: 'Ana María Pérez' },
  ...{ bankCode: '0007', accountType: 'savings' },
};
const HOLDERS: Readonly<Record<Holder, ScriptedRail['holders'][number]>> = {
  same: KNOWN_HOLDER,
  other: { ...KNOWN_HOLDER, holder: 'OTHER' },
  none: null,
  silent: 'silent',
};
const CHECK_MS = 3_600_000;

/** Plays actions on payouts by members, their workflow and their rail, on the service and on the reference. */
export class PayoutPlayer {
  private readonly sent: Sent[] = [];
  private readonly told: {
    readonly payout: RefPayout;
    readonly said: RailReport;
    readonly id: string;
  }[] = [];

  constructor(private readonly world: ModelWorld) {}

  readonly plays: Plays<PayoutAct> = {
    payout: async (operation) =>
      this.create(operation, randomUUID(), await this.checkFor(operation)),
    'payout again': (operation) => this.again(operation),
    'cancel approved': (operation) => this.cancel(operation),
    'hand over': (operation) => this.handOver(operation),
    callback: (operation) => this.callback(operation),
    'callback again': (operation) => this.callbackAgain(operation),
  };

  get last(): RefPayout | undefined {
    return this.all().at(-1);
  }

  /** From when it is approved. */
  async goOn(
    payout: RefPayout,
    way: PayoutWay,
    words: readonly [RailWord, RailWord],
  ): Promise<void> {
    if (payout.json.status !== 'approved' || way === 'approved') return;
    const isLost = way === 'lost' || way === 'holder changed once lost';
    const first = isLost
      ? SILENT
      : way === 'handed over'
        ? words[0]
        : way === 'failed'
          ? FAILED
          : COMPLETED;
    const holder =
      way === 'holder changed' ? 'other' : way === 'holder not said' ? 'silent' : 'same';
    await this.give(payout, [first, words[1]], false, holder);
    if (way === 'lost') await this.give(payout, [NEVER_HEARD, words[0]], true, 'same');
    if (way === 'holder changed once lost')
      await this.give(payout, [NEVER_HEARD, VOIDED], true, 'other');
    if (way === 'returned')
      await this.poll(payout, { ...COMPLETED, said: 'returned', failure: 'account_closed' });
  }

  /** Looks the key up, as far as the payout sends a check of it. */
  private async checkFor({ actor, to }: Played<'payout'>): Promise<HolderCheck | null> {
    const { ledger } = this.world;
    if (to === 'bank' || to === 'key') return null;
    const tenant = ledger.tenantOf(actor).id;
    if (to === 'forged check')
      return { text: 'forged', tenant: '', key: PAID_KEY, expiresAt: Infinity };
    const key = to === 'check of another key' ? '3001112244' : PAID_KEY;
    const answer = await this.world.ask(actor, 'GET', `/v1/payout_recipients?key=${key}`);
    const { holder_check: check, ...shown } = answered(answer, 200).json;
    assert.deepEqual(shown, {
      ...{ key_type: 'phone', holder_name: 'Ana M*** P***' },
      ...{ bank_code: '0007', account_type: 'savings' },
    });
    const expiresAt = ledger.now + CHECK_MS;
    if (to === 'expired check') ledger.now = expiresAt + 1;
    return { text: text(check), tenant, key, expiresAt };
  }

  private async create(
    wanted: Played<'payout'>,
    key: string,
    check: HolderCheck | null,
  ): Promise<void> {
    const { actor, from, asset, raw, description, to } = wanted;
    const holderCheck = check === null ? {} : { holder_check: check.text };
    const destination = { type: 'bre_b_key', key: PAID_KEY, ...holderCheck };
    const body = {
      ...payoutBody({ from: this.world.idOf(from) }),
      ...(to === 'bank' ? {} : { destination }),
      amount: { raw: raw.toString(), asset },
      description,
    };
    const answer = await this.world.ask(actor, 'POST', '/v1/payouts', { body, key });
    const made = (): string =>
      typeof answer.json.id === 'string' ? answer.json.id : 'the id of a new payout';
    assertSame(answer, this.world.ledger.payouts.create(wanted, check, key, made));
    this.sent.push({ wanted, key, check });
    this.world.keys.push({ what: 'payouts', key });
  }

  private async again({ nth, actor, more }: Played<'payout again'>): Promise<void> {
    const sent = nthOf(this.sent, nth);
    if (sent === undefined) return;
    const { raw } = sent.wanted;
    // Less where more would be no amount any more.
    const changed = { ...sent.wanted, actor, raw: raw + (raw < MOST ? more : -more) };
    await this.create(changed, sent.key, sent.check);
  }

  private async cancel({ nth, actor }: Played<'cancel approved'>): Promise<void> {
    const payout = nthOf(
      this.all().filter(({ json }) => json.status === 'approved'),
      nth,
    );
    if (payout === undefined) return;
    const answer = await this.world.ask(
      actor,
      'POST',
      `/v1/payouts/${String(payout.json.id)}/cancel`,
    );
    assertSame(answer, this.world.ledger.approvals.act('cancel', actor, payout, null, null));
  }

  private async handOver({ nth, of, isAsked, words, holder }: Played<'hand over'>): Promise<void> {
    const payout = this.chosen(nth, of);
    if (payout === undefined) return;
    if (of === 'ended') return this.poll(payout, words[0]);
    return this.give(payout, words, isAsked, holder);
  }

  private async give(
    payout: RefPayout,
    words: readonly [RailWord, RailWord],
    isAsked: boolean,
    holder: Holder,
  ): Promise<void> {
    const { rails, rail, ledger } = this.world;
    rail.willSay(...words.map(answerOf));
    rail.holders = [HOLDERS[holder]];
    const id = asUuid(String(payout.json.id));
    await (isAsked ? rails.submissions.poll(id) : rails.submissions.submit(id));
    const orders = isAsked
      ? ledger.payouts.ask(payout, words, holder)
      : ledger.payouts.handOver(payout, words, holder);
    assert.deepEqual(
      rail.given.map(({ key }) => key),
      Array.from({ length: orders }, () => id),
    );
    await this.assertStands(payout);
  }

  /** As it is asked about in its return window, when no workflow asks any more. */
  private async poll(payout: RefPayout, word: RailWord): Promise<void> {
    const { rails, rail, ledger } = this.world;
    rail.willSay(answerOf(word));
    await rails.calls.poll(await this.rowOf(payout));
    ledger.payouts.poll(payout, word);
    assert.deepEqual(rail.given, []);
    await this.assertStands(payout);
  }

  private async callback({ nth, of, ...played }: Played<'callback'>): Promise<void> {
    const payout = this.chosen(nth, of);
    if (payout === undefined) return;
    // A reference named in the millisecond of the hand-over counts as the payment's, so none is named before it.
    const isEarly = ['pending_approval', 'approved'].includes(String(payout.json.status));
    const word = isEarly ? { ...played.word, reference: null } : played.word;
    const said = answerOf(word);
    if (said === null || said === 'silent') return;
    const id = randomUUID();
    assert.equal(await this.tell(payout, said, id), this.world.ledger.payouts.hear(payout, word));
    this.told.push({ payout, said, id });
    await this.assertStands(payout);
  }

  private async callbackAgain({ nth, isSame }: Played<'callback again'>): Promise<void> {
    const told = nthOf(this.told, nth);
    if (told === undefined) return;
    const { payout, said, id } = told;
    const again = isSame ? said : { ...said, reference: 'R-3' };
    assert.equal(await this.tell(payout, again, id), isSame ? 'replayed' : 'reused');
    await this.assertStands(payout);
  }

  private tell({ json }: RefPayout, said: RailReport, callbackId: string): Promise<unknown> {
    return this.world.rails.callbacks.report(SIMULATED, {
      key: asUuid(String(json.id)),
      ...said,
      callbackId,
    });
  }

  /** Asserts the state of the reference, raised to operators if it must be. */
  private async assertStands(payout: RefPayout): Promise<void> {
    const actor = this.world.ledger.tenantOf('owner').payouts.includes(payout)
      ? 'owner'
      : 'neighbour';
    const answer = await this.world.ask(actor, 'GET', `/v1/payouts/${String(payout.json.id)}`);
    assertSame(answer, { status: 200, body: payout.json });
    const { stuckReason } = await this.rowOf(payout);
    assert.equal(stuckReason, payout.isContradicted ? 'contradiction' : null);
  }

  private async rowOf({ json }: RefPayout): Promise<Payout> {
    const row = await this.world.api.core.database.reader.find(payouts, {
      id: asUuid(String(json.id)),
    });
    assert(row !== undefined);
    return row;
  }

  private all(): readonly RefPayout[] {
    return this.world.ledger.homes.flatMap((tenant) => tenant.payouts);
  }

  private chosen(nth: number, of: Of): RefPayout | undefined {
    const is: Readonly<Record<Of, (status: unknown) => boolean>> = {
      open: (status) => status === 'approved' || status === 'in_progress',
      ended: (status) => status === 'completed' || status === 'failed' || status === 'returned',
      any: () => true,
    };
    return nthOf(
      this.all().filter(({ json }) => is[of](json.status)),
      nth,
    );
  }
}

function answerOf({ said, failure, reference }: RailWord): Answer {
  if (said === 'silent') return said;
  return said === 'unknown' ? null : { status: said, failureCode: failure, reference };
}
