import { checkedText } from '../core/checked-text.js';
import { ApiError, invalidField, type Refusal } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Role } from '../core/permissions.js';
import type { Database, Reader } from '../db/database.js';
import { type Account, accounts, memberRoles, members, tenants } from '../db/entities/parties.js';
import { DUPLICATE_KEY, errnoOf } from '../db/failures.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { openLedgerAccounts } from '../ledger/opening.js';
import { ALIAS_TAKEN, assertAliasFree } from './alias.js';
import { parseAlias, parsePhone } from './identifiers.js';

export interface NewAccount {
  readonly tenantId: Uuid;
  readonly type: 'person' | 'business';
  /** 1 to 120 characters. A person's full name, a business's trade name: the display name is made of it. */
  readonly name: string;
  readonly alias: string | null;
  /** In any format; Colombian when it names no country. */
  readonly phone: string | null;
  /** Members of the tenant and the role that each gets in the account. */
  readonly grants: readonly { readonly memberId: Uuid; readonly role: Role }[];
}

const MAX_NAME = 120;

const PHONE_TAKEN: Refusal = {
  ...invalidField('phone', 'taken'),
  message: 'another account of the tenant has this phone',
};

/**
 * Opens an account: active, unverified, with a balance of zero in each asset. Throws ApiError invalid_field (a taken phone
 * included), alias_taken, alias_reserved, alias_in_quarantine, not_found (tenant or member), and what withTransaction throws.
 */
export async function openAccount(database: Database, clock: Clock, wanted: NewAccount): Promise<Account> {
  const account = newAccount(wanted, clock);
  try {
    await transact(database, async (transaction) => {
      await assertParties(transaction, wanted);
      await openLedgerAccounts(transaction, [account]);
      if (account.alias !== null)
        await assertAliasFree(transaction, account.tenantId, account.alias, account.createdAt);
      const roles = wanted.grants.map(({ memberId, role }) => ({ accountId: account.id, memberId, role }));
      if (roles.length > 0) await transaction.execute(insertSql(memberRoles, roles));
    });
  } catch (failure) {
    if (errnoOf(failure) !== DUPLICATE_KEY) throw failure;
    throw new ApiError(await whatIsTaken(database.reader, account));
  }
  return account;
}

function newAccount({ tenantId, type, name, ...wanted }: NewAccount, clock: Clock): Account {
  const alias = wanted.alias === null ? null : parseAlias(wanted.alias);
  if (alias === null && wanted.alias !== null) throw new ApiError(invalidField('alias', 'malformed'));
  const phone = wanted.phone === null ? null : parsePhone(wanted.phone);
  if (phone === null && wanted.phone !== null) throw new ApiError(invalidField('phone', 'malformed'));
  const memberIds = new Set(wanted.grants.map(({ memberId }) => memberId));
  if (memberIds.size < wanted.grants.length) throw new ApiError(invalidField('grants', 'member_named_twice'));
  const createdAt = clock();
  return {
    id: newId(),
    tenantId,
    type,
    systemRole: null,
    status: 'active',
    name: checkedText('name', name, MAX_NAME),
    alias,
    phone,
    verifiedAt: null,
    seq: 0n,
    lastPostedAt: createdAt,
    createdAt,
  };
}

async function assertParties(reader: Reader, { tenantId, grants }: NewAccount): Promise<void> {
  const ids = grants.map(({ memberId }) => memberId);
  const [tenant, own] = await Promise.all([
    reader.find(tenants, { id: tenantId }),
    reader.select(members, { tenantId, id: ids }),
  ]);
  if (tenant === undefined) throw new ApiError({ code: 'not_found', message: 'the tenant does not exist' });
  if (own.length < ids.length)
    throw new ApiError({ code: 'not_found', message: 'a member that is to be granted a role does not exist' });
}

/** The unique keys decide; which one refused is asked afterwards. */
async function whatIsTaken(reader: Reader, { tenantId, alias }: Account): Promise<Refusal> {
  const holder = alias === null ? undefined : await reader.find(accounts, { tenantId, alias });
  return holder === undefined ? PHONE_TAKEN : ALIAS_TAKEN;
}
