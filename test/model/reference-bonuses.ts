import type { Played } from './generated.js';
import type { ReferenceLedger } from './reference-ledger.js';
import {
  type Expected,
  FORBIDDEN,
  invalidField,
  type Json,
  NOT_FOUND,
  time,
} from './reference-state.js';

/** Bonuses as docs/contract.md describes them, beside the reference ledger whose balances, months and limits they share. */
export class ReferenceBonuses {
  constructor(private readonly ledger: ReferenceLedger) {}

  /** The response to POST /v1/bonuses. `madeId` returns the id of the service's 201. */
  pay(wanted: Played<'bonus'>, key: string, madeId: () => string): Expected {
    const { ledger } = this;
    const { actor, from, to, by, asset, raw, description, reference } = wanted;
    const tenant = ledger.tenantOf(actor);
    const [source, recipient] = [ledger.accounts[from] ?? null, ledger.accounts[to] ?? null];
    const content = JSON.stringify([
      'bonus',
      from,
      to,
      by,
      asset,
      raw.toString(),
      description,
      reference,
    ]);
    const known = ledger.known(tenant, key, content);
    if (known !== null) return known;
    if (source === null || recipient === null || source.tenant !== tenant.id) return NOT_FOUND;
    // Who may not pay does not learn what an alias names.
    if (by === 'alias' && !ledger.mayCreate(actor, source)) return FORBIDDEN;
    // An alias is known in its own tenant alone.
    if (!ledger.reaches(tenant, recipient) || (by === 'alias' && recipient.tenant !== tenant.id))
      return NOT_FOUND;
    if (from === to) return invalidField('recipient', 'same_as_source');
    if (!ledger.mayCreate(actor, source)) return FORBIDDEN;
    const policy = ledger.approvals.policyOf(source, asset);
    // It cannot wait for anybody.
    if (policy !== undefined && raw >= policy.threshold) return FORBIDDEN;
    const fee = ledger.feeOf(tenant, source, asset, raw);
    const refusal = ledger.refusal(source, asset, raw, fee);
    if (refusal !== null) return ledger.refused(tenant, key, content, refusal);
    const json: Json = {
      id: madeId(),
      status: 'completed',
      source_account: source.id,
      recipient: { account_id: recipient.id },
      amount: { raw: raw.toString(), asset },
      fee: { raw: fee.toString(), asset },
      total_debited: { raw: (raw + fee).toString(), asset },
      refunded: { raw: '0', asset },
      description,
      reference,
      metadata: {},
      created_at: time(ledger.now),
    };
    const feeAccount = fee > 0n ? tenant.feeAccount : null;
    const made = {
      json,
      key,
      at: ledger.now,
      source,
      destination: recipient,
      asset,
      raw,
      fee,
      feeAccount,
    };
    tenant.bonuses.push(made);
    ledger.useMonth(source, asset, raw);
    ledger.enterAll('bonus', made);
    tenant.keys.set(key, { content, result: made });
    return { status: 201, body: json };
  }
}
