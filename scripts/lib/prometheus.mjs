import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unpack } from './apt.mjs';
import { CACHE } from './paths.mjs';
import { say } from './progress.mjs';
import { findProgram } from './run.mjs';

const TREE = join(CACHE, 'prometheus');

/**
 * Prometheus and its promtool, as `{prometheus, promtool}`: on the PATH, or from Debian's package, which is unpacked
 * into the cache rather than installed, since that would start its server. Undefined if not available; what needs it is
 * then skipped.
 */
export async function findPrometheus() {
  const known = programs((name) => findProgram(name));
  if (known) return known;
  const cached = () => programs((name) => join(TREE, 'usr/bin', name));
  if (!cached() && findProgram('apt-get') && findProgram('dpkg-deb')) {
    try {
      const title = "Fetching Prometheus (once, from Debian's packages)";
      await unpack(title, 'Prometheus could not be fetched', 'prometheus', TREE);
    } catch (error) {
      say(`  ${error.message}`);
    }
  }
  const found = cached();
  if (!found)
    say(
      '  PROMETHEUS IS MISSING: alerts and dashboard are not tested. Put prometheus and promtool on the PATH.',
    );
  return found;
}

function programs(place) {
  const [prometheus, promtool] = ['prometheus', 'promtool'].map(place);
  return prometheus && promtool && existsSync(prometheus) && existsSync(promtool)
    ? { prometheus, promtool }
    : undefined;
}
