import { randomUUID } from 'node:crypto';
import { requestFingerprint } from '../../src/core/fingerprint.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { Deadline } from '../../src/core/timers.js';
import { DatabaseClock } from '../../src/ledger/database-clock.js';
import { determineAccounts, postGroup } from '../../src/ledger/writer/group.js';
import { findResults } from '../../src/ledger/idempotency.js';
import type { PendingCommand } from '../../src/ledger/writer/pending-command.js';
import { createTransfer } from '../../src/transfers/service.js';
import type { CreateTransfer } from '../../src/transfers/rules.js';
import { CreateTransferBody, transferRequest } from '../../src/transfers/schemas.js';
import { UNIT_RAW } from '../ledgers/history.js';
import type { Ledger } from '../ledgers/ledger.js';
import { RowFailed } from '../row-failed.js';
import { FINGERPRINT_KEY } from '../service/settings.js';
import { openBare } from './driver.js';
import { RecordingDatabase } from './recording.js';

/** The texts that the ledger writer sent to MySQL for one group. */
export interface RecordedGroup {
  readonly commands: number;
  /** Sent at the same time, before the transaction. */
  readonly reads: readonly string[];
  /** The transaction's round trips; COMMIT is part of the last text. */
  readonly steps: readonly string[];
}

const RECORDING_MS = 600_000;

/** Returns the parties of the group's next transfer. A key makes it a replay. */
export type NextTransfer = () => {
  readonly source: Uuid;
  readonly destination: Uuid;
  readonly key?: string;
};

/**
 * Posts groups of these sizes with the service's functions, records every statement, and rolls everything back, so that
 * the bare driver can send the same statements to the same ledger. Groups of used keys are only read, as the ledger
 * writer does if it expects replays.
 */
export async function recordGroups(
  ledger: Ledger,
  sizes: readonly number[],
  next: NextTransfer,
): Promise<RecordedGroup[]> {
  const connection = await openBare(ledger.url, 'transactions');
  const database = new RecordingDatabase(ledger.url, connection);
  const groups: RecordedGroup[] = [];
  try {
    for (const size of sizes) {
      const transfers = Array.from({ length: size }, next);
      const group = transfers.map((one) => pending(ledger, one));
      if (transfers.every(({ key }) => key !== undefined))
        await findResults(database.reader, group);
      else await recordGroup(database, group);
      const [reads, steps] = [database.lookUps.splice(0), database.steps.splice(0)];
      if (reads.length + steps.length === 0)
        throw new RowFailed('the ledger writer sent no statements');
      groups.push({ commands: size, reads, steps });
    }
  } finally {
    await connection.query('ROLLBACK');
    await Promise.all([connection.end(), database.close()]);
  }
  return groups;
}

/** Does the work of LedgerWriter for a group of new keys, without failures. */
async function recordGroup(
  database: RecordingDatabase,
  group: readonly PendingCommand[],
): Promise<void> {
  const named = await determineAccounts(database.reader, group, false);
  const results = await postGroup(
    {
      database,
      clock: systemClock,
      databaseClock: new DatabaseClock(),
      rollbackGuard: { checkConnection: () => Promise.resolve(), remember: () => undefined },
      onFault: fail,
      onAccountAhead: fail,
    },
    group,
    named,
    Deadline.afterMs(RECORDING_MS),
  );
  for (const { outcome } of results.values())
    if (!outcome.done)
      throw new Error(`a transfer of the baseline was refused: ${outcome.refusal.code}`);
}

function fail(_what: string, fault: unknown): never {
  throw fault instanceof Error ? fault : new Error('a command failed');
}

function pending(
  { tenantId, memberId }: Ledger,
  transfer: ReturnType<NextTransfer>,
): PendingCommand {
  const { source, destination } = transfer;
  const command: CreateTransfer = {
    tenantId,
    memberId,
    key: transfer.key ?? randomUUID(),
    // Has the length of the service's fingerprints, and equals that of any used key.
    fingerprint: { ...requestFingerprint([FINGERPRINT_KEY], newId()), compare: () => 'same' },
    transferId: newId(),
    ...transferRequest(
      CreateTransferBody.parse({
        source_account: source,
        destination: { type: 'account', account_id: destination },
        amount: { raw: UNIT_RAW.toString(), asset: 'COPM' },
        description: 'Pago de la factura del mes',
      }),
    ),
    outboxId: newId(),
  };
  return {
    kind: createTransfer,
    command,
    deadline: Deadline.afterMs(RECORDING_MS),
    submission: Symbol(),
    isAnswered: false,
    span: null,
    answer: () => undefined,
  };
}
