import type { Played } from './generated.js';
import type { Holder, RailWord } from './generated-payouts.js';
import type { RefBatch, RefRow } from './reference-batch.js';
import type { ReferenceLedger } from './reference-ledger.js';
import {
  amountJson,
  bankAccount,
  type Expected,
  FORBIDDEN,
  invalidField,
  type Json,
  NOT_FOUND,
  type RefPayout,
  type RefTenant,
  time,
} from './reference-state.js';

/** Payouts as docs/contract.md describes them (Payouts, Rails), beside the reference ledger. */

/** The possible results of payouts, to count how often each was played. */
export const PAYOUT_ENDINGS = [
  'payout approved at once',
  'holder check refused',
  'payout failed for its holder',
  'payout voided for its holder',
  'payout waits for its holder',
  'payout approved by members',
  'payout waits for approval',
  'payout rejected',
  'payout canceled while it waits',
  'payout canceled once approved',
  'payout not approved in time',
  'payout given to its rail',
  'payout given again',
  'payout completed',
  'payout failed',
  'payout returned',
  'payout contradicted',
  'rail repeated itself',
  'rail gave no answer',
] as const;

const MESSAGES = {
  account_closed: 'the account is closed',
  bank_unavailable: 'the receiving bank could not be reached',
  rejected_by_bank: 'the receiving bank rejected it',
  recipient_changed: 'the key belongs to somebody else than when it was looked up',
  account_unknown: 'the bank does not know the account',
} as const;

const DESTINATION = bankAccount('4567891234099');
/** The shown destination of a payout to a key: of the key only its end. */
const KEY = { type: 'bre_b_key', key: '****2233', key_type: 'phone' };
const BANK = {
  account_id: null,
  tenant: null,
  alias: null,
  display_name: 'María Holder Núñez',
  type: 'bank_account',
};

/** The counterpart of the payout's movements. */
function partyOf({ json }: RefPayout): typeof BANK {
  return json.destination === KEY ? { ...BANK, display_name: KEY.key } : BANK;
}

/** The key that payouts are sent to. */
export const PAID_KEY = '3001112233';

/** The result of a look-up of a key, as a request sends it. */
export interface HolderCheck {
  readonly text: string;
  readonly tenant: string;
  readonly key: string;
  readonly expiresAt: number;
}

type RailWords = readonly [RailWord, RailWord];
/** A word of the rail, about a payout or about who holds its key. */
type HeardWord = Omit<RailWord, 'failure'> & { readonly failure: keyof typeof MESSAGES | null };

type Heard = 'noted' | 'applied' | 'duplicate' | 'conflict';

export class ReferencePayouts {
  constructor(private readonly ledger: ReferenceLedger) {}

  /** The response to POST /v1/payouts. `madeId` returns the id of the service's 201. */
  create(
    wanted: Played<'payout'>,
    check: HolderCheck | null,
    key: string,
    madeId: () => string,
  ): Expected {
    const { ledger } = this;
    const { actor, from, asset, raw, description, to } = wanted;
    const tenant = ledger.tenantOf(actor);
    const source = ledger.accounts[from] ?? null;
    const destination = to === 'bank' ? to : `key ${check?.text}`;
    const sent = ['payout', from, asset, raw.toString(), description, destination];
    const content = JSON.stringify(sent);
    const known = ledger.known(tenant, key, content);
    if (known !== null) return known;
    if (source === null || source.tenant !== tenant.id) return NOT_FOUND;
    if (!ledger.mayCreate(actor, source)) return FORBIDDEN;
    const wrong = check === null ? null : this.checkRefusal(tenant, check);
    if (wrong !== null) {
      ledger.count('holder check refused');
      return invalidField('destination.holder_check', wrong);
    }
    const fee = ledger.feeOf(tenant, source, asset, raw);
    const refusal = ledger.refusal(source, asset, raw, fee);
    if (refusal !== null) return ledger.refused(tenant, key, content, refusal);
    const approval = ledger.approvals.wanted(source, asset, raw);
    const feeAccount = fee > 0n ? tenant.feeAccount : null;
    const payout = this.make(
      { key, source, asset, raw, fee, feeAccount, creator: actor, approval },
      { id: madeId(), destination: to === 'bank' ? DESTINATION : KEY, description },
      check !== null,
    );
    if (approval === null) ledger.tell(payout, 'payout.approved', 'payout approved at once');
    else {
      ledger.count('waits for approval');
      ledger.count('payout waits for approval');
    }
    tenant.keys.set(key, { content, result: payout });
    return { status: approval === null ? 201 : 202, body: payout.json };
  }

  /** The payout of a row, whose approval was the execution of its batch. */
  ofRow(batch: RefBatch, row: RefRow): RefPayout {
    const { of, source, executedBy: creator, asset } = batch;
    const { raw, fee, payee, reference, metadata, number } = row;
    const feeAccount = fee > 0n ? batch.feeAccount : null;
    const payout = this.make(
      { key: '', source, asset: asset!, raw, fee, feeAccount, creator: creator!, approval: null },
      {
        ...{ id: row.paymentId, destination: bankAccount(payee), metadata, reference },
        description: row.description ?? of.description,
        batch: { id: of.id, row: number },
      },
      false,
    );
    this.ledger.tell(payout, 'payout.approved', 'row became a payout');
    return payout;
  }

