import { ASSETS } from '../../src/core/amount.js';
import type { EventCounter, EventHead } from '../../src/db/entities/events.js';
import type { Balance } from '../../src/db/entities/ledger.js';
import type { Account, Member, MemberRole, Tenant } from '../../src/db/entities/parties.js';
import { SYSTEM_ROLES } from '../../src/db/entities/parties.js';
import { FIRST_ACCOUNT, type History, SYSTEM_ACCOUNTS } from './history.js';
import { type EndState, TIME_ZONE } from './state.js';

/** Rows of tenants, accounts, members and tokens, in primary-key order. */

export function* tenantRows(history: History): Generator<Tenant> {
  yield {
    id: history.id('tenant', 0),
    name: 'bench',
    network: null,
    timeZone: TIME_ZONE,
    feeAccountId: null,
    policyDelayS: 0,
    createdAt: history.beganAt,
  };
}

export function* memberRows(history: History): Generator<Member> {
  yield {
    id: history.id('member', 0),
    tenantId: history.id('tenant', 0),
    name: 'bench',
    isActive: true,
    createdAt: history.beganAt,
  };
}

/** The alias of an account by its number. */
export function aliasOf(number: number): string {
  return `$bench-${number.toString().padStart(7, '0')}`;
}

export function* accountRows(history: History): Generator<Account> {
  for (let number = 0; number < history.accountCount; number += 1) {
    const isSystem = number < SYSTEM_ACCOUNTS;
    const digits = number.toString().padStart(7, '0');
    // The busy account and every second one belong to a business, which has wider limits.
    const type = isSystem ? 'system' : (number - FIRST_ACCOUNT) % 2 === 0 ? 'business' : 'person';
    yield {
      id: history.accountId(number),
      tenantId: history.id('tenant', 0),
      type,
      systemRole: isSystem ? (SYSTEM_ROLES[number] ?? null) : null,
      status: 'active',
      name: isSystem
        ? (SYSTEM_ROLES[number] ?? '')
        : type === 'person'
          ? `Ana Pérez ${digits}`
          : `Tienda ${digits}`,
      alias: isSystem ? null : aliasOf(number),
      metadata: null,
      phone: isSystem ? null : `+57310${digits}`,
      verifiedAt: isSystem ? null : history.beganAt,
      createdAt: history.beganAt,
    };
  }
}

export function* balanceRows(history: History, end: EndState): Generator<Balance> {
  for (let number = 0; number < history.accountCount; number += 1)
    for (const asset of ASSETS)
      yield {
        accountId: history.accountId(number),
        asset,
        available: end.total(number, asset),
        held: 0n,
        overdraft: number < SYSTEM_ACCOUNTS,
        ...end.lastPosting(number, asset),
      };
}

export function* roleRows(history: History): Generator<MemberRole> {
  for (let number = FIRST_ACCOUNT; number < history.accountCount; number += 1)
    yield {
      accountId: history.accountId(number),
      memberId: history.id('member', 0),
      role: 'owner',
    };
}

export function* counterRows(history: History, transfers: number): Generator<EventCounter> {
  yield {
    tenantId: history.id('tenant', 0),
    lastSequence: BigInt(transfers),
    restores: 0,
    lastAt: history.at(history.length - 1),
  };
}

/** All events of a history have the same type. */
export function* headRows(history: History, transfers: number): Generator<EventHead> {
  yield {
    tenantId: history.id('tenant', 0),
    type: 'transfer.completed',
    lastSequence: BigInt(transfers),
  };
}
