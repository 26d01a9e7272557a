import { DEFAULT_TIME_ZONE } from '../../access/tenants.js';
import { isTimeZone, type Month, monthNamed } from '../../core/calendar.js';
import { type Instant, instant, toRfc3339 } from '../../core/instant.js';
import { SETTLED_AFTER_MS } from '../../ledger/database-clock.js';
import { group, type Ops, query } from '../command.js';
import { OpsError, UsageError } from '../failures.js';
import { PROGRAM } from '../help.js';
import { tenantIdOf } from '../finding.js';
import { flag, option, optional, text, time } from '../inputs.js';
import type { Fields } from '../output.js';
import {
  type LedgerTotals,
  readTotalsAt,
  readTotalsNow,
  type ReportLine,
  reportLines,
} from '../reports/ledger-totals.js';

const tenant = optional('<tenant> only the lines of this tenant (id or name)');
const csv = flag('print CSV: amounts as raw integers, in the smallest unit');

const EXPLANATION = `
The lines of a tenant are its accounts, its system accounts, and all: the money that it received from other tenants of its
network, or gave to them. The last lines cover all tenants, and are zero.`;

function namedMonth(name: string, timeZone: string): Month {
  if (!isTimeZone(timeZone))
    throw new UsageError(`--time-zone: ${timeZone} is not an IANA time zone`);
  const month = monthNamed(name, timeZone);
  if (month === null) throw new UsageError(`--month: ${name} is not a month: write it as 2026-10`);
  return month;
}

function assertPast({ clock }: Ops, at: Instant): void {
  if (at > clock() - SETTLED_AFTER_MS)
    throw new UsageError(
      `${toRfc3339(at)} is too recent: it must be at least ${SETTLED_AFTER_MS / 1000} seconds ago`,
    );
}

async function print(
  { database, output }: Ops,
  wanted: { readonly tenant?: string | undefined; readonly csv: boolean },
  totals: readonly LedgerTotals[],
  amounts: (line: ReportLine) => Fields,
): Promise<void> {
  const only = await tenantIdOf(database.reader, wanted.tenant);
  const lines = await reportLines(database, totals);
  const rows = lines
    .filter(({ tenant }) => only === undefined || tenant?.id === only)
    .map((line) => ({
      tenant: line.tenant?.name ?? 'all tenants',
      tenant_id: line.tenant?.id ?? null,
      asset: line.asset,
      accounts: line.group,
      ...amounts(line),
    }));
  if (wanted.csv) output.csv(rows);
  else output.list(rows, 'The tenant has nothing.');
  // In any double-entry ledger, the totals of all tenants sum to zero.
  if (lines.some((line) => line.tenant === null && line.totals.some((total) => total !== 0n)))
    throw new OpsError(`the totals of all tenants are not zero: run ${PROGRAM} audit`);
}

export const reportCommands = group('totals of the ledger', {
  'trial-balance': query({
    summary: "every tenant's money, by asset and kind of account; the total is zero",
    explanation: EXPLANATION,
    examples: [
      'reports trial-balance',
      'reports trial-balance --at 2026-10-31T23:59:59.999-05:00 --csv',
    ],
    input: {
      at: option('<time> at this moment, at least 15 seconds ago (default: now)', time.optional()),
      tenant,
      csv,
    },
    run: async (ops, { at, ...wanted }) => {
      if (at !== undefined) assertPast(ops, at);
      const totals =
        at === undefined ? await readTotalsNow(ops.database) : await readTotalsAt(ops.database, at);
      await print(ops, wanted, [totals], ({ totals: [total = 0n], asset }) => ({
        total: { raw: total, asset },
      }));
    },
  }),
  closing: query({
    summary:
      "every tenant's money at the beginning and end of a month, by asset and kind of account",
    explanation: EXPLANATION,
    examples: ['reports closing --month 2026-10', 'reports closing --month 2026-10 --csv'],
    input: {
      month: option('<month> such as 2026-10; it must be over', text),
      timeZone: option(
        `<zone> IANA zone whose month it is, for all tenants alike (default: ${DEFAULT_TIME_ZONE})`,
        text.default(DEFAULT_TIME_ZONE),
      ),
      tenant,
      csv,
    },
    run: async (ops, { month, timeZone, ...wanted }) => {
      const { startsAt, endsAt } = namedMonth(month, timeZone);
      assertPast(ops, instant(endsAt - 1));
      const opening = await readTotalsAt(ops.database, instant(startsAt - 1));
      const closing = await readTotalsAt(ops.database, instant(endsAt - 1));
      await print(
        ops,
        wanted,
        [opening, closing],
        ({ totals: [before = 0n, after = 0n], asset }) => ({
          opening: { raw: before, asset },
          change: { raw: after - before, asset },
          closing: { raw: after, asset },
        }),
      );
    },
  }),
});
