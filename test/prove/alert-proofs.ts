import { alertsCampaign } from '../campaigns/alerts.js';
import type { TestDatabase } from '../support/database.js';
import { prometheusTools } from '../support/prometheus.js';

/** The long proof of alerts: each planted fault fires its own within two minutes, as Prometheus is set up by the page. */
export const ALERT_PROOFS: Readonly<Record<string, (db: TestDatabase) => Promise<string[]>>> = {
  alerts: async () => {
    const tools = await prometheusTools();
    if (tools === undefined)
      throw new Error('there is no Prometheus: put prometheus and promtool on the PATH');
    const onEvent = (line: string): void => void process.stdout.write(`  ${line}\n`);
    return alertsCampaign({ tools, everyS: 15, withinMs: 120_000, onEvent });
  },
};
