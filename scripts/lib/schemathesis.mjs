import { fetchByPip, pythonIn } from './pip.mjs';
import { say } from './progress.mjs';

const VERSION = '4.32.5';

/**
 * The command `{command, args, env}` that runs Schemathesis, which generates calls from an OpenAPI document. Undefined
 * if it is not available; the tests that need it are then pending.
 */
export async function findSchemathesis() {
  try {
    const title = `Fetching Schemathesis ${VERSION} (once)`;
    const folder = await fetchByPip('schemathesis', VERSION, {
      title,
      failure: 'pip could not fetch it',
    });
    return pythonIn(folder, '-m', 'schemathesis.cli');
  } catch (error) {
    say(
      `  ${error.message}\n  SCHEMATHESIS IS MISSING (Python with pip fetches it): no calls are generated.`,
    );
    return undefined;
  }
}
