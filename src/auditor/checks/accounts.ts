import { type Asset, ASSETS, eachAsset } from '../../core/amount.js';
import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { asset as assetColumn, bigint, nullable, time, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { type Balance, balances, ENTRY_KINDS, noBalance } from '../../db/entities/ledger.js';
import { type Account, accounts } from '../../db/entities/parties.js';
import type { AuditRun, Check } from '../run.js';
import { wasReset } from '../../ledger/clock-resets.js';
import { idList, walkTable } from '../walk.js';

const ACCOUNTS_A_SLICE = 500;

/** Compares an account's own rows with its last entries and its holds. */
export const accountChecks: Check = {
  tables: ['accounts'],
  run: (audit) =>
    walkTable(audit, accounts, ACCOUNTS_A_SLICE, async (reader, slice) => {
      audit.counted('accounts', slice.length);
      const ids = slice.map((account) => account.id);
      const [own, heads, held] = await Promise.all([
        reader.select(balances, { accountId: ids, asset: ASSETS }),
        readHeads(reader, ids),
        readHeld(reader, ids),
      ]);
      audit.counted('balances', own.length);
      const byAccount = groupBy(own, (balance) => balance.accountId);
      for (const account of slice) {
        const head = heads.get(account.id);
        await checkHead(audit, reader, account, head);
        for (const asset of ASSET_NAMES) {
          const row = (byAccount.get(account.id) ?? []).find((one) => one.asset === asset);
          const heldByHolds = held.get(`${account.id}|${asset}`) ?? 0n;
          checkBalance(audit, `account ${account.id} ${asset}`, {
            ...{ account, balance: row ?? noBalance(account, asset) },
            ...{ total: head?.totals[asset] ?? 0n, heldByHolds },
          });
        }
      }
    }),
};

const TOTALS = eachAsset((asset) => `${asset.toLowerCase()}_total`);
const ASSET_NAMES = Object.keys(TOTALS) as Asset[];

/** The account's last entry, and the last of each asset. */
interface Head {
  readonly seq: bigint;
  readonly createdAt: number | null;
  readonly totals: Readonly<Record<Asset, bigint>>;
}

/** Reads the end of one index range for each account, and one per kind for each asset, however long the history. */
async function readHeads(reader: Reader, ids: readonly Uuid[]): Promise<Map<Uuid, Head>> {
  const last = (column: string): string =>
    `(SELECT e.${column} FROM entries e FORCE INDEX (PRIMARY) WHERE e.account_id=a.id ORDER BY e.seq DESC LIMIT 1)`;
  const totals = ASSET_NAMES.map((asset) => {
    const ends = ENTRY_KINDS.map(
      (
        kind,
      ) => `COALESCE((SELECT MAX(k.seq) FROM entries k FORCE INDEX (asset_kind) WHERE k.account_id=a.id
        AND k.asset=${assetColumn.literal(asset)} AND k.kind='${kind}'), 0)`,
    );
    return `(SELECT e.total_after FROM entries e FORCE INDEX (PRIMARY) WHERE e.account_id=a.id
      AND e.seq=GREATEST(${ends.join(',')})) AS ${TOTALS[asset]}`;
  });
  const rows = await reader.query(
    `SELECT a.id, ${last('seq')} AS last_seq, ${last('created_at')} AS last_at,
     ${totals.join(',')} FROM accounts a WHERE a.id IN (${idList(ids)})`,
  );
  const number = nullable(bigint);
  return new Map(
    rows.map((row) => [
      uuid.parse(row.id),
      {
        seq: number.parse(row.last_seq) ?? 0n,
        createdAt: nullable(time).parse(row.last_at),
        totals: eachAsset((asset) => number.parse(row[TOTALS[asset]]) ?? 0n),
      },
    ]),
  );
}

async function readHeld(reader: Reader, ids: readonly Uuid[]): Promise<Map<string, bigint>> {
  const rows = await reader.query(
    `SELECT account_id, asset, CAST(SUM(remaining) AS CHAR) AS held FROM holds
     WHERE account_id IN (${idList(ids)}) AND remaining<>0 GROUP BY account_id, asset`,
  );
  return new Map(
    rows.map((row) => [
      `${uuid.parse(row.account_id)}|${assetColumn.parse(row.asset)}`,
      bigint.parse(row.held),
    ]),
  );
}

async function checkHead(
  audit: AuditRun,
  reader: Reader,
  account: Account,
  head: Head | undefined,
): Promise<void> {
  const subject = `account ${account.id}`;
  const lastSeq = head?.seq ?? 0n;
  if (account.seq !== lastSeq)
    audit.report(
      'account_seq',
      subject,
      `its seq is ${account.seq}, its last entry has ${lastSeq}`,
    );
  const lastAt = head?.createdAt ?? null;
  if (
    lastAt !== null &&
    account.lastPostedAt < lastAt &&
    !(await wasReset(reader, account.id, lastSeq))
  )
    audit.report('account_clock', subject, 'its last posting is dated before its last entry');
}

interface BalanceFacts {
  readonly account: Account;
  readonly balance: Balance;
  /** `total_after` of the asset's last entry. */
  readonly total: bigint;
  readonly heldByHolds: bigint;
}

function checkBalance(
  audit: AuditRun,
  subject: string,
  { account, balance, total, heldByHolds }: BalanceFacts,
): void {
  const { available, held, overdraft } = balance;
  if (available + held !== total)
    audit.report(
      'balance_total',
      subject,
      `${available} available and ${held} held are not the ${total} of its entries`,
    );
  if (held !== heldByHolds)
    audit.report('held_total', subject, `${held} are held, its holds have ${heldByHolds}`);
  if (overdraft !== (account.type === 'system'))
    audit.report(
      'overdraft',
      subject,
      overdraft ? 'only system accounts may be overdrawn' : 'a system account may be overdrawn',
    );
  if (account.status === 'closed' && (available !== 0n || held !== 0n))
    audit.report(
      'closed_balance',
      subject,
      `it is closed, and ${available} available and ${held} held are left in it`,
    );
  if (held < 0n || (available < 0n && account.type !== 'system'))
    audit.report('negative_balance', subject, `${available} available, ${held} held`);
}