  /** Holds the money. */
  private make(
    of: Pick<
      RefPayout,
      'key' | 'source' | 'asset' | 'raw' | 'fee' | 'feeAccount' | 'creator' | 'approval'
    >,
    shown: Json,
    isChecked: boolean,
  ): RefPayout {
    const { ledger } = this;
    const { source, asset, raw, fee, approval } = of;
    const status = approval === null ? 'approved' : 'pending_approval';
    const json: Json = {
      scope: 'external',
      status,
      source_account: source.id,
      amount: amountJson(raw, asset),
      fee: amountJson(fee, asset),
      metadata: {},
      created_at: time(ledger.now),
      approval: ledger.approvals.shown(approval),
      rejection: null,
      failure: null,
      batch: null,
      reference: null,
      rail_reference: null,
      status_transitions: [{ status, at: time(ledger.now) }],
      ...shown,
    };
    const unheard = { isContradicted: false, wasReportedPaid: false, named: null, isDenied: false };
    const payout: RefPayout = {
      kind: 'payout',
      json,
      at: ledger.now,
      destination: null,
      month: ledger.monthOf(of.source),
      isChecked,
      ...unheard,
      ...of,
    };
    ledger.tenant(source.tenant).payouts.push(payout);
    ledger.use(payout, raw);
    ledger.hold(payout, raw + fee);
    return payout;
  }

  /** The reason against a holder check; null for one that is valid. */
  private checkRefusal(tenant: RefTenant, check: HolderCheck): string | null {
    if (check.tenant !== tenant.id || check.key !== PAID_KEY) return 'not_a_check_of_this_key';
    return this.ledger.now > check.expiresAt ? 'expired' : null;
  }

  granted(payout: RefPayout): void {
    this.become(payout, 'approved');
    this.ledger.tell(payout, 'payout.approved', 'payout approved by members');
  }

  rejected(payout: RefPayout, code: string, reason: string | null): void {
    this.become(payout, 'rejected', { rejection: { code, reason } });
    this.ledger.giveBack(payout);
    this.ledger.tell(payout, 'payout.rejected', 'payout rejected');
  }

  canceled(payout: RefPayout): void {
    const wasApproved = payout.json.status === 'approved';
    this.become(payout, 'canceled');
    this.ledger.giveBack(payout);
    const ending = wasApproved ? 'payout canceled once approved' : 'payout canceled while it waits';
    this.ledger.tell(payout, 'payout.canceled', ending);
  }

  expired(payout: RefPayout): void {
    const failure = { code: 'approval_expired', message: 'it was not approved in time' };
    this.become(payout, 'canceled', { failure });
    this.ledger.giveBack(payout);
    this.ledger.tell(payout, 'payout.canceled', 'payout not approved in time');
  }

  /** The workflow gives the payout to the rail, or asks for it. Returns how many orders the rail got. */
  handOver(payout: RefPayout, [first, second]: RailWords, holder: Holder): number {
    if (payout.json.status !== 'approved') return this.ask(payout, [first, second], holder);
    const changed = this.holderFailure(payout, holder);
    if (changed === 'unresolved') return 0;
    if (changed !== null) {
      // Money may have left if the rail has reported it.
      if (payout.isContradicted) return 0;
      this.fail(payout, { code: changed, message: MESSAGES[changed] });
      this.ledger.count('payout failed for its holder');
      return 0;
    }
    if (payout.source.isFrozen) return 0;
    this.become(payout, 'in_progress');
    this.ledger.count('payout given to its rail');
    this.hear(payout, first);
    return 1;
  }

  /**
   * A payout that was handed over, and that the rail never named and does not know, is given again,
   * or voided if its key has another holder.
   */
  ask(payout: RefPayout, [first, second]: RailWords, holder: Holder): number {
    if (payout.json.status !== 'in_progress') return 0;
    if (first.said !== 'unknown') this.hear(payout, first);
    else if (payout.json.rail_reference !== null) this.contradict(payout);
    else {
      if (payout.isContradicted) this.contradict(payout);
      const changed = this.holderFailure(payout, holder);
      if (changed === 'unresolved') return 0;
      if (changed !== null) {
        const isVoided = second.said === 'voided';
        this.hear(payout, isVoided ? { ...second, failure: changed } : second);
        if (isVoided) this.ledger.count('payout voided for its holder');
        return 0;
      }
      if (payout.isContradicted || payout.source.isFrozen) return 0;
      this.ledger.count('payout given again');
      this.hear(payout, second);
      return 1;
    }
    return 0;
  }

