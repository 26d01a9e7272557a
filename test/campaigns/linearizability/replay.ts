import { isDeepStrictEqual } from 'node:util';
import { object, text } from '../../helpers/bank.js';
import { ZONES } from '../../model/operations.js';
import { ReferenceLedger } from '../../model/reference-ledger.js';
import type { Expected, Json, RefAccount, RefTransfer } from '../../model/reference-state.js';
import { REASON } from './group.js';
import type { History, Operation, Request, Response } from './history.js';
import type { Facts } from './facts.js';

const ASSET = 'COPM';
const MISSING: Expected = { status: 404, code: 'not_found' };
const BOGOTA_MS = ZONES['America/Bogota'] * 3_600_000;
/** The reference wants a second tenant. */
const NEIGHBOUR = 'neighbour';

/** One group of accounts in the reference ledger of test/model, which gets the history's requests one after the other. */
export class Replay {
  private readonly ledger: ReferenceLedger;

  constructor(
    private readonly history: History,
    private readonly facts: Facts,
  ) {
    const { tenant } = history.setup;
    this.ledger = new ReferenceLedger(
      accountsOf(history),
      [tenant, NEIGHBOUR].map((id) => ({ id, network: null, zoneMs: BOGOTA_MS })),
      { a: tenant, b: NEIGHBOUR },
      0,
    );
    for (const account of this.accounts)
      this.ledger.enterFromSystem(account, 'payin_in', {
        ...{ raw: BigInt(history.setup.funds), asset: ASSET, id: '', description: null },
      });
  }

  private get accounts(): readonly RefAccount[] {
    return this.ledger.accounts.filter((account) => account !== null);
  }

  private get tenant() {
    return this.ledger.tenantOf('owner');
  }

  /** How many events there are. */
  get eventCount(): number {
    return this.tenant.events.length;
  }

  find(id: string): RefTransfer | undefined {
    return this.tenant.transfers.find(({ json }) => json.id === id);
  }

  isBound(key: string): boolean {
    return this.tenant.keys.has(key);
  }

  expire(id: string, at: number): void {
    const transfer = this.find(id);
    this.ledger.now = at;
    if (transfer !== undefined) this.ledger.approvals.expire(transfer);
  }

  /** Carries out a request at an instant and returns the right response. */
  respond({ actor, request }: Pick<Operation, 'actor' | 'request'>, at: number): Expected {
    const { ledger } = this;
    ledger.now = at;
    if (request.kind === 'balances') return this.balances(request.account);
    if (request.kind === 'find') {
      const items = this.tenant.transfers.filter(({ key }) => key === request.key);
      return { status: 200, body: { items: items.map(({ json }) => json), next_cursor: null } };
    }
    if (request.kind === 'transfer') {
      const { key, from, to, captureWithinS } = request;
      const wanted = { actor, from, to, asset: ASSET, raw: BigInt(request.raw) } as const;
      const more = { description: null, metadata: null, captureWithinS };
      return ledger.transfers.create({ ...wanted, ...more }, key, () => this.idOf(key));
    }
    const transfer = this.find(request.of);
    if (transfer === undefined) return MISSING;
    switch (request.kind) {
      case 'read':
        return { status: 200, body: transfer.json };
      case 'refund': {
        const { key, raw } = request;
        const part = raw === null ? null : ({ raw: BigInt(raw), asset: ASSET } as const);
        return ledger.transfers.refund(actor, transfer, part, key, () => this.idOf(key));
      }
      case 'capture': {
        const part = request.raw === null ? null : BigInt(request.raw);
        return ledger.transfers.capture(actor, transfer, part, request.key);
      }
      case 'approve':
        return ledger.approvals.act('approve', actor, transfer, null, request.key);
      case 'reject':
        return ledger.approvals.act('reject', actor, transfer, REASON, null);
      case 'cancel':
        return ledger.approvals.act('cancel', actor, transfer, null, null);
    }
  }

  /** A transfer that no response and no event shows has no id, and so is never the right one. */
  private idOf(key: string): string {
    return this.facts.idOfKey.get(key) ?? 'none';
  }

