import { parseArgs } from 'node:util';
import { temporalOptions } from '../src/config/servers.js';
import { ConfigError, readTemporalConfig } from '../src/config/config.js';
import { installRuntime } from '../src/temporal/workers.js';
import { type Replayed, replayOpen, replayRecorded } from './replay-histories.js';

/**
 * Replays histories on this build's workflows, and exits with 1 if one would not continue: those in
 * the repository, and with `--address` a sample of the open workflows in a running Temporal, which
 * it only reads. (docs/operations/upgrade.md, Worker versions)
 */

const RECORDED = 'test/histories';
const SAMPLE = 100;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      address: { type: 'string' },
      namespace: { type: 'string' },
      sample: { type: 'string' },
    },
  });
  const { address, namespace, sample = String(SAMPLE) } = values;
  if (!/^[1-9]\d{0,4}$/.test(sample))
    throw new ConfigError('--sample takes a number from 1 to 99999');
  // The failures are reported below.
  const silent = (): void => undefined;
  installRuntime({ info: silent, warn: silent }, 0);
  const replayed = [await replayRecorded(RECORDED)];
  if (address !== undefined) {
    const named = namespace === undefined ? {} : { TEMPORAL_NAMESPACE: namespace };
    const config = readTemporalConfig({ TEMPORAL_ADDRESS: address, ...named });
    replayed.push(...(await replayOpen(temporalOptions(config), Number(sample))));
  }
  for (const one of replayed) process.stdout.write(lineOf(one));
  return replayed.some(({ failures }) => failures.length > 0) ? 1 : 0;
}

function lineOf({ what, histories, failures }: Replayed): string {
  const first = `${histories} ${what}: ${failures.length === 0 ? 'each would go on' : `${failures.length} would fail`}\n`;
  return first + failures.map((failure) => `  ${failure}\n`).join('');
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(
    `nothing is known: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = 2;
}
