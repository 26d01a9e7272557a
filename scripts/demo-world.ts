import { z } from 'zod';
import { ConfigError, readOpsConfig } from '../src/config/config.js';
import { buildOpsParts, encryptionKeysOf } from '../src/ops/context.js';
import { explain } from '../src/ops/failures.js';
import { makeDemoWorld } from './demo/world.js';
import { TokenFile } from './demo/token-file.js';

/**
 * Makes the demo world, or adds what an existing one lacks. Standard output gets one line of JSON:
 * `{"tenants": {…}}`. DEMO_TOKENS_FILE and DEMO_STAFF_FILE name the files that store the tokens and
 * the secrets of the staff's authenticators, since the service shows each once.
 */
const environment = z.object({
  DEMO_TOKENS_FILE: z.string().min(1),
  DEMO_STAFF_FILE: z.string().min(1),
});

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function main(): Promise<void> {
  const given = environment.safeParse(process.env);
  if (!given.success)
    throw new ConfigError(
      'DEMO_TOKENS_FILE or DEMO_STAFF_FILE is not set (the files that keep the secrets of the demo world)',
    );
  const config = readOpsConfig();
  const encryptionKeys = encryptionKeysOf(config);
  const deps = buildOpsParts(config, say);
  try {
    const world = await makeDemoWorld({
      ...deps,
      encryptionKeys,
      say,
      tokenFile: new TokenFile(given.data.DEMO_TOKENS_FILE),
      staffFile: given.data.DEMO_STAFF_FILE,
    });
    process.stdout.write(`${JSON.stringify(world)}\n`);
  } finally {
    await deps.writer.idle();
    await deps.database.close();
  }
}

try {
  await main();
} catch (failure) {
  say(`error: ${explain(failure)}`);
  process.exitCode = 1;
}
