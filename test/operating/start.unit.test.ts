import assert from 'node:assert/strict';
import { NEW_RECIPIENTS, RATE_VARIABLES } from '../../src/config/rates.js';
import { RATE_CLASSES } from '../../src/http/rate-limit.js';
import { importScript } from '../helpers/scripts.js';

describe('npm start', () => {
  // The script imports the defaults by name, which no compiler checks.
  it('allows the demo world a hundred times the default rates', async () => {
    const { demoRates } = await importScript<{ demoRates: () => Promise<Record<string, string>> }>(
      'api.mjs',
    );
    const rates = await demoRates();
    const perSecond = (text: string | undefined): number[] => {
      const limits = RATE_VARIABLES.RATE_LIMITS.parse(text);
      return RATE_CLASSES.map((name) => limits[name].perSecond);
    };
    const defaults = perSecond(undefined);
    const factors = perSecond(rates.RATE_LIMITS).map((rate, at) => rate / (defaults[at] ?? 0));
    assert.deepEqual(
      factors.map((factor) => Math.round(factor)),
      RATE_CLASSES.map(() => 100),
    );
    const { ofToken } = NEW_RECIPIENTS.parse(undefined);
    assert.equal(NEW_RECIPIENTS.parse(rates.NEW_RECIPIENTS).ofToken, 100 * ofToken);
  });

  // Else a connection of one of its servers takes the port of another that starts later.
  it('chooses ports that no outgoing connection takes', async () => {
    const { choosePorts } = await importScript<{
      choosePorts: (names: string[]) => Promise<Record<string, number>>;
    }>('ports.mjs');
    const ports = Object.values(await choosePorts(['api', 'support', 'temporal']));
    assert.equal(new Set(ports).size, 3);
    for (const port of ports) assert.ok(port >= 1_024 && port < 32_768, `${port}`);
  });
});
