import { ASSETS, type AssetName } from './operations.js';
import type { Played } from './generated.js';
import type { WantedRow } from './generated-batches.js';
import type { RefBatch, RefProblem, RefRow } from './reference-batch.js';
import type { ReferenceLedger } from './reference-ledger.js';
import { limitsOf, type RefAccount, type RefTenant } from './reference-state.js';

/** The header is the first one. */
const FIRST_ROW = 2;

/** One way through an uploaded file: every problem is found, and the rows that could be paid. (docs/contract.md, Validation) */
export class FileReading {
  readonly problems: RefProblem[] = [];
  readonly rows: RefRow[] = [];
  readonly duplicates: number[] = [];
  private readonly references = new Set<string>();

  constructor(
    private readonly ledger: ReferenceLedger,
    private readonly tenant: RefTenant,
    private readonly batch: RefBatch,
    private readonly wanted: Played<'upload'>,
  ) {}

  readAll(): void {
    const { rows, hasAmounts } = this.wanted;
    if (!hasAmounts) {
      this.problems.push([1, 'amount', 'missing_column']);
      this.batch.rowCount += rows.length;
    } else if (rows.length === 0) this.problems.push([null, '', 'no_rows']);
    else for (const [index, row] of rows.entries()) this.read(row, index + FIRST_ROW);
  }

  private read(wanted: WantedRow, number: number): void {
    const { batch, ledger, tenant } = this;
    const { raw, reference } = wanted;
    const asset = assetOf(wanted, this.wanted.asset);
    const found: (readonly [column: string, code: string])[] = [];
    batch.rowCount += 1;
    const recipient = this.recipientOf(wanted);
    if ('code' in recipient) found.push([recipient.column, recipient.code]);
    const hasRaw = wanted.fault !== 'decimals' && wanted.fault !== 'no amount';
    if (!hasRaw)
      found.push(['amount', wanted.fault === 'decimals' ? 'invalid_field' : 'missing_field']);
    if (asset === null) found.push(['asset', 'missing_field']);
    else {
      const { minimum, maximum } = limitsOf(batch.source, asset);
      if (hasRaw && raw < minimum) found.push(['amount', 'below_minimum']);
      if (hasRaw && raw > maximum) found.push(['amount', 'above_per_operation_limit']);
      if (batch.asset !== null && asset !== batch.asset) found.push(['asset', 'mixed_asset']);
    }
    if (reference !== null && this.references.has(reference))
      found.push(['reference', 'duplicate_reference']);
    if (reference !== null) this.references.add(reference);
    this.problems.push(...found.map((one) => [number, ...one] as const));
    if (found.length > 0) batch.rowsRejected += 1;
    if (found.length > 0 || 'code' in recipient || asset === null) return;
    if (this.rows.some((row) => row.payee === recipient.payee)) this.duplicates.push(number);
    batch.asset ??= asset;
    batch.total += raw;
    const unpaid = { paymentId: null, code: null, paidAt: null, payout: null } as const;
    const open = { status: 'pending', resultStatus: 'failed', ...unpaid } as const;
    const fee = ledger.feeOf(tenant, batch.source, asset, raw);
    const { description, order } = wanted;
    const metadata = order === null ? {} : { order };
    const texts = { description, reference, metadata };
    this.rows.push({ number, ...recipient, raw, fee, ...texts, ...open });
  }

  /** Whom it names, or what is wrong with that. */
  private recipientOf(wanted: WantedRow): Recipient | { column: string; code: string } {
    if (this.wanted.kind === 'bonus') return this.accountOf(wanted);
    const { to, fault } = wanted;
    if (fault === 'formula') return { column: 'account_number', code: 'formula_cell' };
    if (fault === 'nobody') return { column: 'bank_code', code: 'invalid_field' };
    return { recipient: HOLDER, account: null, payee: bankNumber(to) };
  }

  private accountOf(wanted: WantedRow): Recipient | { column: string; code: string } {
    const { to, by, fault } = wanted;
    const refused = (code: string) => ({ column: 'recipient', code });
    if (fault === 'formula') return refused('formula_cell');
    const account = this.ledger.accounts[to] ?? null;
    if (fault === 'nobody' || account === null || !this.ledger.reaches(this.tenant, account))
      return refused('not_found');
    // An alias is known in its own tenant alone.
    if (by === 'alias' && account.alias !== null && account.tenant !== this.tenant.id)
      return refused('not_found');
    if (account === this.batch.source) return refused('same_account');
    return { recipient: recipientText(wanted, account), account, payee: account.id };
  }
}

type Recipient = Pick<RefRow, 'recipient' | 'account' | 'payee'>;

const HOLDER = 'María Holder Núñez';

/** The bank account that a row of a batch of payouts names in place of an account. */
export function bankNumber(to: number): string {
  return `45678912340${50 + to}`;
}

/** The content of the recipient's cell. */
export function recipientText(
  { by, fault }: WantedRow,
  account: Pick<RefAccount, 'id' | 'alias'>,
): string {
  if (fault === 'nobody') return '$nobody';
  if (fault === 'formula') return '=1+1';
  return by === 'alias' && account.alias !== null ? account.alias : account.id;
}

/** Null where the cell is empty. */
export function assetOf({ fault }: WantedRow, asset: AssetName): AssetName | null {
  if (fault === 'no asset') return null;
  return fault === 'other asset' ? ASSETS.find((other) => other !== asset)! : asset;
}
