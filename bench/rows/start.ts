import { execFileSync } from 'node:child_process';
import { SMALL_LEDGER } from '../bench.js';
import { latencyOf } from '../load/latency.js';
import { ms } from '../report/text.js';
import { atMost, type Row } from '../row.js';

const STARTS = 5;
const NPM_START_MS = 3_000;

/** From the process's start to its first answer; `npm start` also starts the servers, the worker and the demo world. */
export const startRow: Row = {
  name: 'start',
  title: 'Start of the API process to its first answer (a part of npm start)',
  async run(bench) {
    const ledger = await bench.ledger(SMALL_LEDGER);
    const samples: number[] = [];
    const bare: number[] = [];
    for (let start = 0; start < STARTS; start += 1) {
      samples.push(await bench.withApi(ledger, (api) => Promise.resolve(api.readyMs)));
      const began = performance.now();
      execFileSync(process.execPath, ['--eval', '0']);
      bare.push(performance.now() - began);
    }
    const [own, node] = [latencyOf(samples), latencyOf(bare)];
    return {
      figures: `middle of ${STARTS}: ${ms(own.p50Ms)}`,
      baseline: `Node itself, starting and ending: ${ms(node.p50Ms)}`,
      ratio: node.p50Ms / own.p50Ms,
      targets: [atMost('ms', own.p50Ms, NPM_START_MS)],
      details: { samples, bare },
    };
  },
};