  /** Why it must not be sent; null if it may, 'unresolved' while the rail does not say who holds the key. */
  private holderFailure(
    { isChecked }: RefPayout,
    holder: Holder,
  ): 'recipient_changed' | 'account_unknown' | 'unresolved' | null {
    if (!isChecked || holder === 'same') return null;
    if (holder !== 'silent') return holder === 'other' ? 'recipient_changed' : 'account_unknown';
    this.ledger.count('payout waits for its holder');
    return 'unresolved';
  }

  /** One that has ended is asked about. */
  poll(payout: RefPayout, word: HeardWord): void {
    const { status } = payout.json;
    const wasPaid = status === 'completed' || (status === 'returned' && !payout.isDenied);
    if (word.said !== 'unknown') this.hear(payout, word);
    else if (wasPaid) this.contradict(payout);
  }

  /** Reports of the rail about the payout, by any way. */
  hear(payout: RefPayout, { said, failure, reference }: HeardWord): Heard {
    const { json } = payout;
    const known = json.rail_reference ?? payout.named;
    if (said === 'silent' || said === 'unknown') {
      this.ledger.count('rail gave no answer');
      return 'noted';
    }
    if (known !== null && reference !== null && known !== reference)
      return this.contradict(payout, said);
    const meaning =
      json.status === 'returned' && payout.isDenied
        ? meaningOfDenied(said)
        : meaningOf(String(json.status), said);
    const isSubmitted = (json.status_transitions as readonly Json[]).some(
      ({ status }) => status === 'in_progress',
    );
    if (isSubmitted) payout.named ??= reference;
    if (isSubmitted && said !== 'accepted')
      payout.isDenied = said === 'failed' || said === 'voided';
    const isDenied =
      json.status === 'in_progress' &&
      payout.wasReportedPaid &&
      (said === 'failed' || said === 'voided');
    if (meaning === 'conflict' || isDenied) return this.contradict(payout, said);
    payout.json = { ...json, rail_reference: json.rail_reference ?? reference };
    if (meaning === 'noted') return 'noted';
    if (meaning === 'duplicate') {
      this.ledger.count('rail repeated itself');
      return 'duplicate';
    }
    const code = failure ?? 'rejected_by_bank';
    if (said === 'completed' || (said === 'returned' && json.status === 'in_progress'))
      this.complete(payout);
    if (said === 'returned') this.giveAmountBack(payout, { code, message: MESSAGES[code] });
    if (said === 'failed' || said === 'voided')
      this.fail(payout, { code, message: MESSAGES[code] });
    return 'applied';
  }

  private contradict(payout: RefPayout, said?: Statement): 'conflict' {
    payout.isContradicted = true;
    if (said === 'completed' || said === 'returned') payout.wasReportedPaid = true;
    this.ledger.count('payout contradicted');
    return 'conflict';
  }

  /** Spends what was held, amount and fee as movements of their own. */
  private complete(payout: RefPayout): void {
    this.become(payout, 'completed');
    this.ledger.hold(payout, -(payout.raw + payout.fee));
    this.ledger.enterOutside(payout, 'payout_out', partyOf(payout));
    this.ledger.enterFee('payout', payout);
    this.ledger.tell(payout, 'payout.completed', 'payout completed');
  }

  private fail(payout: RefPayout, failure: Json): void {
    this.become(payout, 'failed', { failure });
    this.ledger.giveBack(payout);
    this.ledger.tell(payout, 'payout.failed', 'payout failed');
  }

  /** The fee stays where it is, and the month is used up. */
  private giveAmountBack(payout: RefPayout, failure: Json): void {
    this.become(payout, 'returned', { failure });
    this.ledger.enterOutside(payout, 'adjustment_in', partyOf(payout));
    this.ledger.tell(payout, 'payout.returned', 'payout returned');
  }

  private become(payout: RefPayout, status: string, more: Json = {}): void {
    const before = payout.json.status_transitions as readonly Json[];
    const transitions = [...before, { status, at: time(this.ledger.now) }];
    payout.json = { ...payout.json, status, ...more, status_transitions: transitions };
  }
}

type Statement = Exclude<HeardWord['said'], 'silent' | 'unknown'>;

/** The meaning of a report for a returned payout whose payment the rail has denied since. */
function meaningOfDenied(said: Statement): Heard {
  return said === 'accepted' || said === 'completed' ? 'conflict' : 'duplicate';
}

/** The meaning of a report for a payout in this status. A payout that no rail was given has none. */
function meaningOf(status: string, said: Statement): Heard {
  const wasPaidOut = said === 'completed' || said === 'returned';
  switch (status) {
    case 'in_progress':
      return said === 'accepted' ? 'noted' : 'applied';
    case 'completed':
      return said === 'returned'
        ? 'applied'
        : said === 'accepted' || said === 'completed'
          ? 'duplicate'
          : 'conflict';
    case 'returned':
      return said === 'accepted' || wasPaidOut ? 'duplicate' : 'conflict';
    case 'failed':
      return said === 'failed' || said === 'voided' ? 'duplicate' : 'conflict';
    default:
      return 'conflict';
  }
}
