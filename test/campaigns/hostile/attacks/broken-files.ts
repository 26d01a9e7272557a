import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BrokenFile, brokenFiles } from '../../../spreadsheets/broken-files.js';
import { formOf } from '../../../batches/support.js';
import { text } from '../../../helpers/bank.js';
import type { PayrollBank } from '../../../helpers/batch-workflows.js';
import type { Uuid } from '../../../../src/core/ids.js';
import type { Attack } from '../battlefield.js';

const ATTACKERS = 8;
const MAX_MS = 5_000;
/** The files are the attack, not the looking at them. */
const LOOK_EVERY_MS = 200;

/** Broken ZIP, XML and CSV: each is 400 or rejected within five seconds. */
export function brokenFileAttack({
  seed,
  files,
}: {
  readonly seed: number;
  readonly files: number;
}): Attack {
  return {
    name: 'broken files',
    run: async (field) => {
      const all = brokenFiles(seed, files);
      const ends = { refused: 0, rejected: 0 };
      let slowest = 0;
      await Promise.all(
        (await field.attackers(ATTACKERS)).map(async (attacker) => {
          // The generator is common: each takes the next one.
          for (let next = all.next(); next.done !== true; next = all.next()) {
            const began = performance.now();
            ends[await endOf(attacker, next.value)] += 1;
            const tookMs = Math.round(performance.now() - began);
            if (tookMs > MAX_MS / 2)
              process.stdout.write(
                `    ${titleOf(next.value)} took ${tookMs} ms, ended ${new Date().toISOString()}\n`,
              );
            slowest = Math.max(slowest, tookMs);
          }
        }),
      );
      assert(slowest <= MAX_MS, `a file took ${slowest} ms`);
      return `${files} files of seed ${seed}: ${ends.refused} × 400, ${ends.rejected} × rejected, the slowest after ${slowest} ms`;
    },
  };
}

const titleOf = ({ kind, bytes }: BrokenFile): string =>
  `a file of ${kind}, ${bytes.length} bytes,`;

async function endOf(
  attacker: PayrollBank,
  { bytes }: BrokenFile,
): Promise<'refused' | 'rejected'> {
  const form = formOf(bytes, { source_account: attacker.source.id });
  const { status, json } = await attacker.bank.request('POST', '/v1/bonus_batches', { form });
  if (status === 400) return 'refused';
  assert.equal(status, 201);
  const id = text(json.id) as Uuid;
  let batch = json;
  for (; batch.status === 'validating'; batch = await attacker.read(id)) await sleep(LOOK_EVERY_MS);
  assert.equal(batch.status, 'rejected');
  return 'rejected';
}
