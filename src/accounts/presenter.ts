import { toRfc3339 } from '../core/instant.js';
import type { Account } from '../db/entities/parties.js';
import { displayName } from './display-name.js';

/** Returns an account as its own tenant sees it. (docs/contract.md, Accounts) */
export function presentAccount(account: Account): Readonly<Record<string, unknown>> {
  const { id, type, status, name, alias, phone, verifiedAt, createdAt } = account;
  return {
    id,
    type,
    status,
    name,
    display_name: displayName(type, name),
    alias,
    phone,
    can_send: status === 'active' && verifiedAt !== null,
    verified_at: toRfc3339(verifiedAt),
    created_at: toRfc3339(createdAt),
  };
}
