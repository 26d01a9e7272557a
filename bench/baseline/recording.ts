import type { Connection } from 'mysql2/promise';
import { Database, type Reader, type StoredRow, type Transaction } from '../../src/db/database.js';
import { readerOver } from '../../src/db/reader.js';

/** Round trips in order, each as the text sent over the wire. */
type Recorded = string[];

/** A reader over one connection that records what it sends. */
export function recordingReader(connection: Connection, recorded: Recorded): Reader {
  return readerOver(async (sql) => {
    recorded.push(sql);
    return (await connection.query(sql))[0];
  });
}

/**
 * A database whose transactions all run within one transaction of `connection` and never commit: each sees what the
 * earlier ones did, everything is recorded, and a rollback at the end leaves no trace.
 */
export class RecordingDatabase extends Database {
  override readonly reader: Reader;
  /** Reads outside transactions, and the round trips of transactions. The caller empties them. */
  readonly lookUps: Recorded = [];
  readonly steps: Recorded = [];

  constructor(
    url: string,
    private readonly connection: Connection,
  ) {
    super({ url, readConnections: 1, transactionConnections: 1, statementTimeoutMs: 60_000 });
    this.reader = recordingReader(connection, this.lookUps);
  }

  override async withPosting<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const send = async (sql: string): Promise<unknown> => {
      this.steps.push(sql);
      return (await this.connection.query(sql))[0];
    };
    const lastStatements: string[] = [];
    const done = await work({
      ...recordingReader(this.connection, this.steps),
      connection: this.connection,
      execute: async (sql) => {
        await send(sql);
        return 0;
      },
      all: async (statements) => {
        if (statements.length === 0) return [];
        const result = await send(statements.join(';'));
        const results: unknown[] =
          statements.length === 1 ? [result] : Array.isArray(result) ? result : [];
        return results.map((one) => (Array.isArray(one) ? (one as StoredRow[]) : []));
      },
      atEnd: () => {
        throw new Error('commands recorded for the baseline must not write to the audit log');
      },
      withCommit: (statements) => lastStatements.push(...statements),
    });
    await send(lastStatements.join(';'));
    return done;
  }
}
