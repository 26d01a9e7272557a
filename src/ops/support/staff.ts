import { renderUnicodeCompact } from 'uqr';
import { toRfc3339 } from '../../core/instant.js';
import {
  type Staff,
  staff,
  type StaffFactorReset,
  type StaffSession,
  staffSessions,
} from '../../db/entities/staff.js';
import type { NewFactor } from '../../staff/authenticator.js';
import type { StaffIdentity } from '../../staff/rules.js';
import type { Fields, Output } from '../output.js';
import { rowFields } from '../row-fields.js';

/** How operators see the staff; a secret is shown only when it is made. */

export function staffFields(one: Staff): Fields {
  const { name, kind, rights, active, factorSecret } = one;
  return {
    name,
    kind,
    can: rights,
    active,
    authenticator: kind === 'person' ? factorSecret !== null : null,
    ...rowFields(staff, one, 'lastUsedAt', 'lockedUntil', 'opsLockedUntil', 'createdAt'),
  };
}

export function signedInFields(
  { name, kind, rights }: StaffIdentity,
  session: StaffSession | null,
): Fields {
  return { name, kind, can: rights, expires_at: toRfc3339(session?.expiresAt ?? null) };
}

export function sessionFields({
  session,
  name,
}: {
  readonly session: StaffSession;
  readonly name: string;
}): Fields {
  const shown = ['door', 'place', 'createdAt', 'lastUsedAt', 'expiresAt'] as const;
  return { id: session.id, name, ...rowFields(staffSessions, session, ...shown) };
}

export function resetFields(
  { name }: Staff,
  { status, reason, createdAt }: StaffFactorReset,
): Fields {
  return { name, status, reason, proposed_at: toRfc3339(createdAt) };
}

export function showWithFactor(output: Output, person: Staff, factor: NewFactor | null): void {
  if (factor === null) return output.one(staffFields(person));
  output.one({ ...staffFields(person), otpauth_url: factor.url, secret: factor.secret });
  output.picture(`\n${renderUnicodeCompact(factor.url, { border: 2 })}`);
  output.say(
    `The secret is shown this once: ${person.name} scans it with an authenticator app, or types it there. Nobody else keeps it.`,
  );
}
