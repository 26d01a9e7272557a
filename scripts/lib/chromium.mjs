import { existsSync } from 'node:fs';
import { say, step } from './progress.mjs';
import { findProgram, run } from './run.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
/** The browser, and fonts, which a bare system lacks. */
const PACKAGES = ['chromium', 'fonts-liberation'];

/**
 * The Chromium of this machine: named by CHROMIUM_BIN, on the PATH, or, for root on Debian or Ubuntu, from apt.
 * Undefined if it is missing and cannot be installed; browser tests are then pending, and say so.
 */
export async function findChromium() {
  const known = process.env.CHROMIUM_BIN || findProgram(...NAMES);
  if (known && existsSync(known)) return known;
  if (process.getuid?.() === 0 && findProgram('apt-get')) {
    try {
      await step('Fetching Chromium (once, for the tests in a browser)', fetchChromium);
    } catch (error) {
      say(`  ${error.message}`);
    }
  }
  const found = findProgram(...NAMES);
  if (!found)
    say(
      '  CHROMIUM IS MISSING: the support desk is not tested in a browser. Install Chromium, or set CHROMIUM_BIN.',
    );
  return found || undefined;
}

async function fetchChromium(onLine) {
  const failure = 'Chromium could not be fetched';
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update'], { failure, onLine, env });
  await run('apt-get', ['install', '-y', '--no-install-recommends', ...PACKAGES], {
    failure,
    onLine,
    env,
  });
}
