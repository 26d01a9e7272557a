import { instant, type Instant, toRfc3339 } from '../../src/core/instant.js';
import { time, uuid } from '../../src/db/columns.js';
import type { Reader } from '../../src/db/database.js';
import { type SimulatedRailPayment, simulatedRailPayments } from '../../src/db/entities/payouts.js';
import { columnList, literal } from '../../src/db/statements.js';
import { parseRow } from '../../src/db/table.js';
import { scenarioNamed } from '../../src/payouts/rails/simulated.js';

const DAY_MS = 86_400_000;
const SLICE = 1_000;
/** Longest time from a payment to its last outcome. */
const MAX_MS = 60_000;

/** Yields the outcomes of the simulated rail on a day (UTC) up to now, as CSV, piece by piece. */
export async function* simulatedStatement(
  reader: Reader,
  rail: string,
  from: Instant,
  now: Instant,
): AsyncGenerator<string> {
  yield 'key,status,raw,asset,reference,at\n';
  const to = instant(Math.min(from + DAY_MS, now + 1));
  let after = '';
  for (;;) {
    const rows = await reader.query(
      `SELECT ${columnList(simulatedRailPayments)} FROM simulated_rail_payments FORCE INDEX (PRIMARY)
       WHERE rail=${literal(simulatedRailPayments, 'rail', rail)}
         AND accepted_at>=${time.literal(instant(from - MAX_MS))} AND accepted_at<${time.literal(to)}${after}
       ORDER BY payment_key LIMIT ${SLICE}`,
    );
    const payments = rows.map((row) => parseRow(simulatedRailPayments, row));
    yield payments.flatMap((payment) => linesOf(payment, from, to)).join('');
    const last = payments.at(-1);
    if (last === undefined || payments.length < SLICE) return;
    after = ` AND payment_key>${uuid.literal(last.paymentKey)}`;
  }
}

function linesOf(
  { paymentKey, scenario, acceptedAt, voidedAt, raw, asset, reference }: SimulatedRailPayment,
  from: Instant,
  to: Instant,
) {
  // A voided payment had no outcome, and never will.
  if (acceptedAt === null || voidedAt !== null) return [];
  return scenarioNamed(scenario).steps.flatMap(({ afterMs, status }) => {
    const at = instant(acceptedAt + afterMs);
    return at >= from && at < to
      ? [`${paymentKey},${status},${raw},${asset},${reference},${toRfc3339(at)}\n`]
      : [];
  });
}
