import { randomUUID } from 'node:crypto';
import { newId, type Uuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { recordRemark } from '../../src/staff/remarks.js';
import type { TestDatabase } from '../helpers/database.js';
import { addStaff, proven } from '../helpers/staff.js';

/** Writes a note of two lines about a resource, as a new member of the staff. */
export async function noteAbout(
  { database }: TestDatabase,
  tenantId: Uuid,
  subjectType: string,
  subjectId: string,
): Promise<void> {
  const by = proven(await addStaff(database, { name: `ana ${randomUUID()}`, rights: ['read'] }));
  const subject = { tenantId, subjectType, subjectId };
  const deps = { database, clock: systemClock };
  await recordRemark(deps, 'note', subject, by, 'They called.\nTwice.', newId());
}
