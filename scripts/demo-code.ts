import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ConfigError, readOpsConfig } from '../src/config/config.js';
import { instant, systemClock } from '../src/core/instant.js';
import type { Reader } from '../src/db/database.js';
import { type Staff, staffChecks } from '../src/db/entities/staff.js';
import { buildOpsParts } from '../src/ops/context.js';
import { explain, OpsError, UsageError } from '../src/ops/failures.js';
import { codeAt, STEP_MS } from '../src/staff/authenticator.js';
import { findStaff } from '../src/staff/people.js';
import { readStaffSecrets } from './demo/staff.js';

/**
 * `npm run demo:code -- demo-lead`: a code from the authenticator of one of the demo world's
 * people, alone on standard output. The current one, or, if that was already used, the next, which
 * is valid half a minute early; if that was used too, it waits. DEMO_STAFF_FILE names the file with
 * the secrets.
 */
const environment = z.object({ DEMO_STAFF_FILE: z.string().min(1) });

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function isUsed(reader: Reader, { id }: Staff, step: bigint): Promise<boolean> {
  return (await reader.find(staffChecks, { staffId: id, step })) !== undefined;
}

async function usableCode(reader: Reader, person: Staff, secret: string): Promise<string> {
  for (;;) {
    const step = Math.floor(systemClock() / STEP_MS);
    for (const one of [step, step + 1])
      if (!(await isUsed(reader, person, BigInt(one))))
        return codeAt(secret, instant(one * STEP_MS));
    const waitMs = (step + 1) * STEP_MS - systemClock();
    say(
      `The current codes were already used. The next one is valid in ${Math.ceil(waitMs / 1000)} s.`,
    );
    await sleep(waitMs);
  }
}

async function main([name, ...more]: readonly string[]): Promise<void> {
  const given = environment.safeParse(process.env);
  if (!given.success)
    throw new ConfigError(
      'DEMO_STAFF_FILE is not set (the file that keeps the secrets of the demo staff)',
    );
  const secrets = readStaffSecrets(given.data.DEMO_STAFF_FILE);
  const secret = name === undefined || more.length > 0 ? undefined : secrets[name];
  if (name === undefined || secret === undefined)
    throw new UsageError(
      `name one of ${Object.keys(secrets).join(', ')}: npm run demo:code -- demo-lead`,
    );
  const { database } = buildOpsParts(readOpsConfig(), say);
  try {
    const person = await findStaff(database.reader, name);
    if (person === undefined)
      throw new OpsError(`the demo world has no ${name}: run npm start, which makes it`);
    process.stdout.write(`${await usableCode(database.reader, person, secret)}\n`);
  } finally {
    await database.close();
  }
}

try {
  await main(process.argv.slice(2));
} catch (failure) {
  say(`error: ${explain(failure)}`);
  process.exitCode = failure instanceof UsageError ? 2 : 1;
}
