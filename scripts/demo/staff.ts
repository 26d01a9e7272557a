import { z } from 'zod';
import { type Actor, recordAction } from '../../src/access/audit-log.js';
import { type Staff, staff } from '../../src/db/entities/staff.js';
import { updateSql } from '../../src/db/statements.js';
import { transact } from '../../src/db/reader.js';
import { codeAt, newFactor, findCodeStep } from '../../src/staff/authenticator.js';
import { findStaff, sealedColumns, setPerson } from '../../src/staff/people.js';
import type { StaffDeps } from '../../src/staff/verification.js';
import { DEMO_STAFF } from './plan.js';
import { readPrivate, writePrivate } from './private-file.js';

/** Name → the authenticator's secret. */
const content = z.record(z.string(), z.string());

export function readStaffSecrets(path: string): Readonly<Record<string, string>> {
  return readPrivate(path, content);
}

/**
 * The demo world's people, each with an authenticator whose secret is in the file. Deactivated
 * people stay deactivated.
 */
export async function makeDemoStaff(deps: StaffDeps, path: string, actor: Actor): Promise<void> {
  for (const plan of DEMO_STAFF) {
    const existing = await findStaff(deps.database.reader, plan.name);
    if (existing?.active === false) continue;
    const storedSecret = readStaffSecrets(path)[plan.name];
    if (
      existing !== undefined &&
      storedSecret !== undefined &&
      hasSecret(deps, existing, storedSecret)
    )
      continue;
    const secret =
      existing === undefined || existing.factorSecret === null
        ? (await setPerson(deps, plan, actor)).factor?.secret
        : await replaceFactor(deps, existing, actor);
    if (secret === undefined) throw new Error(`${plan.name} got no authenticator`);
    writePrivate(path, { ...readStaffSecrets(path), [plan.name]: secret });
  }
}

function hasSecret(
  { encryptionKeys, clock }: StaffDeps,
  { id, factorKeyId, factorSecret }: Staff,
  secret: string,
): boolean {
  if (factorKeyId === null || factorSecret === null) return false;
  const now = clock();
  try {
    return (
      findCodeStep(
        encryptionKeys,
        id,
        { keyId: factorKeyId, bytes: factorSecret },
        codeAt(secret, now),
        now,
      ) !== null
    );
  } catch {
    // Another checkout encrypted the secret with other keys.
    return false;
  }
}

/** Replaces an authenticator whose secret this checkout has lost. Only for the demo world. */
function replaceFactor(
  { database, clock, encryptionKeys }: StaffDeps,
  person: Staff,
  actor: Actor,
): Promise<string> {
  return transact(database, async (transaction) => {
    const factor = newFactor(encryptionKeys, person);
    await transaction.execute(updateSql(staff, sealedColumns(factor), { id: person.id }));
    const entry = {
      tenantId: null,
      action: 'staff.replace_demo_factor',
      subjectType: 'staff',
      subjectId: person.id,
    } as const;
    await recordAction(transaction, actor, clock(), { ...entry, details: { name: person.name } });
    return factor.secret;
  });
}
