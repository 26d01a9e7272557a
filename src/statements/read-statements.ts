import type { Uuid } from '../core/ids.js';
import type { Page, TimePosition } from '../core/collections.js';
import type { Caller } from '../core/permissions.js';
import { uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { memberRoles } from '../db/entities/parties.js';
import { type Statement, statements } from '../db/entities/statements.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { readVisible } from '../db/visible-list.js';
import { assertAllowed, readReach } from '../accounts/access.js';
import type { FileKind } from '../spreadsheets/open-sheet.js';
import { pieceReader, type StoredFiles } from '../spreadsheets/generated-files.js';

/** Returns one of the tenant's statements. Throws not_found, authority_insufficient. */
export async function readStatement(reader: Reader, caller: Caller, id: Uuid): Promise<Statement> {
  const member = literal(memberRoles, 'memberId', caller.memberId);
  const [row] = await reader.query(
    `SELECT r.role AS caller_role, ${columnList(statements, 's')} FROM statements s
     LEFT JOIN member_roles r ON r.account_id=s.account_id AND r.member_id=${member}
     WHERE s.id=${uuid.literal(id)} AND s.tenant_id=${uuid.literal(caller.tenantId)}`,
  );
  assertAllowed('readAccount', row);
  return parseRow(statements, row);
}

/** Returns statements of accounts in which the member has a role, newest first. */
export async function listStatements(
  reader: Reader,
  { tenantId, memberId }: Caller,
  accountId: Uuid | undefined,
  before: TimePosition | null,
  limit: number,
): Promise<Page<Statement>> {
  // A foreign account gives an empty list, as for operations.
  if (accountId !== undefined) {
    const reach = await readReach(reader, [{ tenantId, accountId }]);
    if (!reach.owns(tenantId, accountId)) return { items: [], next: null };
  }
  const rows =
    accountId === undefined
      ? { index: 'tenant', within: [`t.tenant_id=${uuid.literal(tenantId)}`] }
      : { index: 'account', within: [`t.account_id=${uuid.literal(accountId)}`] };
  const shown = [
    `l.tenant_id=${uuid.literal(tenantId)}`,
    `EXISTS (SELECT 1 FROM member_roles r WHERE r.account_id=l.account_id
       AND r.member_id=${literal(memberRoles, 'memberId', memberId)})`,
  ];
  return readVisible(reader, { table: statements, ...rows, shown }, before, limit);
}

/** Opens a file of the statement. Throws not_found also if it has no file. */
export async function openStatement(
  reader: Reader,
  files: StoredFiles,
  caller: Caller,
  id: Uuid,
  format: FileKind,
): Promise<AsyncIterable<Buffer>> {
  const { csvBytes, xlsxBytes } = await readStatement(reader, caller, id);
  const size = format === 'csv' ? csvBytes : xlsxBytes;
  const file = { tenantId: caller.tenantId, id, format, size };
  return files.open(file, pieceReader(reader, id, format));
}
