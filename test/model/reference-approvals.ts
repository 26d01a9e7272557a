import type { ActorName, AssetName } from './operations.js';
import type { ReferenceLedger } from './reference-ledger.js';
import {
  type Expected,
  FORBIDDEN,
  type Json,
  NOT_FOUND,
  type RefAccount,
  type RefPolicy,
  type RefWaiting,
  time,
} from './reference-state.js';

/**
 * Approvals as docs/contract.md describes them (Approval, Staff), beside the reference ledger and without the service's
 * code.
 */

export type Verb = 'approve' | 'reject' | 'cancel';
const APPROVERS = ['approver', 'admin', 'owner'];
const MANAGERS = ['admin', 'owner'];

/** The possible results of an action, to count how often each was played. */
export const APPROVAL_ENDINGS = [
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
  'captured',
  'forbidden',
] as const;
type Ending = (typeof APPROVAL_ENDINGS)[number];

interface Ends {
  granted(): void;
  rejected(code: string, reason: string | null): void;
  canceled(reason: string | null): void;
  expired(): void;
}

export class ReferenceApprovals {
  constructor(private readonly ledger: ReferenceLedger) {}

  /** PUT and DELETE approval policy; null removes it. What is laxer comes after the tenant's delay. */
  setPolicy(
    actor: ActorName,
    account: RefAccount | null,
    asset: AssetName,
    policy: RefPolicy | null,
  ): Expected {
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
      if (policy === null || textOf(strict) !== textOf(policy)) {
        const at = this.ledger.now + delayMs;
        const isKnown =
          before !== undefined && textOf(before.policy) === textOf(policy) && before.at <= at;
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

  /** The approvals that a new resource needs; null if its policy requires none. */
  wanted(source: RefAccount, asset: AssetName, raw: bigint): RefWaiting['approval'] {
    const policy = this.policyOf(source, asset);
    if (policy === undefined || raw < policy.threshold) return null;
    return {
      required: policy.approvals,
      expiresAt: this.ledger.now + policy.expiresInS * 1_000,
      by: new Set(),
    };
  }

  shown(approval: RefWaiting['approval']): Json | null {
    if (approval === null) return null;
    return {
      required: approval.required,
      received: approval.by.size,
      expires_at: time(approval.expiresAt),
    };
  }

  /** The response to a member's action; `key` is that of an approval. */
  act(
    verb: Verb,
    actor: ActorName,
    waiting: RefWaiting,
    reason: string | null,
    key: string | null,
  ): Expected {
    const tenant = this.ledger.tenantOf(actor);
    const content = JSON.stringify(['approve', waiting.json.id, actor]);
    const known = key === null ? null : this.ledger.known(tenant, key, content);
    if (known !== null) return known;
    if (waiting.source.tenant !== tenant.id) return NOT_FOUND;
    const role = this.ledger.role(actor, waiting.source);
    const isCreator = actor === waiting.creator;
    const may =
      verb === 'cancel'
        ? MANAGERS.includes(role ?? '') || (isCreator && role !== null)
        : APPROVERS.includes(role ?? '') && !isCreator;
    if (!may) return this.count('forbidden', FORBIDDEN);
    const answer = this.decide(verb, actor, waiting, reason);
    if (key !== null && answer.status === 200) tenant.keys.set(key, { content, result: waiting });
    return answer;
  }

  /** The response to the staff, who all are one approver. `may`: whether they are active staff with the right. */
  actByStaff(verb: Verb, may: boolean, waiting: RefWaiting, reason: string): Expected {
    return may ? this.decide(verb, 'support', waiting, reason) : this.count('forbidden', FORBIDDEN);
  }

  /** The timer. Answers the status after it. */
  expire(waiting: RefWaiting): unknown {
    if (!isExpiring(waiting)) this.count('settled already');
    else if (!this.isLate(waiting)) this.count('not its time yet');
    else {
      this.count('expired by the timer');
      this.endsOf(waiting).expired();
    }
    return waiting.json.status;
  }

  private policyJson(account: RefAccount, asset: AssetName): Json {
    const policy = this.policyOf(account, asset);
    if (policy === undefined) throw new Error('there is no policy to show');
    const coming = account.coming.get(asset);
    const next = coming && {
      policy: coming.policy === null ? null : settingsJson(coming.policy),
      effective_at: time(coming.at),
    };
    return {
      account_id: account.id,
      asset,
      ...settingsJson(policy),
      batch_rule: batchRule(policy),
      pending: next ?? null,
    };
  }

  private count<T>(ending: Ending, answer?: T): T {
    this.ledger.count(ending);
    return answer as T;
  }

  private decide(
    verb: Verb,
    approver: string,
    waiting: RefWaiting,
    reason: string | null,
  ): Expected {
    const { approval, json } = waiting;
    const allowed = allowedFor(verb, waiting);
    if (!allowed.includes(json.status))
      return this.count('settled already', settledAs(json.status, allowed));
    if (isExpiring(waiting) && this.isLate(waiting)) {
      this.endsOf(waiting).expired();
      return this.count('too late', settledAs(waiting.json.status, allowed));
    }
    const isKept = isPerhapsPaid(waiting);
    if (isKept && (verb !== 'approve' || this.isRefusedAtLast(waiting, approver)))
      return settledAs(json.status, []);
    if (verb === 'reject') {
      this.endsOf(waiting).rejected('rejected', reason);
      this.count('rejected');
    } else if (verb === 'cancel') {
      this.endsOf(waiting).canceled(reason);
      this.count('canceled');
    } else if (approval?.by.has(approver) === true) {
      this.count('approved a second time');
      if (approver === 'support') return { status: 409, code: 'invalid_state' };
    } else this.approved(waiting, approver);
    return { status: 200, body: waiting.json };
  }

  private approved(waiting: RefWaiting, approver: string): void {
    const { source, approval } = waiting;
    if (approval === null) throw new Error('what needs no approval was approved');
    approval.by.add(approver);
    waiting.json = { ...waiting.json, approval: this.shown(approval) };
    if (approval.by.size < approval.required) return this.count('approved, the first of more');
    const obstacle = obstacleOf(source);
    if (obstacle !== null) {
      this.endsOf(waiting).rejected(
        'capability_cannot_send',
        `the account cannot send: ${obstacle}`,
      );
      return this.count('refused at the last approval');
    }
    this.endsOf(waiting).granted();
    this.count('approved, the last');
  }

  /** The effect of the end on money depends on the kind. */
  private endsOf(waiting: RefWaiting): Ends {
    const { transfers, payouts } = this.ledger;
    return waiting.kind === 'transfer'
      ? {
          granted: () => transfers.granted(waiting),
          rejected: (code, reason) => transfers.rejected(waiting, code, reason),
          canceled: (reason) => transfers.canceled(waiting, reason),
          expired: () => transfers.expired(waiting),
        }
      : {
          granted: () => payouts.granted(waiting),
          rejected: (code, reason) => payouts.rejected(waiting, code, reason),
          canceled: () => payouts.canceled(waiting),
          expired: () => payouts.expired(waiting),
        };
  }

  private isLate(waiting: RefWaiting): boolean {
    const at = dueAt(waiting);
    return at !== null && this.ledger.now >= at && !isPerhapsPaid(waiting);
  }

  private isRefusedAtLast({ approval, source }: RefWaiting, approver: string): boolean {
    if (approval === null || approval.by.has(approver)) return false;
    return approval.by.size + 1 >= approval.required && obstacleOf(source) !== null;
  }
}

/** A rail's report about a payout that it was never given ends nothing; only a later report does. */
function isPerhapsPaid(waiting: RefWaiting): boolean {
  return waiting.kind === 'payout' && waiting.isContradicted;
}

function obstacleOf({ isFrozen, verifiedAt }: RefAccount): string | null {
  if (isFrozen) return 'it is frozen';
  return verifiedAt === null ? 'it has no declared verification' : null;
}

/** A payout that is approved can still be canceled, until its rail may have it. */
function allowedFor(verb: Verb, { kind }: RefWaiting): readonly unknown[] {
  if (verb !== 'cancel') return ['pending_approval'];
  return ['pending_approval', kind === 'payout' ? 'approved' : 'held'];
}

export function isExpiring({ json: { status } }: RefWaiting): boolean {
  return status === 'pending_approval' || status === 'held';
}

/** When what waits for approval or capture expires. */
export function dueAt(waiting: RefWaiting): number | null {
  if (waiting.kind === 'transfer' && waiting.json.status === 'held') return waiting.heldUntil;
  return waiting.approval?.expiresAt ?? null;
}

function settledAs(current: unknown, allowed: readonly unknown[]): Expected {
  return { status: 409, code: 'invalid_state', details: { current, allowed } };
}

function settingsJson({ threshold, approvals, expiresInS }: RefPolicy): Json {
  return {
    threshold: threshold.toString(),
    approvals,
    expires_in_s: expiresInS,
    refuses_batches: false,
  };
}

function batchRule({ approvals }: RefPolicy): string {
  const rule =
    'A batch whose total reaches the threshold, even of one row, is executed by one member other than its uploader';
  return approvals === 1 ? `${rule}.` : `${rule}, and not approved by ${approvals}.`;
}

function textOf(policy: RefPolicy | null): string {
  return JSON.stringify(policy === null ? null : settingsJson(policy));
}

function bothOf(one: RefPolicy, other: RefPolicy): RefPolicy {
  return {
    threshold: one.threshold < other.threshold ? one.threshold : other.threshold,
    approvals: Math.max(one.approvals, other.approvals),
    expiresInS: Math.min(one.expiresInS, other.expiresInS),
  };
}

function replace(
  policies: Map<AssetName, RefPolicy>,
  asset: AssetName,
  policy: RefPolicy | null,
): void {
  if (policy === null) policies.delete(asset);
  else policies.set(asset, policy);
}
