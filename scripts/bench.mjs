/** `npm run bench -- …`: the benchmarks, on their own MySQL and Temporal servers. */
import { benchAgainst } from './lib/bench-against.mjs';
import { launch } from './lib/launch.mjs';

const args = process.argv.slice(2);
if (args.includes('--against')) await benchAgainst(args);
else
  await launch({
    name: 'bench',
    entry: 'dist/bench/main.js',
    variable: 'BENCH_MYSQL_ADMIN_URL',
    temporalVariable: 'BENCH_TEMPORAL_ADDRESS',
  });
