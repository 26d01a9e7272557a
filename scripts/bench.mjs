/** `npm run bench -- …`: the benchmarks, on their own MySQL and Temporal servers. */
import { launch } from './lib/launch.mjs';

await launch({
  name: 'bench',
  entry: 'dist/bench/main.js',
  variable: 'BENCH_MYSQL_ADMIN_URL',
  temporalVariable: 'BENCH_TEMPORAL_ADDRESS',
});
