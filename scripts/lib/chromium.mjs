import { existsSync } from 'node:fs';
import { canInstall, install } from './apt.mjs';
import { say } from './progress.mjs';
import { findProgram } from './run.mjs';

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
  if (canInstall()) {
    const title = 'Fetching Chromium (once, for the tests in a browser)';
    await install(title, 'Chromium could not be fetched', PACKAGES).catch((error) =>
      say(`  ${error.message}`),
    );
  }
  const found = findProgram(...NAMES);
  if (!found)
    say(
      '  CHROMIUM IS MISSING: the support desk is not tested in a browser. Install Chromium, or set CHROMIUM_BIN.',
    );
  return found || undefined;
}
