import type { Played } from './generated.js';
import type { ReferenceLedger } from './reference-ledger.js';
import {
  amountJson,
  type Expected,
  fieldDetails,
  FORBIDDEN,
  type Json,
  monthName,
  NOT_FOUND,
  type RefTransfer,
  time,
} from './reference-state.js';

/** Transfers as docs/contract.md describes them (Transfers), beside the reference ledger. */
export class ReferenceTransfers {
  constructor(private readonly ledger: ReferenceLedger) {}

  /** What POST /v1/transfers answers. `madeId` is called for the id that the service gave when it says 201. */
  create(wanted: Played<'transfer'>, key: string, madeId: () => string): Expected {
    const { ledger } = this;
    const { actor, from, to } = wanted;
    const tenant = ledger.tenantOf(actor);
    const [source, destination] = [ledger.accounts[from] ?? null, ledger.accounts[to] ?? null];
    if (from === to)
      return {
        status: 400,
        code: 'invalid_field',
        details: fieldDetails('destination.account_id', 'same_as_source'),
      };
    const { asset, raw, description, metadata } = wanted;
    const content = JSON.stringify([from, to, asset, raw.toString(), description, metadata]);
    const known = ledger.known(tenant, key, content);
    if (known !== null) return known;
    if (source === null || destination === null || source.tenant !== tenant.id) return NOT_FOUND;
    if (!ledger.reaches(tenant, destination)) return NOT_FOUND;
    if (!ledger.mayCreate(actor, source)) return FORBIDDEN;
    const fee = ledger.feeOf(tenant, source, asset, raw);
    const refusal = ledger.refusal(source, asset, raw, fee);
    if (refusal !== null) {
      tenant.keys.set(key, { content, result: refusal });
      return refusal;
    }
    const approval = ledger.approvals.wanted(source, asset, raw);
    const json: Json = {
      id: madeId(),
      scope: 'internal',
      status: approval === null ? 'completed' : 'pending_approval',
      source_account: source.id,
      destination: { type: 'account', account_id: destination.id },
      amount: amountJson(raw, asset),
      fee: amountJson(fee, asset),
      description,
      metadata: metadata ?? {},
      created_at: time(ledger.now),
      approval: ledger.approvals.shown(approval),
      rejection: null,
    };
    const feeAccount = fee > 0n ? tenant.feeAccount : null;
    const month = monthName(ledger.now);
    const parties = { source, destination, asset, raw, fee, feeAccount, creator: actor };
    const transfer: RefTransfer = {
      kind: 'transfer',
      json,
      key,
      at: ledger.now,
      month,
      approval,
      ...parties,
    };
    tenant.transfers.push(transfer);
    ledger.use(transfer, raw);
    if (approval === null) this.complete(transfer);
    else {
      ledger.hold(transfer, raw + fee);
      ledger.count('waits for approval');
    }
    tenant.keys.set(key, { content, result: transfer });
    return { status: approval === null ? 201 : 202, body: json };
  }

  granted(transfer: RefTransfer): void {
    transfer.json = { ...transfer.json, status: 'completed' };
    this.ledger.hold(transfer, -(transfer.raw + transfer.fee));
    this.complete(transfer);
  }

  rejected(transfer: RefTransfer, code: string, reason: string | null): void {
    this.end(transfer, 'rejected', { code, reason });
  }

  canceled(transfer: RefTransfer, reason: string | null): void {
    this.end(transfer, 'rejected', { code: 'canceled', reason });
  }

  expired(transfer: RefTransfer): void {
    this.end(transfer, 'expired', null);
  }

  /** The money moves now, and the log says so. */
  private complete(transfer: RefTransfer): void {
    this.ledger.enterAll('transfer', transfer);
    this.ledger.tell(transfer, 'transfer.completed');
  }

  /** Nothing leaves: what was held and counted is given back, to its own month. */
  private end(transfer: RefTransfer, status: 'rejected' | 'expired', rejection: Json | null): void {
    transfer.json = { ...transfer.json, status, rejection };
    this.ledger.giveBack(transfer);
    this.ledger.tell(transfer, `transfer.${status}`);
  }
}
