import { renderUnicodeCompact } from 'uqr';
import { type Instant, toRfc3339 } from '../../core/instant.js';
import type { Staff, StaffFactorReset, StaffSession } from '../../db/entities/staff.js';
import type { NewFactor } from '../../staff/authenticator.js';
import type { StaffIdentity } from '../../staff/rules.js';
import type { Fields, Output } from '../output.js';

/** How operators see the staff. A secret only at the moment when it is made. */

function timeOf(at: Instant | null): string | null {
  return at === null ? null : toRfc3339(at);
}

export function staffFields(one: Staff): Fields {
  const { name, kind, rights, active, factorSecret } = one;
  return {
    name,
    kind,
    can: rights,
    active,
    authenticator: kind === 'person' ? factorSecret !== null : null,
    last_used_at: timeOf(one.lastUsedAt),
    locked_until: timeOf(one.lockedUntil),
    ops_locked_until: timeOf(one.opsLockedUntil),
    created_at: timeOf(one.createdAt),
  };
}

export function signedInFields({ name, kind, rights }: StaffIdentity, session: StaffSession | null): Fields {
  return { name, kind, can: rights, expires_at: timeOf(session?.expiresAt ?? null) };
}

export function sessionFields({ session, name }: { readonly session: StaffSession; readonly name: string }): Fields {
  const { id, door, place, createdAt, lastUsedAt, expiresAt } = session;
  return {
    id,
    name,
    door,
    place,
    created_at: timeOf(createdAt),
    last_used_at: timeOf(lastUsedAt),
    expires_at: timeOf(expiresAt),
  };
}

export function resetFields({ name }: Staff, { status, reason, createdAt }: StaffFactorReset): Fields {
  return { name, status, reason, proposed_at: timeOf(createdAt) };
}

/** Shows a person with their new authenticator, this once. */
export function showWithFactor(output: Output, person: Staff, factor: NewFactor | null): void {
  if (factor === null) return output.one(staffFields(person));
  output.one({ ...staffFields(person), otpauth_url: factor.url, secret: factor.secret });
  output.picture(`\n${renderUnicodeCompact(factor.url, { border: 2 })}`);
  output.say(
    `The secret is shown this once: ${person.name} scans it with an authenticator app, or types it there. Nobody else keeps it.`,
  );
}