  private balances(number: number): Expected {
    const { id, balances, held } = this.accounts[number]!;
    const balancesOf = (asset: 'COPM' | 'DUSD'): Json => ({
      asset,
      available: balances[asset].toString(),
      held: held[asset].toString(),
      total: (balances[asset] + held[asset]).toString(),
    });
    return {
      status: 200,
      body: { account_id: id, balances: [balancesOf('COPM'), balancesOf('DUSD')] },
    };
  }

  /** Whether the response can be right now. Cheap, and changes nothing, unlike `respond`. */
  mayRespond(request: Request, { status, replayed, code, details }: Response): boolean {
    if (replayed || code === 'idempotency_key_reused')
      return 'key' in request && this.isBound(request.key);
    const transfer = 'of' in request ? this.find(request.of) : undefined;
    if (code === 'invalid_state') return transfer?.json.status === details?.current;
    if (code === 'insufficient_funds') {
      const payer =
        request.kind === 'transfer' ? this.accounts[request.from] : transfer?.destination;
      return payer?.balances[ASSET].toString() === details?.available;
    }
    if (code === 'refund_exceeds_amount') {
      const left = transfer && this.refundable(transfer);
      return left?.toString() === object(details?.refundable).raw;
    }
    return status !== 404 || transfer === undefined;
  }

  private refundable(original: RefTransfer): bigint {
    const received = BigInt(text(object(original.json.captured ?? original.json.amount).raw));
    return this.tenant.transfers
      .filter(
        ({ refunds, json }) =>
          refunds === original && ['completed', 'pending_approval'].includes(String(json.status)),
      )
      .reduce((left, { raw }) => left - raw, received);
  }

  /** Whether the newest events and movements, from this event on, are those of the service. */
  isAsStored(fromEvent: number): boolean {
    const { events, movements } = this.history;
    return (
      this.tenant.events.slice(fromEvent).every(({ type, object: shown }, index) => {
        const stored = events[fromEvent + index];
        return (
          stored?.type === type && isDeepStrictEqual(object(object(stored.data).object), shown)
        );
      }) &&
      this.accounts.every(({ entries }, number) => {
        const [entry, stored] = [entries.at(-1), movements[number]?.[entries.length - 1]];
        if (entry === undefined || stored === undefined) return entry === undefined;
        const total = entries.reduce(
          (sum, { kind, raw }) => sum + (kind.endsWith('_in') ? raw : -raw),
          0n,
        );
        return (
          stored.kind === entry.kind &&
          object(stored.amount).raw === entry.raw.toString() &&
          object(stored.total_after).raw === total.toString() &&
          (entry.kind === 'payin_in' || object(stored.related).id === entry.related.id)
        );
      })
    );
  }

  /** Whether nothing that the service has stored is left over. */
  get isWhole(): boolean {
    const { events, movements } = this.history;
    return (
      events.length === this.eventCount &&
      this.accounts.every(({ entries }, number) => entries.length === movements[number]?.length)
    );
  }
}

/** Whether the response is the expected one, apart from the time of a balance. */
export function isSame(expected: Expected, response: Response): boolean {
  const { status, replayed, code, details, body } = response;
  if (expected.status !== status || (expected.replayed ?? false) !== replayed) return false;
  if (expected.code !== undefined || code !== null)
    return (
      expected.code === code &&
      (expected.details === undefined || isDeepStrictEqual(expected.details, details))
    );
  const { as_of: _, ...shown } = body ?? {};
  return isDeepStrictEqual(expected.body, shown);
}

function accountsOf({ setup }: History): RefAccount[] {
  const zero = () => ({ COPM: 0n, DUSD: 0n });
  const policy = {
    threshold: BigInt(setup.threshold),
    approvals: 1,
    expiresInS: setup.expiresInS,
  };
  return setup.accounts.map((id, number) => ({
    ...{ id, tenant: setup.tenant, type: 'business', alias: null, displayName: '' },
    ...{ verifiedAt: 0, isFrozen: false, clerkRole: 'admin' },
    ...{ balances: zero(), held: zero(), coming: new Map(), months: new Map() },
    ...{ entries: [], changedAt: 0, policies: new Map(number === 0 ? [[ASSET, policy]] : []) },
  }));
}
