import type { ActorName, AssetName } from './operations.js';
import type { ReferenceLedger } from './reference-ledger.js';
import {
  type Expected,
  FORBIDDEN,
  type Json,
  NOT_FOUND,
  type RefAccount,
  type RefPolicy,
  type RefTransfer,
  time,
} from './reference-state.js';

/**
 * Approvals as docs/contract.md describes them (Approval, Staff), beside the reference ledger and without the service's
 * code.
 */

export type Verb = 'approve' | 'reject' | 'cancel';
const APPROVERS = ['approver', 'admin', 'owner'];
const MANAGERS = ['admin', 'owner'];

/** What can become of an act, for the count of how often each was played. */
export const ENDINGS = [
  'waits for approval',
  'approved, the first of more',
  'approved, the last',
  'approved a second time',
  'refused at the last approval',
  'rejected',
  'canceled',
  'too late',
  'expired by the timer',
  'not its time yet',
  'settled already',
  'forbidden',
] as const;
export type Ending = (typeof ENDINGS)[number];

export class ReferenceApprovals {
  readonly played = new Map<Ending, number>();

  constructor(private readonly ledger: ReferenceLedger) {}

  /** PUT and DELETE approval policy; null removes it. What is laxer comes after the tenant's delay. */
  setPolicy(actor: ActorName, account: RefAccount | null, asset: AssetName, policy: RefPolicy | null): Expected {
    const own = this.ledger.own(actor, account, MANAGERS);
    if ('status' in own) return own;
    const present = this.policyOf(own, asset);
    if (policy === null && present === undefined) return NOT_FOUND;
    const before = own.coming.get(asset);
    own.coming.delete(asset);
    const delayMs = this.ledger.tenant(own.tenant).policyDelayS * 1_000;
    if (delayMs === 0 || present === undefined) replace(own.policies, asset, policy);
    else {
      const strict = policy === null ? present : bothOf(present, policy);
      own.policies.set(asset, strict);
      if (policy === null || said(strict) !== said(policy)) {
        const at = this.ledger.now + delayMs;
        const isKnown = before !== undefined && said(before.policy) === said(policy) && before.at <= at;
        own.coming.set(asset, isKnown ? before : { policy, at });
      }
    }
    return policy === null ? { status: 204 } : { status: 200, body: this.policyJson(own, asset) };
  }

  /** The policy that counts now. */
  policyOf(account: RefAccount, asset: AssetName): RefPolicy | undefined {
    const coming = account.coming.get(asset);
    if (coming !== undefined && coming.at <= this.ledger.now) {
      replace(account.policies, asset, coming.policy);
      account.coming.delete(asset);
    }
    return account.policies.get(asset);
  }

  readPolicy(actor: ActorName, account: RefAccount | null, asset: AssetName): Expected {
    const own = this.ledger.own(actor, account, null);
    if ('status' in own) return own;
    const policy = this.policyOf(own, asset);
    return policy === undefined ? NOT_FOUND : { status: 200, body: this.policyJson(own, asset) };
  }

  /** What a member's act answers; `key` is that of an approve. */
  act(verb: Verb, actor: ActorName, transfer: RefTransfer, reason: string | null, key: string | null): Expected {
    const tenant = this.ledger.tenantOf(actor);
    const content = JSON.stringify(['approve', transfer.json.id, actor]);
    const known = key === null ? null : this.ledger.known(tenant, key, content);
    if (known !== null) return known;
    if (!tenant.transfers.includes(transfer)) return NOT_FOUND;
    const role = this.ledger.role(actor, transfer.source);
    const isCreator = actor === transfer.creator;
    const may =
      verb === 'cancel'
        ? MANAGERS.includes(role ?? '') || (isCreator && role !== null)
        : APPROVERS.includes(role ?? '') && !isCreator;
    if (!may) return this.count('forbidden', FORBIDDEN);
    const answer = this.decide(verb, actor, transfer, reason);
    if (key !== null && answer.status === 200) tenant.keys.set(key, { content, result: transfer });
    return answer;
  }

  /** The same by the staff, who all are one approver. `may`: whether they are active staff with the right. */
  actByStaff(verb: Verb, may: boolean, transfer: RefTransfer, reason: string): Expected {
    return may ? this.decide(verb, 'support', transfer, reason) : this.count('forbidden', FORBIDDEN);
  }

