import type { Amount } from '../core/amount.js';
import type { Fingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Page, TimePosition } from '../core/pages.js';
import type { Caller } from '../core/permissions.js';
import type { Reader } from '../db/database.js';
import type { Transfer } from '../db/entities/operations.js';
import type { PostingDesk } from '../ledger/desk/desk.js';
import type { Answer } from '../ledger/desk/types.js';
import { createTransfer } from './commands.js';
import { listTransfers, readTransfer, type TransferFilter } from './reading.js';

export interface TransferRequest {
  readonly sourceAccountId: Uuid;
  readonly destinationAccountId: Uuid;
  readonly amount: Amount;
  readonly description: string | null;
}

/** What the API does with transfers. */
export class Transfers {
  private readonly desk: PostingDesk;
  private readonly reader: Reader;

  constructor(desk: PostingDesk, reader: Reader) {
    this.desk = desk;
    this.reader = reader;
  }

  /** Never throws: a rule's refusal and an unknown result are answers. (interface.md, POST /v1/transfers) */
  create(
    caller: Caller,
    request: TransferRequest,
    idempotency: { readonly key: string; readonly fingerprint: Fingerprint },
  ): Promise<Answer<Transfer>> {
    const { tenantId, memberId } = caller;
    return this.desk.submit(createTransfer, { ...request, ...idempotency, tenantId, memberId, transferId: newId() });
  }

  /** Throws not_found, authority_insufficient. */
  read(caller: Caller, id: Uuid): Promise<Transfer> {
    return readTransfer(this.reader, caller, id);
  }

  list(caller: Caller, filter: TransferFilter, before: TimePosition | null, limit: number): Promise<Page<Transfer>> {
    return listTransfers(this.reader, caller, filter, before, limit);
  }
}
