import assert from 'node:assert/strict';
import { type BrokenFile, brokenFiles } from '../../../batches/files/broken-files.js';
import { formOf } from '../../../batches/support.js';
import { text } from '../../../support/bank.js';
import type { PayrollBank } from '../../../support/batch-workflows.js';
import { until } from '../../../support/temporal.js';
import type { Uuid } from '../../../../src/core/ids.js';
import type { Attack } from '../campaign.js';

const ATTACKERS = 8;
const MAX_MS = 5_000;

/** Broken ZIP, XML and CSV: each is 400 or rejected within five seconds. */
export function brokenFileAttack({ seed, files }: { readonly seed: number; readonly files: number }): Attack {
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
            slowest = Math.max(slowest, Math.round(performance.now() - began));
          }
        }),
      );
      assert(slowest <= MAX_MS, `a file took ${slowest} ms`);
      return `${files} files of seed ${seed}: ${ends.refused} × 400, ${ends.rejected} × rejected, the slowest after ${slowest} ms`;
    },
  };
}

async function endOf(attacker: PayrollBank, { bytes }: BrokenFile): Promise<'refused' | 'rejected'> {
  const form = formOf(bytes, { source_account: attacker.source.id });
  const { status, json } = await attacker.bank.request('POST', '/v1/bonus_batches', { form });
  if (status === 400) return 'refused';
  assert.equal(status, 201);
  const id = text(json.id) as Uuid;
  await until('it is validated', async () => (await attacker.read(id)).status !== 'validating');
  assert.equal((await attacker.read(id)).status, 'rejected');
  return 'rejected';
}
