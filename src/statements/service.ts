import { notFound } from '../core/errors.js';
import { FairQueue } from '../core/fair-queue.js';
import type { Fingerprint } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import type { Page, TimePosition } from '../core/pages.js';
import type { Caller } from '../core/permissions.js';
import { type Statement, statementFiles } from '../db/entities/statements.js';
import type { FileKind } from '../spreadsheets/open-sheet.js';
import type { Answer } from '../ledger/desk/types.js';
import { createStatement, type CreatingDeps } from './creating.js';
import { storedPieces } from '../spreadsheets/stored-pieces.js';
import { listStatements, readStatement } from './reading.js';
import type { StatementRequest } from './rules.js';

/** However many downloads run, no other read waits behind more pieces than these. */
const PIECES_AT_A_TIME = 4;
const NEVER = new AbortController().signal;

/** What the API does with statements. Reading throws not_found, authority_insufficient. */
export class Statements {
  private readonly pieces = new FairQueue(PIECES_AT_A_TIME);

  constructor(private readonly deps: CreatingDeps) {}

  /** Refusals and unknown results are returned as answers. Throws DatabaseUnavailable if nothing has happened. */
  create(
    caller: Caller,
    id: Uuid,
    wanted: StatementRequest,
    idempotency: { readonly key: string; readonly fingerprint: Fingerprint },
  ): Promise<Answer<Statement>> {
    return createStatement(this.deps, caller, id, wanted, idempotency);
  }

  read(caller: Caller, id: Uuid): Promise<Statement> {
    return readStatement(this.deps.database.reader, caller, id);
  }

  list(
    caller: Caller,
    accountId: Uuid | undefined,
    before: TimePosition | null,
    limit: number,
  ): Promise<Page<Statement>> {
    return listStatements(this.deps.database.reader, caller, accountId, before, limit);
  }

  /** Its file, read as it is sent. Also throws not_found if there is none. */
  async file(caller: Caller, id: Uuid, format: FileKind): Promise<AsyncIterable<Buffer>> {
    const { reader } = this.deps.database;
    const { csvBytes, xlsxBytes } = await readStatement(reader, caller, id);
    const size = format === 'csv' ? csvBytes : xlsxBytes;
    if (size === null) throw notFound();
    const read = (number: number) => reader.find(statementFiles, { statementId: id, format, number });
    return storedPieces(read, size, () => this.pieces.enter(caller.tenantId, NEVER));
  }
}