  /** The timer. Answers the status that the transfer has after it. */
  expire(transfer: RefTransfer): unknown {
    if (transfer.json.status !== 'pending_approval') this.count('settled already');
    else if (!this.isLate(transfer)) this.count('not its time yet');
    else {
      this.count('expired by the timer');
      this.end(transfer, 'expired', null);
    }
    return transfer.json.status;
  }

  private policyJson(account: RefAccount, asset: AssetName): Json {
    const policy = this.policyOf(account, asset);
    if (policy === undefined) throw new Error('there is no policy to show');
    const coming = account.coming.get(asset);
    const next = coming && {
      policy: coming.policy === null ? null : settingsJson(coming.policy),
      effective_at: time(coming.at),
    };
    return { account_id: account.id, asset, ...settingsJson(policy), pending: next ?? null };
  }

  count<T>(ending: Ending, answer?: T): T {
    this.played.set(ending, (this.played.get(ending) ?? 0) + 1);
    return answer as T;
  }

  private decide(verb: Verb, approver: string, transfer: RefTransfer, reason: string | null): Expected {
    const { approval, json } = transfer;
    if (approval === null || json.status !== 'pending_approval')
      return this.count('settled already', settledAs(json.status));
    if (this.isLate(transfer)) {
      this.end(transfer, 'expired', null);
      return this.count('too late', settledAs('expired'));
    }
    if (verb !== 'approve') {
      const code = verb === 'reject' ? 'rejected' : 'canceled';
      this.end(transfer, 'rejected', { code, reason });
      this.count(code);
    } else if (approval.by.has(approver)) {
      this.count('approved a second time');
      if (approver === 'support') return { status: 409, code: 'invalid_state' };
    } else this.approved(transfer, approval, approver);
    return { status: 200, body: transfer.json };
  }

  private approved(transfer: RefTransfer, approval: NonNullable<RefTransfer['approval']>, approver: string): void {
    const { source, json, raw, fee } = transfer;
    approval.by.add(approver);
    const received = approval.by.size;
    transfer.json = { ...json, approval: { ...(json.approval as Json), received } };
    if (received < approval.required) return this.count('approved, the first of more');
    const obstacle = source.isFrozen
      ? 'it is frozen'
      : source.verifiedAt === null
        ? 'it has no declared verification'
        : null;
    if (obstacle !== null) {
      const reason = `the account cannot send: ${obstacle}`;
      this.end(transfer, 'rejected', { code: 'capability_cannot_send', reason });
      return this.count('refused at the last approval');
    }
    transfer.json = { ...transfer.json, status: 'completed' };
    this.ledger.hold(transfer, -(raw + fee));
    this.ledger.complete(this.ledger.tenant(source.tenant), transfer);
    this.count('approved, the last');
  }

  /** Nothing leaves: what was held and counted is given back, to its own month. */
  private end(transfer: RefTransfer, status: 'rejected' | 'expired', rejection: Json | null): void {
    const { source, raw, fee } = transfer;
    transfer.json = { ...transfer.json, status, rejection };
    this.ledger.hold(transfer, -(raw + fee));
    this.ledger.use(transfer, -raw);
    const { events } = this.ledger.tenant(source.tenant);
    events.push({ type: `transfer.${status}`, object: transfer.json, at: this.ledger.now });
  }

  private isLate({ approval }: RefTransfer): boolean {
    return approval !== null && this.ledger.now >= approval.expiresAt;
  }
}

function settledAs(current: unknown): Expected {
  return { status: 409, code: 'invalid_state', details: { current, allowed: ['pending_approval'] } };
}

function settingsJson({ threshold, approvals, expiresInS }: RefPolicy): Json {
  return { threshold: threshold.toString(), approvals, expires_in_s: expiresInS };
}

function said(policy: RefPolicy | null): string {
  return JSON.stringify(policy === null ? null : settingsJson(policy));
}

function bothOf(one: RefPolicy, other: RefPolicy): RefPolicy {
  return {
    threshold: one.threshold < other.threshold ? one.threshold : other.threshold,
    approvals: Math.max(one.approvals, other.approvals),
    expiresInS: Math.min(one.expiresInS, other.expiresInS),
  };
}

function replace(policies: Map<AssetName, RefPolicy>, asset: AssetName, policy: RefPolicy | null): void {
  if (policy === null) policies.delete(asset);
  else policies.set(asset, policy);
}
